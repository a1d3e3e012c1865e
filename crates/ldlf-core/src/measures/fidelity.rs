//! Fidelity.

use super::{Direction, Formula, Measure, pairs};

/// The fidelity `sum_c sqrt(d_c p_c)`; higher is better, from 0 to 1 at equality.
pub const FIDELITY: Measure = Measure {
    name: "fidelity",
    title: "Fidelity",
    direction: Direction::HigherIsBetter,
    in_tables: true,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    pairs(truth, predicted).map(|(d, p)| (d * p).sqrt()).sum()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn the_square_roots_of_the_products() {
        assert!(close(of_row(&TRUTH, &PREDICTED), 2.0 * 0.125f64.sqrt() + 0.25));
        assert_eq!(of_row(&FIRST, &SECOND), 0.0);
    }
}
