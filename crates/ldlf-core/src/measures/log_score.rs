//! Log score of a vote.

use super::{Direction, Formula, Measure, pairs};
use ldlf_math::numeric::SMALLEST_PROBABILITY;

/// The log score `-sum_c d_c ln p_c` of a vote, with `p` floored at 1e-12: the negative multinomial log-likelihood of a row's
/// votes, divided by their number and without the coefficient that no prediction changes; lower is better, from the entropy of
/// the true distribution on.
pub const LOG_SCORE: Measure = Measure {
    name: "log_score",
    title: "Log score of a vote",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    let of_label = |(d, p): (f64, f64)| if d == 0.0 { 0.0 } else { -d * p.max(SMALLEST_PROBABILITY).ln() };
    pairs(truth, predicted).map(of_label).sum()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn surprise_at_a_vote_on_average() {
        // 0.5 ln 4 + 0.25 ln 4 + 0.25 ln 2 = 1.75 ln 2.
        assert!(close(of_row(&TRUTH, &PREDICTED), 1.75 * 2f64.ln()));
        assert!(close(of_row(&FIRST, &SECOND), 12.0 * 10f64.ln()));
    }
}
