//! CS(5).

use super::{Direction, Formula, Measure, MeasuredRow, within};
use crate::estimates::Rule;

/// The cumulative score CS(5) of the age literature: 1 for a row whose mode is at most 5 away, else 0; higher is better.
pub const CS_5: Measure = Measure {
    name: "cs_5",
    title: "CS(5)",
    direction: Direction::HigherIsBetter,
    in_tables: true,
    formula: Formula::OrderedLabels(of_row),
};

fn of_row(row: &MeasuredRow<'_>, values: &[f64]) -> f64 {
    within(row.absolute_error(Rule::Mode, values), 5.0)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn five_away_still_counts() {
        let row = MeasuredRow { value: Some(35.0), ..MeasuredRow::of_distributions(&TRUTH, &PREDICTED) };
        assert_eq!(of_row(&row, &VALUES), 1.0);
        assert_eq!(of_row(&MeasuredRow { value: Some(34.0), ..row }, &VALUES), 0.0);
    }
}
