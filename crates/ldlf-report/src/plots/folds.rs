//! Every fold of every learner by one measure, to compare differences with the variation over folds.

use ldlf_core::measures::title;

use super::axes::{Frame, Scale};
use super::significant;
use crate::figure::{Anchor, Figure, label, line, mark, shortened};
use crate::load::Evaluation;
use crate::ranking::column_title;

/// A mean that exceeds the upper quartile of the means by this many interquartile ranges is written at the edge with an arrow.
const FAR: f64 = 6.0;

/// One line per learner, in the given order: a small marker per fold and a larger one for the mean.
pub fn folds(evaluation: &Evaluation, order: &[usize], measure: &str) -> Figure {
    let runs: Vec<_> = order
        .iter()
        .map(|&run| &evaluation.runs[run])
        .filter(|run| run.mean.get(measure).is_some())
        .collect();
    let (left, top, row) = (170.0, 34.0, 24.0);
    let height = top + row * runs.len() as f64 + 46.0;
    let means: Vec<f64> = runs.iter().filter_map(|run| run.mean.get(measure)).collect();
    let limit = outlying(&means);
    let values: Vec<f64> = runs
        .iter()
        .flat_map(|run| run.folds.iter().filter_map(|fold| fold.get(measure)).chain(run.mean.get(measure)))
        .filter(|value| *value <= limit)
        .collect();
    let best = runs.first().map_or(String::new(), |run| {
        format!(
            " {}, first by its average rank over the measures, has a mean of {}.",
            run.name,
            significant(run.mean.get(measure).unwrap_or(0.0))
        )
    });
    let mut figure = Figure::new(
        720.0,
        height,
        format!("{} of every fold on {}", title(measure), evaluation.dataset),
        format!(
            "{}, one line each, with a marker per fold and a larger one for the mean.{best}",
            if runs.len() == 1 { "1 learner".into() } else { format!("{} learners", runs.len()) }
        ),
    );
    let frame = Frame {
        left,
        top,
        width: 720.0 - left - 24.0,
        height: row * runs.len() as f64,
        x_scale: Scale::around(values),
        y_scale: Scale::Linear(0.0, 1.0),
    };
    for tick in frame.x_scale.ticks(6) {
        figure.add(line((frame.x(tick), top - 6.0), (frame.x(tick), frame.bottom()), "grid"));
    }
    frame.draw_x_axis(&mut figure, &column_title(measure), 6);
    for (place, run) in runs.iter().enumerate() {
        let y = top + row * (place as f64 + 0.5);
        // The best has the first colour in every figure; the others stay in the background.
        let series = if place == 0 { 0 } else { 6 };
        let class = if place == 0 { "strong" } else { "" };
        figure.add(label(left - 12.0, y + 4.0, Anchor::End, class, &shortened(&run.name, 20)));
        let mean = run.mean.get(measure).unwrap_or(0.0);
        if mean > limit {
            let far = format!("{} →", significant(mean));
            figure.add(label(frame.right(), y + 4.0, Anchor::End, "muted", &far));
            continue;
        }
        for fold in run.folds.iter().filter_map(|fold| fold.get(measure)).filter(|value| *value <= limit) {
            let dot = mark(frame.x(fold), y, series, 2.2).attr("opacity", "0.45");
            figure.add(dot);
        }
        figure.add(mark(frame.x(mean), y, series, 5.0));
    }
    figure
}

/// The largest mean that is drawn to scale.
fn outlying(means: &[f64]) -> f64 {
    let mut sorted = means.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0..=3 => f64::INFINITY,
        n => {
            let (low, high) = (sorted[n / 4], sorted[3 * n / 4]);
            high + FAR * (high - low).max(1e-9)
        }
    }
}
