//! Learning curves: the training loss above, the K-L on held-out rows below, leaf updates as ticks.

use ldlf_io::results::CurvePoint;

use super::axes::{Frame, Scale};
use super::{legend, significant};
use crate::figure::{Figure, line, mark, polyline};

/// Iterations with values.
type Curve = Vec<(f64, f64)>;

/// Points that a curve is drawn with; more are averaged.
const POINTS: usize = 240;

/// One measure over the folds: its name, and one curve per fold.
struct Measured {
    name: &'static str,
    curves: Vec<Curve>,
}

impl Measured {
    fn of(name: &'static str, folds: &[Vec<CurvePoint>], pick: fn(&CurvePoint) -> Option<f64>) -> Self {
        let curve = |points: &Vec<CurvePoint>| -> Curve {
            let kept = points.iter().filter_map(|point| Some((point.iteration as f64, pick(point)?)));
            kept.filter(|(_, value)| value.is_finite()).collect()
        };
        Measured { name, curves: folds.iter().map(curve).filter(|curve| !curve.is_empty()).collect() }
    }

    /// The lowest point of every fold.
    fn lowest(&self) -> Vec<(f64, f64)> {
        let lowest = |curve: &Curve| curve.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
        self.curves.iter().filter_map(lowest).collect()
    }
}

/// The curves of the fits of one learner, named `name`, one line per fold.
pub fn learning_curve(name: &str, folds: &[Vec<CurvePoint>]) -> Figure {
    let mut loss = Measured::of("training loss", folds, |point| point.loss);
    loss.curves.iter_mut().for_each(|curve| *curve = averaged(curve));
    let measured: Vec<Measured> = [
        Measured::of("validation K-L", folds, |point| point.validation_kl),
        Measured::of("test K-L", folds, |point| point.test_kl),
    ]
    .into_iter()
    .filter(|measured| !measured.curves.is_empty())
    .collect();
    let updates = |points: &Vec<CurvePoint>| -> Vec<f64> {
        points.iter().filter(|point| point.leaf_update).map(|point| point.iteration as f64).collect()
    };
    let updates = folds.iter().map(updates).max_by_key(Vec::len).unwrap_or_default();
    let ends: Vec<f64> =
        folds.iter().filter_map(|points| points.last()).map(|point| point.iteration as f64).collect();
    let last = ends.iter().copied().fold(1.0, f64::max);

    let mut names: Vec<String> = Vec::new();
    if !loss.curves.is_empty() {
        names.push("training loss (averaged)".into());
    }
    names.extend(measured.iter().map(|measured| measured.name.to_string()));
    let panels = usize::from(!loss.curves.is_empty()) + usize::from(!measured.is_empty());
    let (tall, left, width) = (150.0, 66.0, 720.0 - 66.0 - 20.0);
    let height = 34.0 + legend::height(&names, width) + panels.max(1) as f64 * (tall + 34.0) + 20.0;
    let said = described(&ends, &updates, &loss, &measured);
    let mut figure = Figure::new(720.0, height, format!("Learning curve of {name}"), said);
    let mut top = 10.0 + 14.0;
    top += legend::draw(&mut figure, &names, left, top, width) + 14.0;
    let x_scale = Scale::Linear(0.0, last);
    let mut series = 0;
    let mut lowest = None;
    let groups = [("training loss", vec![&loss]), ("K-L", measured.iter().collect())];
    for (axis, group) in groups {
        let curves = || group.iter().flat_map(|measured| &measured.curves);
        if curves().next().is_none() {
            continue;
        }
        let y_scale = Scale::around(curves().flat_map(|curve| curve.iter().map(|(_, value)| *value)));
        let frame = Frame { left, top, width, height: tall, x_scale, y_scale };
        frame.draw_y_axis(&mut figure, axis, 5);
        for measured in group {
            // Several folds overlap: each is drawn faintly, so that where they agree is dark.
            let opacity = if measured.curves.len() > 1 { "0.45" } else { "1" };
            for curve in &measured.curves {
                let places: Vec<(f64, f64)> = curve.iter().map(|&(x, y)| (frame.x(x), frame.y(y))).collect();
                figure.add(polyline(&places, &format!("s{series}")).attr("opacity", opacity));
            }
            if axis == "K-L" {
                let size = if measured.curves.len() > 1 { 3.6 } else { 5.0 };
                for (x, y) in measured.lowest() {
                    figure.add(mark(frame.x(x), frame.y(y), series, size));
                }
            }
            series += 1;
        }
        top += tall + 34.0;
        lowest = Some(frame);
    }
    let frame =
        lowest.unwrap_or(Frame { left, top, width, height: tall, x_scale, y_scale: Scale::Linear(0.0, 1.0) });
    for &update in &updates {
        let x = frame.x(update);
        figure.add(line((x, frame.bottom() - 8.0), (x, frame.bottom()), "update"));
    }
    let axis = if updates.is_empty() { "iteration" } else { "iteration (ticks on the axis: leaf updates)" };
    frame.draw_x_axis(&mut figure, axis, 8);
    figure
}

fn described(ends: &[f64], updates: &[f64], loss: &Measured, measured: &[Measured]) -> String {
    let several = ends.len() > 1;
    let mut said = if several { format!("{} folds, one line each; ", ends.len()) } else { String::new() };
    said += &format!("{} iterations, {} leaf updates.", range(ends), updates.len());
    let ends_of = |pick: fn(&Curve) -> Option<&(f64, f64)>| -> Vec<f64> {
        loss.curves.iter().filter_map(pick).map(|point| point.1).collect()
    };
    let (first, end) = (ends_of(|curve| curve.first()), ends_of(|curve| curve.last()));
    if !first.is_empty() {
        said += &format!(
            " The training loss goes from {} to {}.",
            significant(mean(&first)),
            significant(mean(&end))
        );
    }
    for measured in measured {
        let (at, values): (Vec<f64>, Vec<f64>) = measured.lowest().into_iter().unzip();
        let lowest = if several { "lowest (marked), on average" } else { "lowest (marked)," };
        said += &format!(
            " The {} is {lowest} {}, at iteration {}.",
            measured.name,
            significant(mean(&values)),
            range(&at)
        );
    }
    said
}

/// `400`, or `400 to 1500` where the numbers differ.
fn range(values: &[f64]) -> String {
    let (low, high) = values.iter().fold((f64::INFINITY, 0.0), |(low, high), &v| (v.min(low), v.max(high)));
    if low >= high { format!("{high}") } else { format!("{low} to {high}") }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The means of neighbouring points, so that at most [`POINTS`] remain.
fn averaged(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let size = points.len().div_ceil(POINTS).max(1);
    let mean = |part: &[(f64, f64)]| {
        let n = part.len() as f64;
        (part.iter().map(|p| p.0).sum::<f64>() / n, part.iter().map(|p| p.1).sum::<f64>() / n)
    };
    points.chunks(size).map(mean).collect()
}
