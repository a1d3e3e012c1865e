//! The section over several datasets: average ranks, the Friedman test, the critical-difference diagram, pairwise tests.

use ldlf_core::measures::{KL, MAE_MODE, direction};

use super::{Figures, Section, folded};
use crate::load::Evaluation;
use crate::plots;
use crate::ranking::{Comparison, column_title, compare};
use crate::table::{Cell, SortableTable};

/// The level of the tests.
const LEVEL: f64 = 0.05;
/// Pairs that are shown without a click.
const OPEN: usize = 15;

/// One section per protocol and per table of the paper that has at least two datasets; it compares the learners that these share, and
/// says what it leaves out.
pub(super) fn sections(evaluations: &[&Evaluation], figures: &mut Figures) -> Vec<Section> {
    let rules = |evaluation: &Evaluation| (evaluation.protocol.clone(), evaluation.experiment.clone());
    let mut kinds: Vec<(String, String)> = Vec::new();
    for evaluation in evaluations {
        if !kinds.contains(&rules(evaluation)) {
            kinds.push(rules(evaluation));
        }
    }
    let of_kind = |(number, kind): (usize, &(String, String))| {
        let (mut datasets, mut again): (Vec<&Evaluation>, Vec<&Evaluation>) = (Vec::new(), Vec::new());
        for &evaluation in evaluations.iter().filter(|evaluation| rules(evaluation) == *kind) {
            let known = datasets.iter().any(|other| other.dataset == evaluation.dataset);
            if known { again.push(evaluation) } else { datasets.push(evaluation) }
        }
        if datasets.len() < 2 {
            return None;
        }
        let again = again.iter().map(|evaluation| match evaluation.file.as_str() {
            "" => format!("a further evaluation of {}", evaluation.dataset),
            file => format!("a further evaluation of {} ({file})", evaluation.dataset),
        });
        let again: Vec<String> = again.collect();
        // Only learners that all datasets have are compared: a dataset with few of them would exclude most. Where this leaves no
        // two datasets, fewer learners are compared on all of them.
        let most = datasets.iter().map(|evaluation| evaluation.runs.len()).max().unwrap_or(0);
        let (many, few): (Vec<&Evaluation>, Vec<&Evaluation>) =
            datasets.iter().partition(|evaluation| 2 * evaluation.runs.len() >= most);
        let (datasets, few) = if many.len() > 1 { (many, few) } else { (datasets, Vec::new()) };
        let named = |evaluation: &&Evaluation| format!("the dataset {}", evaluation.dataset);
        let mut left_out: Vec<String> = few.iter().map(named).collect();
        let measure = if datasets.iter().all(|e| e.runs.iter().any(|run| run.mean.get(KL.name).is_some())) {
            KL.name
        } else {
            MAE_MODE.name
        };
        let Some(comparison) = compare(&datasets, measure) else {
            return Some(without_ranks(number, kind, &datasets));
        };
        let mut missing: Vec<String> = Vec::new();
        for run in datasets.iter().flat_map(|evaluation| &evaluation.runs) {
            if !comparison.learners.contains(&run.name) && !missing.contains(&run.name) {
                missing.push(run.name.clone());
            }
        }
        left_out.extend(missing);
        Some(section(number, kind, &comparison, &left_out, &again, figures))
    };
    kinds.iter().enumerate().filter_map(of_kind).collect()
}

fn heading(count: usize, (protocol, experiment): &(String, String)) -> String {
    let mut heading = format!("Over {count} datasets");
    if !experiment.is_empty() {
        heading += &format!(" of {experiment}");
    }
    if !protocol.is_empty() {
        heading += &format!(", {protocol} protocol");
    }
    heading
}

/// Why there are no ranks: too few learners that all datasets have.
fn without_ranks(number: usize, kind: &(String, String), datasets: &[&Evaluation]) -> Section {
    let mut section = Section::new(format!("comparison-{number}"), heading(datasets.len(), kind));
    let learners = |evaluation: &&Evaluation| {
        let names: Vec<&str> = evaluation.runs.iter().map(|run| run.name.as_str()).collect();
        format!("{} has {}", evaluation.dataset, names.join(", "))
    };
    section.text(format!(
        "No ranks: fewer than two learners were run on all of these datasets. {}.",
        datasets.iter().map(learners).collect::<Vec<_>>().join("; ")
    ));
    section
}

