//! What a measure sees of one row.

use crate::estimates::Rule;
use crate::{Dataset, Prediction};

/// The truth about one row and what was predicted for it.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredRow<'a> {
    /// The true distribution, `[labels]`.
    pub truth: &'a [f32],
    /// The single true value, where the data has one.
    pub value: Option<f64>,
    /// The prediction.
    pub predicted: RowPrediction<'a>,
    /// The numbers that the labels stand for, rising, where they do.
    pub label_values: Option<&'a [f64]>,
}

/// The prediction for one row.
#[derive(Clone, Copy, Debug)]
pub enum RowPrediction<'a> {
    /// A distribution, `[labels]`.
    Distribution(&'a [f32]),
    /// A plain value.
    Value(f64),
}

impl<'a> MeasuredRow<'a> {
    /// Two distributions over labels that stand for no numbers.
    pub fn of_distributions(truth: &'a [f32], predicted: &'a [f32]) -> Self {
        MeasuredRow {
            truth,
            value: None,
            predicted: RowPrediction::Distribution(predicted),
            label_values: None,
        }
    }

    /// The predicted distribution; none where a plain value was predicted.
    pub fn distribution(&self) -> Option<&'a [f32]> {
        match self.predicted {
            RowPrediction::Distribution(p) => Some(p),
            RowPrediction::Value(_) => None,
        }
    }

    /// What a function of the true value is on average: of the single true value where the data has one, else over
    /// values drawn from the true distribution.
    pub fn expected(&self, values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
        let drawn = || {
            let shares = self.truth.iter().map(|&d| f64::from(d));
            let sum: f64 =
                shares.clone().zip(values).map(|(d, &v)| if d > 0.0 { d * of(v) } else { 0.0 }).sum();
            sum / shares.sum::<f64>()
        };
        self.value.map_or_else(drawn, &of)
    }

    /// How far the point estimate of a rule is from the true value.
    ///
    /// Without a single true value, the same rule is applied to the true distribution. A plain value is its own estimate by
    /// every rule; it is compared with the mean of the true distribution.
    pub fn absolute_error(&self, rule: Rule, values: &[f64]) -> f64 {
        let (answer, true_rule) = match self.predicted {
            RowPrediction::Distribution(p) => (rule.estimate(p, values), rule),
            RowPrediction::Value(value) => (value, Rule::Mean),
        };
        (answer - self.value.unwrap_or_else(|| true_rule.estimate(self.truth, values))).abs()
    }
}

/// The rows of a prediction beside those of the data it was made for.
pub(super) fn rows<'a>(
    prediction: &'a Prediction,
    data: &'a Dataset,
) -> impl Iterator<Item = MeasuredRow<'a>> {
    let row = |row: usize| MeasuredRow {
        truth: data.targets().row(row),
        value: data.truth().map(|truth| truth[row]),
        predicted: match prediction {
            Prediction::Distributions(p) => RowPrediction::Distribution(p.row(row)),
            Prediction::Values(v) => RowPrediction::Value(v[row]),
        },
        label_values: data.schema().label_values.as_deref(),
    };
    (0..prediction.rows()).map(row)
}
