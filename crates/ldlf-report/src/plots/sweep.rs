//! A measure over the values of a parameter, as in Figure 3 of the paper.

use ldlf_core::measures::title;
use ldlf_core::parameters::show_value;

use super::axes::{Frame, Scale};
use super::{legend, significant};
use crate::figure::{Anchor, Figure, label, line, mark, polygon, polyline};
use crate::load::{Evaluation, LearnerRun};
use crate::ranking::column_title;

/// A point that a publication gives for comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedPoint {
    /// The parameter's value.
    pub at: f64,
    /// The published number.
    pub value: f64,
}

/// A series: its name and `(value of the parameter, mean, deviation)`, rising.
pub type Series = (String, Vec<(f64, f64, f64)>);

/// The curves of a sweep over one parameter.
#[derive(Clone, Debug)]
pub struct SweepCurves {
    /// The dataset.
    pub dataset: String,
    /// The parameter along the axis.
    pub axis: String,
    /// The measure.
    pub measure: String,
    /// One curve per learner and combination of other values.
    pub series: Vec<Series>,
}

impl SweepCurves {
    /// The curves of an evaluation over its first swept parameter whose values are numbers.
    pub fn of(evaluation: &Evaluation, measure: &str) -> Option<Self> {
        let axes = evaluation.swept();
        let number =
            |run: &LearnerRun, axis: &str| run.parameters.get(axis).and_then(serde_json::Value::as_f64);
        let along =
            |axis: &&String| evaluation.runs.iter().filter(|run| number(run, axis).is_some()).count() > 1;
        let axis = axes.iter().find(along)?.clone();
        let several = evaluation.runs.iter().any(|run| run.learner != evaluation.runs[0].learner);
        let mut series: Vec<Series> = Vec::new();
        for run in &evaluation.runs {
            let (Some(at), Some(mean)) = (number(run, &axis), run.mean.get(measure)) else { continue };
            let others = axes
                .iter()
                .filter(|name| **name != axis)
                .filter_map(|name| Some(format!("{name}={}", show_value(run.parameters.get(name)?))));
            let own_name = (several || axes.len() == 1).then(|| run.learner.clone());
            let name = own_name.into_iter().chain(others).collect::<Vec<_>>().join(", ");
            let point = (at, mean, run.std.get(measure).unwrap_or(0.0));
            match series.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push(point),
                None => series.push((name, vec![point])),
            }
        }
        series.iter_mut().for_each(|(_, points)| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        Some(SweepCurves { dataset: evaluation.dataset.clone(), axis, measure: measure.to_string(), series })
    }
}

/// Curves with a band of one standard deviation over the folds; published points as crosses.
pub fn sweep(sweep: &SweepCurves, published: &[PublishedPoint]) -> Figure {
    let names: Vec<String> = sweep.series.iter().map(|(name, _)| name.clone()).collect();
    let (left, width, tall) = (72.0, 626.0, 260.0);
    let top = 26.0 + legend::height(&names, width) + 22.0;
    let said: Vec<String> = sweep
        .series
        .iter()
        .filter_map(|(name, points)| {
            let (first, last) = (points.first()?, points.last()?);
            Some(format!(
                "{name}: {} at {}, {} at {}.",
                significant(first.1),
                significant(first.0),
                significant(last.1),
                significant(last.0)
            ))
        })
        .collect();
    let mut figure = Figure::new(
        720.0,
        top + tall + if published.is_empty() { 48.0 } else { 68.0 },
        format!("{} on {} over {}", title(&sweep.measure), sweep.dataset, sweep.axis),
        said.join(" "),
    );
    legend::draw(&mut figure, &names, left, 24.0, width);
    let points = || sweep.series.iter().flat_map(|(_, points)| points.iter().copied());
    let mut values: Vec<f64> = points().map(|point| point.0).chain(published.iter().map(|a| a.at)).collect();
    let heights = points().flat_map(|(_, mean, std)| [mean - std, mean + std]);
    let frame = Frame {
        left,
        top,
        width,
        height: tall,
        x_scale: Scale::fitting(&values),
        y_scale: Scale::around(heights.chain(published.iter().map(|a| a.value))),
    };
    frame.draw_y_axis(&mut figure, &column_title(&sweep.measure), 6);
    for (series, (_, points)) in sweep.series.iter().enumerate() {
        let upper = points.iter().map(|&(x, mean, std)| (frame.x(x), frame.y(mean + std)));
        let lower = points.iter().rev().map(|&(x, mean, std)| (frame.x(x), frame.y(mean - std)));
        figure.add(polygon(&upper.chain(lower).collect::<Vec<_>>(), &format!("b{}", series % 7)));
    }
    for (series, (_, points)) in sweep.series.iter().enumerate() {
        let places: Vec<(f64, f64)> =
            points.iter().map(|&(x, mean, _)| (frame.x(x), frame.y(mean))).collect();
        figure.add(polyline(&places, &format!("s{}", series % 7)));
        places.iter().for_each(|&(x, y)| figure.add(mark(x, y, series, 4.0)));
    }
    for anchor in published {
        let (x, y) = (frame.x(anchor.at), frame.y(anchor.value));
        figure.add(line((x - 5.0, y - 5.0), (x + 5.0, y + 5.0), "edge"));
        figure.add(line((x - 5.0, y + 5.0), (x + 5.0, y - 5.0), "edge"));
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    let ticks = if values.len() <= 12 { spread_out(&frame, &values) } else { frame.x_scale.ticks(8) };
    frame.draw_x_axis_at(&mut figure, &sweep.axis, &ticks);
    if !published.is_empty() {
        let note = "crosses: numbers in the paper's text (its protocol, see the note on protocols)";
        figure.add(label(left, frame.bottom() + 56.0, Anchor::Start, "muted small", note));
    }
    figure
}

/// The values whose labels do not run into each other.
fn spread_out(frame: &Frame, values: &[f64]) -> Vec<f64> {
    let mut shown: Vec<f64> = Vec::new();
    for &value in values {
        if shown.last().is_none_or(|&last| frame.x(value) - frame.x(last) > 26.0) {
            shown.push(value);
        }
    }
    shown
}
