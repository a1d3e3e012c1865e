//! The most important features of a model.

use ldlf_core::explain::Importances;
use ldlf_core::measures::title;

use super::axes::{Frame, Scale};
use super::significant;
use crate::figure::{Anchor, Figure, label, line, rect, shortened};

/// Columns that are shown.
const SHOWN: usize = 15;

/// Bars for the most important columns.
pub fn importance(importances: &Importances) -> Figure {
    let shown: Vec<_> = importances.columns.iter().filter(|f| f.rise > 0.0).take(SHOWN).collect();
    let (left, top, row) = (190.0, 16.0, 22.0);
    let said: Vec<String> =
        shown.iter().take(5).map(|f| format!("{} {}", f.column, significant(f.rise))).collect();
    let mut figure = Figure::new(
        720.0,
        top + row * shown.len() as f64 + 48.0,
        "Feature importance",
        format!(
            "Increase of {} over {} rows when one column is shuffled; the most important: {}.",
            title(importances.measure),
            importances.rows,
            if said.is_empty() { "none".into() } else { said.join(", ") }
        ),
    );
    let frame = Frame {
        left,
        top,
        width: 720.0 - left - 70.0,
        height: row * shown.len() as f64,
        x_scale: Scale::from_zero(shown.iter().map(|f| f.rise)),
        y_scale: Scale::Linear(0.0, 1.0),
    };
    for tick in frame.x_scale.ticks(5) {
        figure.add(line((frame.x(tick), top), (frame.x(tick), frame.bottom()), "grid"));
    }
    for (place, feature) in shown.iter().enumerate() {
        let y = top + row * place as f64;
        let name = shortened(&feature.column, 22);
        figure.add(label(left - 10.0, y + row / 2.0 + 4.0, Anchor::End, "", &name));
        figure.add(rect(left, y + 4.0, frame.x(feature.rise) - left, row - 8.0, "m0"));
        let rise = significant(feature.rise);
        figure.add(label(
            frame.x(feature.rise) + 6.0,
            y + row / 2.0 + 4.0,
            Anchor::Start,
            "muted small",
            &rise,
        ));
    }
    let axis = format!("increase of {} when the column is shuffled", title(importances.measure));
    frame.draw_x_axis(&mut figure, &axis, 5);
    figure
}
