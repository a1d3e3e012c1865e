//! True and predicted distributions, one panel per row.

use super::axes::{Frame, Scale, rotated};
use super::significant;
use crate::figure::{Anchor, Figure, label, line, mark, polygon, polyline, rect, shortened};
use crate::rows::ExampleRow;

/// Up to this many labels each has a bar and a name; more are drawn as a curve.
const BARS: usize = 24;

/// One panel per row: grey is the true distribution, the coloured markers are the predicted one.
pub fn distributions(learner: &str, dataset: &str, rows: &[ExampleRow], labels: &[String]) -> Figure {
    let columns = rows.len().clamp(1, 3);
    let lines = rows.len().div_ceil(columns).max(1);
    let names = if labels.len() <= BARS { label_room(labels) } else { 22.0 };
    let (panel, tall) = (246.0, 150.0);
    let height = 34.0 + lines as f64 * (tall + names + 54.0);
    let said: Vec<String> = rows
        .iter()
        .map(|shown| {
            let mode = |d: &[f32]| labels.get(ldlf_core::estimates::mode(d)).cloned().unwrap_or_default();
            format!(
                "{} row {}: K-L {}, most probable label {} (true) and {} (predicted).",
                capitalised(shown.why),
                shown.row.row,
                significant(shown.kl),
                mode(&shown.row.truth),
                mode(&shown.row.predicted)
            )
        })
        .collect();
    let mut figure = Figure::new(
        columns as f64 * panel + 12.0,
        height,
        format!("True and predicted distributions of {learner} on {dataset}"),
        said.join(" "),
    );
    figure.add(rect(12.0, 10.0, 14.0, 12.0, "truth"));
    figure.add(label(32.0, 20.0, Anchor::Start, "", "true"));
    match labels.len() <= BARS {
        true => figure.add(mark(93.0, 16.0, 0, 4.0)),
        false => figure.add(line((84.0, 16.0), (102.0, 16.0), "s0")),
    }
    figure.add(label(108.0, 20.0, Anchor::Start, "", "predicted"));
    for (place, shown) in rows.iter().enumerate() {
        let left = 12.0 + (place % columns) as f64 * panel;
        let top = 34.0 + (place / columns) as f64 * (tall + names + 54.0);
        draw_panel(&mut figure, shown, labels, (left, top), (panel, tall));
    }
    figure
}

/// The space below a panel for rotated names.
fn label_room(labels: &[String]) -> f64 {
    let longest = labels.iter().map(|name| name.chars().count().min(14)).max().unwrap_or(0);
    18.0 + 4.6 * longest as f64
}

fn draw_panel(figure: &mut Figure, shown: &ExampleRow, labels: &[String], at: (f64, f64), size: (f64, f64)) {
    let row = &shown.row;
    let highest = row.truth.iter().chain(&row.predicted).copied().fold(0.0f32, f32::max);
    let count = labels.len().max(1) as f64;
    let frame = Frame {
        left: at.0 + 34.0,
        top: at.1 + 34.0,
        width: size.0 - 50.0,
        height: size.1,
        x_scale: Scale::Linear(-0.5, count - 0.5),
        y_scale: Scale::from_zero([f64::from(highest)]),
    };
    let heading = format!("{} row {}", capitalised(shown.why), row.row);
    figure.add(label(frame.left, at.1 + 8.0, Anchor::Start, "strong", &heading));
    let kl = format!("K-L {}", significant(shown.kl));
    figure.add(label(frame.left, at.1 + 23.0, Anchor::Start, "muted small", &kl));
    for tick in frame.y_scale.ticks(3) {
        let y = frame.y(tick);
        figure.add(line((frame.left, y), (frame.right(), y), "grid"));
        let text = super::axes::tick_text(tick);
        figure.add(label(frame.left - 5.0, y + 4.0, Anchor::End, "muted small", &text));
    }
    let place = |label: usize, value: f32| (frame.x(label as f64), frame.y(f64::from(value)));
    if labels.len() <= BARS {
        let width = (frame.width / count * 0.66).min(40.0);
        for (label, (&truth, &predicted)) in row.truth.iter().zip(&row.predicted).enumerate() {
            let (x, y) = place(label, truth);
            figure.add(rect(x - width / 2.0, y, width, frame.bottom() - y, "truth"));
            let (x, y) = place(label, predicted);
            figure.add(line((x, frame.bottom()), (x, y), "s0"));
            figure.add(mark(x, y, 0, 3.8));
        }
        for (number, name) in labels.iter().enumerate() {
            figure.add(rotated(
                frame.x(number as f64) + 4.0,
                frame.bottom() + 14.0,
                "muted small",
                &shortened(name, 14),
            ));
        }
    } else {
        let mut area: Vec<(f64, f64)> = row.truth.iter().enumerate().map(|(l, &v)| place(l, v)).collect();
        area.push((frame.x(count - 1.0), frame.bottom()));
        area.insert(0, (frame.x(0.0), frame.bottom()));
        figure.add(polygon(&area, "truth"));
        let curve: Vec<(f64, f64)> = row.predicted.iter().enumerate().map(|(l, &v)| place(l, v)).collect();
        figure.add(polyline(&curve, "s0"));
        for number in [0, labels.len() / 4, labels.len() / 2, 3 * labels.len() / 4, labels.len() - 1] {
            let x = frame.x(number as f64);
            figure.add(label(x, frame.bottom() + 15.0, Anchor::Middle, "muted small", &labels[number]));
        }
    }
    figure.add(line((frame.left, frame.bottom()), (frame.right(), frame.bottom()), "axis"));
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
