//! Commands on the pages run, and print what is shown.
//!
//! The commands of a page run one after another in a folder of their own. A command whose output is not shown has to succeed; one
//! that shows `error:` has to fail. A figure on a page is what a command of the page draws. What cannot run here is marked by a reason
//! after the language of its block, and counted.

use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::page::{Block, Page, pages, repository};
use crate::shown::agrees;

/// Blocks of all languages that do not run in any test, each with its reason on its page. Raise it only for a block that needs what a
/// test machine does not have.
const NOT_RUN: usize = 18;

/// A command with what a page shows of its output.
struct Call {
    line: String,
    shown: String,
    /// Where the output stands on the page.
    place: Range<usize>,
}

/// The calls of a block: lines that begin with `$ `, each with the lines below it.
fn calls(text: &str, start: usize) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let (mut at, mut continues) = (start, false);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match (line.strip_prefix("$ "), calls.last_mut()) {
            (Some(command), _) if !continues => {
                calls.push(Call { line: command.trim_end().into(), shown: String::new(), place: end..end });
            }
            (_, Some(call)) if continues => {
                call.line += &format!("\n{}", line.trim_end());
                call.place = end..end;
            }
            (_, Some(call)) => {
                call.shown += line;
                call.place.end = end;
            }
            (_, None) => {}
        }
        // A command goes on after a backslash; output may end with one.
        continues = line.trim_end().ends_with('\\') && calls.last().is_some_and(|call| call.shown.is_empty());
        at = end;
    }
    calls
}

/// Runs the commands of a page; gives what went wrong and, in pairs, what would have to stand where.
fn run(page: &Page) -> (Vec<String>, Vec<(Range<usize>, String)>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut wrong, mut outputs) = (Vec::new(), Vec::new());
    for block in page.blocks().iter().filter(|block| block.language == "console" && block.reason.is_empty()) {
        for call in calls(&block.text, block.place.start) {
            let output = in_folder(&call.line, folder.path());
            let printed = without_progress(&String::from_utf8_lossy(&output.stdout));
            let fails = call.shown.lines().any(|line| line.starts_with("error:"));
            let shown = call.shown.trim_end();
            if output.status.success() == fails || (!shown.is_empty() && !agrees(shown, &printed)) {
                wrong.push(format!(
                    "{}: $ {}\n-- shown\n{shown}\n-- printed, {}\n{printed}",
                    page.path, call.line, output.status
                ));
                if !shown.is_empty() {
                    let blank_lines = &call.shown[shown.len()..];
                    outputs.push((call.place, format!("{}{blank_lines}", printed.trim_end())));
                }
            }
        }
    }
    wrong.extend(figures(page, folder.path()));
    (wrong, outputs)
}

/// Compares the figures and reports that the commands of a page made with those that the page shows, or puts them in their place.
fn figures(page: &Page, folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for target in page.targets() {
        let shown = target.split('#').next().unwrap_or_default();
        if !shown.ends_with(".svg") && !shown.ends_with(".html") {
            continue;
        }
        let place = repository().join(&page.path).parent().expect("a folder").join(shown);
        let Ok(drawn) = std::fs::read_to_string(folder.join(place.file_name().expect("a file"))) else {
            continue;
        };
        if std::fs::read_to_string(&place).is_ok_and(|committed| agrees(&committed, &drawn)) {
            continue;
        }
        wrong.push(format!("{}: {shown} is not what the commands of the page draw", page.path));
        if overwrites() {
            std::fs::write(&place, drawn).expect("the figure can be written");
        }
    }
    wrong
}

/// Whether what differs is written anew.
fn overwrites() -> bool {
    std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite")
}

/// What a program printed but for the lines that tell how far it is, which come and go with the speed of the machine.
fn without_progress(printed: &str) -> String {
    let kept =
        printed.lines().filter(|line| !["iteration ", "fit "].iter().any(|start| line.starts_with(start)));
    kept.map(|line| format!("{line}\n")).collect()
}

fn in_folder(line: &str, folder: &Path) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_ldlf")).parent().expect("the folder of the program");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    // Both streams go to one pipe, so that their lines stand in the order of their writing.
    Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{line}")])
        .current_dir(folder)
        .env("PATH", path)
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .expect("bash starts")
}

#[test]
fn the_commands_on_the_pages_print_what_is_shown() {
    let wanted = std::env::var("BOOK_PAGE").ok();
    let mut pages = pages();
    pages.retain(|page| page.runs() && wanted.as_ref().is_none_or(|wanted| *wanted == page.path));
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = run(page);
                    results.lock().expect("no test panics").push((page, result));
                }
            });
        }
    });
    let mut failures = Vec::new();
    for (page, (wrong, outputs)) in results.into_inner().expect("no test panics") {
        if overwrites() && !outputs.is_empty() {
            let mut text = page.text.clone();
            for (place, output) in outputs.into_iter().rev() {
                text.replace_range(place, &output);
            }
            std::fs::write(repository().join(&page.path), text).expect("the page can be written");
        }
        failures.extend(wrong);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn blocks_that_do_not_run_are_counted() {
    let mut marked = Vec::new();
    for page in pages().iter().filter(|page| page.runs()) {
        for block in page
            .blocks()
            .into_iter()
            .filter(|block| ["console", "python", "rust"].contains(&&*block.language))
        {
            if !block.reason.is_empty() {
                marked.push(format!("{}: {} {}", page.path, block.language, block.reason));
            }
        }
    }
    assert_eq!(marked.len(), NOT_RUN, "{}", marked.join("\n"));
}

#[test]
fn every_rust_block_stands_on_a_page_whose_doc_tests_run() {
    let facade = "crates/ldlf/src/lib.rs";
    let source = std::fs::read_to_string(repository().join(facade)).expect("the facade");
    let mut checked = 0;
    for page in pages().iter().filter(|page| page.runs()) {
        let runs = |block: &&Block| block.language == "rust" && block.reason.is_empty();
        let blocks = page.blocks().iter().filter(runs).count();
        let included = format!("include_str!(\"../../../{}\")", page.path);
        assert!(
            blocks == 0 || source.contains(&included),
            "{}: add #[doc = {included}] to {facade}",
            page.path
        );
        checked += blocks;
    }
    assert!(checked > 3, "only {checked} blocks of Rust were found");
}
