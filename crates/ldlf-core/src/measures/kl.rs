//! K-L.

use ldlf_math::numeric::SMALLEST_PROBABILITY;

use super::{Direction, Formula, Measure, pairs};

/// The Kullback-Leibler divergence `sum_c d_c ln(d_c / p_c)`, with `p` floored at 1e-12 and `0 ln 0 = 0`; lower is
/// better, from 0 at equality up to `12 ln 10` and no further.
pub const KL: Measure = Measure {
    name: "kl",
    title: "K-L",
    direction: Direction::LowerIsBetter,
    in_tables: true,
    formula: Formula::Distributions(kl),
};

/// The K-L divergence of one row, outside a table of measures: [`KL`] by itself.
pub fn kl(truth: &[f32], predicted: &[f32]) -> f64 {
    pairs(truth, predicted)
        .map(|(d, p)| if d == 0.0 { 0.0 } else { d * (d / p.max(SMALLEST_PROBABILITY)).ln() })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn matches_the_formula_by_hand() {
        // 0.5 ln 2 + 0.25 ln 1 + 0.25 ln 0.5 = 0.25 ln 2.
        assert!(close(kl(&TRUTH, &PREDICTED), 0.25 * 2f64.ln()));
    }

    #[test]
    fn predictions_are_clipped_from_below() {
        assert!(close(kl(&FIRST, &SECOND), 12.0 * 10f64.ln()));
    }
}
