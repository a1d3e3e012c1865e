//! CS(1).

use super::{Direction, Formula, Measure, MeasuredRow, within};
use crate::estimates::Rule;

/// The cumulative score CS(1): 1 for a row whose mode is at most 1 away, such as a neighbouring star, else 0; higher is better.
pub const CS_1: Measure = Measure {
    name: "cs_1",
    title: "CS(1)",
    direction: Direction::HigherIsBetter,
    in_tables: false,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    within(row.absolute_error(Rule::Mode, values), 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn a_neighbour_still_counts() {
        let row = MeasuredRow { value: Some(39.0), ..MeasuredRow::of_distributions(&TRUTH, &PREDICTED) };
        assert_eq!(of_row(&row, &VALUES), 1.0);
        assert_eq!(of_row(&MeasuredRow { value: Some(38.5), ..row }, &VALUES), 0.0);
    }
}
