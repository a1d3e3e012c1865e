//! Chebyshev.

use super::{Direction, Formula, Measure, pairs};

/// The Chebyshev distance `max_c |d_c - p_c|`; lower is better, from 0 to 1.
pub const CHEBYSHEV: Measure = Measure {
    name: "chebyshev",
    title: "Chebyshev",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    pairs(truth, predicted).map(|(d, p)| (d - p).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn the_largest_difference() {
        assert_eq!(of_row(&TRUTH, &PREDICTED), 0.25);
        assert_eq!(of_row(&FIRST, &SECOND), 1.0);
    }
}
