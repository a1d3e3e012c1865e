//! The cumulative score of the age literature: the fraction of rows whose error is at most k.

use ldlf_core::estimates::cumulative_score_curve;

use super::axes::{Frame, Scale};
use super::{legend, significant};
use crate::figure::{Figure, mark, polyline};

/// Errors up to this many values are shown, or up to the largest that there is.
const LARGEST: usize = 10;
/// The error at which the literature compares.
const USUAL: usize = 5;

/// Errors by learner: names with the absolute error of every row.
pub fn cumulative_score(dataset: &str, errors: &[(String, Vec<f64>)]) -> Figure {
    let names: Vec<String> = errors.iter().map(|(name, _)| name.clone()).collect();
    let (left, width, tall) = (58.0, 640.0, 240.0);
    let top = 26.0 + legend::height(&names, width) + 22.0;
    let largest = errors.iter().flat_map(|(_, errors)| errors).copied().fold(1.0, f64::max).ceil();
    let largest = if largest < LARGEST as f64 { largest as usize } else { LARGEST };
    let curves: Vec<Vec<f64>> =
        errors.iter().map(|(_, errors)| cumulative_score_curve(errors, largest)).collect();
    let usual = if largest > USUAL { USUAL } else { 0 };
    let at_usual: Vec<String> = names
        .iter()
        .zip(&curves)
        .map(|(name, curve)| format!("{name} {}", significant(curve[usual])))
        .collect();
    let mut figure = Figure::new(
        720.0,
        top + tall + 46.0,
        format!("Cumulative score on {dataset}"),
        format!(
            "The fraction of rows whose mode is at most k away from the true value, for k from 0 to {largest}. At {usual}: {}.",
            at_usual.join(", ")
        ),
    );
    legend::draw(&mut figure, &names, left, 24.0, width);
    let x_scale = Scale::Linear(0.0, largest as f64);
    let frame = Frame { left, top, width, height: tall, x_scale, y_scale: Scale::Linear(0.0, 1.0) };
    frame.draw_y_axis(&mut figure, "fraction of rows", 5);
    for (series, curve) in curves.iter().enumerate() {
        let places: Vec<(f64, f64)> =
            curve.iter().enumerate().map(|(k, &fraction)| (frame.x(k as f64), frame.y(fraction))).collect();
        figure.add(polyline(&places, &format!("s{}", series % 7)));
        places.iter().for_each(|&(x, y)| figure.add(mark(x, y, series, 3.6)));
    }
    frame.draw_x_axis(&mut figure, "absolute error of the mode, at most", largest);
    figure
}
