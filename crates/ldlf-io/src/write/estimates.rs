//! From predictions to the columns that a table of them has: shares, point estimates, quantiles, intervals, label sets, and how sure they are.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use ldlf_core::conformal::Conformal;
use ldlf_core::estimates::{entropy, interval, mean, mode, quantile};
use ldlf_core::{Error, Matrix, Prediction, Schema, TrainedModel};

use super::Column;

/// Something to write about a predicted distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// The probability of every label.
    Distribution,
    /// The most probable label.
    Mode,
    /// The expected value.
    Mean,
    /// The value at which half of the probability is reached.
    Median,
    /// The value at which this share of the probability is reached.
    Quantile(f64),
    /// The central interval with this share of the predicted distribution, with no promise.
    QuantileInterval(f64),
    /// The interval that holds the row's true value with this probability.
    Interval(f64),
    /// The interval that holds a new vote with this probability.
    VoteInterval(f64),
    /// The set of labels that holds a random voter's label with this probability.
    Set(f64),
    /// The entropy in nats.
    Entropy,
    /// How far every share may lie from the predicted one, as a standard deviation.
    Spread,
    /// The fraction of training rows that are at least as unlike the others.
    Familiarity,
}

impl Estimate {
    /// The words for all of them, with a share where one belongs.
    pub const WORDS: &'static [&'static str] = &[
        "distribution",
        "mode",
        "mean",
        "median",
        "quantile=0.1",
        "interval=0.9",
        "vote_interval=0.9",
        "set=0.9",
        "quantile_interval=0.9",
        "entropy",
        "spread",
        "familiarity",
    ];

    /// What it is called, without its share.
    pub fn name(self) -> &'static str {
        match self {
            Estimate::Distribution => "distribution",
            Estimate::Mode => "mode",
            Estimate::Mean => "mean",
            Estimate::Median => "median",
            Estimate::Quantile(_) => "quantile",
            Estimate::QuantileInterval(_) => "quantile_interval",
            Estimate::Interval(_) => "interval",
            Estimate::VoteInterval(_) => "vote_interval",
            Estimate::Set(_) => "set",
            Estimate::Entropy => "entropy",
            Estimate::Spread => "spread",
            Estimate::Familiarity => "familiarity",
        }
    }

    fn needs_label_values(self) -> bool {
        match self {
            Estimate::Distribution | Estimate::Mode | Estimate::Entropy | Estimate::Set(_) => false,
            Estimate::Spread | Estimate::Familiarity => false,
            Estimate::Mean | Estimate::Median | Estimate::Quantile(_) => true,
            Estimate::QuantileInterval(_) | Estimate::Interval(_) | Estimate::VoteInterval(_) => true,
        }
    }

    /// The probability that it promises, if it promises one.
    pub fn promise(self) -> Option<f64> {
        match self {
            Estimate::Interval(level) | Estimate::VoteInterval(level) | Estimate::Set(level) => Some(level),
            _ => None,
        }
    }

    /// The heads of its columns; a label of the same name makes them longer.
    fn heads(self, label_names: &[String]) -> Vec<String> {
        let heads = match self {
            Estimate::Distribution => return label_names.to_vec(),
            Estimate::Quantile(level) => vec![format!("quantile_{level}")],
            Estimate::QuantileInterval(share) | Estimate::Interval(share) | Estimate::VoteInterval(share) => {
                ["low", "high"].map(|end| format!("{}_{share}_{end}", self.name())).to_vec()
            }
            Estimate::Set(share) => vec![format!("set_{share}")],
            Estimate::Spread => label_names.iter().map(|label| format!("spread_{label}")).collect(),
            Estimate::Mode
            | Estimate::Mean
            | Estimate::Median
            | Estimate::Entropy
            | Estimate::Familiarity => vec![self.name().to_string()],
        };
        let apart =
            |head: String| if label_names.contains(&head) { format!("predicted_{head}") } else { head };
        heads.into_iter().map(apart).collect()
    }
}

impl FromStr for Estimate {
    type Err = String;

