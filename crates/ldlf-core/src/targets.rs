//! From votes, probabilities or one ordered label to label distributions.

use ldlf_math::memory::Growth;
use serde::{Deserialize, Serialize};

use crate::dataset::SIMPLEX_TOLERANCE;
use crate::error::{Place, Subject};
use crate::{Error, Matrix, Result, message};

/// How one ordered label is spread over neighbouring labels. Widths are in units of the label values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// `d_c ~ exp(-(v_c - y)^2 / (2 sigma^2))`; a sigma of 0 puts all mass on the nearest label.
    Gaussian {
        /// The standard deviation.
        sigma: f64,
    },
    /// A Gaussian whose width depends on the label: the ages of older people are less certain.
    Gaussians {
        /// The standard deviation at every label; a value between two labels takes that of the nearer one, in a tie the lower.
        sigmas: Vec<f64>,
    },
    /// `d_c ~ max(0, 1 - |v_c - y| / width)`; a width of 0 puts all mass on the nearest label.
    Triangle {
        /// Half of the triangle's base.
        width: f64,
    },
}

impl Spread {
    /// Refuses a width that is negative or not finite.
    pub fn check(&self) -> Result<()> {
        let (name, sizes) = match self {
            Spread::Gaussian { sigma } => ("sigma", std::slice::from_ref(sigma)),
            Spread::Gaussians { sigmas } => ("sigma", sigmas.as_slice()),
            Spread::Triangle { width } => ("width", std::slice::from_ref(width)),
        };
        match sizes.iter().find(|size| !(size.is_finite() && **size >= 0.0)) {
            None => Ok(()),
            Some(size) => Err(Error::parameter(name, "a finite number of at least 0", size)),
        }
    }
}

/// One ordered label as a distribution over `label_values`, which are strictly increasing; they need not start at 0 nor be
/// evenly spaced. Where a triangle reaches no label, all mass goes to the nearest one.
///
/// ```
/// use ldlf_core::targets::{Spread, from_single_label};
/// let d = from_single_label(21.0, &[20.0, 21.0, 22.0], &Spread::Triangle { width: 2.0 })?;
/// assert_eq!(d, [0.25, 0.5, 0.25]);
/// # Ok::<(), ldlf_core::Error>(())
/// ```
pub fn from_single_label(value: f64, label_values: &[f64], spread: &Spread) -> Result<Vec<f32>> {
    spread.check()?;
    check_label_values(label_values)?;
    let (first, last) = (label_values[0], label_values[label_values.len() - 1]);
    if !(first..=last).contains(&value) {
        return Err(Error::data(format!(
            "the label {value} lies outside the label values {first} to {last}"
        ))
        .with_remedy(message!["widen ", Subject::LabelValues]));
    }
    let distance = |label: usize| (label_values[label] - value).abs();
    let near = (0..label_values.len()).fold(0, |best, l| if distance(l) < distance(best) { l } else { best });
    let nearest = distance(near);
    let sigma = match spread {
        Spread::Gaussian { sigma } => *sigma,
        Spread::Gaussians { sigmas } if sigmas.len() == label_values.len() => sigmas[near],
        Spread::Gaussians { sigmas } => {
            let (widths, labels) = (sigmas.len(), label_values.len());
            return Err(Error::usage(format!("sigma gives {widths} widths for {labels} labels"))
                .with_remedy("give one for all or one for each"));
        }
        Spread::Triangle { .. } => 0.0,
    };
    let weight = |v: f64| {
        let distance = (v - value).abs();
        match *spread {
            Spread::Triangle { width } if nearest < width => (1.0 - distance / width).max(0.0),
            // Relative to the nearest label, so that a narrow Gaussian between two labels does not vanish.
            _ if sigma > 0.0 => {
                let (far, near) = (distance / sigma, nearest / sigma);
                (-0.5 * (far - near) * (far + near)).exp()
            }
            _ => f64::from(u8::from(distance == nearest)),
        }
    };
    let weights: Vec<f64> = label_values.iter().map(|&v| weight(v)).collect();
    let sum: f64 = weights.iter().sum();
    Ok(weights.iter().map(|w| (w / sum) as f32).collect())
}

