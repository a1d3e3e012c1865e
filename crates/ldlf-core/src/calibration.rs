//! Whether predicted distributions mean what they say: how often intervals and sets hold the truth, whether a share of 0.3 is 0.3 on
//! average, and how much of the K-L divergence better calibrated predictions would not have.

use ldlf_math::numeric::SMALLEST_PROBABILITY;
use serde::Serialize;

use crate::conformal::{Calibration, Conformal};
use crate::estimates::{interval, mean};
use crate::measures::{KL, MeasuredRow, mean_over_rows, weighted_mean};
use crate::{Dataset, Matrix, Prediction, Result};

/// The probabilities that coverage is shown at.
pub const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];

/// Bins of the histogram of [`Reliability::pit`], and of a label's predicted shares.
pub const BINS: usize = 10;

/// How far predicted distributions can be relied on, on rows that the model did not learn from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// Intervals and sets at [`LEVELS`].
    pub coverage: Vec<Coverage>,
    /// The K-L divergence in two parts.
    pub kl: KlParts,
    /// Every label by itself.
    pub labels: Vec<LabelReliability>,
    /// For ordered labels, the histogram of where the truth lies in the predicted distribution (probability integral transform), in
    /// [`BINS`] bins; all equal for calibrated predictions, high at both ends for those that are too sure.
    pub pit: Option<Vec<f64>>,
}

/// How often one kind of interval or set holds the truth, and how large it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// Which kind.
    pub kind: Kind,
    /// The probability that was asked for.
    pub level: f64,
    /// The fraction of rows, or of votes, that were inside.
    pub covered: f64,
    /// The mean width, in units of the label values; of sets the mean number of labels.
    pub width: f64,
}

/// `K-L = calibration + refinement`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KlParts {
    /// The whole.
    pub kl: f64,
    /// What the best of the distributions `p^exponent / sum p^exponent` would take off: zero where predictions are neither too sure
    /// nor not sure enough.
    pub calibration: f64,
    /// What is left: what the features do not tell.
    pub refinement: f64,
    /// The best exponent: below 1 where predictions are too sure.
    pub exponent: f64,
}

/// How far the predicted shares of a label can be relied on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelReliability {
    /// The mean predicted share.
    pub predicted: f64,
    /// The mean true share.
    pub observed: f64,
    /// The expected calibration error: the mean distance of both over [`BINS`] bins of rows with similar predictions.
    pub error: f64,
    /// The mean predicted and the mean true share of every bin that has rows.
    pub bins: Vec<[f64; 2]>,
}

impl Reliability {
    /// Compares predictions with the rows they were made for.
    pub fn of(p: &Matrix<f32>, data: &Dataset, conformal: Option<&Conformal>) -> Result<Self> {
        Reliability::with_coverage(p, data, |kind, level| kind.of_rows(p, data, conformal, level))
    }

    /// Compares out-of-fold predictions with the training rows. Intervals and sets of one half of the rows are made by the other half,
    /// since rows that told how wide an interval must be are inside as often as they should by construction. Groups stay together.
    pub fn of_out_of_fold(p: &Matrix<f32>, data: &Dataset) -> Result<Self> {
        let unit = |row: usize| data.groups().map_or(row, |groups| groups[row] as usize);
        let halves = [0, 1]
            .map(|half| (0..data.rows()).filter(|&row| unit(row) % 2 == half).collect::<Vec<usize>>())
            .map(|rows| (p.select(&rows), data.select(&rows), rows));
        let fitted = [0, 1].map(|half| {
            let (p, data, _) = &halves[half];
            Conformal::fit(&Prediction::Distributions(p.clone()), data, Calibration::OutOfFold)
        });
        Reliability::with_coverage(p, data, |kind, level| {
            let mut found = (vec![0.0; data.rows()], vec![0.0; data.rows()]);
            for ((p, data, rows), by) in halves.iter().zip(fitted.iter().rev()) {
                let (covered, widths) = kind.of_rows(p, data, by.as_ref(), level)?;
                for (at, &row) in rows.iter().enumerate() {
                    (found.0[row], found.1[row]) = (covered[at], widths[at]);
                }
            }
            Some(found)
        })
    }

