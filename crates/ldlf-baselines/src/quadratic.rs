//! Quadratic functions without mixed terms, `f(x) = b + sum_k l_k x_k + sum_k q_k x_k^2 / sqrt 2`, fitted by penalised least squares.

use ldlf_core::{Features, Threads};
use ldlf_math::parallel::chunks;

/// Scales the square of a feature of deviation 1 to about the size of the feature.
const SQUARE: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The coefficients `[l, q, b]` of a function: twice the features and one.
pub(crate) type Coefficients = Vec<f64>;

/// The function's value for one row.
pub(crate) fn value(coefficients: &[f64], rows: &Features, row: usize) -> f64 {
    let width = rows.cols();
    let mut sum = coefficients[2 * width];
    rows.for_each_in_row(row, |column, x| {
        let x = f64::from(x);
        sum += coefficients[column] * x + coefficients[width + column] * SQUARE * x * x;
    });
    sum
}

/// Adds `factor` times the row's terms `[x, x^2 / sqrt 2, 1]` to `out`.
fn add_terms(rows: &Features, row: usize, factor: f64, out: &mut [f64]) {
    let width = rows.cols();
    out[2 * width] += factor;
    rows.for_each_in_row(row, |column, x| {
        let x = f64::from(x);
        out[column] += factor * x;
        out[width + column] += factor * SQUARE * x * x;
    });
}

/// Rows to fit to: their numbers, wanted values and weights.
pub(crate) struct Wanted<'a> {
    pub(crate) rows: &'a Features,
    pub(crate) which: &'a [usize],
    /// One per row of `rows`.
    pub(crate) values: &'a [f64],
    /// One per row of `rows`.
    pub(crate) weights: &'a [f64],
}

/// Rows per task.
const CHUNK: usize = 512;

/// The conjugate gradients end when the residual has fallen by this factor ...
const TOLERANCE: f64 = 1e-9;
/// ... or after this many steps.
const STEPS: usize = 1000;

impl Wanted<'_> {
    /// Minimises `sum_i w_i (y_i - f(x_i))^2 + penalty (|l|^2 + |q|^2)` by conjugate gradients from `start`.
    ///
    /// Needs only products with the rows: sparse rows stay sparse, and many features need no square matrix.
    pub(crate) fn fit(&self, penalty: f64, start: Coefficients, threads: &Threads) -> Coefficients {
        let size = start.len();
        let mut point = start;
        let zero = vec![0.0; size];
        let right = self.normal_product(&zero, true, threads);
        let mut residual: Vec<f64> = {
            let product = self.penalised(&point, penalty, threads);
            right.iter().zip(product).map(|(r, p)| r - p).collect()
        };
        let first = squared(&right).max(f64::MIN_POSITIVE);
        let mut direction = residual.clone();
        let mut length = squared(&residual);
        for _ in 0..STEPS.min(4 * size) {
            if length <= TOLERANCE * TOLERANCE * first {
                break;
            }
            let product = self.penalised(&direction, penalty, threads);
            let curvature: f64 = direction.iter().zip(&product).map(|(d, p)| d * p).sum();
            if curvature <= 0.0 {
                break;
            }
            let step = length / curvature;
            point.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
            residual.iter_mut().zip(&product).for_each(|(r, p)| *r -= step * p);
            let before = length;
            length = squared(&residual);
            let keep = length / before;
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + keep * *d);
        }
        point
    }

    /// `(Z^T W Z + penalty) c`; the constant carries no penalty.
    fn penalised(&self, coefficients: &[f64], penalty: f64, threads: &Threads) -> Vec<f64> {
        let mut product = self.normal_product(coefficients, false, threads);
        let last = product.len() - 1;
        product[..last].iter_mut().zip(coefficients).for_each(|(p, c)| *p += penalty * c);
        product
    }

    /// `Z^T W Z c`, or `Z^T W y` of the targets.
    fn normal_product(&self, coefficients: &[f64], of_values: bool, threads: &Threads) -> Vec<f64> {
        let parts = threads.map(chunks(self.which.len(), CHUNK), |range| {
            let mut part = vec![0.0; coefficients.len()];
            for &row in &self.which[range] {
                let value = if of_values { self.values[row] } else { value(coefficients, self.rows, row) };
                add_terms(self.rows, row, self.weights[row] * value, &mut part);
            }
            part
        });
        let mut sum = vec![0.0; coefficients.len()];
        for part in parts {
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
        }
        sum
    }
}

fn squared(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::Matrix;

    #[derive(serde::Deserialize)]
    struct Case {
        rows: Vec<[f32; 3]>,
        values: Vec<f64>,
        weights: Vec<f64>,
        penalty: f64,
        coefficients: Vec<f64>,
    }

    #[test]
    fn coefficients_are_those_of_numpys_normal_equations() {
        // tests/oracles/quadratic.py: numpy.linalg.solve of (Z^T W Z + P) c = Z^T W y.
        let case: Case = serde_json::from_str(include_str!("../tests/oracles/quadratic.json")).unwrap();
        let rows = Features::Dense(Matrix::from_rows(&case.rows));
        let which: Vec<usize> = (0..case.rows.len()).collect();
        let wanted = Wanted { rows: &rows, which: &which, values: &case.values, weights: &case.weights };
        let found = wanted.fit(case.penalty, vec![0.0; 7], &Threads::one());
        for (found, expected) in found.iter().zip(&case.coefficients) {
            assert!((found - expected).abs() < 1e-5, "{found}, numpy has {expected}");
        }
    }
}
