//! Many fits and predictions in one process: no memory growth, and the same predictions from every thread.
//!
//! `LDLF_SOAK_MINUTES` sets the length of the soak test (three seconds by default).

use std::time::{Duration, Instant};

use ldlf::internals::core::stored::Parts;
use ldlf::{Dataset, Threads, TrainedModel, registry};
use ldlf_reliability::learners::{fit, quick, small_data, small_models};
use ldlf_reliability::mutation::{Dice, damaged};
use ldlf_reliability::readers::{Reader, names};
use ldlf_reliability::watched_memory::{WatchedMemory, held, held_by_all};

#[global_allocator]
static MEMORY: WatchedMemory = WatchedMemory;

/// The memory that the system says this process holds, in bytes; `None` where it does not say.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<usize>().ok()? * 4096)
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// A fit, a save and load, and ten predictions.
fn train_and_predict(name: &str, data: &Dataset) {
    let entry = registry::find(name).unwrap();
    let model = fit(&*quick(&entry).unwrap(), data).unwrap();
    let bytes = model.to_parts().to_bytes().unwrap();
    let model = TrainedModel::from_parts(Parts::from_bytes(&bytes).unwrap(), &registry::learners()).unwrap();
    for _ in 0..10 {
        model.predict_with(data.inputs(), &Threads::one()).unwrap();
    }
}

#[test]
fn a_thousand_predictions_leak_no_memory() {
    let data = small_data();
    (0..10).for_each(|_| train_and_predict("sldlf", &data));
    let (before, resident_before) = (held(), resident());
    (0..100).for_each(|_| train_and_predict("sldlf", &data));
    let (after, resident_after) = (held(), resident());
    println!("bytes held after 100 trainings and 1,000 predictions: {after}, before: {before}");
    assert_eq!(after, before, "something was kept");
    if let (Some(before), Some(after)) = (resident_before, resident_after) {
        println!("resident: {:.1} MB before, {:.1} MB after", megabytes(before), megabytes(after));
        assert!(after < before + (8 << 20), "resident memory grew from {before} to {after} bytes");
    }
}

/// What threads may keep for themselves, in bytes.
const SLACK: isize = 16 << 10;

#[test]
fn no_learner_leaks_memory() {
    let data = small_data();
    for entry in registry::learners() {
        let run = || {
            train_and_predict(entry.name(), &data);
            held_by_all()
        };
        run();
        // Networks free what a step needed when a later one asks for memory, on whatever thread: what is held moves up and down.
        let before = (0..3).map(|_| run()).max().unwrap_or(0);
        let after = (0..3).map(|_| run()).min().unwrap_or(0);
        assert!(
            after <= before + SLACK,
            "{} kept something: {before} bytes before, {after} after",
            entry.name()
        );
    }
}

#[test]
fn thirty_two_threads_predict_the_same_with_one_model() {
    const THREADS: usize = 32;
    let data = small_data();
    for (name, model) in small_models() {
        let expected = model.predict_with(data.inputs(), &Threads::one()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let found = model.predict_with(data.inputs(), &Threads::one()).unwrap();
                        assert_eq!(found, expected, "{name}");
                    }
                });
            }
        });
    }
    println!("{THREADS} threads agree on a model of every learner");
}

#[test]
fn memory_stays_constant_under_load() {
    let setting = std::env::var("LDLF_SOAK_MINUTES").ok();
    let minutes: Option<f64> = setting.map(|text| text.parse().expect("LDLF_SOAK_MINUTES is a number"));
    let length = minutes.map_or(Duration::from_secs(3), |minutes| Duration::from_secs_f64(60.0 * minutes));
    let data = small_data();
    let readers: Vec<_> = names().map(Reader::new).collect();
    let corpora: Vec<_> = readers.iter().map(Reader::corpus).collect();
    // Panics inside the Parquet library are caught; their reports would flood the output.
    std::panic::set_hook(Box::new(|_| {}));
    let learners = registry::learners();
    let started = Instant::now();
    let (mut rounds, mut inputs, mut peaks) = (0u64, 0u64, [0usize; 2]);
    while started.elapsed() < length || rounds < 2 {
        let entry = &learners[rounds as usize % learners.len()];
        train_and_predict(entry.name(), &data);
        for (reader, corpus) in readers.iter().zip(&corpora).filter(|(reader, _)| reader.name != "checkpoint")
        {
            let mut dice = Dice::new(99, rounds * readers.len() as u64 + inputs);
            let bytes = damaged(&corpus[dice.below(corpus.len())], corpus, &mut dice);
            let _ = reader.try_bytes(&bytes);
            inputs += 1;
        }
        rounds += 1;
        let half = usize::from(started.elapsed() > length / 2);
        peaks[half] = peaks[half].max(resident().unwrap_or(0));
    }
    let _ = std::panic::take_hook();
    println!(
        "soak: {:.1} minutes, {rounds} trainings, {} predictions, {inputs} damaged files; resident at most {:.1} MB in the \
         first half, {:.1} MB in the second",
        started.elapsed().as_secs_f64() / 60.0,
        rounds * 10,
        megabytes(peaks[0]),
        megabytes(peaks[1])
    );
    assert!(peaks[1] < peaks[0] + (16 << 20), "memory grew: {peaks:?}");
}