    fn with_coverage(
        p: &Matrix<f32>,
        data: &Dataset,
        of_rows: impl Fn(Kind, f64) -> Option<(Vec<f64>, Vec<f64>)>,
    ) -> Result<Self> {
        let (kl, exponent) = (mean_over_rows(&KL, data.targets(), p, data.weights()), best_exponent(p, data));
        let refinement = mean_over_rows(&KL, data.targets(), &raised(p, exponent)?, data.weights()).min(kl);
        Ok(Reliability {
            coverage: coverage(data, of_rows),
            kl: KlParts { kl, calibration: kl - refinement, refinement, exponent },
            labels: (0..data.labels()).map(|label| of_label(p, data, label)).collect(),
            pit: data.schema().label_values.as_ref().map(|values| pit(p, data, values)),
        })
    }
}

/// Coverage of all that the labels and the model allow, level by level.
fn coverage(data: &Dataset, of_rows: impl Fn(Kind, f64) -> Option<(Vec<f64>, Vec<f64>)>) -> Vec<Coverage> {
    let kinds = [Kind::Interval, Kind::VoteInterval, Kind::Set, Kind::QuantileInterval];
    let each = kinds.into_iter().flat_map(|kind| LEVELS.map(|level| (kind, level)));
    let of = |(kind, level): (Kind, f64)| {
        let (covered, widths) = of_rows(kind, level)?;
        let over_rows = |numbers: Vec<f64>| weighted_mean(numbers.into_iter(), data.weights());
        Some(Coverage { kind, level, covered: over_rows(covered), width: over_rows(widths) })
    };
    each.filter_map(of).collect()
}

/// Kinds of intervals and sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Promised for the true value of a row.
    Interval,
    /// Promised for a new vote.
    VoteInterval,
    /// Promised for the label of a random voter.
    Set,
    /// Quantiles of the predicted distribution, against votes (or the single label) and without a promise.
    QuantileInterval,
}

impl Kind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Interval => "interval",
            Kind::VoteInterval => "vote_interval",
            Kind::Set => "set",
            Kind::QuantileInterval => "quantile_interval",
        }
    }

    /// Row by row how much of the truth is inside, and how wide it is; `None` where labels or model do not have it.
    pub fn of_rows(
        self,
        p: &Matrix<f32>,
        data: &Dataset,
        conformal: Option<&Conformal>,
        level: f64,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let values = data.schema().label_values.as_deref();
        let intervals = match self {
            Kind::Interval => conformal?.intervals(&Prediction::Distributions(p.clone()), values?, level)?,
            Kind::VoteInterval => conformal?.vote_intervals(p, values?, level)?,
            Kind::QuantileInterval => p
                .iter_rows()
                .zip(std::iter::repeat(values?))
                .map(|(row, values)| interval(row, values, level))
                .collect(),
            Kind::Set => {
                let sets = conformal?.sets(p, level);
                let sizes = sets.iter().map(|set| set.iter().filter(|inside| **inside).count() as f64);
                return Some((shares_inside(&sets, data), sizes.collect()));
            }
        };
        let covered = |(row, &(low, high)): (usize, &(f64, f64))| {
            let inside = |y: f64| f64::from(u8::from((low..=high).contains(&y)));
            let values = values.unwrap_or_default();
            let truth = MeasuredRow {
                value: data.truth().map(|truth| truth[row]),
                ..MeasuredRow::of_distributions(data.targets().row(row), p.row(row))
            };
            match (self, truth.value) {
                (Kind::Interval, None) => inside(mean(truth.truth, values)),
                (Kind::VoteInterval, _) => MeasuredRow { value: None, ..truth }.expected(values, inside),
                _ => truth.expected(values, inside),
            }
        };
        let widths = intervals.iter().map(|(low, high)| high - low).collect();
        Some((intervals.iter().enumerate().map(covered).collect(), widths))
    }
}

/// How much of every row's true distribution lies on the labels of its set.
fn shares_inside(sets: &[Vec<bool>], data: &Dataset) -> Vec<f64> {
    let of_row = |(row, set): (usize, &Vec<bool>)| {
        let truth = data.targets().row(row).iter().map(|&share| f64::from(share));
        let total: f64 = truth.clone().sum();
        truth.zip(set).filter(|(_, inside)| **inside).map(|(share, _)| share).sum::<f64>() / total
    };
    sets.iter().enumerate().map(of_row).collect()
}

