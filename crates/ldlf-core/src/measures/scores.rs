//! Every measure of a prediction at once.

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{all, mean_over_rows, weighted_mean};
use crate::answers::Rule;
use crate::{Dataset, Prediction};

/// What is measured beside [`all`] when the labels stand for numbers: the mean absolute errors of the mode, the mean and
/// the median, and the share of rows whose mode is at most 5 away.
pub const ORDERED: [&str; 4] = ["mae_mode", "mae_mean", "mae_median", "cs_5"];

/// Names with numbers, in the order of [`all`] and then [`ORDERED`]; `None` (JSON `null`) where a measure does not apply.
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
    /// Reads measures that this version knows; another name is an error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = serde_json::Map::deserialize(deserializer)?;
        let names: Vec<&'static str> = all().iter().map(|measure| measure.name).chain(ORDERED).collect();
        let read = |(name, value): (&String, &serde_json::Value)| {
            let known = names.iter().find(|known| *known == name);
            let known =
                *known.ok_or_else(|| serde::de::Error::custom(format!("no measure is called {name:?}")))?;
            Ok((known, value.as_f64()))
        };
        Ok(Scores(map.iter().map(read).collect::<Result<_, D::Error>>()?))
    }
}

/// Measures a prediction against the rows it was made for, by their weights where the data has weights.
///
/// Distribution measures compare with [`Dataset::targets`]; a prediction of plain values has none of them. When the labels
/// stand for numbers, the point answers are compared with [`Dataset::truth`]. Where the data has no single true values, each rule is
/// compared with the same rule read off the true distribution, and plain values with the true distribution's
/// mean. Plain values have one answer, so that their three mean absolute errors are equal.
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
    let weights = data.weights();
    let counted = |mean: f64| (!mean.is_nan()).then_some(mean);
    let mut scores: Vec<(&'static str, Option<f64>)> = all()
        .iter()
        .map(|measure| match prediction {
            Prediction::Distributions(p) => {
                (measure.name, counted(mean_over_rows(measure, data.targets(), p, weights)))
            }
            Prediction::Values(_) => (measure.name, None),
        })
        .collect();
    if let Some(values) = &data.schema().label_values {
        let errors = |rule| absolute_errors(prediction, data, values, rule);
        let mean = |errors: &[f64]| counted(weighted_mean(errors.iter().copied(), weights));
        let of_mode = errors(Rule::Mode);
        let near: Vec<f64> = of_mode.iter().map(|&error| f64::from(u8::from(error <= 5.0))).collect();
        let numbers = [mean(&of_mode), mean(&errors(Rule::Mean)), mean(&errors(Rule::Median)), mean(&near)];
        scores.extend(ORDERED.into_iter().zip(numbers));
    }
    Scores(scores)
}

/// The largest `k` of [`cumulative_scores`].
pub const LARGEST_K: usize = 20;

/// The curve of the age literature: for `k = 0, 1, ..., LARGEST_K` the share of rows, by their weight, whose mode (or plain value)
/// is at most `k` away from the truth of [`score`]. None where the labels stand for no numbers or no row counts.
pub fn cumulative_scores(prediction: &Prediction, data: &Dataset) -> Option<Vec<f64>> {
    let values = data.schema().label_values.as_ref()?;
    let errors = absolute_errors(prediction, data, values, Rule::Mode);
    let within = |k: usize| {
        let near = errors.iter().map(|&error| f64::from(u8::from(error <= k as f64)));
        Some(weighted_mean(near, data.weights())).filter(|share| !share.is_nan())
    };
    (0..=LARGEST_K).map(within).collect()
}

/// How far each row's answer is from the true one; see [`score`] for what the true one is.
pub(crate) fn absolute_errors(
    prediction: &Prediction,
    data: &Dataset,
    values: &[f64],
    rule: Rule,
) -> Vec<f64> {
    let true_rule = match prediction {
        Prediction::Distributions(_) => rule,
        Prediction::Values(_) => Rule::Mean,
    };
    let error = |row: usize| {
        let truth = match data.truth() {
            Some(truth) => truth[row],
            None => true_rule.answer(data.targets().row(row), values),
        };
        let answer = match prediction {
            Prediction::Distributions(p) => rule.answer(p.row(row), values),
            Prediction::Values(v) => v[row],
        };
        (answer - truth).abs()
    };
    (0..prediction.rows()).map(error).collect()
}

#[cfg(test)]
mod tests {
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

    fn ordered(scores: &Scores) -> [Option<f64>; 4] {
        ORDERED.map(|name| scores.get(name))
    }

    #[test]
    fn each_rule_has_its_error() {
        // Row 1 reads 20 by mode, 17.5 by mean, 20 by median; row 2 reads 30, 25 and 30.
        let predicted = Matrix::from_rows(&[[0.375, 0.5, 0.125], [0.25, 0.0, 0.75]]);
        let scores = score(&Prediction::Distributions(predicted), &ages());
        assert_eq!(ordered(&scores), [Some(5.0), Some(6.25), Some(5.0), Some(0.5)]);
        assert!(scores.get("kl").is_some_and(|kl| kl > 0.0));
    }

    #[test]
    fn plain_values_have_three_equal_errors_and_no_distribution_measures() {
        let scores = score(&Prediction::Values(vec![12.0, 38.0]), &ages());
        assert_eq!(ordered(&scores), [Some(5.0), Some(5.0), Some(5.0), Some(0.5)]);
        assert!(all().iter().all(|measure| scores.get(measure.name).is_none()));
    }

    #[test]
    fn without_single_true_values_the_true_distribution_is_read_by_the_same_rule() {
        let data = ages_without_truth();
        let exact = score(&Prediction::Distributions(data.targets().clone()), &data);
        assert_eq!(ordered(&exact), [Some(0.0), Some(0.0), Some(0.0), Some(1.0)]);
        // The true means are 17.5 and 22.5.
        let values = score(&Prediction::Values(vec![17.5, 32.5]), &data);
        assert_eq!(ordered(&values), [Some(5.0), Some(5.0), Some(5.0), Some(0.5)]);
    }

    #[test]
    fn the_curve_of_cumulative_scores_rises_where_errors_end_and_counts_weights() {
        let data = ages().with_weights(vec![3.0, 1.0]).unwrap();
        let curve = cumulative_scores(&Prediction::Values(vec![12.0, 38.0]), &data).unwrap();
        assert_eq!(curve.len(), LARGEST_K + 1);
        assert_eq!((curve[1], curve[2], curve[7], curve[8]), (0.0, 0.75, 0.75, 1.0));
        assert_eq!(cumulative_scores(&Prediction::Values(vec![12.0, 38.0]), &unordered()), None);
    }

    #[test]
    fn rows_count_by_their_weight_and_unordered_labels_have_no_errors() {
        let data = unordered().with_weights(vec![3.0, 1.0]).unwrap();
        let predicted = Matrix::from_rows(&[[0.5, 0.25, 0.25], [0.25, 0.75, 0.0]]);
        let scores = score(&Prediction::Distributions(predicted), &data);
        assert_eq!(scores.get("chebyshev"), Some(0.125));
        assert_eq!(scores.0.len(), all().len());
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
