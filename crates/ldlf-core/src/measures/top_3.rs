//! Top-3 agreement.

use super::{Direction, Formula, Measure, top_in_common};

/// The share of the three most probable labels (of all where there are fewer) that truth and prediction have in common; higher is
/// better, from 0 to 1. Of equally probable labels the first count.
pub const TOP_3: Measure = Measure {
    name: "top_3",
    title: "Top-3 agreement",
    direction: Direction::HigherIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    top_in_common(truth, predicted, 3)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn labels_in_common_out_of_three() {
        assert_eq!(of_row(&TRUTH, &PREDICTED), 1.0);
        assert!(close(of_row(&[0.4, 0.3, 0.2, 0.1, 0.0], &[0.0, 0.3, 0.1, 0.4, 0.2]), 1.0 / 3.0));
        assert_eq!(of_row(&FIRST, &SECOND), 1.0);
    }
}
