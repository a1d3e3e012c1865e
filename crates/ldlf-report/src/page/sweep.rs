//! The section of a sweep: curves over the values of a parameter, and the numbers.

use ldlf_core::measures::{KL, MAE_MODE, direction};
use ldlf_core::parameters::show_value;

use super::{Figures, Section};
use crate::load::Evaluation;
use crate::plots;
use crate::ranking::{column_title, shown_measures};
use crate::statistics::ranks;
use crate::table::{Cell, SortableTable};

pub(super) fn section(number: usize, evaluation: &Evaluation, figures: &mut Figures) -> Section {
    let axes = evaluation.swept();
    let part =
        if evaluation.experiment.is_empty() { String::new() } else { format!("{}, ", evaluation.experiment) };
    let mut section = Section::new(
        format!("sweep-{number}"),
        format!("{}: {part}sweep over {}", evaluation.dataset, axes.join(", ")),
    );
    let measures = shown_measures(evaluation);
    for measure in [KL.name, MAE_MODE.name].into_iter().filter(|name| measures.iter().any(|m| m == name)) {
        if let Some(sweep) = plots::SweepCurves::of(evaluation, measure) {
            section.add(figures.html(&plots::sweep(&sweep, &[])));
        }
    }
    let caption = format!(
        "{}: mean ± standard deviation over {} folds. Click a column header to sort.",
        evaluation.dataset,
        evaluation.folds()
    );
    let mut table = SortableTable::new(caption).words("learner");
    for axis in &axes {
        table = table.numbers(axis);
    }
    for measure in &measures {
        table = table.numbers(column_title(measure));
    }
    let by_measure: Vec<Vec<f64>> = measures
        .iter()
        .map(|name| {
            let means: Vec<Option<f64>> = evaluation.runs.iter().map(|run| run.mean.get(name)).collect();
            ranks(&means, direction(name))
        })
        .collect();
    for (place, run) in evaluation.runs.iter().enumerate() {
        let mut cells = vec![Cell::word(&run.learner)];
        for axis in &axes {
            let value = run.parameters.get(axis);
            cells.push(match value.and_then(serde_json::Value::as_f64) {
                Some(number) => Cell::number(Some(number), if number.fract() == 0.0 { 0 } else { 4 }),
                None => Cell::word(&value.map_or("–".into(), show_value)),
            });
        }
        for (measure, ranks) in measures.iter().zip(&by_measure) {
            let best = ranks[place] < 2.0 && evaluation.runs.len() > 1;
            cells.push(Cell::measured(run.mean.get(measure), run.std.get(measure), ranks[place], best));
        }
        table.row(cells);
    }
    section.add(table.html());
    section
}