    /// Reads a name, or a name and a share such as `quantile=0.1`.
    fn from_str(text: &str) -> Result<Self, String> {
        let share = |text: &str| {
            text.parse::<f64>()
                .ok()
                .filter(|share| (0.0..=1.0).contains(share))
                .ok_or_else(|| format!("{text:?} is not a share from 0 to 1"))
        };
        let promised = |text: &str| {
            share(text)
                .ok()
                .filter(|level| *level > 0.0 && *level < 1.0)
                .ok_or_else(|| format!("{text:?} is not a probability above 0 and below 1"))
        };
        match text.split_once('=') {
            Some(("quantile", level)) => share(level).map(Estimate::Quantile),
            Some(("quantile_interval", level)) => share(level).map(Estimate::QuantileInterval),
            Some(("interval", level)) => promised(level).map(Estimate::Interval),
            Some(("vote_interval", level)) => promised(level).map(Estimate::VoteInterval),
            Some(("set", level)) => promised(level).map(Estimate::Set),
            _ => match text {
                "distribution" => Ok(Estimate::Distribution),
                "mode" => Ok(Estimate::Mode),
                "mean" => Ok(Estimate::Mean),
                "median" => Ok(Estimate::Median),
                "entropy" => Ok(Estimate::Entropy),
                "spread" => Ok(Estimate::Spread),
                "familiarity" => Ok(Estimate::Familiarity),
                _ => Err(
                    "write distribution, mode, mean, median, quantile=0.1, interval=0.9, vote_interval=0.9, \
                              set=0.9, quantile_interval=0.9, entropy, spread or familiarity"
                        .into(),
                ),
            },
        }
    }
}

/// Why some estimates cannot be written of a model's predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// This one needs labels that stand for numbers.
    NeedsLabelValues(Estimate),
    /// This one is named twice.
    NamedTwice(Estimate),
    /// This one needs what a fit learns from rows that the model did not see, and the model has nothing of it.
    NeedsCalibration(Estimate),
    /// The model does not know what its training rows looked like.
    NeedsTrainingRows(Estimate),
    /// This one needs distributions, and the model predicts values.
    NeedsDistributions(Estimate),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NeedsLabelValues(estimate) => {
                write!(
                    f,
                    "the {} needs labels that stand for numbers; train with label values",
                    estimate.name()
                )
            }
            Refusal::NeedsCalibration(estimate) => write!(
                f,
                "the {} needs calibration data, which this model lacks; fit it with held-out rows",
                estimate.name()
            ),
            Refusal::NeedsTrainingRows(estimate) => write!(
                f,
                "the {} needs a model that knows what its training rows looked like; fit it anew, on a table of at least 40 rows",
                estimate.name()
            ),
            Refusal::NamedTwice(estimate) => write!(f, "{} is named twice", estimate.name()),
            Refusal::NeedsDistributions(estimate) => write!(
                f,
                "this model predicts values, not distributions, and a value has no {}; leave it out",
                estimate.name()
            ),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::usage(refusal.to_string())
    }
}

/// What a model can tell beside its predictions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Abilities<'a> {
    /// Intervals and label sets with a promise.
    pub conformal: Option<&'a Conformal>,
    /// Spreads of the shares.
    pub spread: bool,
    /// How unlike the training rows a row is.
    pub familiarity: bool,
}

impl<'a> From<&'a TrainedModel> for Abilities<'a> {
    fn from(model: &'a TrainedModel) -> Self {
        Abilities {
            conformal: model.conformal.as_ref(),
            spread: model.spread.is_some(),
            familiarity: model.familiarity.is_some(),
        }
    }
}

/// What was asked of the model beside the predictions of some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sureness {
    /// `[rows, labels]`.
    pub spread: Option<Matrix<f32>>,
    /// By row.
    pub familiarity: Option<Vec<f64>>,
}

impl Sureness {
    /// Of some of the rows.
    pub fn of_rows(&self, rows: Range<usize>) -> Self {
        let chosen: Vec<usize> = rows.clone().collect();
        Sureness {
            spread: self.spread.as_ref().map(|spread| spread.select(&chosen)),
            familiarity: self.familiarity.as_ref().map(|of_row| of_row[rows].to_vec()),
        }
    }