/// Refuses label values that are empty, not finite, or not strictly increasing.
pub fn check_label_values(label_values: &[f64]) -> Result<()> {
    if label_values.is_empty() {
        return Err(Error::usage("label values must hold at least one number"));
    }
    if let Some(bad) = label_values.iter().find(|v| !v.is_finite()) {
        return Err(Error::usage(format!("label values must be finite, got {bad}")));
    }
    if let Some(pair) = label_values.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(Error::usage(format!(
            "label values must rise strictly, got {} before {}",
            pair[0], pair[1]
        )));
    }
    Ok(())
}

/// The most labels that single values may imply; beyond it, the column is hardly a label.
const MOST_LABELS: usize = 10_000;

/// The labels that single values imply: every integer from the smallest to the largest when all are integers,
/// else the distinct values in order.
pub fn implied_label_values(values: &[f64]) -> Result<Vec<f64>> {
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let too_many = || {
        Err(Error::data(format!(
            "the single labels run from {smallest} to {largest} and make more than {MOST_LABELS} labels"
        ))
        .with_remedy(message!["give them with ", Subject::LabelValues]))
    };
    if values.iter().all(|v| v.fract() == 0.0) {
        if largest - smallest >= MOST_LABELS as f64 {
            return too_many();
        }
        return Ok((0..=(largest - smallest) as usize).map(|step| smallest + step as f64).collect());
    }
    let mut distinct = values.to_vec();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    if distinct.len() > MOST_LABELS { too_many() } else { Ok(distinct) }
}

/// Rows of probabilities or of vote counts, converted to distributions one by one.
///
/// A row that sums to 1 (within [`SIMPLEX_TOLERANCE`]) is kept; any other is treated as counts and divided by its sum.
#[derive(Debug)]
pub struct TargetRows {
    labels: usize,
    strict: bool,
    data: Vec<f32>,
    rows: usize,
    normalised: usize,
    sums: (f64, f64),
    /// What every row summed to.
    totals: Vec<f64>,
    /// Whether all labels were whole numbers: counts.
    whole: bool,
    growth: Growth,
}

impl TargetRows {
    /// Takes rows of `labels` numbers; `strict` refuses rows that need normalising.
    pub fn new(labels: usize, strict: bool) -> Self {
        let sums = (f64::INFINITY, f64::NEG_INFINITY);
        TargetRows {
            labels,
            strict,
            data: Vec::new(),
            rows: 0,
            normalised: 0,
            sums,
            totals: Vec::new(),
            whole: true,
            growth: Growth::default(),
        }
    }

    /// Adds a row. `place(Some(label))` is the place of a cell in an error, `place(None)` that of the row.
    pub fn push(&mut self, row: &[f64], place: &dyn Fn(Option<usize>) -> Place) -> Result<()> {
        debug_assert_eq!(row.len(), self.labels);
        for (label, &value) in row.iter().enumerate() {
            let fault = if value.is_nan() {
                Error::data("the label is missing (NaN)")
            } else if value.is_infinite() {
                Error::data("the label is infinite")
            } else if value < 0.0 {
                Error::data(format!(
                    "the label {value} is negative; labels are shares or counts of at least 0"
                ))
            } else {
                continue;
            };
            return Err(fault.at(place(Some(label))));
        }
        let sum: f64 = row.iter().sum();
        if sum == 0.0 {
            return Err(Error::data("every label is 0, so there is no distribution to learn")
                .with_remedy("remove the row")
                .at(place(None)));
        }
        if sum.is_infinite() {
            return Err(Error::data("the labels are too large to add up").at(place(None)));
        }
        let divisor = if (sum - 1.0).abs() <= SIMPLEX_TOLERANCE {
            1.0
        } else if self.strict {
            let refusal =
                message!["the labels sum to {sum}, not 1, and ", Subject::Strict, " refuses to normalise"];
            return Err(Error::data(refusal).at(place(None)));
        } else {
            self.normalised += 1;
            sum
        };
        self.sums = (self.sums.0.min(sum), self.sums.1.max(sum));
        self.totals.push(sum);
        self.whole &= row.iter().all(|value| value.fract() == 0.0);
        self.data.extend(row.iter().map(|v| (v / divisor) as f32));
        self.rows += 1;
        let held = self.growth.reached(size_of_val(&self.data[..]));
        held.map_err(|reason| Error::data(reason).at(place(None)))
    }

