//! MAE of the mode.

use super::{Direction, Formula, Measure, MeasuredRow};
use crate::estimates::Rule;

/// The absolute error of the most probable label's value; lower is better, in the units of the label values.
pub const MAE_MODE: Measure = Measure {
    name: "mae_mode",
    title: "MAE of the mode",
    direction: Direction::LowerIsBetter,
    in_tables: true,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    row.absolute_error(Rule::Mode, values)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn the_distance_between_the_likeliest_values() {
        // The likeliest of both is 10 in truth and 40 as predicted.
        assert_eq!(of_row(&MeasuredRow::of_distributions(&TRUTH, &PREDICTED), &VALUES), 30.0);
    }
}
