//! The results of a cross-validation, and the JSON object they are printed as.

use serde::{Serialize, Serializer};

use super::{Build, Plan, Protocol};
use crate::learner::Summary;
use crate::measures::{LARGEST_K, Scores, cumulative_scores};
use crate::{Dataset, FitEvent, Learner, Prediction, Settings};

/// The result of one learner on one fold. In JSON: its numbers, the times last.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldResult {
    /// The measures on the test rows.
    pub scores: Scores,
    /// How long the fit took, without the evaluations of the test fold in the released protocol.
    pub fit_seconds: f64,
    /// How long the prediction took.
    pub predict_seconds: f64,
    /// How the fit went.
    pub summary: Summary,
    /// The iteration with the best test K-L, in the released protocol.
    pub best_iteration: Option<usize>,
    /// The prediction that was measured, one row for each of `rows`.
    pub prediction: Prediction,
    /// The numbers of the test rows in the dataset, from 0.
    pub rows: Vec<usize>,
    /// Everything that the fit reported.
    pub history: Vec<FitEvent>,
    /// Iteration and test K-L along the way, in the released protocol.
    pub test_curve: Vec<(usize, f64)>,
}

impl FoldResult {
    /// The measures and the times, as a table has them.
    pub fn numbers(&self) -> Scores {
        let times =
            [("fit_seconds", Some(self.fit_seconds)), ("predict_seconds", Some(self.predict_seconds))];
        Scores(self.scores.iter().chain(times).collect())
    }
}

impl Serialize for FoldResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.numbers().serialize(serializer)
    }
}

/// The results of one learner on all folds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearnerResult {
    /// The learner's name.
    pub learner: String,
    /// Every parameter with its value.
    pub parameters: Settings,
    /// One result per fold, in their order.
    pub folds: Vec<FoldResult>,
    /// The mean over the folds of every number; null where a fold has none.
    pub mean: Scores,
    /// The population standard deviation over the folds; null where a fold has none.
    pub std: Scores,
    /// For ordered labels the mean over the folds of [`cumulative_scores`]: entry `k` is CS(k).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cs_curve: Option<Vec<f64>>,
}

impl LearnerResult {
    /// Joins the folds of a learner.
    pub fn new(learner: &str, parameters: Settings, folds: Vec<FoldResult>) -> Self {
        let numbers: Vec<Scores> = folds.iter().map(FoldResult::numbers).collect();
        let (mean, std) = mean_and_deviation(&numbers);
        LearnerResult { learner: learner.to_string(), parameters, folds, mean, std, cs_curve: None }
    }
}

/// The mean and the population standard deviation over folds of every number; null where a fold has none.
pub fn mean_and_deviation(folds: &[Scores]) -> (Scores, Scores) {
    let over_folds = |statistic: fn(&[f64]) -> f64| {
        let names = folds.first().into_iter().flat_map(Scores::iter);
        let of_name = |(name, _): (&'static str, Option<f64>)| {
            let values: Option<Vec<f64>> = folds.iter().map(|scores| scores.get(name)).collect();
            (name, values.map(|values| statistic(&values)))
        };
        Scores(names.map(of_name).collect())
    };
    (over_folds(mean), over_folds(population_deviation))
}

/// Folds x learners, measured. Serialises to the object of `ldlf cv --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossValidation {
    /// The dataset's name.
    pub dataset: String,
    /// Its number of rows.
    pub rows: usize,
    /// Its number of features.
    pub features: usize,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// The rules.
    pub protocol: Protocol,
    /// The run's seed.
    pub seed: u64,
    /// One result per learner, in the order of the plan.
    pub results: Vec<LearnerResult>,
    /// The build of the program that fitted.
    pub build: Build,
}

impl CrossValidation {
    /// Joins the results of all jobs, learner by learner.
    pub(super) fn new(plan: &Plan<'_>, results: Vec<FoldResult>) -> Self {
        let mut results = results.into_iter();
        let mut of_learner = |learner: &dyn Learner| {
            let folds = results.by_ref().take(plan.folds.len()).collect();
            let mut result = LearnerResult::new(&learner.title(), learner.settings(), folds);
            result.cs_curve = mean_curve(&result.folds, plan.data);
            result
        };
        CrossValidation {
            build: plan.build,
            dataset: plan.data.name().to_string(),
            rows: plan.data.rows(),
            features: plan.data.inputs().cols(),
            labels: plan.data.schema().label_names.clone(),
            protocol: plan.protocol,
            seed: plan.seed,
            results: plan.learners.iter().map(|learner| of_learner(&**learner)).collect(),
        }
    }
}

/// The mean over the folds of their cumulative scores.
fn mean_curve(folds: &[FoldResult], data: &Dataset) -> Option<Vec<f64>> {
    let mut sum = vec![0.0; LARGEST_K + 1];
    for fold in folds {
        let curve = cumulative_scores(&fold.prediction, &data.select(&fold.rows))?;
        sum.iter_mut().zip(curve).for_each(|(sum, share)| *sum += share);
    }
    Some(sum.into_iter().map(|sum| sum / folds.len() as f64).collect())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// `sqrt(1/n sum (x - mean)^2)`.
fn population_deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}
