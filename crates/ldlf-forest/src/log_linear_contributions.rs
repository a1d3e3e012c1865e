//! How much every feature moves the distribution of a linear model away from the mean prediction of background rows.
//!
//! Along the straight line from the mean inputs to those of the row the derivatives `dp_c / dz_j = p_c (theta_jc - sum_k p_k theta_jk)` are
//! averaged ([`POINTS`] midpoints): times `z_j - mean z_j` they are the contributions. What is missing from the sum, because the
//! prediction at the mean inputs is not the mean prediction, and for the midpoints, is due to no feature of the row; it goes to the features
//! in proportion to `sum_c |theta_jc|` times the deviation of `z_j`, as in soft trees. The sum is exact.

use ldlf_core::explain::Contributions;
use ldlf_core::{Features, Matrix, Threads};
use ldlf_math::numeric::softmax_in_place;

use crate::log_linear::{LogLinear, encode_all};

/// Points of a line.
const POINTS: usize = 16;

impl LogLinear {
    /// The contributions of features to some rows; none where rows do not fit the model.
    pub(crate) fn contributions(
        &self,
        background: &Features,
        rows: &Features,
        threads: &Threads,
    ) -> Option<Contributions> {
        let known = Background::new(self, &self.encoded(background)?, threads);
        let encoded = self.encoded(rows)?;
        let of_row = |row: &usize| self.of_row(&known, encoded.row(*row));
        let numbers: Vec<usize> = (0..rows.rows()).collect();
        let values = threads.map(numbers.iter(), of_row).concat();
        Some(Contributions { base: known.base, values })
    }

    /// `[rows, inputs]` without the bias.
    fn encoded(&self, features: &Features) -> Option<Matrix<f64>> {
        let encoded = encode_all(&self.encoder.clone().without_bias(), features).ok()?;
        let mut out = vec![0.0; encoded.rows() * encoded.cols()];
        for (row, out) in out.chunks_exact_mut(encoded.cols().max(1)).enumerate() {
            encoded.for_each_in_row(row, |input, z| out[input] = f64::from(z));
        }
        Matrix::new(encoded.rows(), encoded.cols(), out).ok()
    }

    fn theta(&self, input: usize) -> impl Iterator<Item = f64> {
        let labels = self.labels();
        self.map.weights()[input * labels..(input + 1) * labels].iter().map(|&weight| f64::from(weight))
    }

    /// The scores of some inputs, or how far they move the scores where `bias` is false.
    fn scores(&self, inputs: &[f64], bias: bool) -> Vec<f64> {
        let mut scores = vec![0.0; self.labels()];
        let one = bias.then_some(1.0);
        for (input, z) in inputs.iter().copied().chain(one).enumerate().filter(|(_, z)| *z != 0.0) {
            scores.iter_mut().zip(self.theta(input)).for_each(|(score, weight)| *score += weight * z);
        }
        scores
    }

    /// `[features, labels]`.
    fn of_row(&self, known: &Background, inputs: &[f64]) -> Vec<f64> {
        let labels = self.labels();
        let moved: Vec<f64> = inputs.iter().zip(&known.mean).map(|(z, mean)| z - mean).collect();
        let (from, step) = (self.scores(&known.mean, true), self.scores(&moved, false));
        // The mean over the line of dp_c / df_k, `[labels, labels]`.
        let mut slopes = vec![0.0; labels * labels];
        let mut shares = vec![0.0; labels];
        for point in 0..POINTS {
            let at = (point as f64 + 0.5) / POINTS as f64;
            shares.iter_mut().zip(from.iter().zip(&step)).for_each(|(p, (from, step))| *p = from + at * step);
            softmax_in_place(&mut shares);
            for (c, slopes) in slopes.chunks_exact_mut(labels).enumerate() {
                for (k, slope) in slopes.iter_mut().enumerate() {
                    let own = if c == k { 1.0 } else { 0.0 };
                    *slope += shares[c] * (own - shares[k]) / POINTS as f64;
                }
            }
        }
        let mut missing: Vec<f64> = from.iter().zip(&step).map(|(from, step)| from + step).collect();
        softmax_in_place(&mut missing);
        missing.iter_mut().zip(&known.base).for_each(|(left, base)| *left -= base);
        let mut out = vec![0.0; self.encoder.features() * labels];
        let mut add = |input: usize, label: usize, value: f64| {
            if let Some(feature) = self.encoder.feature_of(input) {
                out[feature * labels + label] += value;
            }
        };
        for (input, moved) in moved.iter().enumerate().filter(|(_, moved)| **moved != 0.0) {
            let weights: Vec<f64> = self.theta(input).collect();
            for (label, slopes) in slopes.chunks_exact(labels).enumerate() {
                let value =
                    moved * slopes.iter().zip(&weights).map(|(slope, weight)| slope * weight).sum::<f64>();
                missing[label] -= value;
                add(input, label, value);
            }
        }
        for (input, share) in known.spread.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            missing.iter().enumerate().for_each(|(label, left)| add(input, label, share * left));
        }
        out
    }
}

