//! Intervals and label sets with a promise: their sizes come from how far predictions were off on rows that the model did not learn
//! from.
//!
//! Every row that counts gives a score, which grows the further the truth is from the prediction. A new row's interval or set holds
//! whatever would score no more than the fraction `level` of those rows did, the new row itself counted among them
//! ([`Ladder::threshold`]). Three scores serve three questions:
//!
//! - *What is the row's true value?* `|y - mean(p)| / scale(p)`, where `y` is the single true value, or the mean of the true distribution.
//! - *What will a new vote say?* How much of the predicted distribution the smallest central interval that holds the vote must have.
//! - *Which labels may a random voter choose?* How much of the predicted distribution is more probable than the voter's label.
//!
//! Votes are not drawn: every label of a row counts by its share of the row's votes, which is the expectation over draws
//! (Stutz et al., Conformal prediction under ambiguous ground truth, 2023).
//!
//! # What is promised
//! With rows that were held out of the training, a new row's value is inside with probability at least `level`, over the held-out rows
//! and the new one, if they are exchangeable; nothing else is assumed. For votes this holds on average over rows as they are drawn;
//! in the worst case of dependent votes it is `2 level - 1`. Rows of a group (a person) count together, and the promise is for a row of
//! a new group (Lee, Barber, Willett, Distribution-free inference with hierarchical data, 2023).
//!
//! With out-of-fold predictions no row is lost, and the promise rests on one assumption more: that the final model errs no more than
//! the trees that left a row out, which learnt from fewer rows. This is the jackknife, not the jackknife+: without that stability no
//! bound holds for all distributions (Barber, Candès, Ramdas, Tibshirani, Predictive inference with the jackknife+, 2021).
//!
//! It breaks where new rows are of another kind than those of the training, and it is an average: a kind of rows may be covered less.

mod ladder;
mod scores;

pub use ladder::Ladder;
use serde::{Deserialize, Serialize};

use self::scores::{central, more_probable, scale};
use crate::estimates::mean;
use crate::stored::Parts;
use crate::{Dataset, Error, Matrix, Prediction, Result};

/// Which rows told how far predictions are off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Calibration {
    /// The training rows, each predicted by trees that left it out.
    OutOfFold,
    /// Rows held out of the training.
    HeldOut,
}

/// Numbers of labels times rows that are looked at, at most: of more rows every second, third, ... counts.
const MOST_NUMBERS: usize = 1 << 22;

/// What turns predictions into intervals and label sets.
///
/// ```
/// use ldlf_core::conformal::{Calibration, Conformal};
/// use ldlf_core::{Dataset, Features, Matrix, Prediction};
/// // Nine people of 20, and predictions between 20 and 30 that are off by 1, 2, ..., 9.
/// let shares: Vec<[f32; 2]> = (1..10).map(|off| [1.0 - off as f32 / 10.0, off as f32 / 10.0]).collect();
/// let targets = Matrix::from_rows(&[[1.0, 0.0]; 9]);
/// let data = Dataset::new(Features::Dense(Matrix::zeros(9, 1)), targets)?.with_label_values(vec![20.0, 30.0])?;
/// let predicted = Prediction::Distributions(Matrix::from_rows(&shares));
/// let conformal = Conformal::fit(&predicted, &data, Calibration::HeldOut).unwrap();
/// let sets = conformal.sets(&Matrix::from_rows(&[[0.95, 0.05], [0.25, 0.75]]), 0.8);
/// assert_eq!(sets, [[true, false], [true, true]]);
/// # Ok::<(), ldlf_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Conformal {
    /// Which rows told.
    pub calibration: Calibration,
    /// How many independent rows, or groups of rows, there were.
    pub units: usize,
    value: Option<Ladder>,
    vote: Option<Ladder>,
    set: Option<Ladder>,
}

