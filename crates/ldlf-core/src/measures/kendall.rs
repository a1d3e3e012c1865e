//! Kendall.

use super::{Direction, Formula, Measure};

/// Kendall's tau-b of the labels' shares: pairs of labels in the same order less those in opposite order, over the geometric mean of
/// the pairs that either row orders; higher is better, from -1 to 1. A row without an order (all shares equal) agrees with another
/// such, and with none else.
pub const KENDALL: Measure = Measure {
    name: "kendall",
    title: "Kendall",
    direction: Direction::HigherIsBetter,
    in_tables: false,
    formula: Formula::Distributions(of_row),
};

fn of_row(truth: &[f32], predicted: &[f32]) -> f64 {
    let order = |a: f32, b: f32| f64::from(i8::from(a > b) - i8::from(a < b));
    let (mut agreed, mut in_truth, mut in_predicted) = (0.0, 0.0, 0.0);
    for a in 0..truth.len() {
        for b in 0..a {
            let (d, p) = (order(truth[a], truth[b]), order(predicted[a], predicted[b]));
            agreed += d * p;
            in_truth += d * d;
            in_predicted += p * p;
        }
    }
    match (in_truth > 0.0, in_predicted > 0.0) {
        (true, true) => agreed / f64::sqrt(in_truth * in_predicted),
        (false, false) => 1.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::*;
    use super::*;

    #[test]
    fn pairs_that_agree_less_those_that_do_not() {
        // Of six pairs each row ties one; (1, 3) is turned round, (1, 4), (2, 4), (3, 4) agree: (3 - 1) / 5.
        assert!(close(of_row(&TRUTH, &PREDICTED), 0.4));
        assert_eq!(of_row(&FIRST, &SECOND), -1.0);
        assert_eq!((of_row(&[0.5, 0.5], &FIRST), of_row(&[0.5, 0.5], &[0.5, 0.5])), (0.0, 1.0));
    }
}
