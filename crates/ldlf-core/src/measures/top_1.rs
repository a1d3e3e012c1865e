//! Top-1 agreement.

use super::{Direction, Formula, Measure, top_in_common};

/// Whether the most probable label is the same, 1 or 0; higher is better. Of equally probable labels the first counts.
pub const TOP_1: Measure = Measure {
    name: "top_1",
    title: "Top-1 agreement",
    direction: Direction::HigherIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    top_in_common(truth, predicted, 1)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn the_first_of_equals_counts() {
        assert_eq!(of_row(&TRUTH, &PREDICTED), 0.0);
        assert_eq!((of_row(&[0.5, 0.5], &FIRST), of_row(&[0.5, 0.5], &SECOND)), (1.0, 0.0));
    }
}