/// What a model file's document says of a [`Conformal`] beside its arrays.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StoredConformal {
    /// Where the rows come from that calibrate: out of fold, or held out.
    calibration: Calibration,
    /// The number of rows or groups that calibrate.
    units: usize,
}

/// The names of the ladders in a model file.
const LADDERS: [&str; 3] = ["conformal.value", "conformal.vote", "conformal.set"];

impl Conformal {
    /// Scores predictions of rows that they were not learnt from. `None` where no row has weight.
    pub fn fit(prediction: &Prediction, data: &Dataset, calibration: Calibration) -> Option<Self> {
        let stride = (data.rows() * data.labels()).div_ceil(MOST_NUMBERS).max(1);
        let rows: Vec<usize> =
            (0..data.rows()).step_by(stride).filter(|&row| data.weight(row) > 0.0).collect();
        let weights = RowWeights::of(data, &rows)?;
        let values = data.schema().label_values.as_deref();
        let each = |of_row: &dyn Fn(usize) -> f64| {
            Ladder::new(
                rows.iter().map(|&row| (of_row(row), weights.of_row(data, row))).collect(),
                weights.units,
            )
        };
        let each_vote = |of_row: &dyn Fn(&[f32]) -> Vec<f64>, p: &Matrix<f32>| {
            let mut scored = Vec::with_capacity(rows.len() * data.labels());
            for &row in &rows {
                let (weight, truth) = (weights.of_row(data, row), data.targets().row(row));
                let total: f64 = truth.iter().map(|&share| f64::from(share)).sum();
                let votes = of_row(p.row(row)).into_iter().zip(truth).filter(|(_, share)| **share > 0.0);
                scored.extend(votes.map(|(score, &share)| (score, weight * f64::from(share) / total)));
            }
            Ladder::new(scored, weights.units)
        };
        let truth = |row: usize, values: &[f64]| match data.truth() {
            Some(truth) => truth[row],
            None => mean(data.targets().row(row), values),
        };
        let (value, vote, set) = match prediction {
            Prediction::Distributions(p) => {
                let value = |values: &[f64]| {
                    each(&|row| {
                        (truth(row, values) - mean(p.row(row), values)).abs() / scale(p.row(row), values)
                    })
                };
                (
                    values.map(value),
                    values.map(|_| each_vote(&central, p)),
                    Some(each_vote(&more_probable, p)),
                )
            }
            Prediction::Values(v) => {
                (values.map(|values| each(&|row| (truth(row, values) - v[row]).abs())), None, None)
            }
        };
        let units = weights.units.floor() as usize;
        Some(Conformal { calibration, units, value, vote, set })
    }

    /// The highest probability that can be promised, `n / (n + 1)`: above it intervals and sets hold everything.
    pub fn highest_level(&self) -> f64 {
        self.units as f64 / (self.units as f64 + 1.0)
    }

    /// Intervals that hold the row's true value with probability `level`; `None` where labels stand for no numbers. They reach no
    /// further than the label values, and as far where too few rows told.
    pub fn intervals(&self, prediction: &Prediction, values: &[f64], level: f64) -> Option<Vec<(f64, f64)>> {
        let reach = self.value.as_ref()?.threshold(level);
        let (first, last) = (*values.first()?, *values.last()?);
        let around = |middle: f64, scale: f64| match reach {
            Some(reach) => {
                ((middle - reach * scale).clamp(first, last), (middle + reach * scale).clamp(first, last))
            }
            None => (first, last),
        };
        Some(match prediction {
            Prediction::Distributions(p) => {
                p.iter_rows().map(|row| around(mean(row, values), scale(row, values))).collect()
            }
            Prediction::Values(v) => v.iter().map(|&value| around(value, 1.0)).collect(),
        })
    }

