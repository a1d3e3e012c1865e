//! Whether a predicted share is what is observed: every label by itself, or all labels of a long row side by side.

use ldlf_core::calibration::LabelReliability;

use super::axes::{Frame, Scale, tick_text};
use super::significant;
use crate::figure::{Anchor, Figure, label, line, mark, polygon, polyline, rect, shortened};

/// Up to this many labels each has a panel; of more, single ones say little.
const PANELS: usize = 12;

/// Predicted against observed shares. On the diagonal both agree.
pub fn reliability(labels: &[String], found: &[LabelReliability]) -> Figure {
    if found.len() <= PANELS { panels(labels, found) } else { averages(labels, found) }
}

fn worst(labels: &[String], found: &[LabelReliability]) -> String {
    let pairs = labels.iter().zip(found);
    let worst = pairs.max_by(|a, b| a.1.error.total_cmp(&b.1.error));
    worst.map_or(String::new(), |(name, one)| {
        format!(" The largest calibration error has {name}: {}.", significant(one.error))
    })
}

fn panels(labels: &[String], found: &[LabelReliability]) -> Figure {
    let columns = found.len().clamp(1, 4);
    let lines = found.len().div_ceil(columns);
    let (panel, side, tall) = (182.0, 124.0, 200.0);
    let mut figure = Figure::new(
        columns as f64 * panel + 12.0,
        lines as f64 * tall + 24.0,
        "Reliability by label",
        format!(
            "For tenths of the rows, by rising predicted share: the mean predicted share (across) and the mean true share (up). \
             Points on the line are calibrated.{}",
            worst(labels, found)
        ),
    );
    for (place, one) in found.iter().enumerate() {
        let (left, top) = ((place % columns) as f64 * panel, (place / columns) as f64 * tall);
        let scale = Scale::from_zero(one.bins.iter().flatten().copied());
        let frame = Frame {
            left: left + 46.0,
            top: top + 34.0,
            width: side,
            height: side,
            x_scale: scale,
            y_scale: scale,
        };
        let name = labels.get(place).map(|name| shortened(name, 18)).unwrap_or_default();
        figure.add(label(frame.left, top + 18.0, Anchor::Start, "strong", &name));
        for tick in scale.ticks(3) {
            let (x, y) = (frame.x(tick), frame.y(tick));
            figure.add(line((frame.left, y), (frame.right(), y), "grid"));
            figure.add(label(frame.left - 5.0, y + 4.0, Anchor::End, "muted small", &tick_text(tick)));
            figure.add(label(x, frame.bottom() + 15.0, Anchor::Middle, "muted small", &tick_text(tick)));
        }
        figure.add(line((frame.left, frame.bottom()), (frame.right(), frame.top), "edge"));
        figure.add(line((frame.left, frame.bottom()), (frame.right(), frame.bottom()), "axis"));
        let points: Vec<(f64, f64)> = one.bins.iter().map(|&[p, d]| (frame.x(p), frame.y(d))).collect();
        figure.add(polyline(&points, "s0"));
        points.iter().for_each(|&(x, y)| figure.add(mark(x, y, 0, 3.2)));
    }
    let bottom = lines as f64 * tall + 12.0;
    let axes = "across: predicted share; up: observed share";
    figure.add(label(46.0, bottom, Anchor::Start, "muted", axes));
    figure
}

fn averages(labels: &[String], found: &[LabelReliability]) -> Figure {
    let (left, top, width, tall) = (58.0, 58.0, 640.0, 200.0);
    let mut figure = Figure::new(
        720.0,
        top + tall + 48.0,
        "Mean share of each label",
        format!(
            "The mean predicted and the mean true share of each of {} labels.{}",
            found.len(),
            worst(labels, found)
        ),
    );
    figure.add(rect(left, 10.0, 14.0, 12.0, "truth"));
    figure.add(label(left + 20.0, 20.0, Anchor::Start, "", "observed"));
    figure.add(line((left + 96.0, 16.0), (left + 114.0, 16.0), "s0"));
    figure.add(label(left + 120.0, 20.0, Anchor::Start, "", "predicted"));
    let frame = Frame {
        left,
        top,
        width,
        height: tall,
        x_scale: Scale::Linear(0.0, found.len().saturating_sub(1).max(1) as f64),
        y_scale: Scale::from_zero(found.iter().flat_map(|one| [one.predicted, one.observed])),
    };
    let place = |(number, share): (usize, f64)| (frame.x(number as f64), frame.y(share));
    let mut area: Vec<(f64, f64)> = found.iter().map(|one| one.observed).enumerate().map(place).collect();
    area.insert(0, (frame.left, frame.bottom()));
    area.push((frame.right(), frame.bottom()));
    figure.add(polygon(&area, "truth"));
    frame.draw_y_axis(&mut figure, "mean share", 4);
    let curve: Vec<(f64, f64)> = found.iter().map(|one| one.predicted).enumerate().map(place).collect();
    figure.add(polyline(&curve, "s0"));
    figure.add(line((left, frame.bottom()), (frame.right(), frame.bottom()), "axis"));
    for tick in frame.x_scale.ticks(10).into_iter().filter(|tick| tick.fract() == 0.0) {
        let name = labels.get(tick as usize).map(|name| shortened(name, 10)).unwrap_or_default();
        figure.add(label(frame.x(tick), frame.bottom() + 17.0, Anchor::Middle, "muted", &name));
    }
    figure.add(label(left + width / 2.0, frame.bottom() + 36.0, Anchor::Middle, "muted", "label"));
    figure
}
