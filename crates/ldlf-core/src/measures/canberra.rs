//! Canberra.

use super::{Direction, Formula, Measure, pairs, ratio};

/// The Canberra distance `sum_c |d_c - p_c| / (d_c + p_c)`, `0 / 0 = 0`; lower is better, from 0 to the number of
/// labels.
pub const CANBERRA: Measure = Measure {
    name: "canberra",
    title: "Canberra",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    pairs(truth, predicted).map(|(d, p)| ratio((d - p).abs(), d + p)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn two_terms_of_a_third() {
        assert!(close(of_row(&TRUTH, &PREDICTED), 2.0 / 3.0));
        assert_eq!(of_row(&FIRST, &SECOND), 2.0);
    }
}