    /// Not numbers, for rows without a prediction.
    pub fn unknown(&self, rows: usize) -> Self {
        let nothing = |labels: usize| {
            let mut spread = Matrix::zeros(rows, labels);
            (0..rows).for_each(|row| spread.row_mut(row).fill(f32::NAN));
            spread
        };
        Sureness {
            spread: self.spread.as_ref().map(|spread| nothing(spread.cols())),
            familiarity: self.familiarity.as_ref().map(|_| vec![f64::NAN; rows]),
        }
    }
}

/// The estimates to write, checked against what the labels are.
///
/// ```
/// use ldlf_core::{Matrix, Prediction, Schema};
/// use ldlf_io::write::estimates::{Abilities, Estimate, EstimateColumns, Sureness};
/// let schema = Schema { label_names: vec!["no".into(), "yes".into()], ..Schema::default() };
/// let columns = EstimateColumns::new(&[Estimate::Distribution, Estimate::Mode], &schema, Abilities::default())?;
/// let prediction = Prediction::Distributions(Matrix::from_rows(&[[0.25, 0.75]]));
/// assert_eq!(columns.of(&prediction, &Sureness::default())?.len(), 2);
/// assert!(EstimateColumns::new(&[Estimate::Mean], &schema, Abilities::default()).is_err());
/// # Ok::<(), ldlf_core::Error>(())
/// ```
pub struct EstimateColumns {
    wanted: Vec<(Estimate, Vec<String>)>,
    label_names: Vec<String>,
    label_values: Option<Vec<f64>>,
    conformal: Option<Conformal>,
}

impl EstimateColumns {
    /// Refuses estimates that need labels which stand for numbers where they do not, or calibration data that the model lacks, and
    /// estimates named twice.
    pub fn new(wanted: &[Estimate], schema: &Schema, model: Abilities<'_>) -> Result<Self, Refusal> {
        let mut named: Vec<(Estimate, Vec<String>)> = Vec::new();
        for &estimate in wanted {
            if estimate.needs_label_values() && schema.label_values.is_none() {
                return Err(Refusal::NeedsLabelValues(estimate));
            }
            if estimate.promise().is_some() && model.conformal.is_none()
                || estimate == Estimate::Spread && !model.spread
            {
                return Err(Refusal::NeedsCalibration(estimate));
            }
            if estimate == Estimate::Familiarity && !model.familiarity {
                return Err(Refusal::NeedsTrainingRows(estimate));
            }
            if named.iter().any(|(earlier, _)| *earlier == estimate) {
                return Err(Refusal::NamedTwice(estimate));
            }
            named.push((estimate, estimate.heads(&schema.label_names)));
        }
        Ok(EstimateColumns {
            wanted: named,
            label_names: schema.label_names.clone(),
            label_values: schema.label_values.clone(),
            conformal: model.conformal.cloned(),
        })
    }

    /// Whether this is among them.
    pub fn has(&self, estimate: Estimate) -> bool {
        self.wanted.iter().any(|(wanted, _)| *wanted == estimate)
    }

    /// The heads of all columns in their order.
    pub fn heads(&self) -> impl Iterator<Item = &str> {
        self.wanted.iter().flat_map(|(_, heads)| heads.iter().map(String::as_str))
    }

