//! Centred columns without changing them: the optimiser sees `(x - mean) theta + b'`, the rows stay as they are.
//!
//! Sparse columns cannot be centred in place, and uncentred ones slow L-BFGS down several times. Moving the means into the
//! bias, `b = b' - mean theta`, has the same effect; a penalty that spares the bias has the same minimum.

use ldlf_core::{Dataset, Features};

/// The weighted mean of every column.
pub struct Centring {
    means: Vec<f64>,
    labels: usize,
}

impl Centring {
    /// The means of `rows`, which are the scaled rows of `data`.
    pub fn new(rows: &Features, data: &Dataset) -> Self {
        let mut means = vec![0.0; rows.cols()];
        let mut total = 0.0;
        for row in 0..rows.rows() {
            let weight = f64::from(data.weight(row));
            total += weight;
            rows.for_each_in_row(row, |column, x| means[column] += weight * f64::from(x));
        }
        means.iter_mut().for_each(|m| *m /= if total > 0.0 { total } else { 1.0 });
        Centring { means, labels: data.labels() }
    }

    /// From plain parameters `[features + 1, labels]` to centred ones, in place.
    pub fn centre(&self, theta: &mut [f64]) {
        self.move_bias(theta, 1.0);
    }

    /// From centred parameters to plain ones, in place.
    pub fn restore(&self, theta: &mut [f64]) {
        self.move_bias(theta, -1.0);
    }

    /// From the gradient by plain parameters to that by centred ones, in place.
    pub fn centre_gradient(&self, gradient: &mut [f64]) {
        let (slopes, bias) = gradient.split_at_mut(self.means.len() * self.labels);
        for (slopes, mean) in slopes.chunks_exact_mut(self.labels).zip(&self.means) {
            slopes.iter_mut().zip(&*bias).for_each(|(s, b)| *s -= mean * b);
        }
    }

    fn move_bias(&self, theta: &mut [f64], sign: f64) {
        let (slopes, bias) = theta.split_at_mut(self.means.len() * self.labels);
        for (slopes, mean) in slopes.chunks_exact(self.labels).zip(&self.means) {
            bias.iter_mut().zip(slopes).for_each(|(b, s)| *b += sign * mean * s);
        }
    }
}
