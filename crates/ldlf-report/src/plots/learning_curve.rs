//! How a fit went: the training loss above, the K-L on rows that were not learnt from below, leaf updates marked.

use ldlf_core::results::CurvePoint;

use super::axes::{Frame, Scale};
use super::{legend, spoken};
use crate::picture::{Picture, line, mark, polyline};

/// Iterations with values.
type Curve = Vec<(f64, f64)>;

/// Points that a curve is drawn with; more are averaged.
const POINTS: usize = 240;

/// The curve of one fit. `name` says whose.
pub fn learning_curve(name: &str, points: &[CurvePoint]) -> Picture {
    let of = |pick: fn(&CurvePoint) -> Option<f64>| -> Curve {
        let kept = points.iter().filter_map(|point| Some((point.iteration as f64, pick(point)?)));
        kept.filter(|(_, value)| value.is_finite()).collect()
    };
    let loss = averaged(&of(|point| point.loss));
    let (validation, test) = (of(|point| point.validation_kl), of(|point| point.test_kl));
    let updates: Vec<f64> =
        points.iter().filter(|point| point.leaf_update).map(|point| point.iteration as f64).collect();
    let last = points.last().map_or(1.0, |point| point.iteration as f64);
    let measured: Vec<(&str, &Curve)> = [("validation K-L", &validation), ("test K-L", &test)]
        .into_iter()
        .filter(|(_, c)| !c.is_empty())
        .collect();

    let mut said = format!("{} iterations, {} leaf updates.", last, updates.len());
    if let (Some(first), Some(end)) = (loss.first(), loss.last()) {
        said += &format!(" The training loss goes from {} to {}.", spoken(first.1), spoken(end.1));
    }
    for (what, curve) in &measured {
        let best = curve.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        said += &format!(" The {what} is lowest, {}, at iteration {}.", spoken(best.1), best.0);
    }
    let panels = [!loss.is_empty(), !measured.is_empty()].iter().filter(|shown| **shown).count().max(1);
    let (tall, left, width) = (150.0, 66.0, 720.0 - 66.0 - 20.0);
    let mut names: Vec<String> = Vec::new();
    if !loss.is_empty() {
        names.push("training loss (averaged)".into());
    }
    names.extend(measured.iter().map(|(what, _)| what.to_string()));
    let height = 34.0 + legend::height(&names, width) + panels as f64 * (tall + 34.0) + 20.0;
    let mut picture = Picture::new(720.0, height, format!("Learning curve of {name}"), said);
    let mut top = 10.0 + 14.0;
    top += legend::draw(&mut picture, &names, left, top, width) + 14.0;
    let across = Scale::Linear(0.0, last.max(1.0));
    let mut series = 0;
    let mut lowest = None;
    let mut groups: Vec<(&str, Vec<&Curve>)> = Vec::new();
    if !loss.is_empty() {
        groups.push(("training loss", vec![&loss]));
    }
    if !measured.is_empty() {
        groups.push(("K-L", measured.iter().map(|(_, curve)| *curve).collect()));
    }
    for (axis, curves) in groups {
        let up = Scale::around(curves.iter().flat_map(|curve| curve.iter().map(|(_, value)| *value)));
        let frame = Frame { left, top, width, height: tall, across, up };
        frame.draw_up(&mut picture, axis, 5);
        for curve in curves {
            let places: Vec<(f64, f64)> = curve.iter().map(|&(x, y)| (frame.x(x), frame.y(y))).collect();
            picture.add(polyline(&places, &format!("s{series}")));
            if axis == "K-L"
                && let Some(best) = curve.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))
            {
                picture.add(mark(frame.x(best.0), frame.y(best.1), series, 5.0));
            }
            series += 1;
        }
        top += tall + 34.0;
        lowest = Some(frame);
    }
    let frame =
        lowest.unwrap_or(Frame { left, top, width, height: tall, across, up: Scale::Linear(0.0, 1.0) });
    for &update in &updates {
        let x = frame.x(update);
        picture.add(line((x, frame.bottom() - 8.0), (x, frame.bottom()), "update"));
    }
    let axis = if updates.is_empty() { "iteration" } else { "iteration (strokes on the axis: leaf updates)" };
    frame.draw_across(&mut picture, axis, 8);
    picture
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
