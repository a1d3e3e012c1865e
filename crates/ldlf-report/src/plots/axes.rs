//! The frame of a plot: two axes with ticks at round numbers, and the mapping of values to positions.

use crate::figure::{Anchor, Figure, label, line};
use crate::markup::Element;

/// How an axis maps values to positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Equal differences are equally long.
    Linear(f64, f64),
    /// Equal factors are equally long; both ends are positive.
    Logarithmic(f64, f64),
}

impl Scale {
    /// A scale with a margin around all values; equal values still give it a length.
    pub fn around(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = bounds(values);
        let room = if high > low { (high - low) * 0.06 } else { high.abs().max(1.0) * 0.05 };
        Scale::Linear(low - room, high + room)
    }

    /// A scale from 0 up to a little above all values.
    pub fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let (_, high) = bounds(values);
        Scale::Linear(0.0, if high > 0.0 { high * 1.06 } else { 1.0 })
    }

    /// A logarithmic scale where the values are positive and span a factor of more than eight, a linear one elsewhere.
    pub fn fitting(values: &[f64]) -> Self {
        let (low, high) = bounds(values.iter().copied());
        if low > 0.0 && high / low > 8.0 {
            Scale::Logarithmic(low / 1.1, high * 1.1)
        } else {
            Scale::around([low, high])
        }
    }

    /// Where a value lies, from 0 to 1.
    pub fn fraction(self, value: f64) -> f64 {
        match self {
            Scale::Linear(low, high) => (value - low) / (high - low),
            Scale::Logarithmic(low, high) => (value.max(f64::MIN_POSITIVE) / low).ln() / (high / low).ln(),
        }
    }

    /// Round numbers inside the scale, about as many as asked for.
    pub fn ticks(self, wanted: usize) -> Vec<f64> {
        match self {
            Scale::Linear(low, high) => {
                let step = round_step((high - low) / wanted.max(1) as f64);
                let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
                (first..=last.min(first + 50)).map(|n| n as f64 * step).collect()
            }
            Scale::Logarithmic(low, high) => {
                let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
                let steps: &[f64] = if high / low > 2000.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                decades
                    .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
                    .filter(|tick| (low..=high).contains(tick))
                    .collect()
            }
        }
    }
}

fn bounds(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|value| value.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high { (0.0, 1.0) } else { (low, high) }
}

/// The next of 1, 2, 5, 10, ... that is not below the step.
fn round_step(step: f64) -> f64 {
    let step = if step > 0.0 && step.is_finite() { step } else { 1.0 };
    let power = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// A number as a tick shows it: no more digits than it needs.
pub fn tick_text(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !(1e-4..1e6).contains(&magnitude) {
        format!("{value:.0e}")
    } else {
        let text = format!("{value:.5}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

/// The frame: the area of the data, and the scales of both axes.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Left edge of the data.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Width of the data.
    pub width: f64,
    /// Height of the data.
    pub height: f64,
    /// The horizontal scale.
    pub x_scale: Scale,
    /// The vertical scale.
    pub y_scale: Scale,
}

impl Frame {
    /// The position of a value on the horizontal axis.
    pub fn x(&self, value: f64) -> f64 {
        self.left + self.width * self.x_scale.fraction(value)
    }

    /// The position of a value on the vertical axis.
    pub fn y(&self, value: f64) -> f64 {
        self.top + self.height * (1.0 - self.y_scale.fraction(value))
    }

    /// The lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Draws the vertical axis: lines across at round numbers, and its name above.
    pub fn draw_y_axis(&self, figure: &mut Figure, name: &str, wanted: usize) {
        for tick in self.y_scale.ticks(wanted) {
            let y = self.y(tick);
            figure.add(line((self.left, y), (self.right(), y), "grid"));
            figure.add(label(self.left - 7.0, y + 4.0, Anchor::End, "muted", &tick_text(tick)));
        }
        figure.add(label(self.left - 7.0, self.top - 12.0, Anchor::Start, "muted", name));
    }

    /// Draws the horizontal axis below with ticks at round numbers and its name.
    pub fn draw_x_axis(&self, figure: &mut Figure, name: &str, wanted: usize) {
        self.draw_x_axis_at(figure, name, &self.x_scale.ticks(wanted));
    }

    /// Draws the horizontal axis below with ticks at given numbers and its name.
    pub fn draw_x_axis_at(&self, figure: &mut Figure, name: &str, ticks: &[f64]) {
        let y = self.bottom();
        figure.add(line((self.left, y), (self.right(), y), "axis"));
        for &tick in ticks {
            let x = self.x(tick);
            figure.add(line((x, y), (x, y + 4.0), "axis"));
            figure.add(label(x, y + 17.0, Anchor::Middle, "muted", &tick_text(tick)));
        }
        figure.add(label(self.left + self.width / 2.0, y + 35.0, Anchor::Middle, "muted", name));
    }
}

/// A rotated text, for an axis with words.
pub fn rotated(x: f64, y: f64, class: &str, text: &str) -> Element {
    label(0.0, 0.0, Anchor::End, class, text).attr(
        "transform",
        format!("translate({} {}) rotate(-40)", crate::markup::coordinate(x), crate::markup::coordinate(y)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Scale::Linear(0.0, 1.0).ticks(5).len(), 6);
        assert_eq!(Scale::Logarithmic(0.9, 110.0).ticks(5), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
    }

    #[test]
    fn values_that_are_all_the_same_or_missing_still_make_a_scale() {
        for values in [vec![], vec![f64::NAN], vec![3.0, 3.0], vec![0.0]] {
            let fraction = Scale::around(values.iter().copied()).fraction(3.0);
            assert!(fraction.is_finite(), "{values:?}");
        }
    }

    #[test]
    fn numbers_on_an_axis_have_no_needless_digits() {
        assert_eq!([0.25, 100.0, 0.0, 1e-7].map(tick_text), ["0.25", "100", "0", "1e-7"]);
    }
}
