//! The numbers in README and docs are those of the committed results.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ldlf_core::measures::all;
use ldlf_report::load::{Evaluation, LearnerRun, read};
use serde_json::Value;

fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn numbers(name: &str) -> Evaluation {
    let path = repository().join(format!("experiments/{name}.json"));
    read(&path).unwrap_or_else(|e| panic!("{e}")).remove(0)
}

/// `0.0903 ± 0.0036`, as pages write a measure.
fn written(run: &LearnerRun, measure: &str) -> String {
    let (mean, std) = (run.mean.get(measure), run.std.get(measure));
    format!("{:.4} ± {:.4}", mean.expect("a mean"), std.expect("a deviation"))
}

/// The names of the measures in the paper's tables.
fn of_the_paper() -> impl Iterator<Item = &'static str> {
    all().iter().filter(|measure| measure.in_tables && !measure.is_ordered()).map(|measure| measure.name)
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
        for (measure, cell) in of_the_paper().zip(&cells[1..]) {
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
fn the_page_of_baselines_shows_the_committed_numbers() {
    let page = text("docs/results/baselines.md");
    let sections: BTreeMap<&str, &str> =
        page.split("\n### ").skip(1).filter_map(|section| section.split_once('\n')).collect();
    assert_eq!(sections.len(), 6);
    for (name, section) in sections {
        let evaluation = numbers(&format!("baselines/numbers/{name}"));
        assert_eq!(check_table("baselines.md", section, &evaluation), evaluation.runs.len(), "{name}");
    }
}

#[test]
fn the_page_of_protocols_shows_the_committed_numbers() {
    let page = text("docs/results/protocols.md");
    let files = ["released", "clean-released", "clean-paper", "clean-paper-aided", "clean-defaults"];
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert_eq!(sections.len(), files.len());
    for (file, section) in files.iter().zip(sections) {
        assert_eq!(
            check_table("protocols.md", section, &numbers(&format!("protocols/numbers/{file}"))),
            1,
            "{file}"
        );
    }
}

#[test]
fn the_readme_and_the_guide_show_the_committed_numbers() {
    for (path, least) in [("README.md", 5), ("docs/learners.md", 9)] {
        let page = text(path);
        let lines: Vec<&str> = page.lines().collect();
        let is_head = |line: &&str| line.starts_with("| ") && line.contains(" | Movie | Natural_Scene |");
        let head = lines.iter().position(is_head).unwrap_or_else(|| panic!("{path} has the table"));
        let sets = cells(lines[head])[1..].to_vec();
        let evaluations: Vec<Evaluation> = sets
            .iter()
            .map(|set| {
                let mut all = numbers(&format!("baselines/numbers/{set}"));
                all.runs.extend(numbers(&format!("accuracy/numbers/ours-{set}")).runs);
                all
            })
            .collect();
        let rows = lines[head + 2..].iter().take_while(|line| line.starts_with('|'));
        let mut seen = 0;
        for line in rows {
            let cells = cells(line);
            for ((set, evaluation), cell) in sets.iter().zip(&evaluations).zip(&cells[1..]) {
                let run = evaluation.runs.iter().find(|run| run.learner == cells[0]);
                let shown = written(run.expect("a learner of the numbers"), "kl");
                assert_eq!(*cell, shown, "{path}, {}, {set}", cells[0]);
            }
            seen += 1;
        }
        assert!(seen >= least, "{path} has {seen} rows");
    }
    for path in ["README.md", "docs/paper.md"] {
        for file in ["protocols/numbers/released", "protocols/numbers/clean-released"] {
            let shown = written(&numbers(file).runs[0], "kl");
            assert!(text(path).contains(&shown), "{path} does not say {shown}, the K-L of {file}");
        }
    }
}

/// A section of the JSON of `ldlf reproduce` that was run.
struct Section<'a> {
    set: &'a str,
    division: &'a str,
    entrants: Vec<&'a str>,
    results: &'a [Value],
}

