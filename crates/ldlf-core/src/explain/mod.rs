//! Why a model says what it says: how much every column moved the prediction of a row away from the mean prediction.
//!
//! `p(x) = mean + sum_j phi_j(x)`: the contributions of all columns sum to the prediction, label by label. The mean is that over
//! background rows. Features that come from one column of a table (its categories, its indicator of missing values) count together.
//!
//! How they are found, and what that means:
//! - **Along the splits** ([`Method::Splits`]), for averaged trees, soft trees and their mixtures: every split that a row passes moves the
//!   expected distribution, and the move belongs to the features of the split; a linear member moves it along the line from the mean
//!   inputs. Exact and fast. These are not Shapley values: with
//!   features that act together, the split nearest to the leaf gets the most.
//! - **By permutation** ([`Method::Shapley`], [`Method::Permutation`]), for every other model, mixtures with boosted trees among them: the columns of background rows are
//!   replaced by those of the row, one after the other, and every column is credited with what its replacement changed. Averaged over
//!   all orders these are Shapley values (of replacing columns independently), which is what few columns get; more columns get a
//!   seeded sample of orders, each beside its reverse, which estimates them and sums just as exactly.
//!
//! ```
//! use ldlf_core::{generate, mean::Mean, explain, Threads};
//! let data = generate::artificial(100, 0)?;
//! let model = Mean::params().fit(&data)?;
//! let rows = data.features()?.select(&[0, 1]);
//! let found = explain::explain(&model, data.features()?, &rows, &Threads::new(1)?)?;
//! assert_eq!(found.rows.len(), 2);
//! assert!(found.rows[0].contributions.as_slice().iter().all(|part| *part == 0.0)); // nothing moves the mean
//! # Ok::<(), ldlf_core::Error>(())
//! ```

mod importance;
mod permutation;

use serde::Serialize;

pub use self::importance::{Importance, Importances, importance_of, permutation_importance};
use crate::{Dataset, Features, Matrix, Result, Schema, Seed, Threads, TrainedModel};
use ldlf_math::random::permutation;

/// Background rows at most; more are sampled.
const BACKGROUND: usize = 1000;

/// A column and the features that come from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceColumn {
    /// Its name; `feature 3` where features have none.
    pub name: String,
    /// The numbers of its features.
    pub features: Vec<usize>,
}

/// The columns behind the features of a model: one of numbers has one feature, one of categories several.
///
/// ```
/// use ldlf_core::{Schema, explain::source_columns};
/// let names = ["size", "colour=blue", "colour=red", "size is missing"].map(String::from);
/// let schema = Schema { feature_names: Some(names.into()), ..Schema::default() };
/// let columns = source_columns(&schema, 4);
/// assert_eq!((columns[0].name.as_str(), &columns[0].features[..]), ("size", &[0, 3][..]));
/// assert_eq!((columns[1].name.as_str(), &columns[1].features[..]), ("colour", &[1, 2][..]));
/// ```
pub fn source_columns(schema: &Schema, features: usize) -> Vec<SourceColumn> {
    if let Some(columns) = schema.columns.as_ref().filter(|columns| columns.width() == features) {
        let empty = |name: &String| SourceColumn { name: name.clone(), features: Vec::new() };
        let mut sources: Vec<SourceColumn> = columns.list.iter().map(|column| empty(&column.name)).collect();
        columns.sources().into_iter().enumerate().for_each(|(at, source)| sources[source].features.push(at));
        sources.retain(|source| !source.features.is_empty());
        return sources;
    }
    let mut sources: Vec<SourceColumn> = Vec::new();
    for feature in 0..features {
        let name = match &schema.feature_names {
            None => format!("feature {}", feature + 1),
            Some(names) => {
                let name = names[feature].as_str();
                let source = name.strip_suffix(" is missing").unwrap_or(name);
                // A number has no `=` in its name, unless its column is called so.
                let category = names.iter().any(|other| other != name && shares_column(name, other));
                if category { source.split('=').next().unwrap_or(source) } else { source }.to_string()
            }
        };
        match sources.iter_mut().find(|source| source.name == name) {
            Some(source) => source.features.push(feature),
            None => sources.push(SourceColumn { name, features: vec![feature] }),
        }
    }
    sources
}

/// Whether two names are those of two categories of one column.
fn shares_column(one: &str, other: &str) -> bool {
    matches!((one.split_once('='), other.split_once('=')), (Some((a, _)), Some((b, _))) if a == b)
}

/// How contributions were found; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Along the splits of trees.
    Splits,
    /// Shapley values, from all subsets of the columns.
    Shapley,
    /// Estimates of Shapley values, from a sample of orders.
    Permutation,
}

impl Method {
    /// A sentence for reports.
    pub fn described(self) -> &'static str {
        match self {
            Method::Splits => "along the splits of the trees",
            Method::Shapley => "Shapley values from all subsets of the columns",
            Method::Permutation => "Shapley values estimated from sampled orders of the columns",
        }
    }
}

/// The explanation of some rows.
#[derive(Clone, Debug)]
pub struct Explanations {
    /// How it was found.
    pub method: Method,
    /// Rows whose mean prediction is the base.
    pub background: usize,
    /// The columns.
    pub columns: Vec<SourceColumn>,
    /// The labels; one, `value`, for models that predict plain values.
    pub labels: Vec<String>,
    /// The mean prediction, one number per label.
    pub base: Vec<f64>,
    /// One explanation per row.
    pub rows: Vec<Explanation>,
}

