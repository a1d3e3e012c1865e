//! Point estimates and intervals from a distribution: its mode, mean, quantiles; and how far estimates are from the truth.
//!
//! `values` are the numbers that the labels stand for (an age, a rating), rising, one per label. They need not start at 0
//! or be consecutive.

use ldlf_math::numeric::xlogy;

/// How much a cumulative sum may fall short of a quantile's level and still reach it: single-precision
/// probabilities do not sum exactly.
const ROUNDING: f64 = 1e-6;

/// Which point estimate a distribution is summarised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The value of the most probable label: the paper's rule.
    Mode,
    /// The expected value.
    Mean,
    /// The value at which half of the probability is reached.
    Median,
}

impl Rule {
    /// The estimate of this rule.
    pub fn estimate(self, distribution: &[f32], values: &[f64]) -> f64 {
        match self {
            Rule::Mode => values[mode(distribution)],
            Rule::Mean => mean(distribution, values),
            Rule::Median => median(distribution, values),
        }
    }
}

/// The number of the most probable label; of equal ones the first.
///
/// ```
/// assert_eq!(ldlf_core::estimates::mode(&[0.2, 0.4, 0.4]), 1);
/// ```
pub fn mode(distribution: &[f32]) -> usize {
    let mut best = 0;
    for (label, &p) in distribution.iter().enumerate() {
        if p > distribution[best] {
            best = label;
        }
    }
    best
}

/// The expected value `sum_c p_c v_c / sum_c p_c`.
///
/// ```
/// assert_eq!(ldlf_core::estimates::mean(&[0.5, 0.25, 0.25], &[10.0, 20.0, 40.0]), 20.0);
/// ```
pub fn mean(distribution: &[f32], values: &[f64]) -> f64 {
    let sum: f64 = distribution.iter().zip(values).map(|(&p, v)| f64::from(p) * v).sum();
    sum / total(distribution)
}

/// The smallest value at which the cumulative probability reaches `level`, from 0 to 1.
///
/// ```
/// use ldlf_core::estimates::quantile;
/// assert_eq!(quantile(&[0.1, 0.4, 0.5], &[1.0, 2.0, 3.0], 0.5), 2.0);
/// assert_eq!(quantile(&[0.1, 0.4, 0.5], &[1.0, 2.0, 3.0], 0.51), 3.0);
/// ```
pub fn quantile(distribution: &[f32], values: &[f64], level: f64) -> f64 {
    let wanted = level * total(distribution) - ROUNDING;
    let mut reached = 0.0;
    let mut estimate = None;
    for (&p, &value) in distribution.iter().zip(values) {
        // A label without probability is no estimate, even for the level 0 or 1.
        if p > 0.0 {
            reached += f64::from(p);
            estimate = Some(value);
            if reached >= wanted {
                break;
            }
        }
    }
    estimate.unwrap_or(f64::NAN)
}

/// The value at which half of the probability is reached.
pub fn median(distribution: &[f32], values: &[f64]) -> f64 {
    quantile(distribution, values, 0.5)
}

/// The central interval that holds at least the probability `level`: as much is cut off below as above.
///
/// ```
/// use ldlf_core::estimates::interval;
/// assert_eq!(interval(&[0.05, 0.45, 0.45, 0.05], &[1.0, 2.0, 3.0, 4.0], 0.8), (2.0, 3.0));
/// ```
pub fn interval(distribution: &[f32], values: &[f64], level: f64) -> (f64, f64) {
    let outside = (1.0 - level) / 2.0;
    // From below, a level that is just reached leaves exactly the allowed share outside: the interval starts past it.
    let low = quantile(distribution, values, outside + 2.0 * ROUNDING);
    (low, quantile(distribution, values, 1.0 - outside))
}

/// The entropy `-sum_c p_c ln p_c` in nats: 0 for certainty, `ln labels` for the uniform distribution.
pub fn entropy(distribution: &[f32]) -> f64 {
    let sum: f64 = distribution.iter().map(|&p| xlogy(f64::from(p), f64::from(p))).sum();
    // Without this, certainty would read -0.
    0.0 - sum
}

/// The cumulative score: the share, from 0 to 1, of absolute errors that are at most `k`. Papers print it in percent.
///
/// ```
/// assert_eq!(ldlf_core::estimates::cumulative_score(&[0.0, 5.0, 5.5, 9.0], 5.0), 0.5);
/// ```
pub fn cumulative_score(errors: &[f64], k: f64) -> f64 {
    errors.iter().filter(|&&error| error <= k).count() as f64 / errors.len() as f64
}

/// The cumulative scores for `k = 0, 1, ..., largest`: the curve of the age literature.
pub fn cumulative_score_curve(errors: &[f64], largest: usize) -> Vec<f64> {
    (0..=largest).map(|k| cumulative_score(errors, k as f64)).collect()
}

fn total(distribution: &[f32]) -> f64 {
    distribution.iter().map(|&p| f64::from(p)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGES: [f64; 4] = [15.0, 16.0, 20.0, 60.0];

    #[test]
    fn the_three_rules_differ_on_a_skewed_distribution() {
        let p = [0.375, 0.25, 0.125, 0.25];
        assert_eq!(Rule::Mode.estimate(&p, &AGES), 15.0);
        assert_eq!(Rule::Median.estimate(&p, &AGES), 16.0);
        assert_eq!(Rule::Mean.estimate(&p, &AGES), 27.125);
    }

    #[test]
    fn quantiles_stay_on_labels_that_have_probability() {
        let p = [0.0, 0.5, 0.5, 0.0];
        assert_eq!((quantile(&p, &AGES, 0.0), quantile(&p, &AGES, 1.0)), (16.0, 20.0));
        // Ten tenths in single precision do not sum to 1 exactly.
        let tenths = [0.1f32; 10];
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        for label in 1..=10 {
            assert_eq!(quantile(&tenths, &values, f64::from(label) / 10.0), f64::from(label));
        }
    }

    #[test]
    fn an_interval_cuts_no_more_of_both_tails_than_allowed() {
        let p = [0.125, 0.375, 0.375, 0.125];
        assert_eq!(interval(&p, &AGES, 0.75), (16.0, 20.0));
        assert_eq!(interval(&p, &AGES, 0.8), (15.0, 60.0));
        assert_eq!(interval(&p, &AGES, 1.0), (15.0, 60.0));
    }

    #[test]
    fn entropy_runs_from_certainty_to_uniform() {
        assert_eq!(entropy(&[0.0, 1.0]).to_bits(), 0f64.to_bits());
        assert!((entropy(&[0.25; 4]) - 4f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn the_curve_rises_to_one() {
        assert_eq!(cumulative_score_curve(&[0.0, 1.5, 2.0, 3.0], 3), [0.25, 0.25, 0.75, 1.0]);
    }
}
