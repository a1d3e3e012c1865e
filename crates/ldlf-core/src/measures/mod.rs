//! How far predictions are from the truth: one file per measure, each a function of one row that is averaged over the rows.

mod ranks;
mod row;
mod scores;

pub use kl::kl;
pub use row::{MeasuredRow, RowPrediction};
pub use scores::{LARGEST_K, Scores, cumulative_scores, row_values, score, score_by};

use self::ranks::{pearson, ranks};
use crate::Matrix;

/// Whether lower or higher values of a measure are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A distance or an error.
    LowerIsBetter,
    /// A similarity.
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

/// A measure of predictions: the mean over the rows of a formula, or a formula of all rows.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// What JSON and the command line call it.
    pub name: &'static str,
    /// What tables call it.
    pub title: &'static str,
    /// Whether lower or higher is better.
    pub direction: Direction,
    /// Whether tables of several learners show it, as the paper's do; JSON and the measures of one model have all.
    pub in_tables: bool,
    /// How it is computed for one row, and from what.
    pub formula: Formula,
}

/// How a measure is computed for one row, by what it needs.
#[derive(Clone, Copy, Debug)]
pub enum Formula {
    /// Needs the true and the predicted distribution, both `[labels]`; does not apply to plain values.
    Distributions(fn(truth: &[f32], predicted: &[f32]) -> f64),
    /// Needs the numbers that the labels stand for, `[labels]`. Not a number where it does not apply to a prediction.
    OrderedLabels(fn(row: &MeasuredRow<'_>, values: &[f64]) -> f64),
    /// Needs the same of all rows at once, each with its weight: an agreement beyond chance is no mean over rows.
    AllRows(fn(rows: &mut dyn Iterator<Item = (MeasuredRow<'_>, f64)>) -> f64),
}

impl Measure {
    /// Whether it needs ordered labels: labels that stand for numbers.
    pub fn is_ordered(&self) -> bool {
        !matches!(self.formula, Formula::Distributions(_))
    }

    /// The measure of one row; not a number where the row does not have what the measure needs.
    ///
    /// ```
    /// use ldlf_core::measures::{MAE_MODE, MeasuredRow};
    /// let row = MeasuredRow::of_distributions(&[0.25, 0.75], &[1.0, 0.0]);
    /// assert!(MAE_MODE.of_row(&row).is_nan());
    /// assert_eq!(MAE_MODE.of_row(&MeasuredRow { label_values: Some(&[20.0, 30.0]), ..row }), 10.0);
    /// ```
    pub fn of_row(&self, row: &MeasuredRow<'_>) -> f64 {
        match (self.formula, row.predicted, row.label_values) {
            (Formula::Distributions(formula), RowPrediction::Distribution(p), _) => formula(row.truth, p),
            (Formula::OrderedLabels(formula), _, Some(values)) => formula(row, values),
            _ => f64::NAN,
        }
    }

    /// The measure of some rows by their weights, 1 each where there are none.
    ///
    /// ```
    /// use ldlf_core::measures::{MeasuredRow, TOP_1};
    /// let rows = [[0.25, 0.75], [0.75, 0.25]];
    /// let measured = rows.iter().map(|row| MeasuredRow::of_distributions(row, &rows[0]));
    /// assert_eq!(TOP_1.of_rows(measured, Some(&[3.0, 1.0])), 0.75);
    /// ```
    pub fn of_rows<'a>(&self, rows: impl Iterator<Item = MeasuredRow<'a>>, weights: Option<&[f32]>) -> f64 {
        match self.formula {
            Formula::AllRows(formula) => {
                let weight = |row: usize| weights.map_or(1.0, |weights| f64::from(weights[row]));
                let mut weighed = rows.enumerate().map(|(number, row)| (row, weight(number)));
                formula(&mut weighed)
            }
            _ => weighted_mean(rows.map(|row| self.of_row(&row)), weights),
        }
    }
}

/// Declares the modules of some measures (`file::CONSTANT`) and joins them in tables.
macro_rules! measures {
    (
        usual { $($module:ident::$measure:ident),+ $(,)? }
        on_request { $($other_module:ident::$other:ident),+ $(,)? }
    ) => {
        $(mod $module;)+
        $(mod $other_module;)+
        $(pub use $module::$measure;)+
        $(pub use $other_module::$other;)+

        /// Every measure: the [`usual`] ones, then those on request.
        pub fn all() -> &'static [Measure] {
            &[$($measure,)+ $($other),+]
        }

        /// The measures that every evaluation has, in the order of tables and of JSON: those of distributions, then those of ordered
        /// labels.
        pub fn usual() -> &'static [Measure] {
            &[$($measure),+]
        }
    };
}

// Every measure, one line each: its file states the rest. `cargo fmt` does not follow modules into a macro, so `./test` formats
// files by name.
measures! {
    usual {
        kl::KL,
        euclidean::EUCLIDEAN,
        sorensen::SORENSEN,
        squared_chi2::SQUARED_CHI2,
        fidelity::FIDELITY,
        intersection::INTERSECTION,
        chebyshev::CHEBYSHEV,
        clark::CLARK,
        canberra::CANBERRA,
        cosine::COSINE,
        mae_mode::MAE_MODE,
        mae_mean::MAE_MEAN,
        mae_median::MAE_MEDIAN,
        cs_5::CS_5,
        cs_1::CS_1,
    }
    on_request {
        jensen_shannon::JENSEN_SHANNON,
        log_score::LOG_SCORE,
        spearman::SPEARMAN,
        kendall::KENDALL,
        top_1::TOP_1,
        top_3::TOP_3,
        crps::CRPS,
        emd_1::EMD_1,
        emd_2::EMD_2,
        pinball::PINBALL,
        interval_score_90::INTERVAL_SCORE_90,
        coverage_90::COVERAGE_90,
        width_90::WIDTH_90,
        kappa::KAPPA,
    }
}

/// Whether the table of some learners shows a measure, by what they have in any measure. Where all have 1 in CS(5), because no two
/// labels are further apart or all errors are small, it says nothing, and CS(1) stands in its place.
pub fn shown_in_table<V: IntoIterator<Item = f64>>(measure: &Measure, values_of: impl Fn(&str) -> V) -> bool {
    let all_have_one = || {
        let mut scores = values_of(CS_5.name).into_iter().peekable();
        scores.peek().is_some() && scores.all(|score| score >= 1.0)
    };
    match measure.name {
        name if name == CS_5.name => !all_have_one(),
        name if name == CS_1.name => all_have_one(),
        _ => measure.in_tables,
    }
}

/// The usual measures that need ordered labels.
pub fn ordered() -> impl Iterator<Item = &'static Measure> {
    usual().iter().filter(|measure| measure.is_ordered())
}

/// The measure of a name.
pub fn find(name: &str) -> Option<&'static Measure> {
    all().iter().find(|measure| measure.name == name)
}