    /// What became of the rows.
    pub fn finish(self) -> Result<Targets> {
        let (least, most) = self.sums;
        let notice = (self.normalised > 0).then(|| match (self.whole, least == most) {
            (true, true) => format!("the labels are vote counts, {} votes per row", round(most)),
            (true, false) => {
                format!("the labels are vote counts, {} to {} votes per row", round(least), round(most))
            }
            _ if (least - 100.0).abs() < 0.5 && (most - 100.0).abs() < 0.5 => {
                "the labels are percentages".to_string()
            }
            _ => format!(
                "{} of {} rows of labels did not sum to 1 (sums from {} to {}) and were normalised",
                self.normalised,
                self.rows,
                round(self.sums.0),
                round(self.sums.1)
            ),
        });
        let distributions = Matrix::new(self.rows, self.labels, self.data)?;
        Ok(Targets { distributions, notice, totals: self.totals, are_counts: self.whole })
    }
}

/// Label distributions, and what they were made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    /// One distribution per row.
    pub distributions: Matrix<f32>,
    /// A notice for the user when some rows were normalised.
    pub notice: Option<String>,
    /// What every row summed to before.
    pub totals: Vec<f64>,
    /// Whether these are numbers of votes: all labels were whole numbers.
    pub are_counts: bool,
}

/// Turns every row of `values` into a distribution; see [`TargetRows`]. `place(row, label)` is the place of an error.
pub fn normalise_rows(
    values: &Matrix<f64>,
    strict: bool,
    place: &dyn Fn(usize, Option<usize>) -> Place,
) -> Result<Targets> {
    let mut targets = TargetRows::new(values.cols(), strict);
    for (index, row) in values.iter_rows().enumerate() {
        targets.push(row, &|label| place(index, label))?;
    }
    targets.finish()
}

