//! Stopping when rows held out of the training rows stop improving.

use ldlf_math::random::permutation;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::split::SplitPart;
use crate::{Dataset, Seed, measures};

/// Splits the rows `0..n` into rows to learn from and rows to validate on, both in rising order.
///
/// Rows that the data marks as validation rows are held out, whatever the fraction. Otherwise rows are drawn, and groups stay together:
/// with groups, whole groups are drawn until the fraction is reached. With too few rows, or where one side has no row that weighs
/// anything, none are held out and the fit runs to its last iteration.
pub fn hold_out(data: &Dataset, share: f64, seed: Seed) -> (Vec<usize>, Vec<usize>) {
    let rows = data.rows();
    // Rows without weight have no divergence to choose by.
    let weighs = |rows: &[usize]| rows.iter().any(|&row| data.weight(row) > 0.0);
    if let Some(parts) = data.split() {
        let is_marked = |row: &usize| SplitPart::named(&parts[*row]) == Some(SplitPart::Valid);
        let (marked, others): (Vec<usize>, Vec<usize>) = (0..rows).partition(is_marked);
        if weighs(&marked) && weighs(&others) {
            return (others, marked);
        }
    }
    let wanted = (rows as f64 * share).round() as usize;
    if wanted == 0 || wanted >= rows {
        return ((0..rows).collect(), Vec::new());
    }
    let mut generator = seed.named("validation").generator();
    let mut held = vec![false; rows];
    match data.groups() {
        None => permutation(rows, &mut generator).into_iter().take(wanted).for_each(|row| held[row] = true),
        Some(groups) => {
            let mut names: Vec<u32> = groups.to_vec();
            names.sort_unstable();
            names.dedup();
            let mut count = 0;
            while count < wanted && names.len() > 1 {
                let group = names.swap_remove(generator.random_range(0..names.len() as u64) as usize);
                for row in (0..rows).filter(|&row| groups[row] == group) {
                    held[row] = true;
                    count += 1;
                }
            }
        }
    }
    let (validation, training): (Vec<usize>, Vec<usize>) = (0..rows).partition(|&row| held[row]);
    if weighs(&training) && weighs(&validation) {
        (training, validation)
    } else {
        ((0..rows).collect(), Vec::new())
    }
}

/// The K-L divergence of predictions for held-out rows, in the two sums that its mean is made of: those of rows in several places
/// can be added up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldOutKl {
    /// `sum_i w_i KL(d_i, p_i)`.
    pub sum: f64,
    /// `sum_i w_i`.
    pub weight: f64,
}

impl HeldOutKl {
    /// Of some rows of `data`, whose predictions stand in the same order, `[rows, labels]`.
    pub fn of(data: &Dataset, rows: impl IntoIterator<Item = usize>, predicted: &[f32]) -> Self {
        let mut kl = HeldOutKl::default();
        for (row, predicted) in rows.into_iter().zip(predicted.chunks_exact(data.labels())) {
            let weight = f64::from(data.weight(row));
            // A row of weight zero does not count even where its divergence is not finite.
            if weight != 0.0 {
                kl.sum += weight * measures::kl(data.targets().row(row), predicted);
                kl.weight += weight;
            }
        }
        kl
    }

    /// The mean over the rows by their weights; 0 where none has any.
    pub fn mean(&self) -> f64 {
        if self.weight > 0.0 { self.sum / self.weight } else { 0.0 }
    }
}

/// Keeps count of a measure that should fall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Patience {
    /// How many measurements without improvement are allowed.
    pub allowed: usize,
    /// The best value so far, if any.
    pub best: Option<f64>,
    /// The iteration of the best value.
    pub best_iteration: usize,
    /// Measurements since then.
    pub waited: usize,
}

/// What to do after a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The best so far: keep this model.
    Best,
    /// Not better, with patience left.
    GoOn,
    /// Not better, and out of patience.
    Stop,
}

impl Patience {
    /// Waits for `allowed` measurements without improvement.
    pub fn new(allowed: usize) -> Self {
        Patience { allowed, best: None, best_iteration: 0, waited: 0 }
    }

