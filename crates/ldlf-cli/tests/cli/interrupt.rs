//! Ctrl-C.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::call::{Folder, shown};

/// A training without an end of its own.
const ENDLESS: &str = "train votes.csv --labels votes_* --set iterations=100000000 --set epochs=none \
                       --set early_stopping=false --set trees=2 --set depth=3 --threads 1";

fn start(folder: &Folder, call: &str) -> Child {
    folder.command(call).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ldlf starts")
}

/// Waits until a file is there: the sign that the work has begun.
fn wait_for(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn press_ctrl_c(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
}

#[test]
fn ctrl_c_keeps_the_best_model_so_far() {
    let folder = Folder::with_votes();
    let child = start(&folder, &format!("{ENDLESS} --out m --checkpoint c --checkpoint-every 1"));
    wait_for(&folder.path("c"));
    press_ctrl_c(&child);
    let ended = shown(&child.wait_with_output().expect("ldlf ends"));
    assert!(ended.starts_with("exit 130\n"), "{ended}");
    assert!(ended.contains("; the best model so far is in m\n"), "{ended}");
    folder.succeed("evaluate m votes.csv");
    assert_eq!(folder.files(), ["c", "m", "votes.csv"]);
}

#[test]
fn what_ctrl_c_left_can_be_resumed() {
    let folder = Folder::with_votes();
    let child = start(&folder, &format!("{ENDLESS} --out m --checkpoint c --checkpoint-every 1"));
    wait_for(&folder.path("c"));
    press_ctrl_c(&child);
    child.wait_with_output().expect("ldlf ends");
    let stopped = folder.json("inspect m --json")["document"]["summary"]["iterations"].as_u64().unwrap();
    let after = stopped + 3;
    let summary =
        folder.json(&format!("{ENDLESS} --out m --force --resume c --stop-after {after} --json --quiet"));
    assert_eq!(summary["iterations"], after);
}

#[test]
fn the_journal_of_an_interrupted_comparison_stays() {
    let folder = Folder::with_votes();
    let call = "cv votes.csv --labels votes_* --folds 2 --learner mean,sldlf --journal j --threads 1 \
                --set sldlf.iterations=100000000 --set sldlf.epochs=none --set sldlf.early_stopping=false";
    let child = start(&folder, call);
    let started = Instant::now();
    // Both folds of the first learner are in the journal: the second one is at work.
    while std::fs::read_to_string(folder.path("j")).map_or(0, |text| text.lines().count()) < 2 {
        assert!(started.elapsed() < Duration::from_secs(60), "the journal stays empty");
        std::thread::sleep(Duration::from_millis(10));
    }
    press_ctrl_c(&child);
    let ended = shown(&child.wait_with_output().expect("ldlf ends"));
    assert!(ended.starts_with("exit 130\n"), "{ended}");
    assert!(ended.contains("finished folds are kept in j; the same command resumes from there\n"), "{ended}");
    assert!(ended.ends_with("error: interrupted\n"), "{ended}");
    assert_eq!(folder.read("j").lines().count(), 2);
}

#[test]
fn ctrl_c_stops_the_last_fit_of_a_search_too() {
    let folder = Folder::with_votes();
    let call = "search votes.csv --labels votes_* --over depth=3,4 --trials 1 --folds 2 --journal j --out m --threads 1 \
                --set iterations=30000 --set epochs=none --set early_stopping=false --set trees=2 --set depth=3";
    let child = start(&folder, call);
    let started = Instant::now();
    // Both folds of the only trial are in the journal: the winner is trained.
    while std::fs::read_to_string(folder.path("j")).map_or(0, |text| text.lines().count()) < 2 {
        assert!(started.elapsed() < Duration::from_secs(60), "the journal stays empty");
        std::thread::sleep(Duration::from_millis(10));
    }
    press_ctrl_c(&child);
    let ended = shown(&child.wait_with_output().expect("ldlf ends"));
    assert!(ended.starts_with("exit 130\n"), "{ended}");
    assert!(ended.contains("finished folds are kept in j; the same command resumes from there\n"), "{ended}");
    assert_eq!(folder.files(), ["j", "votes.csv"]);
}
