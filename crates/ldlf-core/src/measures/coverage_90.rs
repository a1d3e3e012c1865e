//! Coverage at 90 %.

use super::{Direction, Formula, Measure, MeasuredRow};
use crate::estimates::interval;

/// The share of true values inside the distribution's central 90 % interval, from 0 to 1: below 0.9 the distributions are too
/// sure of themselves. Where the data has no single true value, values drawn from the true distribution count.
pub const COVERAGE_90: Measure = Measure {
    name: "coverage_90",
    title: "Coverage at 90 %",
    direction: Direction::HigherIsBetter,
    in_tables: false,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    let Some(p) = row.distribution() else { return f64::NAN };
    let (low, high) = interval(p, values, 0.9);
    row.expected(values, |y| f64::from(u8::from((low..=high).contains(&y))))
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn the_ends_are_inside() {
        // The interval is 10 to 40.
        assert_eq!(of_row(&MeasuredRow { value: Some(40.0), ..ROW }, &VALUES), 1.0);
        assert_eq!(of_row(&MeasuredRow { value: Some(40.5), ..ROW }, &VALUES), 0.0);
        assert_eq!(of_row(&MeasuredRow { truth: &[0.25, 0.0, 0.0, 0.75], ..ROW }, &VALUES), 0.25);
    }
}
