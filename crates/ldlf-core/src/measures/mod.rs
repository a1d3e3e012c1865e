//! How far a predicted distribution is from the true one: one file a measure, each a function of two rows that is
//! averaged over the rows.

mod canberra;
mod chebyshev;
mod clark;
mod cosine;
mod euclidean;
mod fidelity;
mod intersection;
mod kl;
mod scores;
mod sorensen;
mod squared_chi2;

pub use canberra::CANBERRA;
pub use chebyshev::CHEBYSHEV;
pub use clark::CLARK;
pub use cosine::COSINE;
pub use euclidean::EUCLIDEAN;
pub use fidelity::FIDELITY;
pub use intersection::INTERSECTION;
pub use kl::KL;
pub use scores::{LARGEST_K, ORDERED, Scores, cumulative_scores, score};
pub use sorensen::SORENSEN;
pub use squared_chi2::SQUARED_CHI2;

use crate::Matrix;

/// Which way a measure points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A distance or an error.
    LowerIsBetter,
    /// A likeness.
    HigherIsBetter,
}

impl Direction {
    /// Whether `a` is strictly better than `b`.
    ///
    /// ```
    /// use ldlf_core::measures::{COSINE, KL};
    /// assert!(KL.direction.prefers(0.1, 0.2) && COSINE.direction.prefers(0.9, 0.8));
    /// ```
    pub fn prefers(self, a: f64, b: f64) -> bool {
        match self {
            Direction::LowerIsBetter => a < b,
            Direction::HigherIsBetter => a > b,
        }
    }
}

/// A measure of one row: the true distribution `d` against the predicted `p`, both of length `labels`.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// What JSON and the command line call it.
    pub name: &'static str,
    /// What tables call it.
    pub title: &'static str,
    /// Which way it points.
    pub direction: Direction,
    /// The measure of one row.
    pub of_row: fn(truth: &[f32], predicted: &[f32]) -> f64,
}

/// What tables call a measure, those for ordered labels included; another name stays as it is.
///
/// ```
/// use ldlf_core::measures::title;
/// assert_eq!((title("kl"), title("cs_5"), title("fit_seconds")), ("K-L", "CS(5)", "fit_seconds"));
/// ```
pub fn title(name: &str) -> &str {
    match name {
        "mae_mode" => "MAE of the mode",
        "mae_mean" => "MAE of the mean",
        "mae_median" => "MAE of the median",
        "cs_5" => "CS(5)",
        _ => all().iter().find(|measure| measure.name == name).map_or(name, |measure| measure.title),
    }
}

/// Which way a measure points; of the measures for ordered labels only the cumulative score should rise.
pub fn direction(name: &str) -> Direction {
    match all().iter().find(|measure| measure.name == name) {
        Some(measure) => measure.direction,
        None if name.starts_with("cs_") => Direction::HigherIsBetter,
        None => Direction::LowerIsBetter,
    }
}

/// Every measure of distributions, in the order of tables and of JSON.
pub fn all() -> &'static [Measure] {
    const ALL: [Measure; 10] =
        [KL, EUCLIDEAN, SORENSEN, SQUARED_CHI2, FIDELITY, INTERSECTION, CHEBYSHEV, CLARK, CANBERRA, COSINE];
    &ALL
}

/// The mean of a measure over the rows, `sum_i w_i m(d_i, p_i) / sum_i w_i`, each weight 1 where there are none.
///
/// Both matrices are `[rows, labels]`. Without rows, or when every weight is zero, the mean is not a number.
///
/// ```
/// use ldlf_core::Matrix;
/// use ldlf_core::measures::{CHEBYSHEV, mean_over_rows};
/// let truth = Matrix::from_rows(&[[0.5, 0.5], [1.0, 0.0]]);
/// let predicted = Matrix::from_rows(&[[0.5, 0.5], [0.5, 0.5]]);
/// assert_eq!(mean_over_rows(&CHEBYSHEV, &truth, &predicted, None), 0.25);
/// ```
pub fn mean_over_rows(
    measure: &Measure,
    truth: &Matrix<f32>,
    predicted: &Matrix<f32>,
    weights: Option<&[f32]>,
) -> f64 {
    let rows = truth.iter_rows().zip(predicted.iter_rows());
    weighted_mean(rows.map(|(d, p)| (measure.of_row)(d, p)), weights)
}

/// The mean of some numbers by the weights beside them.
pub(crate) fn weighted_mean(values: impl Iterator<Item = f64>, weights: Option<&[f32]>) -> f64 {
    let (mut sum, mut total) = (0.0f64, 0.0f64);
    for (row, value) in values.enumerate() {
        let weight = weights.map_or(1.0, |weights| f64::from(weights[row]));
        // A row of weight zero does not count even where its measure is infinite.
        if weight != 0.0 {
            sum += weight * value;
            total += weight;
        }
    }
    sum / total
}

/// The labels of two rows side by side, in double precision.
fn pairs<'a>(truth: &'a [f32], predicted: &'a [f32]) -> impl Iterator<Item = (f64, f64)> + 'a {
    truth.iter().zip(predicted).map(|(&d, &p)| (f64::from(d), f64::from(p)))
}

/// `a / b`, with `0 / 0 = 0`: a label that neither row has does not count.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 && b == 0.0 { 0.0 } else { a / b }
}

/// Rows whose measures can be computed by hand, for the tests beside each measure.
#[cfg(test)]
mod by_hand {
    /// A true row.
    pub const TRUTH: [f32; 4] = [0.5, 0.25, 0.25, 0.0];
    /// A prediction for it.
    pub const PREDICTED: [f32; 4] = [0.25, 0.25, 0.5, 0.0];
    /// A distribution on the first label.
    pub const FIRST: [f32; 2] = [1.0, 0.0];
    /// A distribution on the second label.
    pub const SECOND: [f32; 2] = [0.0, 1.0];

    /// Whether two numbers agree to twelve digits.
    pub fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }
}
