//! How evenly rows spread over the leaves, and how many leaves hardly any row reaches.

use ldlf_core::forest_view::ForestView;

use super::axes::{Frame, Scale};
use crate::picture::{Anchor, Picture, label, line, rect};

/// The upper edges of the bars: leaf mass relative to an even spread.
const EDGES: [f64; 9] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, f64::INFINITY];

/// A histogram of the leaves' share of the rows; 1 is what an even spread would give.
pub fn leaf_usage(view: &ForestView) -> Picture {
    let usage = view.usage();
    let mut counts = [0usize; EDGES.len()];
    for value in &usage {
        let bar = EDGES.iter().position(|edge| value < edge).unwrap_or(EDGES.len() - 1);
        counts[bar] += 1;
    }
    let dead = view.dead_leaves();
    let (left, top, width, tall) = (58.0, 34.0, 640.0, 200.0);
    let mut picture = Picture::new(
        720.0,
        top + tall + 54.0,
        "Leaf usage",
        format!(
            "Of {} leaves in {} trees, {dead} are dead: over {} rows they get less than a hundredth of an even share.",
            usage.len(),
            view.trees.len(),
            view.rows
        ),
    );
    let frame = Frame {
        left,
        top,
        width,
        height: tall,
        across: Scale::Linear(0.0, EDGES.len() as f64),
        up: Scale::from_zero(counts.iter().map(|&count| count as f64)),
    };
    frame.draw_up(&mut picture, "leaves", 5);
    for (bar, &count) in counts.iter().enumerate() {
        let (x, next, y) = (frame.x(bar as f64), frame.x(bar as f64 + 1.0), frame.y(count as f64));
        let class = if bar == 0 { "dead" } else { "m0" };
        picture.add(rect(x + 6.0, y, next - x - 12.0, frame.bottom() - y, class));
        picture.add(label((x + next) / 2.0, y - 5.0, Anchor::Middle, "small", &count.to_string()));
        let name = match bar {
            0 => "dead".to_string(),
            bar if bar == EDGES.len() - 1 => format!("over {}", EDGES[bar - 1]),
            bar => format!("to {}", EDGES[bar]),
        };
        picture.add(label((x + next) / 2.0, frame.bottom() + 17.0, Anchor::Middle, "muted", &name));
    }
    picture.add(line((left, frame.bottom()), (frame.right(), frame.bottom()), "axis"));
    let axis = "share of the rows, 1 is an even spread over the tree's leaves (dead: below 0.01)";
    picture.add(label(left + width / 2.0, frame.bottom() + 38.0, Anchor::Middle, "muted", axis));
    picture
}
