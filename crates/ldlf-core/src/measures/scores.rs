//! Every measure of a prediction at once.

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::row::rows;
use super::{Measure, find, usual, weighted_mean, within};
use crate::estimates::Rule;
use crate::{Dataset, Prediction};

/// Names with numbers, in the order of [`usual`]; `None` (JSON `null`) where a measure does not apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores(pub Vec<(&'static str, Option<f64>)>);

impl Scores {
    /// The number of a name, if there is one.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value)
    }

    /// Names and numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Option<f64>)> + '_ {
        self.0.iter().copied()
    }
}

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Scores {
    /// Reads measures by their names; an unknown name is an error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = serde_json::Map::deserialize(deserializer)?;
        let read = |(name, value): (&String, &serde_json::Value)| {
            let known = find(name).map(|measure| measure.name);
            let known =
                known.ok_or_else(|| serde::de::Error::custom(format!("no measure is called {name:?}")))?;
            Ok((known, value.as_f64()))
        };
        Ok(Scores(map.iter().map(read).collect::<Result<_, D::Error>>()?))
    }
}

/// Measures a prediction against the rows it was made for by the [`usual`] measures: the mean over the rows, by their weights where the data has weights.
///
/// Distribution measures compare with [`Dataset::targets`]; a prediction of plain values has none of them. When the labels
/// stand for numbers, the point estimates are compared with [`Dataset::truth`]. Where the data has no single true values, each rule is
/// compared with the same rule read off the true distribution, and plain values with the true distribution's
/// mean. A plain value is its own estimate, so that its three mean absolute errors are equal.
///
/// ```
/// use ldlf_core::{Dataset, Features, Matrix, Prediction, measures::score};
/// let truth = Matrix::from_rows(&[[0.5, 0.5]]);
/// let data = Dataset::new(Features::Dense(Matrix::zeros(1, 1)), truth.clone())?;
/// let scores = score(&Prediction::Distributions(truth), &data);
/// assert_eq!((scores.get("kl"), scores.get("intersection")), (Some(0.0), Some(1.0)));
/// # Ok::<(), ldlf_core::Error>(())
/// ```
pub fn score(prediction: &Prediction, data: &Dataset) -> Scores {
    score_by(usual(), prediction, data)
}

/// As [`score`], by measures of choice; those of ordered labels are left out where the labels stand for no numbers.
pub fn score_by(
    measures: impl IntoIterator<Item = &'static Measure>,
    prediction: &Prediction,
    data: &Dataset,
) -> Scores {
    let is_ordered = data.schema().label_values.is_some();
    let measured = |measure: &'static Measure| {
        let value = measure.of_rows(rows(prediction, data), data.weights());
        (measure.name, Some(value).filter(|value| !value.is_nan()))
    };
    let applies = |measure: &&Measure| is_ordered || !measure.is_ordered();
    Scores(measures.into_iter().filter(applies).map(measured).collect())
}

/// A measure row by row; not a number where a row does not have what the measure needs.
pub fn row_values<'a>(
    measure: &'a Measure,
    prediction: &'a Prediction,
    data: &'a Dataset,
) -> impl Iterator<Item = f64> + 'a {
    rows(prediction, data).map(|row| measure.of_row(&row))
}

/// The largest `k` of [`cumulative_scores`].
pub const LARGEST_K: usize = 20;

/// The curve of the age literature: for `k = 0, 1, ..., LARGEST_K` the fraction of rows, by their weight, whose mode (or plain
/// value) is at most `k` away from the truth of [`score`]. None where the labels stand for no numbers or no row counts.
pub fn cumulative_scores(prediction: &Prediction, data: &Dataset) -> Option<Vec<f64>> {
    let values = data.schema().label_values.as_ref()?;
    let errors: Vec<f64> = rows(prediction, data).map(|row| row.absolute_error(Rule::Mode, values)).collect();
    let of_k = |k: usize| mean_of(errors.iter().map(|&error| within(error, k as f64)), data);
    (0..=LARGEST_K).map(of_k).collect()
}

/// The mean over the rows by the data's weights; `None` where it is not a number.
fn mean_of(values: impl Iterator<Item = f64>, data: &Dataset) -> Option<f64> {
    Some(weighted_mean(values, data.weights())).filter(|mean| !mean.is_nan())
}

#[cfg(test)]
mod tests {
    use super::super::{CS_5, MAE_MEAN, MAE_MEDIAN, MAE_MODE, ordered};
    use super::*;
    use crate::{Features, Matrix};

    /// Two people of 10 and 30 among the ages 10, 20 and 30.
    fn ages() -> Dataset {
        ages_without_truth().with_truth(vec![10.0, 30.0]).unwrap()
    }

