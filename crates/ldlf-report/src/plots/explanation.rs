//! The columns that moved the prediction of a row away from the mean.

use ldlf_core::explain::Explanations;

use super::axes::{Frame, Scale};
use super::significant;
use crate::figure::{Anchor, Figure, label, line, rect, shortened};

/// Columns that are shown.
const SHOWN: usize = 15;

/// Bars for the columns that moved the row of a number among the explained ones; `title` names it.
pub fn explanation(found: &Explanations, row: usize, title: &str) -> Figure {
    let explained = &found.rows[row];
    let order = explained.order();
    let moved = |column: usize| explained.moved(column);
    let shown: Vec<usize> = order.into_iter().filter(|&column| moved(column) > 0.0).take(SHOWN).collect();
    let (left, top, height) = (190.0, 16.0, 22.0);
    let name = |column: usize| found.columns[column].name.as_str();
    let said: Vec<String> = shown
        .iter()
        .take(5)
        .map(|&column| format!("{} {}", name(column), significant(moved(column))))
        .collect();
    let mut figure = Figure::new(
        720.0,
        top + height * shown.len() as f64 + 48.0,
        format!("Explanation of {title}"),
        format!(
            "The share of the probability of {title} that each column moved away from the mean prediction over {} rows, {}; the \
             furthest: {}.",
            found.background,
            found.method.described(),
            if said.is_empty() { "none".into() } else { said.join(", ") }
        ),
    );
    let frame = Frame {
        left,
        top,
        width: 720.0 - left - 210.0,
        height: height * shown.len() as f64,
        x_scale: Scale::from_zero(shown.iter().map(|&column| moved(column))),
        y_scale: Scale::Linear(0.0, 1.0),
    };
    for tick in frame.x_scale.ticks(5) {
        figure.add(line((frame.x(tick), top), (frame.x(tick), frame.bottom()), "grid"));
    }
    for (place, &column) in shown.iter().enumerate() {
        let y = top + height * place as f64;
        let middle = y + height / 2.0 + 4.0;
        figure.add(label(left - 10.0, middle, Anchor::End, "", &shortened(name(column), 22)));
        let end = frame.x(moved(column));
        figure.add(rect(left, y + 4.0, end - left, height - 8.0, "m0"));
        figure.add(label(end + 6.0, middle, Anchor::Start, "muted small", &to_and_from(found, row, column)));
    }
    frame.draw_x_axis(&mut figure, "share of the probability that the column moved", 5);
    figure
}

/// The labels that a column gave most to and took most from: `good +0.08, bad -0.05`.
fn to_and_from(found: &Explanations, row: usize, column: usize) -> String {
    let parts = found.rows[row].contributions.row(column);
    let by = |pick: fn(f64, f64) -> bool| {
        let best =
            (0..parts.len()).reduce(|best, label| if pick(parts[label], parts[best]) { label } else { best });
        best.filter(|&label| parts[label] != 0.0)
            .map(|label| format!("{} {:+.3}", shortened(&found.labels[label], 12), parts[label]))
    };
    let (up, down) = (by(|a, b| a > b), by(|a, b| a < b));
    let mut said: Vec<String> = up.into_iter().collect();
    said.extend(down.filter(|down| !said.contains(down)));
    said.join(", ")
}
