//! How evenly rows spread over the leaves, and how many leaves are dead: hardly any row reaches them.

use ldlf_core::forest_view::ForestView;

use super::axes::{Frame, Scale};
use crate::figure::{Anchor, Figure, label, line, rect};

/// The upper edges of the bars: leaf mass relative to an even spread.
const EDGES: [f64; 9] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, f64::INFINITY];

/// A histogram of the fraction of rows per leaf, relative to an even spread.
pub fn leaf_usage(view: &ForestView) -> Figure {
    let usage = view.usage();
    let mut counts = [0usize; EDGES.len()];
    for value in &usage {
        let bar = EDGES.iter().position(|edge| value < edge).unwrap_or(EDGES.len() - 1);
        counts[bar] += 1;
    }
    let dead = view.dead_leaves();
    let (left, top, width, tall) = (58.0, 34.0, 640.0, 200.0);
    let mut figure = Figure::new(
        720.0,
        top + tall + 54.0,
        "Leaf usage",
        format!(
            "Of {} leaves in {} trees, {dead} are dead: over {} rows they get less than a hundredth of an even spread.",
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
        x_scale: Scale::Linear(0.0, EDGES.len() as f64),
        y_scale: Scale::from_zero(counts.iter().map(|&count| count as f64)),
    };
    frame.draw_y_axis(&mut figure, "leaves", 5);
    for (bar, &count) in counts.iter().enumerate() {
        let (x, next, y) = (frame.x(bar as f64), frame.x(bar as f64 + 1.0), frame.y(count as f64));
        let class = if bar == 0 { "dead" } else { "m0" };
        figure.add(rect(x + 6.0, y, next - x - 12.0, frame.bottom() - y, class));
        figure.add(label((x + next) / 2.0, y - 5.0, Anchor::Middle, "small", &count.to_string()));
        let name = match bar {
            0 => "dead".to_string(),
            bar if bar == EDGES.len() - 1 => format!("over {}", EDGES[bar - 1]),
            bar => format!("to {}", EDGES[bar]),
        };
        figure.add(label((x + next) / 2.0, frame.bottom() + 17.0, Anchor::Middle, "muted", &name));
    }
    figure.add(line((left, frame.bottom()), (frame.right(), frame.bottom()), "axis"));
    let axis = "fraction of rows relative to an even spread over the tree's leaves (dead: below 0.01)";
    figure.add(label(left + width / 2.0, frame.bottom() + 38.0, Anchor::Middle, "muted", axis));
    figure
}