fn section(
    number: usize,
    kind: &(String, String),
    comparison: &Comparison,
    left_out: &[String],
    again: &[String],
    figures: &mut Figures,
) -> Section {
    let count = comparison.datasets.len();
    let mut section = Section::new(format!("comparison-{number}"), heading(count, kind));
    section.text(format!(
        "Ranks by mean {} on {}; 1 is best, ties share a rank.",
        column_title(&comparison.measure),
        comparison.datasets.join(", ")
    ));
    if !left_out.is_empty() {
        section.text(format!(
            "Left out, because not all learners were run on all datasets: {}.",
            left_out.join(", ")
        ));
    }
    if !again.is_empty() {
        section.text(format!("Left out, because a dataset counts once: {}.", again.join(", ")));
    }
    section.add(figures.html(&plots::critical_difference(comparison)));
    if let Some(test) = comparison.friedman {
        section.text(format!(
            "Friedman test of equal ranks: chi-squared {:.2}, p {}; Iman and Davenport's F {:.2}, p {}.{}",
            test.chi2,
            probability(test.chi2_p),
            test.f,
            probability(test.f_p),
            if count < 5 { " With few datasets these tests have little power." } else { "" }
        ));
    }
    section.add(table(comparison));
    section.heading("Pairs");
    section.text(verdict(comparison));
    let pairs = pairs(comparison);
    section.add(if comparison.pairs.len() > OPEN { folded("All pairs", vec![pairs]) } else { pairs });
    section
}

/// How many pairs differ, and whether any could: with few datasets even the smallest possible p is above the level.
fn verdict(comparison: &Comparison) -> String {
    let (count, datasets) = (comparison.pairs.len(), comparison.datasets.len());
    let differ = comparison.pairs.iter().filter(|pair| pair.corrected < LEVEL).count();
    let smallest = 2f64.powi(1 - datasets as i32);
    let mut text = format!("{differ} of {count} pairs differ at level {LEVEL} after Holm's correction.");
    if smallest * count as f64 >= LEVEL {
        text += &format!(
            " With {datasets} datasets the smallest possible p is {smallest:.4}, so that none of {count} pairs can be significant; \
             more datasets or fewer learners are needed."
        );
    }
    text
}

fn table(comparison: &Comparison) -> crate::markup::Element {
    let caption =
        format!("Mean {} by dataset. Click a column header to sort.", column_title(&comparison.measure));
    let mut table = SortableTable::new(caption).words("learner").numbers("mean rank");
    for dataset in &comparison.datasets {
        table = table.numbers(dataset);
    }
    let direction = direction(&comparison.measure);
    let ranks: Vec<Vec<f64>> = comparison
        .values
        .iter()
        .map(|row| crate::statistics::ranks(&row.iter().copied().map(Some).collect::<Vec<_>>(), direction))
        .collect();
    for (place, learner) in comparison.learners.iter().enumerate() {
        let mut cells = vec![Cell::word(learner), Cell::number(Some(comparison.ranks[place]), 2)];
        for (row, ranks) in comparison.values.iter().zip(&ranks) {
            cells.push(Cell::measured(Some(row[place]), None, ranks[place], ranks[place] < 2.0));
        }
        table.row(cells);
    }
    table.html()
}

fn pairs(comparison: &Comparison) -> crate::markup::Element {
    let caption = "Wilcoxon signed-rank test of every pair over the datasets, and the same after Holm's correction for all pairs.";
    let mut table = SortableTable::new(caption)
        .words("better rank")
        .words("worse rank")
        .numbers("p")
        .numbers("p, corrected")
        .words("at level 0.05");
    for pair in &comparison.pairs {
        table.row([
            Cell::word(&comparison.learners[pair.better]),
            Cell::word(&comparison.learners[pair.worse]),
            Cell::number(Some(pair.p), 4),
            Cell::number(Some(pair.corrected), 4),
            Cell::word(if pair.corrected < LEVEL { "differ" } else { "not significant" }),
        ]);
    }
    table.html()
}

fn probability(p: f64) -> String {
    if p < 1e-4 { "below 0.0001".into() } else { format!("{p:.4}") }
}