impl Section<'_> {
    /// `4.54 ± 0.45`, as pages of `reproduce` write a measure; a dash where there is none.
    fn written(&self, entrant: &str, measure: &str) -> String {
        let Some(place) = self.entrants.iter().position(|label| *label == entrant) else { return "-".into() };
        let number = |part: &str| self.results[place][part][measure].as_f64();
        let digits = if measure.starts_with("mae") { 2 } else { 4 };
        match (number("mean"), number("std")) {
            (Some(mean), Some(std)) => format!("{mean:.digits$} ± {std:.digits$}"),
            _ => "-".into(),
        }
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().expect("text")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// Compares a part of a page with the JSON of the `ldlf reproduce` that made it, and says how many cells were compared.
fn check_experiment(page: &str, object: &Value) -> usize {
    let measures: Vec<&str> = list(&object["measures"]).iter().map(text_of).collect();
    let run = |section: &&Value| section["evaluation"].is_object();
    let sections: Vec<Section<'_>> = list(&object["sections"])
        .iter()
        .filter(run)
        .map(|section| Section {
            set: text_of(&section["set"]),
            division: text_of(&section["division"]),
            entrants: list(&section["entrants"]).iter().map(text_of).collect(),
            results: list(&section["evaluation"]["results"]),
        })
        .collect();
    let lines: Vec<&str> = page.lines().collect();
    let tables = lines.split(|line| !line.starts_with('|')).filter(|table| table.len() > 2);
    let (mut next, mut compared) = (0, 0);
    for table in tables {
        let heads = cells(table[0]);
        let own = table[2..].iter().filter(|line| !line.starts_with("| *")).map(|line| cells(line));
        let section = sections.get(next).unwrap_or_else(|| panic!("no numbers for {}", table[0]));
        let of_set = |division: &String| {
            let same = |other: &&Section<'_>| other.set == section.set && other.division == division;
            sections.iter().find(same)
        };
        let mut rows = 0;
        for row in own {
            rows += 1;
            for (place, cell) in row.iter().enumerate().skip(1) {
                let expected = if heads[0] == "method" {
                    let Some(measure) = measures.get(place - 1) else { continue };
                    section.written(&row[0], measure)
                } else {
                    of_set(&heads[place]).map_or("-".into(), |section| section.written(&row[0], measures[0]))
                };
                assert_eq!(
                    *cell, expected,
                    "{}, {}, {}, {}",
                    section.set, section.division, row[0], heads[place]
                );
                compared += 1;
            }
        }
        if heads[0] == "method" {
            assert_eq!(rows, section.entrants.len(), "{}, {}", section.set, section.division);
            next += 1;
        }
    }
    assert_eq!(next, sections.len(), "every section has a table");
    compared
}

fn experiment(name: &str) -> Value {
    serde_json::from_str(&text(&format!("experiments/{name}.json"))).expect("JSON")
}

#[test]
fn the_pages_of_table_1_and_figure_3_show_the_committed_numbers() {
    for name in ["table1", "figure3"] {
        let page = text(&format!("docs/results/{name}.md"));
        let made = page.find("\nSeed 0.").expect("the part that the command made");
        assert!(
            check_experiment(&page[made..], &experiment(&format!("{name}/numbers/{name}"))) > 40,
            "{name}"
        );
    }
}

#[test]
fn the_row_of_the_paper_is_met_on_movie_by_its_protocol() {
    let object = experiment("table1/numbers/table1");
    let section = list(&object["sections"])
        .iter()
        .find(|section| section["set"] == "Movie" && section["division"] == "released protocol")
        .expect("Movie by the released protocol");
    let place = list(&section["entrants"]).iter().position(|label| label == "sldlf").expect("sldlf");
    let own = &section["evaluation"]["results"][place]["mean"];
    let published = list(&section["published"]).iter().find(|row| row["method"] == "sLDLF").expect("its row");
    for measure in of_the_paper() {
        let (mean, row) = (own[measure].as_f64().expect("a mean"), &published["numbers"][measure]);
        let (theirs, std) =
            (row["mean"].as_f64().expect("a mean"), row["std"].as_f64().expect("a deviation"));
        assert!((mean - theirs).abs() <= 2.0 * std, "{measure}: {mean} against {theirs} ± {std}");
    }
}

#[test]
fn the_page_of_ages_shows_the_committed_numbers() {
    let page = text("docs/results/ordered.md");
    let parts: Vec<&str> = page.split("\n## ").collect();
    for (title, name) in [("Table 2", "ordered/numbers/table2"), ("Table 3", "ordered/numbers/table3")] {
        let part = parts.iter().find(|part| part.starts_with(title)).expect("a part of the page");
        assert!(check_experiment(part, &experiment(name)) > 40, "{name}");
    }
    let part = parts.iter().find(|part| part.starts_with("APPA-REAL")).expect("a part of the page");
    let evaluation = numbers("ordered/numbers/appa-real");
    let measures = all().iter().filter(|measure| measure.in_tables).map(|measure| measure.name);
    let rows: Vec<Vec<String>> =
        part.lines().filter(|line| line.starts_with("| ")).skip(1).map(cells).collect();
    assert_eq!(rows.len(), evaluation.runs.len());
    for row in rows {
        let run = evaluation.runs.iter().find(|run| run.name == row[0]).expect("a learner of the numbers");
        for (measure, cell) in measures.clone().zip(&row[1..]) {
            let expected = run.mean.get(measure).map_or("-".into(), |mean| format!("{mean:.4}"));
            assert_eq!(*cell, expected, "APPA-REAL, {}, {measure}", run.name);
        }
    }
}

#[test]
fn the_page_of_accuracy_shows_the_committed_numbers() {
    let page = text("docs/results/accuracy.md");
    let table = page.split("\n## K-L").nth(1).and_then(|part| part.split("\n## ").next()).expect("a table");
    let mut lines = table.lines().filter(|line| line.starts_with('|'));
    let sets = cells(lines.next().expect("a head"))[1..].to_vec();
    let runs: Vec<Vec<LearnerRun>> = sets
        .iter()
        .map(|set| {
            // FG-Net is not among the sets of the baselines.
            let files = [
                format!("baselines/numbers/{set}"),
                format!("accuracy/numbers/ours-{set}"),
                format!("accuracy/numbers/outside-{set}"),
            ];
            let there = |file: &&String| repository().join(format!("experiments/{file}.json")).exists();
            files.iter().filter(there).flat_map(|file| numbers(file).runs).collect()
        })
        .collect();
    let mut compared = 0;
    for line in lines.skip(1) {
        let cells = cells(line);
        for (runs, cell) in runs.iter().zip(&cells[1..]) {
            let run = runs.iter().find(|run| run.learner == cells[0]);
            let expected = run.and_then(|run| run.mean.get("kl")).map_or("-".into(), |kl| format!("{kl:.4}"));
            assert_eq!(*cell, expected, "accuracy.md, {}", cells[0]);
            compared += usize::from(run.is_some());
        }
    }
    assert_eq!(
        compared,
        runs.iter().map(Vec::len).sum::<usize>(),
        "every run of the numbers stands on the page"
    );
}

/// The rows of every table of a page that begins with these heads, without head and rule.
fn tables<'a>(page: &'a str, heads: &str) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let lines: Vec<&'a str> = page.lines().collect();
    let tables = lines.split(|line| !line.starts_with('|')).filter(|table| table.len() > 2);
    tables
        .filter(|table| table[0].starts_with(heads))
        .map(|table| (cells(table[0]), table[2..].iter().map(|line| cells(line)).collect()))
        .collect()
}

