//! Jensen-Shannon.

use super::{Direction, Formula, Measure, pairs};

/// The Jensen-Shannon divergence `(K-L(d || m) + K-L(p || m)) / 2` with `m = (d + p) / 2`, in nats; lower is better, from 0
/// at equality to `ln 2`.
pub const JENSEN_SHANNON: Measure = Measure {
    name: "jensen_shannon",
    title: "Jensen-Shannon",
    direction: Direction::LowerIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    let towards = |a: f64, mean: f64| if a == 0.0 { 0.0 } else { a * (a / mean).ln() };
    pairs(truth, predicted).map(|(d, p)| (towards(d, (d + p) / 2.0) + towards(p, (d + p) / 2.0)) / 2.0).sum()
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn half_of_what_both_tell_about_their_mean() {
        // The mean is (0.375, 0.25, 0.375, 0): 0.5 ln(4/3) + 0.25 ln(2/3) for either row.
        assert!(close(of_row(&TRUTH, &PREDICTED), 0.5 * (4f64 / 3.0).ln() + 0.25 * (2f64 / 3.0).ln()));
        assert!(close(of_row(&FIRST, &SECOND), 2f64.ln()));
    }
}