/// Four decimals are enough for a message.
fn round(value: f64) -> f64 {
    if value.abs() < 1e9 { (value * 1e4).round() / 1e4 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(row: &[f32]) -> f64 {
        row.iter().map(|&v| f64::from(v)).sum()
    }

    #[test]
    fn a_gaussian_follows_its_formula() {
        let values: Vec<f64> = (10..=30).map(f64::from).collect();
        let d = from_single_label(20.0, &values, &Spread::Gaussian { sigma: 2.0 }).unwrap();
        assert!((total(&d) - 1.0).abs() < 1e-6);
        let ratio = f64::from(d[12]) / f64::from(d[10]);
        assert!((ratio - (-0.5f64).exp()).abs() < 1e-6, "two steps are one sigma: {ratio}");
    }

    #[test]
    fn every_label_may_have_a_width_of_its_own() {
        let ages = [10.0, 20.0, 30.0];
        let spread = Spread::Gaussians { sigmas: vec![0.0, 10.0, 20.0] };
        let of = |age: f64, spread: &Spread| from_single_label(age, &ages, spread);
        assert_eq!(of(10.0, &spread).unwrap(), [1.0, 0.0, 0.0]);
        assert_eq!(of(20.0, &spread).unwrap(), of(20.0, &Spread::Gaussian { sigma: 10.0 }).unwrap());
        assert_eq!(of(28.0, &spread).unwrap(), of(28.0, &Spread::Gaussian { sigma: 20.0 }).unwrap());
        let short = of(10.0, &Spread::Gaussians { sigmas: vec![1.0, 2.0] }).unwrap_err().to_string();
        assert_eq!(short, "sigma gives 2 widths for 3 labels; give one for all or one for each");
    }

    #[test]
    fn uneven_label_values_that_do_not_start_at_zero_are_used_as_they_are() {
        let d = from_single_label(2.0, &[-1.0, 2.0, 2.5], &Spread::Triangle { width: 1.0 }).unwrap();
        assert_eq!(d, [0.0, 2.0 / 3.0, 1.0 / 3.0]);
    }

    #[test]
    fn a_spread_too_narrow_to_reach_a_label_gives_everything_to_the_nearest() {
        for spread in [
            Spread::Gaussian { sigma: 0.0 },
            Spread::Gaussian { sigma: 1e-9 },
            Spread::Triangle { width: 0.0 },
            Spread::Triangle { width: 0.1 },
        ] {
            assert_eq!(
                from_single_label(1.2, &[0.0, 1.0, 2.0], &spread).unwrap(),
                [0.0, 1.0, 0.0],
                "{spread:?}"
            );
        }
    }

    #[test]
    fn a_label_outside_the_values_is_refused() {
        let message = |value, spread| from_single_label(value, &[0.0, 1.0], &spread).unwrap_err().to_string();
        assert_eq!(
            message(3.0, Spread::Gaussian { sigma: 1.0 }),
            "the label 3 lies outside the label values 0 to 1; widen `label_values`"
        );
        assert_eq!(
            message(f64::NAN, Spread::Gaussian { sigma: 1.0 }),
            "the label NaN lies outside the label values 0 to 1; widen `label_values`"
        );
    }

    #[test]
    fn a_negative_sigma_is_refused() {
        let error = from_single_label(1.0, &[0.0, 1.0], &Spread::Gaussian { sigma: -1.0 }).unwrap_err();
        assert_eq!(error.to_string(), "sigma must be a finite number of at least 0, got -1");
    }

    #[test]
    fn single_values_imply_the_labels() {
        assert_eq!(implied_label_values(&[3.0, 6.0, 3.0]).unwrap(), [3.0, 4.0, 5.0, 6.0]);
        assert_eq!(implied_label_values(&[2.5, 1.0, 2.5]).unwrap(), [1.0, 2.5]);
        assert!(implied_label_values(&[0.0, 1e12]).is_err());
    }

    #[test]
    fn counts_are_normalised_with_one_notice() {
        let votes = Matrix::from_rows(&[[1.0, 3.0], [0.25, 0.75]]);
        let targets = normalise_rows(&votes, false, &|row, _| Place::default().row(row)).unwrap();
        assert_eq!(targets.distributions.as_slice(), [0.25, 0.75, 0.25, 0.75]);
        assert_eq!(
            targets.notice.unwrap(),
            "1 of 2 rows of labels did not sum to 1 (sums from 1 to 4) and were normalised"
        );
        assert!(!targets.are_counts, "shares do not say how many voted");
        let percentages = Matrix::from_rows(&[[33.3, 66.7], [12.5, 87.4]]);
        let targets = normalise_rows(&percentages, false, &|row, _| Place::default().row(row)).unwrap();
        assert_eq!(targets.notice.unwrap(), "the labels are percentages");
        let counts = Matrix::from_rows(&[[1.0, 3.0], [0.0, 2.0]]);
        let targets = normalise_rows(&counts, false, &|row, _| Place::default().row(row)).unwrap();
        assert_eq!(targets.notice.unwrap(), "the labels are vote counts, 2 to 4 votes per row");
        assert_eq!((targets.are_counts, targets.totals), (true, vec![4.0, 2.0]));
    }
}