fn of_label(p: &Matrix<f32>, data: &Dataset, label: usize) -> LabelReliability {
    let mut rows: Vec<usize> = (0..p.rows()).collect();
    rows.sort_by(|&a, &b| p.row(a)[label].total_cmp(&p.row(b)[label]));
    let weight = |row: usize| f64::from(data.weight(row));
    let sums = |rows: &[usize]| {
        rows.iter().fold((0.0, 0.0, 0.0), |(w, predicted, observed), &row| {
            let (own, of_p, of_d) = (weight(row), p.row(row)[label], data.targets().row(row)[label]);
            (w + own, predicted + own * f64::from(of_p), observed + own * f64::from(of_d))
        })
    };
    let (total, predicted, observed) = sums(&rows);
    let bin = |bin: usize| &rows[bin * rows.len() / BINS..(bin + 1) * rows.len() / BINS];
    let binned: Vec<(f64, f64, f64)> =
        (0..BINS).map(|number| sums(bin(number))).filter(|(weight, ..)| *weight > 0.0).collect();
    let apart: f64 = binned.iter().map(|(_, p, d)| (p - d).abs()).sum();
    LabelReliability {
        predicted: predicted / total,
        observed: observed / total,
        error: apart / total,
        bins: binned.iter().map(|(weight, p, d)| [p / weight, d / weight]).collect(),
    }
}

/// A label takes the room between what is below it and what is up to it, evenly.
fn pit(p: &Matrix<f32>, data: &Dataset, values: &[f64]) -> Vec<f64> {
    let mut bins = vec![0.0; BINS];
    let mut total = 0.0;
    for (number, row) in p.iter_rows().enumerate() {
        let sum: f64 = row.iter().map(|&share| f64::from(share)).sum();
        let up_to = |value: f64, also: bool| {
            let counts = |(_, v): &(&f32, &f64)| **v < value || (also && **v == value);
            row.iter().zip(values).filter(counts).map(|(&share, _)| f64::from(share)).sum::<f64>() / sum
        };
        let mut spread = |value: f64, weight: f64| {
            let (low, high) = (up_to(value, false), up_to(value, true));
            total += weight;
            for (bin, held) in bins.iter_mut().enumerate() {
                let (from, to) = (bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64);
                let last = bin + 1 == BINS;
                *held += weight
                    * match high > low + 1e-12 {
                        true => (high.min(to) - low.max(from)).max(0.0) / (high - low),
                        false => f64::from(u8::from(from <= low && (low < to || last))),
                    };
            }
        };
        let weight = f64::from(data.weight(number));
        match data.truth() {
            Some(truth) => spread(truth[number], weight),
            None => data
                .targets()
                .row(number)
                .iter()
                .zip(values)
                .filter(|(share, _)| **share > 0.0)
                .for_each(|(&share, &value)| spread(value, weight * f64::from(share))),
        }
    }
    bins.iter_mut().for_each(|held| *held /= total);
    bins
}

/// `p^exponent / sum p^exponent`, row by row.
pub fn raised(p: &Matrix<f32>, exponent: f64) -> Result<Matrix<f32>> {
    let mut out = Vec::with_capacity(p.rows() * p.cols());
    for row in p.iter_rows() {
        let powers: Vec<f64> =
            row.iter().map(|&share| f64::from(share).max(SMALLEST_PROBABILITY).powf(exponent)).collect();
        let total: f64 = powers.iter().sum();
        out.extend(powers.iter().map(|power| (power / total) as f32));
    }
    Ok(Matrix::new(p.rows(), p.cols(), out)?)
}

