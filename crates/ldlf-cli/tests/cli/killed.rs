//! `kill -9` in the middle of a checkpointed training.
#![cfg(unix)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::call::Folder;

const TRAIN: &str = "train votes.csv --labels votes_* --set iterations=399 --set epochs=none --set trees=3 --set depth=4 \
                     --set early_stopping=false --threads 1 --quiet";

fn kills() -> u32 {
    std::env::var("LDLF_TRAINING_KILLS")
        .map_or(8, |text| text.parse().expect("LDLF_TRAINING_KILLS is a number"))
}

/// The iteration that a checkpoint was made after.
fn iteration(folder: &Folder) -> u64 {
    let parts =
        ldlf::internals::io::model_file::read_parts(&folder.path("c")).expect("the checkpoint is whole");
    parts.details["checkpoint"]["progress"]["iteration"].as_u64().expect("a number")
}

#[test]
fn a_training_that_is_killed_repeatedly_resumes_to_the_same_bytes() {
    let folder = Folder::with_votes();
    folder.succeed(&format!("{TRAIN} --out whole"));
    let mut reached = 0;
    let mut survived = 0;
    for kill in 0..kills() {
        let resume = if kill == 0 { String::new() } else { " --resume c".into() };
        let call = format!("{TRAIN} --out m --force --checkpoint c --checkpoint-every 3{resume}");
        let before = if kill == 0 { None } else { Some(folder.bytes("c")) };
        let mut child =
            folder.command(&call).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("ldlf starts");
        let started = Instant::now();
        // Killed while it works: as soon as there is another checkpoint than before, and a little later each time.
        while std::fs::read(folder.path("c")).ok().filter(|now| Some(now) != before.as_ref()).is_none() {
            assert!(started.elapsed() < Duration::from_secs(60), "no checkpoint came");
            if child.try_wait().expect("it can be asked").is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(u64::from(kill * 7 % 23)));
        child.kill().expect("it can be killed");
        let ended = child.wait().expect("it ends");
        survived += u32::from(!ended.success());
        let now = iteration(&folder);
        assert!(now >= reached, "the checkpoint went back from {reached} to {now}");
        // Checkpoints are made after the first iteration of a run and after every third.
        assert!(
            now.is_multiple_of(3) || now == 1 || now == reached + 1,
            "a checkpoint after iteration {now}"
        );
        reached = now;
    }
    println!("kills survived by a training: {survived}, {reached} iterations done by then");
    assert!(survived > 0, "the training ended before the first kill");
    folder.succeed(&format!("{TRAIN} --out m --force --resume c"));
    assert_eq!(folder.bytes("m"), folder.bytes("whole"));
}
