//! Spearman.

use super::{Direction, Formula, Measure, pearson, ranks};

/// Spearman's rank correlation of the labels' shares: Pearson's correlation of their ranks, equal shares having the mean of their
/// ranks; higher is better, from -1 to 1. A row without an order (all shares equal) agrees with another such, and with none else.
pub const SPEARMAN: Measure = Measure {
    name: "spearman",
    title: "Spearman",
    direction: Direction::HigherIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    pearson(&ranks(truth), &ranks(predicted))
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn ranks_of_ties_are_shared() {
        // Ranks (4, 2.5, 2.5, 1) and (2.5, 2.5, 4, 1): covariance 2.25, variance 4.5.
        assert!(close(of_row(&TRUTH, &PREDICTED), 0.5));
        assert_eq!(of_row(&FIRST, &SECOND), -1.0);
        assert_eq!((of_row(&[0.5, 0.5], &FIRST), of_row(&[0.5, 0.5], &[0.5, 0.5])), (0.0, 1.0));
    }
}
