//! `kill -9` at any moment of saving: the file under the final name is the old one or the new one, whole.
//!
//! `LDLF_KILLS` sets the number of kills (200 by default).
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ldlf::internals::core::stored::{Array, Parts};
use ldlf::internals::io::output::Overwrite;
use ldlf::{FitContext, FitEvent, InProgress, StopReason, Threads, registry};
use ldlf_reliability::learners::{fit, quick, small_data};
use ldlf_reliability::mutation::Dice;

/// Set in the process to be killed: the path that it writes to.
const VICTIM: &str = "LDLF_VICTIM";

/// Iterations between two checkpoints of the training that is killed.
const EVERY: usize = 5;

fn kills() -> u64 {
    std::env::var("LDLF_KILLS").map_or(200, |text| text.parse().expect("LDLF_KILLS is a number"))
}

/// Two models of one learner that differ, with an array large enough that writing takes a moment.
fn two_models() -> [Vec<u8>; 2] {
    let learner = quick(&registry::find("mean").unwrap()).unwrap();
    let model = fit(&*learner, &small_data()).unwrap();
    [0.0f32, 1.0].map(|filler| {
        let mut parts = model.to_parts();
        parts.put("padding", Array::F32(vec![100_000], vec![filler; 100_000]));
        parts.to_bytes().unwrap()
    })
}

fn victim_path() -> Option<PathBuf> {
    std::env::var_os(VICTIM).map(PathBuf::from)
}

/// Starts this test program again, to run one test in the process to be killed.
fn start_victim(test: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(VICTIM, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn temporary_files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".ldlf-"))
        .count()
}

#[test]
fn a_model_is_whole_whenever_its_writer_is_killed() {
    let models = two_models().map(|bytes| Parts::from_bytes(&bytes).unwrap());
    if let Some(path) = victim_path() {
        println!("\nready");
        loop {
            models.iter().for_each(|model| {
                ldlf::internals::io::model_file::write_parts(model, &path, Overwrite::Yes).unwrap()
            });
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    ldlf::internals::io::model_file::write_parts(&models[0], &path, Overwrite::No).unwrap();
    let whole = two_models();
    let (mut seen, mut most_temporary) = ([0u64; 2], 0);
    for kill in 0..kills() {
        let mut victim = start_victim("a_model_is_whole_whenever_its_writer_is_killed", &path);
        let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"), "the victim starts");
        std::thread::sleep(Duration::from_micros(Dice::new(1, kill).roll() % 15_000));
        victim.kill().unwrap();
        victim.wait().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let which = whole.iter().position(|model| *model == bytes);
        seen[which.unwrap_or_else(|| panic!("kill {kill}: {} bytes that are neither", bytes.len()))] += 1;
        ldlf::internals::io::model_file::load(&path, &registry::learners()).unwrap();
        most_temporary = most_temporary.max(temporary_files(folder.path()));
    }
    println!(
        "kills survived: {} ({seen:?} of either model), temporary files at most: {most_temporary}",
        kills()
    );
    assert!(seen[0] > 0 && seen[1] > 0, "the kills came at one moment only: {seen:?}");
    assert!(most_temporary <= 1, "{most_temporary} temporary files were left");
}

#[test]
fn a_killed_training_loses_at_most_one_interval() {
    let entry = registry::find("sldlf").unwrap();
    let data = small_data();
    let learner = (entry.build)(
        &ldlf::Settings::parse([
            "trees=2",
            "depth=3",
            "iterations=1000000",
            "epochs=none",
            "early_stopping=false",
        ])
        .unwrap(),
    )
    .unwrap();
    if let Some(path) = victim_path() {
        println!();
        let mut checkpoints = |event: &FitEvent, state: &dyn InProgress| {
            if let FitEvent::Iteration { iteration, .. } = event {
                if iteration.is_multiple_of(EVERY) {
                    ldlf::internals::io::model_file::write_parts(
                        &state.checkpoint().unwrap(),
                        &path,
                        Overwrite::Yes,
                    )
                    .unwrap();
                }
                println!("{iteration}");
            }
            ControlFlow::<StopReason>::Continue(())
        };
        let mut context = FitContext::new(0, Threads::one(), &mut checkpoints);
        context.resume = path.exists().then(|| ldlf::internals::io::model_file::read_parts(&path).unwrap());
        learner.fit(&data, &mut context).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let kills = kills() / 10;
    let mut lost_most = 0;
    for kill in 0..kills {
        let mut victim = start_victim("a_killed_training_loses_at_most_one_interval", &path);
        let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        let iterations = 7 + Dice::new(2, kill).below(40);
        let iteration_of = |line: std::io::Result<String>| line.unwrap().parse::<usize>().ok();
        let mut last = lines.by_ref().filter_map(iteration_of).nth(iterations).unwrap();
        victim.kill().unwrap();
        victim.wait().unwrap();
        // Iterations still in the pipe were also done.
        last = lines.filter_map(iteration_of).last().unwrap_or(last);
        let kept = ldlf::internals::io::model_file::read_parts(&path).unwrap();
        let kept = kept.details["checkpoint"]["progress"]["iteration"].as_u64().unwrap() as usize;
        assert!(kept + EVERY >= last, "kill {kill}: {last} iterations were done and {kept} kept");
        lost_most = lost_most.max(last.saturating_sub(kept));
    }
    println!(
        "kills survived by a training: {kills}, iterations lost at most: {lost_most} of an interval of {EVERY}"
    );
}
