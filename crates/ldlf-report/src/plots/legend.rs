//! The legend of a figure.

use crate::figure::{Anchor, Figure, label, line, mark, shortened, text_width};

/// Draws names with their markers in one line or more from `(x, y)`, and returns the height that they took.
pub fn draw(figure: &mut Figure, names: &[String], x: f64, y: f64, width: f64) -> f64 {
    let (mut at, mut row) = (x, y);
    for (series, name) in names.iter().enumerate() {
        let name = shortened(name, 40);
        let room = 34.0 + text_width(&name);
        if at > x && at + room > x + width {
            (at, row) = (x, row + 19.0);
        }
        figure.add(line((at, row - 4.0), (at + 22.0, row - 4.0), &format!("s{}", series % 7)));
        figure.add(mark(at + 11.0, row - 4.0, series, 3.6));
        figure.add(label(at + 28.0, row, Anchor::Start, "", &name));
        at += room + 12.0;
    }
    row - y + 19.0
}

/// The height that [`draw`] will take.
pub fn height(names: &[String], width: f64) -> f64 {
    let (mut at, mut rows) = (0.0, 1.0);
    for name in names {
        let room = 34.0 + text_width(&shortened(name, 40));
        if at > 0.0 && at + room > width {
            (at, rows) = (0.0, rows + 1.0);
        }
        at += room + 12.0;
    }
    19.0 * rows
}