/// What the background rows say.
struct Background {
    /// The mean prediction.
    base: Vec<f64>,
    /// The mean of every input.
    mean: Vec<f64>,
    /// The part of every input in what is due to no feature of a row; the parts sum to 1.
    spread: Vec<f64>,
}

impl Background {
    fn new(model: &LogLinear, rows: &Matrix<f64>, threads: &Threads) -> Self {
        let count = rows.rows().max(1) as f64;
        let numbers: Vec<usize> = (0..rows.rows()).collect();
        let predicted = threads.map(numbers.iter(), |&row: &usize| {
            let mut scores = model.scores(rows.row(row), true);
            softmax_in_place(&mut scores);
            scores
        });
        let mut base = vec![0.0; model.labels()];
        predicted.iter().for_each(|own| base.iter_mut().zip(own).for_each(|(sum, p)| *sum += p / count));
        let mut mean = vec![0.0; rows.cols()];
        rows.iter_rows().for_each(|row| mean.iter_mut().zip(row).for_each(|(sum, z)| *sum += z / count));
        let mut square = vec![0.0; rows.cols()];
        for row in rows.iter_rows() {
            square
                .iter_mut()
                .zip(row.iter().zip(&mean))
                .for_each(|(sum, (z, mean))| *sum += (z - mean).powi(2));
        }
        let size = |input: usize| model.theta(input).map(f64::abs).sum::<f64>();
        let mut spread: Vec<f64> =
            square.iter().enumerate().map(|(input, square)| size(input) * (square / count).sqrt()).collect();
        let total: f64 = spread.iter().sum();
        // Where no input varies every prediction is the base.
        spread.iter_mut().for_each(|part| *part /= if total > 0.0 { total } else { 1.0 });
        Background { base, mean, spread }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::{Encoder, Scaling};
    use crate::linear::LinearMap;
    use ldlf_core::Inputs;

    #[test]
    fn contributions_sum_to_the_prediction() {
        let features =
            Features::Dense(Matrix::from_rows(&[[0.0, 2.0, 1.0], [1.0, -3.0, 1.0], [4.0, 0.5, 1.0]]));
        let encoder = Encoder::fit(&features, &[0, 1, 2], None, Scaling::Standard, 5.0, 0, true);
        let weights = vec![1.0, -0.5, 0.3, 2.0, -1.5, 0.1, 0.7, 0.0, 0.0, 0.2, -0.4, 0.6];
        let model = LogLinear { encoder, map: LinearMap::from_weights(4, 3, weights) };
        let told = model.contributions(&features, &features, &Threads::one()).unwrap();
        let predicted = model.predict(&Inputs::from(features), &Threads::one()).unwrap();
        for (row, shares) in predicted.iter_rows().enumerate() {
            for (label, &share) in shares.iter().enumerate() {
                let parts: f64 = (0..3).map(|feature| told.values[(row * 3 + feature) * 3 + label]).sum();
                assert!((told.base[label] + parts - f64::from(share)).abs() < 1e-6);
                assert_eq!(told.values[(row * 3 + 2) * 3 + label], 0.0, "a constant column moves nothing");
            }
        }
    }
}
