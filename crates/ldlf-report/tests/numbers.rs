//! The numbers in README and docs are those of the committed results.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ldlf_report::load::{Evaluation, Run, read};
use ldlf_report::ranking::IN_TABLE;

fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn numbers(name: &str) -> Evaluation {
    let path = repository().join(format!("docs/results/numbers/{name}.json"));
    read(&path).unwrap_or_else(|e| panic!("{e}")).remove(0)
}

/// `0.0903 ± 0.0036`, as pages write a measure.
fn written(run: &Run, measure: &str) -> String {
    let (mean, std) = (run.mean.get(measure), run.std.get(measure));
    format!("{:.4} ± {:.4}", mean.expect("a mean"), std.expect("a deviation"))
}

/// The cells of a row of a Markdown table, without marks for bold and code.
fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().replace(['*', '`'], "")).collect()
}

/// Compares the rows of a Markdown table with the runs of an evaluation, and says how many rows there were.
fn check_table(page: &str, section: &str, evaluation: &Evaluation) -> usize {
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| learner"));
    let mut seen = 0;
    for line in rows {
        let cells = cells(line);
        let run = evaluation.runs.iter().find(|run| run.learner == cells[0]);
        let run = run.unwrap_or_else(|| {
            panic!("{page}: {} is not in the numbers of {}", cells[0], evaluation.dataset)
        });
        for (measure, cell) in IN_TABLE.iter().zip(&cells[1..]) {
            assert_eq!(
                *cell,
                written(run, measure),
                "{page}, {}, {}, {measure}",
                evaluation.dataset,
                run.learner
            );
        }
        seen += 1;
    }
    seen
}

#[test]
fn the_page_of_rivals_shows_the_committed_numbers() {
    let page = text("docs/results/rivals.md");
    let sections: BTreeMap<&str, &str> =
        page.split("\n### ").skip(1).filter_map(|section| section.split_once('\n')).collect();
    assert_eq!(sections.len(), 6);
    for (name, section) in sections {
        let evaluation = numbers(name);
        assert_eq!(check_table("rivals.md", section, &evaluation), evaluation.runs.len(), "{name}");
    }
}

#[test]
fn the_page_of_protocols_shows_the_committed_numbers() {
    let page = text("docs/results/protocols.md");
    let files = ["released", "clean-released", "clean-paper", "clean-defaults"];
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert_eq!(sections.len(), files.len());
    for (file, section) in files.iter().zip(sections) {
        assert_eq!(check_table("protocols.md", section, &numbers(&format!("protocols-{file}"))), 1, "{file}");
    }
}

#[test]
fn the_readme_shows_the_committed_numbers() {
    let page = text("README.md");
    let lines: Vec<&str> = page.lines().collect();
    let head = lines.iter().position(|line| line.starts_with("| | Movie")).expect("the README has the table");
    let sets = cells(lines[head])[1..].to_vec();
    let evaluations: Vec<Evaluation> = sets.iter().map(|set| numbers(set)).collect();
    let rows = lines[head + 2..].iter().take_while(|line| line.starts_with('|'));
    let mut seen = 0;
    for line in rows {
        let cells = cells(line);
        for (evaluation, cell) in evaluations.iter().zip(&cells[1..]) {
            let run =
                evaluation.runs.iter().find(|run| run.learner == cells[0]).expect("a learner of the numbers");
            assert_eq!(*cell, written(run, "kl"), "README.md, {}, {}", cells[0], evaluation.dataset);
        }
        seen += 1;
    }
    assert!(seen >= 5);
    for file in ["protocols-released", "protocols-clean-released"] {
        let shown = written(&numbers(file).runs[0], "kl");
        assert!(page.contains(&shown), "README.md does not say {shown}, the K-L of {file}");
    }
}

#[test]
fn the_page_of_figure_3_shows_the_committed_numbers() {
    let (page, evaluation) = (text("docs/results/figure3.md"), numbers("figure3-Movie-a"));
    for run in &evaluation.runs {
        let trees = run.parameters.get("trees").expect("the number of trees").to_string();
        let line = page.lines().find(|line| cells(line)[0] == trees).expect("a row of the table");
        let column = if run.learner == "sldlf" { 1 } else { 2 };
        assert_eq!(cells(line)[column], written(run, "kl"), "figure3.md, {}, {trees} trees", run.learner);
    }
}
