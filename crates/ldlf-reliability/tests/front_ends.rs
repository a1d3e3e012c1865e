//! No library crate names command-line options: its errors name subjects, and every front end words them.

use std::path::{Path, PathBuf};

/// The crates that may name options: the command itself, and the tests of all.
const FRONT_ENDS: [&str; 2] = ["ldlf-cli", "ldlf-reliability"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether a line of code names an option (`--labels`) or a command (`` `ldlf train` ``), comments and the custom properties of
/// style sheets (`var(--ink)`, `--ink:`) aside.
fn speaks_the_command_line(line: &str) -> bool {
    let code = if line.trim_start().starts_with("//") { "" } else { line.split(" // ").next().unwrap_or("") };
    let option = code.match_indices("--").any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + 2..]);
        let word = after.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(after.len());
        let starts = after.starts_with(|c: char| c.is_ascii_lowercase());
        starts && !before.ends_with("var(") && !after[word..].starts_with(':')
    });
    option || code.contains("`ldlf ") || code.contains("cargo install")
}

/// The lines before the tests of a file.
fn lines_of_library(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().take_while(|(_, line)| *line != "#[cfg(test)]")
}

#[test]
fn no_library_crate_names_an_option_or_a_command() {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let entry = entry.unwrap();
        if !FRONT_ENDS.contains(&entry.file_name().to_str().unwrap()) {
            sources(&entry.path().join("src"), &mut files);
        }
    }
    assert!(files.len() > 100, "only {} files were read", files.len());
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(root()).unwrap().display().to_string();
        for (number, line) in lines_of_library(&text).filter(|(_, line)| speaks_the_command_line(line)) {
            found.push(format!("{name} line {}: {}", number + 1, line.trim()));
        }
    }
    assert!(found.is_empty(), "name a `Subject` in place of its option or command:\n{}", found.join("\n"));
}

#[test]
fn the_search_finds_only_options_and_commands() {
    for line in [
        r#"Error::usage("give the same --seed")"#,
        r#"format!("no column {name:?} (--labels)")"#,
        r#""--bad-images skip","#,
        r#""`ldlf learners` lists them""#,
        r#""install with `cargo install`""#,
    ] {
        assert!(speaks_the_command_line(line), "{line}");
    }
    for line in [
        "/// What `--set` calls it.",
        "let x = 1; // as `ldlf train --resume` does",
        ".muted{fill:var(--muted)}",
        ":root{--ink:#000;--paper:#fff}",
        "let dashes = \"---\";",
    ] {
        assert!(!speaks_the_command_line(line), "{line}");
    }
}
