//! MAE of the mean.

use super::{Direction, Formula, Measure, MeasuredRow};
use crate::estimates::Rule;

/// The absolute error of the expected value; lower is better, in the units of the label values.
pub const MAE_MEAN: Measure = Measure {
    name: "mae_mean",
    title: "MAE of the mean",
    direction: Direction::LowerIsBetter,
    in_tables: true,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    row.absolute_error(Rule::Mean, values)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn the_distance_between_the_expected_values() {
        // 10/2 + 20/4 + 40/4 = 20 in truth, 10/4 + 20/4 + 40/2 = 27.5 as predicted.
        assert_eq!(of_row(&MeasuredRow::of_distributions(&TRUTH, &PREDICTED), &VALUES), 7.5);
    }
}
