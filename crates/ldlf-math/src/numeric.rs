//! The only implementation of sigmoid, log-sum-exp, softmax, `x ln y` and simplex checks.

/// The smallest probability whose logarithm is taken.
pub const SMALLEST_PROBABILITY: f64 = 1e-12;

/// `1 / (1 + exp(-x))`, exact at the ends: 0 at `-inf`, 1 at `+inf`.
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// `x ln y`, with `0 ln y = 0` and `y` floored at [`SMALLEST_PROBABILITY`].
pub fn xlogy(x: f64, y: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * y.max(SMALLEST_PROBABILITY).ln() }
}

/// `ln sum exp(x_i)` without overflow, summed in double precision.
pub fn log_sum_exp(x: &[f32]) -> f64 {
    let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if largest == f32::NEG_INFINITY {
        return largest.into();
    }
    f64::from(largest) + x.iter().map(|&v| f64::from(v - largest).exp()).sum::<f64>().ln()
}

/// Replaces scores by `exp(x_i) / sum exp(x_j)`.
pub fn softmax_in_place(x: &mut [f64]) {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for v in x.iter_mut() {
        *v = (*v - largest).exp();
        sum += *v;
    }
    x.iter_mut().for_each(|v| *v /= sum);
}

/// As [`softmax_in_place`], in single precision.
pub fn softmax_in_place_f32(x: &mut [f32]) {
    let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    x.iter_mut().for_each(|v| *v = (*v - largest).exp());
    let sum: f32 = x.iter().sum();
    x.iter_mut().for_each(|v| *v /= sum);
}

/// Divides non-negative numbers by their sum; all zeros become the uniform distribution.
pub fn normalise(x: &mut [f32]) {
    let sum: f64 = x.iter().map(|&v| f64::from(v)).sum();
    if sum > 0.0 {
        x.iter_mut().for_each(|v| *v = (f64::from(*v) / sum) as f32);
    } else {
        let uniform = 1.0 / x.len() as f32;
        x.fill(uniform);
    }
}

/// Whether the numbers are finite, not negative, and sum to 1 within `tolerance`.
pub fn on_simplex(x: &[f32], tolerance: f64) -> bool {
    let sum: f64 = x.iter().map(|&v| f64::from(v)).sum();
    x.iter().all(|v| v.is_finite() && *v >= 0.0) && (sum - 1.0).abs() <= tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigmoid_is_exact_at_the_ends() {
        assert_eq!((sigmoid(-1e3), sigmoid(0.0), sigmoid(1e3)), (0.0, 0.5, 1.0));
    }

    #[test]
    fn sigmoid_is_symmetric() {
        for x in [-30.0, -2.0, -0.1, 0.3, 5.0, 40.0] {
            assert!((sigmoid(x) + sigmoid(-x) - 1.0).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn zero_times_the_logarithm_of_zero_is_zero() {
        assert_eq!(xlogy(0.0, 0.0), 0.0);
        assert_eq!(xlogy(1.0, 1.0), 0.0);
        assert_eq!(xlogy(0.5, 0.0), 0.5 * 1e-12f64.ln());
    }

    #[test]
    fn log_sum_exp_does_not_overflow() {
        assert_eq!(log_sum_exp(&[1e3, 1e3]), 1e3 + 2f64.ln());
        assert_eq!(log_sum_exp(&[-1e3, -1e3]), -1e3 + 2f64.ln());
    }

    #[test]
    fn softmax_gives_distributions_at_large_scores() {
        for scores in [[1e3, 0.0, -1e3], [1e3; 3], [-1e3; 3], [0.0, 1.0, 2.0]] {
            let mut p = scores;
            softmax_in_place(&mut p);
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{scores:?}");
            assert!(p.iter().all(|v| (0.0..=1.0).contains(v)));
            let mut single = scores.map(|score| score as f32);
            softmax_in_place_f32(&mut single);
            assert!(single.iter().zip(p).all(|(&q, p)| (f64::from(q) - p).abs() < 1e-6), "{scores:?}");
        }
    }

    #[test]
    fn normalising_nothing_gives_the_uniform_distribution() {
        let mut x = [0.0f32; 4];
        normalise(&mut x);
        assert_eq!(x, [0.25; 4]);
        let mut votes = [1.0f32, 3.0];
        normalise(&mut votes);
        assert_eq!(votes, [0.25, 0.75]);
        assert!(
            on_simplex(&votes, 1e-6) && !on_simplex(&[0.5, 0.4], 1e-6) && !on_simplex(&[1.5, -0.5], 1e-6)
        );
    }
}