    /// The columns of a block of predictions.
    pub fn of<'a>(
        &'a self,
        prediction: &'a Prediction,
        sureness: &'a Sureness,
    ) -> Result<Vec<Column<'a>>, Refusal> {
        let mut columns = Vec::new();
        for (estimate, heads) in &self.wanted {
            match (estimate, prediction) {
                (Estimate::Interval(_), _) | (Estimate::VoteInterval(_), Prediction::Distributions(_)) => {
                    columns.extend(both_ends(heads, self.promised(*estimate, prediction)));
                }
                (Estimate::Spread, _) => {
                    let spread = sureness.spread.as_ref().ok_or(Refusal::NeedsCalibration(*estimate))?;
                    columns.push(Column::Matrix("spread", heads, spread));
                }
                (Estimate::Familiarity, _) => {
                    let found = sureness.familiarity.clone().ok_or(Refusal::NeedsTrainingRows(*estimate))?;
                    columns.push(Column::Numbers(&heads[0], found));
                }
                (_, Prediction::Distributions(rows)) => {
                    columns.extend(self.of_distributions(*estimate, heads, rows))
                }
                (_, Prediction::Values(values)) => columns.push(of_values(*estimate, heads, values)?),
            }
        }
        Ok(columns)
    }

    /// Intervals with a promise; not numbers where the model does not have what they take, which [`EstimateColumns::new`] refused.
    fn promised(&self, estimate: Estimate, prediction: &Prediction) -> Vec<(f64, f64)> {
        let values = self.label_values.as_deref().unwrap_or_default();
        let found = self.conformal.as_ref().and_then(|conformal| match (estimate, prediction) {
            (Estimate::VoteInterval(level), Prediction::Distributions(p)) => {
                conformal.vote_intervals(p, values, level)
            }
            (Estimate::Interval(level), _) => conformal.intervals(prediction, values, level),
            _ => None,
        });
        found.unwrap_or_else(|| vec![(f64::NAN, f64::NAN); prediction.rows()])
    }

    /// The labels of every row's set, the names divided by `|`.
    fn sets<'a>(&self, head: &'a str, rows: &Matrix<f32>, level: f64) -> Column<'a> {
        let text = |set: Vec<bool>| {
            let inside = self.label_names.iter().zip(set).filter(|(_, inside)| *inside);
            inside.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("|")
        };
        let sets = self.conformal.as_ref().map(|conformal| conformal.sets(rows, level)).unwrap_or_default();
        Column::Texts(head, sets.into_iter().map(text).collect())
    }

    fn of_distributions<'a>(
        &'a self,
        estimate: Estimate,
        heads: &'a [String],
        rows: &'a Matrix<f32>,
    ) -> Vec<Column<'a>> {
        let values = self.label_values.as_deref().unwrap_or_default();
        let each = |head: usize, of: &dyn Fn(&[f32]) -> f64| {
            vec![Column::Numbers(&heads[head], rows.iter_rows().map(of).collect())]
        };
        match estimate {
            Estimate::Distribution => vec![Column::Matrix("distribution", &self.label_names, rows)],
            Estimate::Mode if self.label_values.is_some() => each(0, &|p| values[mode(p)]),
            Estimate::Mode => {
                let modes = rows.iter_rows().map(|row| Some(mode(row))).collect();
                vec![Column::Labels(&heads[0], &self.label_names, modes)]
            }
            Estimate::Mean => each(0, &|p| mean(p, values)),
            Estimate::Median => each(0, &|p| quantile(p, values, 0.5)),
            Estimate::Quantile(level) => each(0, &|p| quantile(p, values, level)),
            Estimate::Set(level) => vec![self.sets(&heads[0], rows, level)],
            Estimate::QuantileInterval(share) => {
                both_ends(heads, rows.iter_rows().map(|p| interval(p, values, share)).collect())
            }
            Estimate::Interval(_) | Estimate::VoteInterval(_) | Estimate::Spread | Estimate::Familiarity => {
                unreachable!("made of more than distributions")
            }
            Estimate::Entropy => each(0, &entropy),
        }
    }
}

fn both_ends(heads: &[String], intervals: Vec<(f64, f64)>) -> Vec<Column<'_>> {
    let (low, high) = intervals.into_iter().unzip();
    vec![Column::Numbers(&heads[0], low), Column::Numbers(&heads[1], high)]
}

/// What a model that predicts values alone can say: the value.
fn of_values<'a>(estimate: Estimate, heads: &'a [String], values: &[f64]) -> Result<Column<'a>, Refusal> {
    match estimate {
        Estimate::Distribution => Ok(Column::Numbers("value", values.to_vec())),
        Estimate::Mode | Estimate::Mean | Estimate::Median => Ok(Column::Numbers(&heads[0], values.to_vec())),
        Estimate::Quantile(_) | Estimate::QuantileInterval(_) | Estimate::Interval(_) => {
            Err(Refusal::NeedsDistributions(estimate))
        }
        Estimate::VoteInterval(_)
        | Estimate::Set(_)
        | Estimate::Entropy
        | Estimate::Spread
        | Estimate::Familiarity => Err(Refusal::NeedsDistributions(estimate)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_take_shares_from_0_to_1() {
        assert_eq!("quantile=0.1".parse(), Ok(Estimate::Quantile(0.1)));
        assert!(
            ["quantile=2", "quantile", "mode=1", "interval=x", "interval=1", "set=0"]
                .iter()
                .all(|text| text.parse::<Estimate>().is_err())
        );
    }
}
