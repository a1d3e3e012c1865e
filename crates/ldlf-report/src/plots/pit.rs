//! Where the truth lies in the predicted distribution (probability integral transform).

use super::axes::{Frame, Scale};
use super::significant;
use crate::figure::{Figure, line, rect};

/// The histogram; flat where predictions are calibrated.
pub fn pit(bins: &[f64]) -> Figure {
    let even = 1.0 / bins.len().max(1) as f64;
    let shape = match bins {
        [first, middle @ .., last] => {
            let inner = middle.iter().sum::<f64>() / middle.len().max(1) as f64;
            format!(
                " The outer bins have {} and {}, the others {} on average.",
                significant(*first),
                significant(*last),
                significant(inner)
            )
        }
        _ => String::new(),
    };
    let (left, top, width, tall) = (58.0, 34.0, 440.0, 180.0);
    let mut figure = Figure::new(
        520.0,
        top + tall + 48.0,
        "Where the truth lies in the prediction (PIT)",
        format!(
            "The fraction of the truth in each tenth of the predicted distribution. Flat at {} is calibrated; high ends: too sure; \
             a high middle: not sure enough.{shape}",
            significant(even)
        ),
    );
    let frame = Frame {
        left,
        top,
        width,
        height: tall,
        x_scale: Scale::Linear(0.0, 1.0),
        y_scale: Scale::from_zero(bins.iter().copied().chain([even])),
    };
    frame.draw_y_axis(&mut figure, "fraction of the truth", 4);
    for (bin, &held) in bins.iter().enumerate() {
        let (from, to) = (frame.x(bin as f64 * even), frame.x((bin + 1) as f64 * even));
        figure.add(rect(from + 1.5, frame.y(held), to - from - 3.0, frame.bottom() - frame.y(held), "m0"));
    }
    figure.add(line((left, frame.y(even)), (frame.right(), frame.y(even)), "highlight"));
    frame.draw_x_axis(&mut figure, "predicted probability of a value as low as the true one", 5);
    figure
}