/// The explanation of a row: `prediction = base + sum of contributions`.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What the model predicts, one number per label.
    pub prediction: Vec<f64>,
    /// `[columns, labels]`.
    pub contributions: Matrix<f64>,
}

impl Explanation {
    /// How far a column moved the distribution: half the sum of the absolute changes, the share of the probability that it moved.
    pub fn moved(&self, column: usize) -> f64 {
        0.5 * self.contributions.row(column).iter().map(|part| part.abs()).sum::<f64>()
    }

    /// The columns by how far they moved the distribution, the furthest first.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.contributions.rows()).collect();
        order.sort_by(|&a, &b| self.moved(b).total_cmp(&self.moved(a)).then(a.cmp(&b)));
        order
    }
}

/// The contributions of features to some rows, as a model gives them by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Contributions {
    /// The mean prediction over the background rows, `[labels]`.
    pub base: Vec<f64>,
    /// `[rows, features, labels]`.
    pub values: Vec<f64>,
}

impl Contributions {
    /// Those of a mean over members, each with its weight; weights sum to 1.
    pub fn mixed(members: impl IntoIterator<Item = (f64, Contributions)>) -> Option<Self> {
        let mut mixed: Option<Contributions> = None;
        for (weight, mut member) in members {
            member.base.iter_mut().chain(&mut member.values).for_each(|value| *value *= weight);
            mixed = Some(match mixed {
                None => member,
                Some(mut sum) => {
                    sum.base.iter_mut().zip(&member.base).for_each(|(sum, value)| *sum += value);
                    sum.values.iter_mut().zip(&member.values).for_each(|(sum, value)| *sum += value);
                    sum
                }
            });
        }
        mixed
    }

    /// Those of a prediction that no feature moves.
    pub fn of_constant(prediction: &[f32], rows: usize, features: usize) -> Self {
        let base: Vec<f64> = prediction.iter().map(|&p| f64::from(p)).collect();
        Contributions { values: vec![0.0; rows * features * base.len()], base }
    }
}

/// Rows that are explained together: bounds the memory.
const TOGETHER: usize = 64;

/// Explains rows against background rows, whose mean prediction is the base: the training rows, or others like them.
pub fn explain(
    model: &TrainedModel,
    background: &Features,
    rows: &Features,
    threads: &Threads,
) -> Result<Explanations> {
    let columns = source_columns(&model.schema, model.features);
    let seed = Seed::new(0).named("explain");
    let background = sampled(background, BACKGROUND, seed);
    // Checks the number of features, and is what contributions must sum to.
    let (labels, predicted) = predicted(model, rows, threads)?;
    model.predict_with(&background.clone().into(), threads)?;
    let few = sampled(&background, permutation::BACKGROUND, seed.named("few"));
    let mut method = Method::Splits;
    let mut used = background.rows();
    let (mut base, mut explained) = (Vec::new(), Vec::with_capacity(rows.rows()));
    let numbers: Vec<usize> = (0..rows.rows()).collect();
    for block in numbers.chunks(TOGETHER) {
        let own = rows.select(block);
        let parts: Vec<Matrix<f64>> = match model.model.contributions(&background, &own, threads) {
            Some(found) => {
                base = found.base;
                let size = model.features * labels.len();
                found.values.chunks(size.max(1)).map(|row| summed(row, &columns, labels.len())).collect()
            }
            None => {
                let found = permutation::contributions(model, &few, &own, &columns, seed, threads)?;
                (method, base, used) = (found.method, found.base, few.rows());
                found.rows
            }
        };
        for (&row, contributions) in block.iter().zip(parts) {
            explained.push(Explanation { prediction: predicted[row].clone(), contributions });
        }
    }
    Ok(Explanations { method, background: used, columns, labels, base, rows: explained })
}

impl Explanations {
    /// Explains the rows of a dataset of tables against all of it.
    pub fn of(model: &TrainedModel, data: &Dataset, rows: &[usize], threads: &Threads) -> Result<Self> {
        explain(model, data.features()?, &data.features()?.select(rows), threads)
    }
}

/// Some of the rows, where there are too many.
fn sampled(features: &Features, most: usize, seed: Seed) -> Features {
    if features.rows() <= most {
        return features.clone();
    }
    let mut rows = permutation(features.rows(), &mut seed.named("background").generator());
    rows.truncate(most);
    features.select(&rows)
}

/// What the model predicts for some rows, label by label.
fn predicted(
    model: &TrainedModel,
    rows: &Features,
    threads: &Threads,
) -> Result<(Vec<String>, Vec<Vec<f64>>)> {
    Ok(match model.predict_with(&rows.clone().into(), threads)? {
        crate::Prediction::Distributions(all) => {
            let row = |row: &[f32]| row.iter().map(|&p| f64::from(p)).collect();
            (model.schema.label_names.clone(), all.iter_rows().map(row).collect())
        }
        crate::Prediction::Values(all) => {
            (vec!["value".to_string()], all.into_iter().map(|value| vec![value]).collect())
        }
    })
}

/// The contributions of columns: the sums of those of their features.
fn summed(features: &[f64], columns: &[SourceColumn], labels: usize) -> Matrix<f64> {
    let mut out = Matrix::zeros(columns.len(), labels);
    for (column, source) in columns.iter().enumerate() {
        for &feature in &source.features {
            let parts = &features[feature * labels..(feature + 1) * labels];
            out.row_mut(column).iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
    }
    out
}