    /// Intervals, from label to label, that hold a new vote with probability `level`; `None` where labels stand for no numbers.
    pub fn vote_intervals(&self, p: &Matrix<f32>, values: &[f64], level: f64) -> Option<Vec<(f64, f64)>> {
        let reach = self.vote.as_ref()?.threshold(level);
        let of_row = |row: &[f32]| {
            let scores = central(row);
            let inside = |score: &f64| reach.is_none_or(|reach| *score <= reach);
            // Scores fall up to the median and rise from it on: the median itself is always inside.
            let middle =
                scores.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(label, _)| label);
            let low = scores.iter().position(inside).unwrap_or(middle);
            let high = scores.iter().rposition(inside).unwrap_or(middle);
            (values[low], values[high])
        };
        Some(p.iter_rows().map(of_row).collect())
    }

    /// For every row which labels are in the set that holds a random voter's label with probability `level`: the most probable ones,
    /// as many as it takes. The most probable label is in every set.
    pub fn sets(&self, p: &Matrix<f32>, level: f64) -> Vec<Vec<bool>> {
        let reach = self.set.as_ref().and_then(|set| set.threshold(level));
        let of_row = |row: &[f32]| {
            let inside = |score: f64| reach.is_none_or(|reach| score <= reach.max(0.0));
            more_probable(row).into_iter().map(inside).collect()
        };
        p.iter_rows().map(of_row).collect()
    }

    /// Adds its ladders to a model's arrays, and gives what the document says of it.
    pub fn store(&self, parts: &mut Parts) -> StoredConformal {
        for (name, ladder) in LADDERS.into_iter().zip([&self.value, &self.vote, &self.set]) {
            if let Some(ladder) = ladder {
                ladder.store(name, parts);
            }
        }
        StoredConformal { calibration: self.calibration, units: self.units }
    }

    /// Rebuilds, checked, what [`Conformal::store`] kept.
    pub fn load(parts: &Parts, stored: StoredConformal) -> Result<Self> {
        let [value, vote, set] = LADDERS.map(|name| Ladder::load(name, parts));
        let StoredConformal { calibration, units } = stored;
        Ok(Conformal { calibration, units, value: value?, vote: vote?, set: set? })
    }
}

/// A level that intervals and sets can have.
pub fn check_level(level: f64) -> Result<()> {
    match level > 0.0 && level < 1.0 {
        true => Ok(()),
        false => Err(Error::parameter("level", "above 0 and below 1", level)),
    }
}

/// How much every row counts. Rows of a group share the weight of one.
pub(crate) struct RowWeights {
    /// What all rows of a group weigh, by the group's number.
    of_group: Option<std::collections::BTreeMap<u32, f64>>,
    /// How many independent rows or groups there are; with unequal weights fewer, `(sum w)^2 / sum w^2`.
    units: f64,
}

impl RowWeights {
    pub(crate) fn of(data: &Dataset, rows: &[usize]) -> Option<Self> {
        if rows.is_empty() {
            return None;
        }
        let weight = |row: &usize| f64::from(data.weight(*row));
        let Some(groups) = data.groups() else {
            let sum: f64 = rows.iter().map(weight).sum();
            let squares: f64 = rows.iter().map(|row| weight(row).powi(2)).sum();
            return Some(RowWeights { of_group: None, units: sum.powi(2) / squares });
        };
        let mut of_group = std::collections::BTreeMap::new();
        for row in rows {
            *of_group.entry(groups[*row]).or_insert(0.0) += weight(row);
        }
        let units = of_group.len() as f64;
        Some(RowWeights { of_group: Some(of_group), units })
    }

    /// How many independent rows or groups there are.
    pub(crate) fn units(&self) -> f64 {
        self.units
    }

    pub(crate) fn of_row(&self, data: &Dataset, row: usize) -> f64 {
        let own = f64::from(data.weight(row));
        match (&self.of_group, data.groups()) {
            (Some(of_group), Some(groups)) => own / of_group[&groups[row]],
            _ => own,
        }
    }
}

#[cfg(test)]
mod tests;
