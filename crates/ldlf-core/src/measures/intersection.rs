//! Intersection.

use super::{Direction, Formula, Measure, pairs};

/// The intersection `sum_c min(d_c, p_c)`; higher is better, from 0 to 1 at equality.
pub const INTERSECTION: Measure = Measure {
    name: "intersection",
    title: "Intersection",
    direction: Direction::HigherIsBetter,
    in_tables: true,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    pairs(truth, predicted).map(|(d, p)| d.min(p)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn three_quarters_are_shared() {
        assert_eq!(of_row(&TRUTH, &PREDICTED), 0.75);
        assert_eq!(of_row(&FIRST, &SECOND), 0.0);
    }
}