/// Mean and, of several, the sample deviation, as the page of deep networks writes them.
fn spread(values: &[f64], digits: usize) -> String {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if values.len() < 2 {
        return format!("{mean:.digits$}");
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    format!("{mean:.digits$} ± {:.digits$}", (squares / (values.len() - 1) as f64).sqrt())
}

#[test]
fn the_page_of_deep_networks_shows_the_committed_numbers() {
    let page = text("docs/results/age.md");
    let runs = experiment("age/numbers");
    let mut compared = 0;
    for (set, truths) in [("APPA-REAL", &["apparent_mean", "real_age"][..]), ("UTKFace", &["age"])] {
        let part = page.split("\n## ").find(|part| part.starts_with(set)).expect("a part of the page");
        let (_, rows) = tables(part, "| network | learner |").remove(0);
        for row in rows {
            let wanted =
                |run: &&Value| [&run["set"], &run["way"], &run["learner"]] == [set, &*row[0], &*row[1]];
            let same: Vec<&Value> = list(&runs).iter().filter(wanted).collect();
            let column = |truth: &str, measure: &str, digits: usize| {
                let number = |run: &&Value| run[truth][measure].as_f64().expect("a number");
                spread(&same.iter().map(number).collect::<Vec<f64>>(), digits)
            };
            let mut expected = vec![row[0].clone(), row[1].clone(), same.len().to_string()];
            let columns = [("kl", 4), ("crps", 3), ("mae_mean", 2), ("mae_median", 2), ("mae_mode", 2)];
            expected.extend(columns.map(|(measure, digits)| column(truths[0], measure, digits)));
            expected.extend(truths[1..].iter().map(|truth| column(truth, "mae_mean", 2)));
            expected.push(column(truths[0], "cs_5", 4));
            assert_eq!(row[..expected.len()], expected, "age.md, {set}");
            compared += same.len();
        }
    }
    assert_eq!(compared, list(&runs).len(), "every run stands on the page");
}

#[test]
fn the_ablation_of_the_forest_shows_the_committed_numbers() {
    let page = text("docs/results/accuracy.md");
    let (heads, rows) = tables(&page, "| changed |").remove(0);
    let files: Vec<Value> =
        heads[1..].iter().map(|set| experiment(&format!("accuracy/ablation/{set}"))).collect();
    for row in &rows {
        let change = row[0].trim_start_matches("nothing (").trim_end_matches(')');
        for (file, cell) in files.iter().zip(&row[1..]) {
            let kl = file[change]["kl"].as_f64().unwrap_or_else(|| panic!("{change} is not in the numbers"));
            let base = file["trees=5"]["kl"].as_f64().expect("five trees");
            let expected = match row[0].starts_with("nothing") {
                true => format!("{kl:.4}"),
                false => format!("{kl:.4} ({:+.1} %)", 100.0 * (kl / base - 1.0)),
            };
            assert_eq!(*cell, expected, "accuracy.md, {change}");
        }
    }
    assert_eq!(rows.len(), files[0].as_object().expect("an object").len());
}

#[test]
fn the_page_of_time_to_quality_shows_the_committed_numbers() {
    let page = text("docs/results/time-to-quality.md");
    let points = &experiment("time-to-quality/numbers")["points"];
    let (_, rows) = tables(&page, "| set | tool | setting |").remove(0);
    assert_eq!(rows.len(), list(points).len());
    for (row, point) in rows.iter().zip(list(points)) {
        let number = |name: &str| point[name].as_f64().expect("a number");
        let expected = [
            text_of(&point["set"]).to_string(),
            text_of(&point["tool"]).to_string(),
            text_of(&point["setting"]).to_string(),
            format!("{:.2}", number("seconds")),
            format!("{:.4}", number("kl")),
        ];
        assert_eq!(row[..], expected);
    }
}

#[test]
fn the_page_of_the_self_check_shows_the_committed_numbers() {
    let page = text("docs/results/self-check.md");
    let cells = experiment("self-check/numbers");
    let tables = tables(&page, "| set | rows |");
    assert_eq!(tables.len(), 2);
    let mut compared = 0;
    for ((heads, rows), is_warped) in tables.iter().zip([false, true]) {
        for row in rows {
            for (learner, shown) in heads.iter().zip(row).skip(2) {
                let of_cell = |cell: &&Value| {
                    let size = match cell["size"].as_u64() {
                        Some(0) => "all".to_string(),
                        size => size.expect("a number of rows").to_string(),
                    };
                    [text_of(&cell["set"]), &size, text_of(&cell["learner"])] == [&row[0], &row[1], learner]
                        && cell["warped"] == is_warped
                };
                let kl: Vec<f64> = list(&cells)
                    .iter()
                    .filter(of_cell)
                    .map(|cell| cell["kl"].as_f64().expect("K-L"))
                    .collect();
                let mean = kl.iter().sum::<f64>() / kl.len() as f64;
                let digits = shown.split('.').nth(1).expect("a fraction").len();
                assert_eq!(
                    *shown,
                    format!("{mean:.digits$}"),
                    "self-check.md, {} {} {learner}",
                    row[0],
                    row[1]
                );
                compared += kl.len();
            }
        }
    }
    assert_eq!(compared, list(&cells).len(), "every cell of the numbers stands on the page");
}

#[test]
fn the_page_of_trust_shows_the_committed_numbers() {
    let page = text("docs/results/trust.md");
    let sets = experiment("trust/numbers");
    let titles = [
        ("interval", "Intervals for the true value"),
        ("vote_interval", "Intervals for a new vote"),
        ("set", "Label sets for a random voter"),
        ("quantile_interval", "The distribution's own quantiles"),
    ];
    for (kind, title) in titles {
        let part = page.split("\n## ").find(|part| part.starts_with(title)).expect("a part of the page");
        let (_, rows) = tables(part, "| set | splits |").remove(0);
        for row in rows {
            let set = &sets[&row[0]];
            let mut expected = vec![row[0].clone(), set["splits"].to_string(), row[2].clone()];
            for level in [0.5, 0.8, 0.9, 0.95] {
                let one = list(&set["table"])
                    .iter()
                    .find(|one| one["method"] == row[2] && one["kind"] == kind && one["level"] == level);
                let one = one.unwrap_or_else(|| panic!("{} {kind} {level}", row[0]));
                let number = |name: &str| one[name].as_f64().unwrap_or(0.0);
                expected.push(format!("{:.1} ± {:.1}", 100.0 * number("covered"), 100.0 * number("error")));
                expected.push(format!("{:.2}", number("width")));
            }
            assert_eq!(row, expected, "trust.md, {title}");
        }
    }
    let (_, rows) = tables(&page, "| set | K-L | calibration |").remove(0);
    assert_eq!(rows.len(), sets.as_object().expect("an object").len());
    for row in rows {
        let number = |name: &str| sets[&row[0]]["kl"][name].as_f64().expect("a number");
        let mut expected = vec![row[0].clone()];
        expected.extend(["kl", "calibration", "refinement"].map(|name| format!("{:.4}", number(name))));
        expected.push(format!("{:.2}", number("exponent")));
        assert_eq!(row, expected, "trust.md, calibration");
    }
}

#[test]
fn the_page_of_reliability_quotes_the_last_full_run() {
    let page = text("docs/reliability.md");
    let quoted =
        page.split("```text\n").nth(1).and_then(|part| part.split("```").next()).expect("the counts");
    assert_eq!(quoted, text("experiments/reliability/figures.txt"));
}