/// The exponent, from 1/8 to 8, that brings predictions nearest to the targets by K-L: a convex function, searched by the golden section.
pub fn best_exponent(p: &Matrix<f32>, data: &Dataset) -> f64 {
    /// The golden section.
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let logs: Vec<Vec<f64>> = p
        .iter_rows()
        .map(|row| row.iter().map(|&q| f64::from(q).max(SMALLEST_PROBABILITY).ln()).collect())
        .collect();
    let loss = |exponent: f64| {
        let of_row = |(row, logs): (usize, &Vec<f64>)| {
            let sum: f64 = logs.iter().map(|log| (exponent * log).exp()).sum();
            let truth = data.targets().row(row).iter().zip(logs);
            sum.ln() - exponent * truth.map(|(&d, log)| f64::from(d) * log).sum::<f64>()
        };
        weighted_mean(logs.iter().enumerate().map(of_row), data.weights())
    };
    let (mut low, mut high) = (0.125, 8.0);
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut of_left, mut of_right) = (loss(left), loss(right));
    while high - low > 1e-4 {
        if of_left <= of_right {
            (high, right, of_right) = (right, left, of_left);
            left = high - GOLDEN * (high - low);
            of_left = loss(left);
        } else {
            (low, left, of_left) = (left, right, of_right);
            right = low + GOLDEN * (high - low);
            of_right = loss(right);
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Features;

    fn data(targets: &[[f32; 2]]) -> Dataset {
        let features = Features::Dense(Matrix::zeros(targets.len(), 1));
        Dataset::new(features, Matrix::from_rows(targets)).unwrap().with_label_values(vec![1.0, 2.0]).unwrap()
    }

    #[test]
    fn predictions_that_are_too_sure_lose_by_calibration_alone() {
        // The truth is the root of what was predicted, so that an exponent of 1/2 makes up for all.
        let targets = [[0.9f32, 0.1], [0.2, 0.8], [0.4, 0.6]];
        let sharp = raised(&Matrix::from_rows(&targets), 2.0).unwrap();
        let found = Reliability::of(&sharp, &data(&targets), None).unwrap().kl;
        assert!((found.exponent - 0.5).abs() < 1e-3, "{found:?}");
        assert!(found.refinement < 1e-6 && (found.calibration - found.kl).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn labels_are_compared_on_average_and_bin_by_bin() {
        // 20 rows: half predicted 0.25 and true 0.5, half the other way round: right on average, 0.25 apart in every bin.
        let targets: Vec<[f32; 2]> =
            (0..20).map(|row| if row < 10 { [0.5, 0.5] } else { [0.25, 0.75] }).collect();
        let p: Vec<[f32; 2]> = (0..20).map(|row| if row < 10 { [0.25, 0.75] } else { [0.5, 0.5] }).collect();
        let found = &Reliability::of(&Matrix::from_rows(&p), &data(&targets), None).unwrap().labels[0];
        let bins = [[[0.25, 0.5]; 5], [[0.5, 0.25]; 5]].concat();
        assert_eq!(*found, LabelReliability { predicted: 0.375, observed: 0.375, error: 0.25, bins });
    }

    #[test]
    fn the_truth_is_spread_evenly_over_the_room_of_its_label() {
        // Predicted (0.25, 0.75) and true (0.5, 0.5): half of the truth below 0.25, half above.
        let found = Reliability::of(&Matrix::from_rows(&[[0.25, 0.75]]), &data(&[[0.5, 0.5]]), None).unwrap();
        let pit = found.pit.unwrap();
        let expected = [0.2, 0.2, 0.1 + 1.0 / 30.0, 1.0 / 15.0];
        assert!(pit.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{pit:?}");
        assert!((pit.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn single_values_beyond_the_labels_lie_at_the_ends() {
        let data = data(&[[1.0, 0.0], [0.0, 1.0]]).with_truth(vec![0.0, 9.0]).unwrap();
        let pit = Reliability::of(&Matrix::from_rows(&[[0.5, 0.5]; 2]), &data, None).unwrap().pit.unwrap();
        assert_eq!((pit[0], pit[BINS - 1]), (0.5, 0.5));
    }

    #[test]
    fn out_of_fold_rows_are_covered_by_what_the_other_half_tells() {
        // Even rows are right, odd ones wrong: calibrated by the right ones no odd row is inside, by the wrong ones every even row is.
        let targets: Vec<[f32; 2]> =
            (0..40).map(|row| if row % 2 == 0 { [1.0, 0.0] } else { [0.0, 1.0] }).collect();
        let found =
            Reliability::of_out_of_fold(&Matrix::from_rows(&[[0.9, 0.1]; 40]), &data(&targets)).unwrap();
        let sets: Vec<&Coverage> = found.coverage.iter().filter(|one| one.kind == Kind::Set).collect();
        assert_eq!(sets.iter().map(|one| one.covered).collect::<Vec<_>>(), [0.5; 4]);
        assert_eq!(sets.iter().map(|one| one.width).collect::<Vec<_>>(), [1.5; 4]);
    }

    #[test]
    fn raw_quantiles_are_shown_with_their_coverage_of_votes() {
        let found =
            Reliability::of(&Matrix::from_rows(&[[0.96, 0.04]]), &data(&[[0.75, 0.25]]), None).unwrap();
        let at: Vec<(f64, f64)> = found.coverage.iter().map(|one| (one.covered, one.width)).collect();
        assert_eq!(at, [(0.75, 0.0); 3].into_iter().chain([(1.0, 1.0)]).collect::<Vec<_>>());
    }
}