    /// Takes note of a measurement; one that is not a number says nothing.
    pub fn measured(&mut self, iteration: usize, value: f64) -> Verdict {
        if value.is_nan() {
            return Verdict::GoOn;
        }
        if self.best.is_none_or(|best| value < best) {
            self.best = Some(value);
            self.best_iteration = iteration;
            self.waited = 0;
            return Verdict::Best;
        }
        self.waited += 1;
        if self.waited >= self.allowed { Verdict::Stop } else { Verdict::GoOn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Matrix};

    fn rows(n: usize) -> Dataset {
        Dataset::new(Features::Dense(Matrix::zeros(n, 1)), Matrix::new(n, 1, vec![1.0; n]).unwrap()).unwrap()
    }

    #[test]
    fn every_row_is_on_one_side() {
        let (training, validation) = hold_out(&rows(50), 0.2, Seed::new(3));
        assert_eq!((training.len(), validation.len()), (40, 10));
        let mut all = [training, validation].concat();
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn groups_stay_together() {
        let data = rows(60).with_groups((0..60).map(|row| row / 6).collect()).unwrap();
        let (training, validation) = hold_out(&data, 0.2, Seed::new(3));
        assert_eq!(validation.len(), 12);
        assert!(training.iter().all(|row| validation.iter().all(|other| row / 6 != other / 6)));
    }

    #[test]
    fn rows_that_the_data_marks_are_held_out() {
        let parts = ["train", "valid", "train", "val"].map(String::from).to_vec();
        let data = rows(4).with_split(parts).unwrap();
        assert_eq!(hold_out(&data, 0.1, Seed::new(3)), (vec![0, 2], vec![1, 3]));
        let whole = rows(3).with_split(vec!["valid".into(); 3]).unwrap();
        assert_eq!(hold_out(&whole, 0.1, Seed::new(3)), (vec![0, 1, 2], vec![]));
    }

    #[test]
    fn too_few_rows_hold_nothing_back() {
        assert_eq!(hold_out(&rows(3), 0.1, Seed::new(0)), (vec![0, 1, 2], vec![]));
    }

    #[test]
    fn rows_without_weight_are_not_held_out_alone() {
        let all: Vec<usize> = (0..50).collect();
        let (training, validation) = hold_out(&rows(50), 0.2, Seed::new(3));
        for (weightless, other) in [(&validation, &training), (&training, &validation)] {
            let mut weights = vec![1.0; 50];
            weightless.iter().for_each(|&row| weights[row] = 0.0);
            let data = rows(50).with_weights(weights.clone()).unwrap();
            assert_eq!(hold_out(&data, 0.2, Seed::new(3)), (all.clone(), vec![]));
            weights[weightless[0]] = 1.0;
            let data = rows(50).with_weights(weights).unwrap();
            assert_eq!(
                hold_out(&data, 0.2, Seed::new(3)),
                (training.clone(), validation.clone()),
                "{other:?}"
            );
        }
    }

    #[test]
    fn held_out_rows_count_by_their_weights() {
        let targets = Matrix::from_rows(&[[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]]);
        let features = Features::Dense(Matrix::zeros(3, 1));
        let data = Dataset::new(features, targets).unwrap().with_weights(vec![1.0, 3.0, 0.0]);
        let data = data.unwrap();
        let predicted = [0.5, 0.5, 0.5, 0.5, f32::NAN, f32::NAN];
        let kl = HeldOutKl::of(&data, 0..3, &predicted);
        assert_eq!((kl.weight, kl.mean()), (4.0, 0.75 * 2f64.ln()));
        let parts = [HeldOutKl::of(&data, [0], &predicted[..2]), HeldOutKl::of(&data, [1], &predicted[2..4])];
        assert_eq!(parts[0].sum + parts[1].sum, kl.sum);
        assert_eq!(HeldOutKl::of(&data, [2], &predicted[4..]).mean(), 0.0);
    }

    #[test]
    fn a_measurement_that_is_not_a_number_says_nothing() {
        let mut patience = Patience::new(1);
        assert_eq!(patience.measured(1, f64::NAN), Verdict::GoOn);
        assert_eq!((patience.best, patience.waited), (None, 0));
        assert_eq!(patience.measured(2, 1.0), Verdict::Best);
    }

    #[test]
    fn patience_ends_after_the_allowed_measurements_without_improvement() {
        let mut patience = Patience::new(2);
        let verdicts: Vec<Verdict> = [3.0, 2.0, 2.0, 1.0, 1.5, 1.5]
            .iter()
            .enumerate()
            .map(|(i, &v)| patience.measured(i, v))
            .collect();
        use Verdict::*;
        assert_eq!(verdicts, [Best, Best, GoOn, Best, GoOn, Stop]);
        assert_eq!((patience.best, patience.best_iteration), (Some(1.0), 3));
    }
}
