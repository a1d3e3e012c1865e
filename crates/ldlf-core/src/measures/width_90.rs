//! Width at 90 %.

use super::{Direction, Formula, Measure, MeasuredRow};
use crate::estimates::interval;

/// The width of the distribution's central 90 % interval, in the units of the label values; narrower is better where the coverage is
/// equal.
pub const WIDTH_90: Measure = Measure {
    name: "width_90",
    title: "Width at 90 %",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    let Some(p) = row.distribution() else { return f64::NAN };
    let (low, high) = interval(p, values, 0.9);
    high - low
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn from_the_lowest_to_the_highest() {
        assert_eq!(of_row(&ROW, &VALUES), 30.0);
    }
}
