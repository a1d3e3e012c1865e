//! Squared chi2.

use super::{Direction, Formula, Measure, pairs, ratio};

/// The squared chi2 distance `sum_c (d_c - p_c)^2 / (d_c + p_c)`, `0 / 0 = 0`; lower is better, from 0 to 2.
pub const SQUARED_CHI2: Measure = Measure {
    name: "squared_chi2",
    title: "Squared chi2",
    direction: Direction::LowerIsBetter,
    in_tables: true,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    pairs(truth, predicted).map(|(d, p)| ratio((d - p).powi(2), d + p)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn two_terms_of_a_sixteenth_over_three_quarters() {
        assert!(close(of_row(&TRUTH, &PREDICTED), 2.0 * 0.0625 / 0.75));
        assert_eq!(of_row(&FIRST, &SECOND), 2.0);
    }
}
