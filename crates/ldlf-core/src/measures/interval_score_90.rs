//! Interval score at 90 %.

use super::{Direction, Formula, Measure, MeasuredRow};
use crate::estimates::interval;

/// The interval score of the distribution's central 90 % interval: its width, and 20 times how far the true value lies outside, in the
/// units of the label values; lower is better. Where the data has no single true value, values drawn from the true distribution count.
pub const INTERVAL_SCORE_90: Measure = Measure {
    name: "interval_score_90",
    title: "Interval score at 90 %",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::OrderedLabels(of_row),
};

/// What may lie outside.
const ALPHA: f64 = 0.1;

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    let Some(p) = row.distribution() else { return f64::NAN };
    let (low, high) = interval(p, values, 1.0 - ALPHA);
    let outside = |y: f64| (low - y).max(0.0) + (y - high).max(0.0);
    high - low + 2.0 / ALPHA * row.expected(values, outside)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn width_and_twenty_times_the_miss() {
        // The interval is 10 to 40.
        assert!(close(of_row(&MeasuredRow { value: Some(41.5), ..ROW }, &VALUES), 60.0));
        assert!(close(of_row(&ROW, &VALUES), 30.0));
    }
}