/// What tables call a measure; another name stays as it is.
///
/// ```
/// use ldlf_core::measures::title;
/// assert_eq!((title("kl"), title("cs_5"), title("fit_seconds")), ("K-L", "CS(5)", "fit_seconds"));
/// ```
pub fn title(name: &str) -> &str {
    find(name).map_or(name, |measure| measure.title)
}

/// Whether lower or higher values of a measure are better; for another name (a time) lower is.
pub fn direction(name: &str) -> Direction {
    find(name).map_or(Direction::LowerIsBetter, |measure| measure.direction)
}

/// The mean of a measure over the rows, `sum_i w_i m(d_i, p_i) / sum_i w_i`, each weight 1 where there are none.
///
/// Both matrices are `[rows, labels]`. Without rows, or when every weight is zero, the mean is not a number; nor is that of a
/// measure for ordered labels, which [`score`] computes.
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
    measure.of_rows(rows.map(|(d, p)| MeasuredRow::of_distributions(d, p)), weights)
}

/// The mean of some numbers, one per row, by the weights beside them; each weight is 1 where there are none.
pub fn weighted_mean(values: impl Iterator<Item = f64>, weights: Option<&[f32]>) -> f64 {
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

/// The share of the `k` most probable labels of both rows that they have in common; of equally probable ones the first count.
fn top_in_common(truth: &[f32], predicted: &[f32], k: usize) -> f64 {
    let k = k.min(truth.len());
    let top = |row: &[f32]| {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
        order.truncate(k);
        order
    };
    let (of_truth, of_predicted) = (top(truth), top(predicted));
    of_truth.iter().filter(|label| of_predicted.contains(label)).count() as f64 / k as f64
}

/// `P(X <= v_c)` label by label; the last is 1 whatever the sum of the shares.
fn cumulative(distribution: &[f32]) -> impl Iterator<Item = f64> + '_ {
    let total: f64 = distribution.iter().map(|&p| f64::from(p)).sum();
    distribution.iter().scan(0.0, move |reached, &p| {
        *reached += f64::from(p);
        Some((*reached / total).min(1.0))
    })
}

/// How far apart neighbouring label values are.
fn steps(values: &[f64]) -> impl Iterator<Item = f64> + '_ {
    values.windows(2).map(|pair| pair[1] - pair[0])
}

/// 1 for an error of at most `k`, else 0: the term of a cumulative score.
fn within(error: f64, k: f64) -> f64 {
    f64::from(u8::from(error <= k))
}

/// Rows whose measures can be computed by hand, for the tests beside each measure.
#[cfg(test)]
mod by_hand {
    /// A true row.
    pub const TRUTH: [f32; 4] = [0.5, 0.25, 0.25, 0.0];
    /// A prediction for it.
    pub const PREDICTED: [f32; 4] = [0.25, 0.25, 0.5, 0.0];
    /// The numbers that their labels stand for.
    pub const VALUES: [f64; 4] = [10.0, 20.0, 40.0, 80.0];
    /// Both rows over labels that stand for numbers, where the data has no single true value.
    pub const ROW: super::MeasuredRow<'static> = super::MeasuredRow {
        truth: &TRUTH,
        value: None,
        predicted: super::RowPrediction::Distribution(&PREDICTED),
        label_values: Some(&VALUES),
    };
    /// A distribution on the first label.
    pub const FIRST: [f32; 2] = [1.0, 0.0];
    /// A distribution on the second label.
    pub const SECOND: [f32; 2] = [0.0, 1.0];

    /// Whether two numbers agree to twelve digits.
    pub fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }
}
