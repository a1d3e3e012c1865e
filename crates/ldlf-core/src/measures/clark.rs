//! Clark.

use super::{Direction, Formula, Measure, pairs, ratio};

/// The Clark distance `sqrt(sum_c (d_c - p_c)^2 / (d_c + p_c)^2)`, `0 / 0 = 0`; lower is better, from 0 to the square
/// root of the number of labels.
pub const CLARK: Measure = Measure {
    name: "clark",
    title: "Clark",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    pairs(truth, predicted).map(|(d, p)| ratio(d - p, d + p).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn two_terms_of_a_third_squared() {
        assert!(close(of_row(&TRUTH, &PREDICTED), (2.0f64 / 9.0).sqrt()));
        assert!(close(of_row(&FIRST, &SECOND), 2f64.sqrt()));
    }
}
