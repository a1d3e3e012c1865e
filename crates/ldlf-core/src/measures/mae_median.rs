//! MAE of the median.

use super::{Direction, Formula, Measure, MeasuredRow};
use crate::estimates::Rule;

/// The absolute error of the value at which half of the probability is reached; lower is better, in the units of the
/// label values.
pub const MAE_MEDIAN: Measure = Measure {
    name: "mae_median",
    title: "MAE of the median",
    direction: Direction::LowerIsBetter,
    in_tables: true,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    row.absolute_error(Rule::Median, values)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn the_distance_between_the_values_that_halve_the_probability() {
        // 10 holds half of the truth; the prediction reaches half with 20.
        assert_eq!(of_row(&MeasuredRow::of_distributions(&TRUTH, &PREDICTED), &VALUES), 10.0);
    }
}
