//! Cosine.

use super::{Direction, Formula, Measure, pairs, ratio};

/// The cosine `sum_c d_c p_c / (|d| |p|)`, `0 / 0 = 0`; higher is better, from 0 to 1 at equality.
pub const COSINE: Measure = Measure {
    name: "cosine",
    title: "Cosine",
    direction: Direction::HigherIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    let (mut product, mut of_truth, mut of_predicted) = (0.0, 0.0, 0.0);
    for (d, p) in pairs(truth, predicted) {
        product += d * p;
        of_truth += d * d;
        of_predicted += p * p;
    }
    ratio(product, (of_truth * of_predicted).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn the_product_over_both_lengths() {
        // (1/8 + 1/16 + 1/8) / (1/4 + 1/16 + 1/16) = 5/6.
        assert!(close(of_row(&TRUTH, &PREDICTED), 5.0 / 6.0));
        assert_eq!(of_row(&FIRST, &SECOND), 0.0);
    }
}
