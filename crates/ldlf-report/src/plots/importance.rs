//! The features that a model leans on most.

use ldlf_core::measures::title;

use super::axes::{Frame, Scale};
use super::spoken;
use crate::importance::Importances;
use crate::picture::{Anchor, Picture, label, line, rect, shortened};

/// Features that are shown.
const SHOWN: usize = 15;

/// Bars for the most important features; `name` says what a feature is called.
pub fn importance(importances: &Importances, name: impl Fn(usize) -> String) -> Picture {
    let shown: Vec<_> = importances.features.iter().filter(|f| f.rise > 0.0).take(SHOWN).collect();
    let (left, top, row) = (190.0, 16.0, 22.0);
    let said: Vec<String> =
        shown.iter().take(5).map(|f| format!("{} {}", name(f.feature), spoken(f.rise))).collect();
    let mut picture = Picture::new(
        720.0,
        top + row * shown.len() as f64 + 48.0,
        "Feature importance",
        format!(
            "By how much {} rises over {} rows when one feature's values are shuffled; the most important: {}.",
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
        across: Scale::from_zero(shown.iter().map(|f| f.rise)),
        up: Scale::Linear(0.0, 1.0),
    };
    for tick in frame.across.ticks(5) {
        picture.add(line((frame.x(tick), top), (frame.x(tick), frame.bottom()), "grid"));
    }
    for (place, feature) in shown.iter().enumerate() {
        let y = top + row * place as f64;
        let name = shortened(&name(feature.feature), 22);
        picture.add(label(left - 10.0, y + row / 2.0 + 4.0, Anchor::End, "", &name));
        picture.add(rect(left, y + 4.0, frame.x(feature.rise) - left, row - 8.0, "m0"));
        let rise = spoken(feature.rise);
        picture.add(label(
            frame.x(feature.rise) + 6.0,
            y + row / 2.0 + 4.0,
            Anchor::Start,
            "muted small",
            &rise,
        ));
    }
    let axis = format!("rise of {} when the feature is shuffled", title(importances.measure));
    frame.draw_across(&mut picture, &axis, 5);
    picture
}