    fn ages_without_truth() -> Dataset {
        unordered().with_label_values(vec![10.0, 20.0, 30.0]).unwrap()
    }

    fn unordered() -> Dataset {
        let targets = Matrix::from_rows(&[[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]);
        Dataset::new(Features::Dense(Matrix::zeros(2, 1)), targets).unwrap()
    }

    fn of_ordered_labels(scores: &Scores) -> [Option<f64>; 4] {
        [MAE_MODE, MAE_MEAN, MAE_MEDIAN, CS_5].map(|measure| scores.get(measure.name))
    }

    #[test]
    fn each_rule_has_its_error() {
        // Row 1 reads 20 by mode, 17.5 by mean, 20 by median; row 2 reads 30, 25 and 30.
        let predicted = Matrix::from_rows(&[[0.375, 0.5, 0.125], [0.25, 0.0, 0.75]]);
        let scores = score(&Prediction::Distributions(predicted), &ages());
        assert_eq!(of_ordered_labels(&scores), [Some(5.0), Some(6.25), Some(5.0), Some(0.5)]);
        assert!(scores.get("kl").is_some_and(|kl| kl > 0.0));
    }

    #[test]
    fn plain_values_are_scored_by_their_errors_alone() {
        let scores = score(&Prediction::Values(vec![12.0, 38.0]), &ages());
        assert_eq!(of_ordered_labels(&scores), [Some(5.0), Some(5.0), Some(5.0), Some(0.5)]);
        let of_distributions = |measure: &&Measure| !measure.is_ordered();
        assert!(usual().iter().filter(of_distributions).all(|measure| scores.get(measure.name).is_none()));
    }

    #[test]
    fn without_single_true_values_the_true_distribution_is_read_by_the_same_rule() {
        let data = ages_without_truth();
        let exact = score(&Prediction::Distributions(data.targets().clone()), &data);
        assert_eq!(of_ordered_labels(&exact), [Some(0.0), Some(0.0), Some(0.0), Some(1.0)]);
        // The true means are 17.5 and 22.5.
        let values = score(&Prediction::Values(vec![17.5, 32.5]), &data);
        assert_eq!(of_ordered_labels(&values), [Some(5.0), Some(5.0), Some(5.0), Some(0.5)]);
    }

    #[test]
    fn the_curve_of_cumulative_scores_sums_weights_up_to_each_error() {
        let data = ages().with_weights(vec![3.0, 1.0]).unwrap();
        let curve = cumulative_scores(&Prediction::Values(vec![12.0, 38.0]), &data).unwrap();
        assert_eq!(curve.len(), LARGEST_K + 1);
        assert_eq!((curve[1], curve[2], curve[7], curve[8]), (0.0, 0.75, 0.75, 1.0));
        assert_eq!(cumulative_scores(&Prediction::Values(vec![12.0, 38.0]), &unordered()), None);
    }

    #[test]
    fn rows_count_by_their_weight() {
        let data = unordered().with_weights(vec![3.0, 1.0]).unwrap();
        let predicted = Matrix::from_rows(&[[0.5, 0.25, 0.25], [0.25, 0.75, 0.0]]);
        let scores = score(&Prediction::Distributions(predicted), &data);
        assert_eq!(scores.get("chebyshev"), Some(0.125));
    }

    #[test]
    fn unordered_labels_have_no_errors() {
        let data = unordered();
        let scores = score(&Prediction::Distributions(data.targets().clone()), &data);
        assert_eq!(scores.0.len(), usual().len() - ordered().count());
    }

    #[test]
    fn rows_have_one_value_each() {
        let values = Prediction::Values(vec![12.0, 38.0]);
        assert_eq!(row_values(&MAE_MEAN, &values, &ages()).collect::<Vec<_>>(), [2.0, 8.0]);
    }

    #[test]
    fn rows_have_no_value_where_a_measure_does_not_apply() {
        let values = Prediction::Values(vec![12.0, 38.0]);
        assert!(row_values(&super::super::KL, &values, &ages()).all(f64::is_nan));
    }

    #[test]
    fn scores_survive_json_in_order() {
        let scores = score(&Prediction::Values(vec![12.0, 38.0]), &ages());
        let json = serde_json::to_string(&scores).unwrap();
        assert!(json.starts_with("{\"kl\":null,\"euclidean\":null"), "{json}");
        assert_eq!(serde_json::from_str::<Scores>(&json).unwrap(), scores);
        assert!(serde_json::from_str::<Scores>("{\"unknown\":1.0}").is_err());
    }
}
