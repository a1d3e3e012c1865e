//! How sure a mean over rows is: the bootstrap over rows, or over groups of rows that belong together.

use ldlf_math::random::Seed;
use rand::RngExt;
use serde::Serialize;

/// Resamples of the rows, and how many draws they may take in all: of very many rows there are fewer, which then differ little.
const RESAMPLES: usize = 1000;
const MOST_DRAWS: usize = 20_000_000;
const FEWEST_RESAMPLES: usize = 200;

/// A mean with the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bootstrapped {
    /// The mean.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The mean of one number per row, by weights where there are some, with its percentile interval: rows, or whole groups, are drawn with
/// replacement, a thousand times as a rule. The same numbers give the same interval.
///
/// ```
/// use ldlf_core::bootstrap::mean_of;
/// let found = mean_of(&[1.0, 2.0, 3.0, 4.0], None, None);
/// assert!(found.value == 2.5 && found.low < 2.0 && found.high > 3.0);
/// // Two people, one of 1 and 2, one of 3 and 4: nothing between.
/// let people = mean_of(&[1.0, 2.0, 3.0, 4.0], None, Some(&[7, 7, 9, 9]));
/// assert_eq!((people.low, people.high), (1.5, 3.5));
/// ```
pub fn mean_of(values: &[f64], weights: Option<&[f32]>, groups: Option<&[u32]>) -> Bootstrapped {
    let mut units = std::collections::BTreeMap::<u64, (f64, f64)>::new();
    for (row, value) in values.iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| f64::from(weights[row]));
        // A row of weight zero does not count even where its number is infinite.
        if weight > 0.0 {
            let unit = groups.map_or(row as u64, |groups| u64::from(groups[row]));
            let (sum, total) = units.entry(unit).or_default();
            *sum += weight * value;
            *total += weight;
        }
    }
    let units: Vec<(f64, f64)> = units.into_values().collect();
    let ratio = |(sum, total): (f64, f64)| sum / total;
    let add = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
    let value = ratio(units.iter().copied().fold((0.0, 0.0), add));
    if units.is_empty() {
        return Bootstrapped { value, low: value, high: value };
    }
    let mut generator = Seed::new(0).named("bootstrap").generator();
    let resamples = (MOST_DRAWS / units.len()).clamp(FEWEST_RESAMPLES, RESAMPLES);
    let mut means: Vec<f64> = (0..resamples)
        .map(|_| {
            let draw = |_| units[generator.random_range(0..units.len() as u64) as usize];
            ratio((0..units.len()).map(draw).fold((0.0, 0.0), add))
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((resamples as f64 * share) as usize).min(resamples - 1)];
    Bootstrapped { value, low: at(0.025), high: at(0.975) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_as_wide_as_theory_has_it() {
        // A thousand tosses: the standard error is 0.5 / sqrt(1000).
        let tosses: Vec<f64> = (0..1000).map(|toss| f64::from(toss % 2)).collect();
        let found = mean_of(&tosses, None, None);
        let expected = 1.96 * 0.5 / 1000f64.sqrt();
        assert_eq!(found.value, 0.5);
        assert!((found.high - 0.5 - expected).abs() < 0.15 * expected, "{found:?}");
        assert!((0.5 - found.low - expected).abs() < 0.15 * expected, "{found:?}");
    }

    #[test]
    fn rows_of_a_person_make_the_interval_no_narrower() {
        let (values, people): (Vec<f64>, Vec<u32>) =
            (0..400).map(|row| (f64::from(row / 100 % 2), row as u32 / 100)).unzip();
        let (rows, groups) = (mean_of(&values, None, None), mean_of(&values, None, Some(&people)));
        assert!(groups.high - groups.low > 5.0 * (rows.high - rows.low), "{rows:?} {groups:?}");
    }

    #[test]
    fn rows_without_weight_do_not_count() {
        let found = mean_of(&[1.0, f64::INFINITY], Some(&[1.0, 0.0]), None);
        assert_eq!(found, Bootstrapped { value: 1.0, low: 1.0, high: 1.0 });
    }
}
