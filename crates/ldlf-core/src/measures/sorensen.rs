//! Sorensen.

use super::{Direction, Formula, Measure, pairs, ratio};

/// The Sorensen distance `sum_c |d_c - p_c| / sum_c (d_c + p_c)`; lower is better, from 0 to 1.
pub const SORENSEN: Measure = Measure {
    name: "sorensen",
    title: "Sorensen",
    direction: Direction::LowerIsBetter,
    in_tables: true,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    let difference: f64 = pairs(truth, predicted).map(|(d, p)| (d - p).abs()).sum();
    let total: f64 = pairs(truth, predicted).map(|(d, p)| d + p).sum();
    ratio(difference, total)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn half_a_unit_moved_out_of_two() {
        assert!(close(of_row(&TRUTH, &PREDICTED), 0.25));
        assert_eq!(of_row(&FIRST, &SECOND), 1.0);
    }
}
