//! Any bytes give an error or something valid: never a panic, a hang, or more memory than such a file may need.
//!
//! `LDLF_MUTATIONS` sets the number of inputs per reader (2,000 by default).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

use ldlf_reliability::corpus::Sample;
use ldlf_reliability::mutation::{Dice, damaged};
use ldlf_reliability::readers::Reader;
use ldlf_reliability::watched_memory::{WatchedMemory, peak_of};

#[global_allocator]
static MEMORY: WatchedMemory = WatchedMemory;

/// Inputs per reader, besides the valid files; fifteen readers make more than 20,000.
const INPUTS: u64 = 2_000;

/// Memory that no damaged file of a few kilobytes may need.
const MOST_MEMORY: usize = 64 << 20;

/// Time that no damaged file of a few kilobytes may need.
const MOST_TIME: Duration = Duration::from_secs(30);

fn inputs() -> u64 {
    match std::env::var("LDLF_MUTATIONS") {
        Ok(text) => text.parse().expect("LDLF_MUTATIONS is a number of inputs per reader"),
        Err(_) => INPUTS,
    }
}

/// What went wrong with one input, if anything did.
fn fault(reader: &Reader, bytes: &[u8]) -> (bool, Option<String>) {
    let (outcome, peak) = peak_of(|| catch_unwind(AssertUnwindSafe(|| reader.try_bytes(bytes))));
    match outcome {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            (false, Some(format!("panicked: {}", text.unwrap_or_default())))
        }
        Ok(_) if peak > MOST_MEMORY => (false, Some(format!("held {peak} bytes"))),
        Ok(Ok(())) => (true, None),
        Ok(Err(error)) if error.to_string().trim().is_empty() => {
            (false, Some("an error without words".into()))
        }
        Ok(Err(_)) => (false, None),
    }
}

fn survive(name: &'static str) {
    // A reader catches the panics of its library; with RUST_BACKTRACE their report would count as the reader's memory.
    std::panic::set_hook(Box::new(|_| {}));
    // The reader works on a separate thread, so that a hang is detected.
    let (sender, receiver) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        let reader = Reader::new(name);
        let corpus = reader.corpus();
        for (number, sample) in corpus.iter().enumerate() {
            let fault = fault(&reader, &sample.bytes()).1;
            sender.send((format!("whole file {number}"), false, fault)).expect("the test listens");
        }
        let salt = name.bytes().fold(0, |hash: u64, byte| hash.wrapping_mul(31) + u64::from(byte));
        for number in 0..inputs() {
            let mut dice = Dice::new(salt, number);
            let sample: &Sample = &corpus[dice.below(corpus.len())];
            let bytes = damaged(sample, &corpus, &mut dice);
            let (read, fault) = fault(&reader, &bytes);
            sender.send((format!("input {number}"), read, fault)).expect("the test listens");
        }
    });
    let (mut tried, mut read, mut faults) = (0, 0, Vec::new());
    let mut last = "nothing".to_string();
    loop {
        match receiver.recv_timeout(MOST_TIME) {
            Ok((input, was_read, fault)) => {
                tried += 1;
                read += u64::from(was_read);
                faults.extend(fault.map(|fault| format!("{input}: {fault}")));
                last = input;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                drop(std::panic::take_hook());
                panic!("{name}: hangs on what follows {last}")
            }
        }
    }
    drop(std::panic::take_hook());
    worker.join().expect("the worker ends");
    println!("{name}: {tried} inputs, {read} of the damaged ones still read, {} faults", faults.len());
    assert!(
        faults.is_empty(),
        "{name}: {} faults\n{}",
        faults.len(),
        faults[..faults.len().min(40)].join("\n")
    );
    assert!(tried > inputs());
}

macro_rules! readers {
    ($($test:ident $name:literal),* $(,)?) => { $(
        #[test]
        fn $test() {
            survive($name);
        }
    )* };
}

readers! {
    damaged_models_are_refused_or_valid "model",
    damaged_checkpoints_are_refused_or_valid "checkpoint",
    damaged_journals_are_refused_or_valid "journal",
    damaged_results_are_refused_or_valid "results",
    damaged_sweep_tables_are_refused_or_valid "sweep",
    damaged_csv_is_refused_or_valid "csv",
    damaged_tsv_is_refused_or_valid "tsv",
    damaged_parquet_is_refused_or_valid "parquet",
    damaged_arrow_is_refused_or_valid "arrow",
    damaged_json_lines_are_refused_or_valid "jsonl",
    damaged_workbooks_are_refused_or_valid "xlsx",
    damaged_npz_is_refused_or_valid "npz",
    damaged_mat_is_refused_or_valid "mat",
    damaged_svmlight_is_refused_or_valid "svm",
    damaged_images_are_refused_or_valid "images",
    damaged_fold_files_are_refused_or_valid "folds",
    damaged_settings_are_refused_or_valid "settings",
}

#[test]
fn whole_files_are_read() {
    for name in ldlf_reliability::readers::names() {
        let reader = Reader::new(name);
        for (number, sample) in reader.corpus().iter().enumerate() {
            let outcome = reader.try_bytes(&sample.bytes());
            // A line of settings is for one learner only.
            assert!(outcome.is_ok() || name == "settings", "{name} {number}: {:?}", outcome.err());
        }
    }
}

#[test]
fn memory_is_watched() {
    let ((), peak) = peak_of(|| drop(std::hint::black_box(vec![1u8; 10 << 20])));
    assert!((10 << 20..11 << 20).contains(&peak), "{peak}");
}
