//! The critical-difference diagram: average ranks on a line; a bar joins learners that do not differ significantly (Demsar 2006).

use super::axes::{Frame, Scale, tick_text};
use crate::figure::{Anchor, Figure, label, line, polyline, shortened};
use crate::ranking::{Comparison, column_title};
use crate::statistics::{critical_difference as difference_of, groups};

/// The level of the test.
const ALPHA: f64 = 0.05;

/// Draws the average ranks of a comparison.
pub fn critical_difference(comparison: &Comparison) -> Figure {
    let (count, blocks) = (comparison.learners.len(), comparison.datasets.len());
    let difference = difference_of(count, blocks, ALPHA);
    let joined = groups(&comparison.ranks, difference);
    let half = count.div_ceil(2);
    let (left, width, row) = (176.0, 368.0, 20.0);
    let bars = 16.0 + 9.0 * joined.len() as f64;
    let (axis, names) = (84.0, 84.0 + bars + 18.0);
    let height = names + row * half as f64 + 10.0;
    let order: Vec<String> = comparison
        .learners
        .iter()
        .zip(&comparison.ranks)
        .map(|(name, rank)| format!("{name} {rank:.2}"))
        .collect();
    let within: Vec<String> = joined
        .iter()
        .map(|&(first, last)| format!("{} to {}", comparison.learners[first], comparison.learners[last]))
        .collect();
    let within = if within.is_empty() {
        "No two learners lie within the critical difference.".to_string()
    } else {
        format!("Within the critical difference of each other: {}.", within.join("; "))
    };
    let mut figure = Figure::new(
        720.0,
        height,
        format!("Average ranks over {blocks} datasets by {}", column_title(&comparison.measure)),
        format!(
            "Average ranks, the best first: {}. Critical difference {difference:.2} at level {ALPHA}. {within}",
            order.join(", ")
        ),
    );
    let frame = Frame {
        left,
        top: axis,
        width,
        height: 10.0,
        x_scale: Scale::Linear(1.0, (count as f64).max(2.0)),
        y_scale: Scale::Linear(0.0, 1.0),
    };
    // The critical difference as a ruler above the axis.
    let shown = difference.min(count as f64 - 1.0);
    let (from, to) = (frame.x(1.0), frame.x(1.0 + shown));
    figure.add(line((from, 40.0), (to, 40.0), "edge"));
    [from, to].iter().for_each(|&x| figure.add(line((x, 35.0), (x, 45.0), "edge")));
    let ruler = format!("critical difference {difference:.2} (Nemenyi, level {ALPHA})");
    figure.add(label(from, 26.0, Anchor::Start, "muted", &ruler));
    figure.add(line((left, axis), (frame.right(), axis), "axis"));
    let step = if count > 12 { 2.0 } else { 1.0 };
    let ticks = (0..count).map(|n| 1.0 + n as f64).filter(|tick| (tick - 1.0) % step == 0.0);
    for tick in ticks {
        let x = frame.x(tick);
        figure.add(line((x, axis - 5.0), (x, axis), "axis"));
        figure.add(label(x, axis - 10.0, Anchor::Middle, "muted", &tick_text(tick)));
    }
    for (place, &(first, last)) in joined.iter().enumerate() {
        let y = axis + 14.0 + 9.0 * place as f64;
        let (from, to) = (frame.x(comparison.ranks[first]) - 4.0, frame.x(comparison.ranks[last]) + 4.0);
        figure.add(line((from, y), (to, y), "thick"));
    }
    for (place, (name, &rank)) in comparison.learners.iter().zip(&comparison.ranks).enumerate() {
        let (x, name) = (frame.x(rank), shortened(name, 18));
        let text = format!("{name}  {rank:.2}");
        let class = if place == 0 { "strong" } else { "" };
        if place < half {
            let y = names + row * place as f64;
            figure.add(polyline(&[(x, axis), (x, y), (left - 14.0, y)], "edge"));
            figure.add(label(left - 20.0, y + 4.0, Anchor::End, class, &text));
        } else {
            let y = names + row * (count - 1 - place) as f64;
            figure.add(polyline(&[(x, axis), (x, y), (frame.right() + 14.0, y)], "edge"));
            figure.add(label(
                frame.right() + 20.0,
                y + 4.0,
                Anchor::Start,
                class,
                &format!("{rank:.2}  {name}"),
            ));
        }
    }
    figure
}
