//! Scores in rising order, with how likely a new row's score is at most as high.

use crate::stored::{Array, Parts};
use crate::{Error, Result};

/// Steps that a ladder keeps at most: a level between two of them takes the higher one.
const MOST_STEPS: usize = 400;

/// What a level may fall short of by rounding.
const ROUNDING: f64 = 1e-12;

/// For every step a score, and the probability that it covers.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    scores: Vec<f64>,
    reached: Vec<f64>,
}

impl Ladder {
    /// Sorts scores with their weights. A new row counts as one of `units` on top, and nothing is known about its score.
    ///
    /// With `n` rows of equal weight the `k`-th smallest score covers `k / (n + 1)`.
    pub fn new(mut scored: Vec<(f64, f64)>, units: f64) -> Self {
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = scored.iter().map(|(_, weight)| weight).sum();
        let all = total * (1.0 + 1.0 / units);
        let (mut scores, mut reached) = (Vec::<f64>::new(), Vec::<f64>::new());
        let mut sum = 0.0;
        for (score, weight) in scored {
            sum += weight;
            let so_far = sum / all;
            match (scores.last_mut(), reached.last_mut()) {
                // Equal scores, and steps that are too near to each other, become one: the higher.
                (Some(last), Some(level))
                    if *last == score
                        || (so_far * MOST_STEPS as f64).ceil() == (*level * MOST_STEPS as f64).ceil() =>
                {
                    (*last, *level) = (score, so_far);
                }
                _ => {
                    scores.push(score);
                    reached.push(so_far);
                }
            }
        }
        Ladder { scores, reached }
    }

    /// The smallest score that covers `level`; `None` where too few rows told for any to do so.
    ///
    /// ```
    /// use ldlf_core::conformal::Ladder;
    /// let ladder = Ladder::new((1..=9).map(|score| (f64::from(score), 1.0)).collect(), 9.0);
    /// assert_eq!((ladder.threshold(0.8), ladder.threshold(0.81), ladder.threshold(0.91)), (Some(8.0), Some(9.0), None));
    /// ```
    pub fn threshold(&self, level: f64) -> Option<f64> {
        let step = self.reached.partition_point(|reached| *reached < level - ROUNDING);
        self.scores.get(step).copied()
    }

    /// How likely a new row's score is below this one: the fraction of scores below it, the new row counted among them.
    ///
    /// ```
    /// use ldlf_core::conformal::Ladder;
    /// let ladder = Ladder::new((1..=9).map(|score| (f64::from(score), 1.0)).collect(), 9.0);
    /// assert_eq!((ladder.below(1.0), ladder.below(1.5), ladder.below(99.0)), (0.0, 0.1, 0.9));
    /// ```
    pub fn below(&self, score: f64) -> f64 {
        let step = self.scores.partition_point(|known| *known < score);
        step.checked_sub(1).map_or(0.0, |last| self.reached[last])
    }

    pub(crate) fn store(&self, name: &str, parts: &mut Parts) {
        let both = [&self.scores[..], &self.reached[..]].concat();
        parts.put(name, Array::F64(vec![2, self.scores.len()], both));
    }

    pub(crate) fn load(name: &str, parts: &Parts) -> Result<Option<Self>> {
        if !parts.has(name) {
            return Ok(None);
        }
        let steps = match parts.shape(name)? {
            [2, steps] => *steps,
            _ => 0,
        };
        let mut scores = parts.f64s(name, &[2, steps])?;
        let reached = scores.split_off(steps);
        let rises = |numbers: &[f64]| numbers.is_sorted();
        if steps == 0
            || !rises(&scores)
            || !rises(&reached)
            || !reached.iter().all(|r| (0.0..=1.0).contains(r))
        {
            return Err(Error::model_file(format!(
                "the model file's {name:?} does not rise from step to step"
            )));
        }
        Ok(Some(Ladder { scores, reached }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_counts_as_copies_of_a_row_but_not_as_more_rows() {
        let weighted = Ladder::new(vec![(1.0, 2.0), (2.0, 1.0), (3.0, 1.0)], 3.0);
        // Of 16/3 in all, 2, 3 and 4 are reached.
        assert_eq!((weighted.threshold(0.37), weighted.threshold(0.38)), (Some(1.0), Some(2.0)));
        assert_eq!((weighted.threshold(0.75), weighted.threshold(0.76)), (Some(3.0), None));
    }

    #[test]
    fn many_rows_leave_few_steps_and_no_level_too_low() {
        let scored: Vec<(f64, f64)> = (1..=50_000).map(|score| (f64::from(score), 1.0)).collect();
        let ladder = Ladder::new(scored, 50_000.0);
        assert!(ladder.scores.len() <= MOST_STEPS + 1, "{}", ladder.scores.len());
        for level in [0.0005, 0.5, 0.8, 0.9, 0.95, 0.999, 0.9999] {
            let exact = (level * 50_001.0f64).ceil();
            let found = ladder.threshold(level).unwrap();
            assert!((exact..=exact + 126.0).contains(&found), "{level}: {found}, exactly {exact}");
        }
    }

    #[test]
    fn equal_scores_are_one_step() {
        let ladder = Ladder::new(vec![(0.0, 1.0); 3], 3.0);
        assert_eq!((ladder.scores.len(), ladder.threshold(0.75)), (1, Some(0.0)));
    }
}
