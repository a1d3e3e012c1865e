//! The section of one evaluation: the table, the folds, rows, labels and learning curves.

use ldlf_core::Result;
use ldlf_core::measures::{MAE_MODE, direction};
use ldlf_core::parameters::show_value;

use super::{Figures, Section, facts, folded};
use crate::load::{Evaluation, LearnerRun, Predictions};
use crate::markup::Element;
use crate::plots;
use crate::ranking::{best_first, column_title, ranks_within, shown_measures};
use crate::rows::{example_rows, label_errors, mode_errors};
use crate::statistics::ranks;
use crate::table::{Cell, SortableTable};

/// Learners that share a figure; more could not be distinguished.
const TOGETHER: usize = 5;

pub(super) fn section(
    number: usize,
    evaluation: &Evaluation,
    chosen: &[usize],
    figures: &mut Figures,
) -> Result<Section> {
    let mut section = Section::new(format!("evaluation-{number}"), evaluation.title());
    section.add(facts(&known_facts(evaluation)));
    if evaluation.protocol == "released" {
        section.text(
            "Released protocol: rows are drawn with replacement, so that most test rows are also training rows, and the iteration \
             with the best test K-L is reported. It reproduces a published row; it does not say how well a model does on new rows.",
        );
    }
    let order = best_first(evaluation);
    section.add(table(evaluation, &order));
    section.add(folded("Parameters", vec![parameters(evaluation, &order)]));
    let measures = shown_measures(evaluation);
    if let Some(measure) = measures.first()
        && evaluation.folds() > 1
    {
        section.add(figures.html(&plots::folds(evaluation, &order, measure)));
    }
    predictions(&mut section, evaluation, &order, chosen, figures)?;
    curves(&mut section, evaluation, &order, figures)?;
    Ok(section)
}

fn known_facts(evaluation: &Evaluation) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            pairs.push((name.to_string(), value));
        }
    };
    fact("rows", evaluation.rows.map(|n| n.to_string()));
    // Images have none.
    fact("features", evaluation.features.filter(|&n| n > 0).map(|n| n.to_string()));
    fact("labels", (!evaluation.labels.is_empty()).then(|| evaluation.labels.len().to_string()));
    fact("folds", (evaluation.folds() > 0).then(|| evaluation.folds().to_string()));
    fact("seed", evaluation.seed.map(|n| n.to_string()));
    pairs
}

/// The measures of every learner with ranks, the best marked.
pub(super) fn table(evaluation: &Evaluation, order: &[usize]) -> Element {
    let measures = shown_measures(evaluation);
    let average = ranks_within(evaluation, &measures);
    let by_measure: Vec<Vec<f64>> = measures
        .iter()
        .map(|name| {
            let means: Vec<Option<f64>> = evaluation.runs.iter().map(|run| run.mean.get(name)).collect();
            ranks(&means, direction(name))
        })
        .collect();
    let folds = evaluation.folds();
    let spread = if folds > 1 { ", ± is the standard deviation over the folds" } else { "" };
    let caption = format!(
        "{}: mean over the folds{spread}; small numbers are ranks. ↓ lower is better, ↑ higher is better. Click a column header to sort.",
        evaluation.dataset
    );
    let mut table = SortableTable::new(caption).words("learner").numbers("rank");
    for measure in &measures {
        table = table.numbers(column_title(measure));
    }
    table = table.numbers("fit s").numbers("predict s");
    let alone = evaluation.runs.len() == 1;
    for &run in order {
        let result = &evaluation.runs[run];
        let mut cells = vec![Cell::word(&result.name), Cell::number(average.get(run).copied(), 1)];
        for (measure, ranks) in measures.iter().zip(&by_measure) {
            let best = !alone && ranks[run] < 2.0;
            let deviation = result.std.get(measure).filter(|_| folds > 1);
            cells.push(Cell::measured(result.mean.get(measure), deviation, ranks[run], best));
        }
        cells.push(Cell::number(result.mean.get("fit_seconds"), 3));
        cells.push(Cell::number(result.mean.get("predict_seconds"), 3));
        table.row(cells);
    }
    table.html()
}

/// The parameters of every learner.
fn parameters(evaluation: &Evaluation, order: &[usize]) -> Element {
    let text = |run: &LearnerRun| {
        let pairs = run.parameters.0.iter().map(|(name, value)| format!("{name}={}", show_value(value)));
        pairs.collect::<Vec<_>>().join(", ")
    };
    let caption = "Every parameter that the learners were given; auto is chosen by the learner inside the training rows.";
    let mut table = SortableTable::new(caption).words("learner").words("parameters");
    for &run in order {
        let run = &evaluation.runs[run];
        table.row([Cell::word(&run.name), Cell::word(&text(run))]);
    }
    table.html()
}

fn predictions(
    section: &mut Section,
    evaluation: &Evaluation,
    order: &[usize],
    chosen: &[usize],
    figures: &mut Figures,
) -> Result<()> {
    let mut errors = Vec::new();
    let mut distances = Vec::new();
    let mut rows = Vec::new();
    let values = evaluation.label_values();
    for &run in order {
        let name = &evaluation.runs[run].name;
        match evaluation.predictions(run)? {
            Some(Predictions::Distributions(predicted)) => {
                if errors.len() < TOGETHER {
                    errors.push((name.clone(), label_errors(&predicted, evaluation.labels.len())));
                }
                if let Some(values) = values.as_ref().filter(|_| distances.len() < TOGETHER) {
                    distances.push((name.clone(), mode_errors(&predicted, values)));
                }
                let shown = example_rows(&predicted, chosen);
                rows.push(plots::distributions(name, &evaluation.dataset, &shown, &evaluation.labels));
            }
            Some(Predictions::Values(pairs)) if distances.len() < TOGETHER => {
                distances
                    .push((name.clone(), pairs.iter().map(|(truth, own)| (truth - own).abs()).collect()));
            }
            _ => {}
        }
    }
    for (place, figure) in rows.iter().enumerate() {
        if place == 0 {
            section.heading("Rows");
            section.add(figures.html(figure));
        }
    }
    if rows.len() > 1 {
        let others: Vec<Element> = rows[1..].iter().map(|figure| figures.html(figure)).collect();
        section.add(folded("Rows of the other learners", others));
    }
    if !errors.is_empty() {
        section.heading("Labels");
        section.add(figures.html(&plots::label_error(&evaluation.dataset, &evaluation.labels, &errors)));
    }
    let measured = evaluation.runs.iter().any(|run| run.mean.get(MAE_MODE.name).is_some());
    if measured && !distances.is_empty() {
        section.add(figures.html(&plots::cumulative_score(&evaluation.dataset, &distances)));
    }
    Ok(())
}

fn curves(
    section: &mut Section,
    evaluation: &Evaluation,
    order: &[usize],
    figures: &mut Figures,
) -> Result<()> {
    let mut curves = Vec::new();
    for &run in order {
        let mut folds = Vec::new();
        for fold in 0..evaluation.runs[run].folds.len() {
            folds.push(evaluation.curve(run, fold)?);
        }
        folds.retain(|points| points.len() > 1);
        if !folds.is_empty() {
            let name = format!("{} on {}", evaluation.runs[run].name, evaluation.dataset);
            curves.push(figures.html(&plots::learning_curve(&name, &folds)));
        }
    }
    let mut curves = curves.into_iter();
    if let Some(first) = curves.next() {
        section.heading("Learning");
        section.add(first);
        let others: Vec<Element> = curves.collect();
        if !others.is_empty() {
            section.add(folded("Curves of the other learners", others));
        }
    }
    Ok(())
}
