//! Euclidean.

use super::{Direction, Formula, Measure, pairs};

/// The Euclidean distance `sqrt(sum_c (d_c - p_c)^2)`; lower is better, from 0 to `sqrt 2`.
pub const EUCLIDEAN: Measure = Measure {
    name: "euclidean",
    title: "Euclidean",
    direction: Direction::LowerIsBetter,
    in_tables: true,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    pairs(truth, predicted).map(|(d, p)| (d - p).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn two_labels_off_by_a_quarter() {
        assert!(close(of_row(&TRUTH, &PREDICTED), 0.125f64.sqrt()));
        assert!(close(of_row(&FIRST, &SECOND), 2f64.sqrt()));
    }
}
