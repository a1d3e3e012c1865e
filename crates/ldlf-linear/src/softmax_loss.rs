//! The K-L loss of a softmax, for the maximum entropy model and the network.

use ldlf_core::Dataset;
use ldlf_math::numeric::xlogy;

/// Turns the scores of one row into `w p` and returns `-w sum_y d_y ln p_y`. A target's sum is 1 up to the rounding of single
/// precision; `p` is stretched to the same sum, so that `w (p - d)` is the exact gradient.
pub fn soften(scores: &mut [f64], target: &[f32], weight: f64) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut mass, mut dot) = (0.0, 0.0, 0.0);
    for (s, &d) in scores.iter_mut().zip(target) {
        let d = f64::from(d);
        let shifted = *s - largest;
        mass += d;
        dot += d * shifted;
        *s = shifted.exp();
        sum += *s;
    }
    let factor = weight * mass / sum;
    scores.iter_mut().for_each(|s| *s *= factor);
    weight * (mass * sum.ln() - dot)
}

/// `sum_i w_i sum_y d_iy ln d_iy`: what turns the cross-entropies that [`soften`] returns into K-L divergences.
pub fn negative_entropy(data: &Dataset) -> f64 {
    let of_row = |target: &[f32]| target.iter().map(|&d| xlogy(f64::from(d), f64::from(d))).sum::<f64>();
    data.targets()
        .iter_rows()
        .enumerate()
        .map(|(row, target)| f64::from(data.weight(row)) * of_row(target))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::{Features, Matrix};

    #[test]
    fn the_loss_is_the_k_l_divergence_at_any_size_of_scores() {
        let target = [0.25f32, 0.75, 0.0];
        let features = Features::Dense(Matrix::zeros(1, 1));
        let data = Dataset::new(features, Matrix::from_rows(&[target])).unwrap();
        for shift in [-1e3, 0.0, 1e3] {
            let mut scores = [shift, shift + 3f64.ln(), shift];
            let loss = 2.0 * negative_entropy(&data) + soften(&mut scores, &target, 2.0);
            // p = 1/5, 3/5, 1/5: both labels of the target are a factor 5/4 short.
            assert!((loss - 2.0 * 1.25f64.ln()).abs() < 1e-9, "{loss}");
            assert!(scores.iter().zip([0.4, 1.2, 0.4]).all(|(s, e)| (s - e).abs() < 1e-9));
        }
    }
}
