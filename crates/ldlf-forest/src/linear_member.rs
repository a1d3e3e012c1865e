//! The fit of the linear member ([`LogLinear`]): one chain of L-BFGS minimisations for every group of rows that is left out.
//!
//! All chains go down the same path of penalties, each starting where the last penalty ended. What they say about the rows that they left
//! out chooses the penalty and how features are scaled, and is honest otherwise. The model is fitted to all rows with what was chosen.

use std::ops::ControlFlow;

use ldlf_core::dataset::Tabular;
use ldlf_core::early_stopping::HeldOutKl;
use ldlf_core::leave_out::RowGroups;
use ldlf_core::{Dataset, Features, FitContext, Matrix, Result, Threads};
use ldlf_linear::objective::{Objective, linear_scores};
use ldlf_math::numeric::softmax_in_place;
use ldlf_math::optimise::Lbfgs;

use crate::encoder::Encoder;
use crate::linear::LinearMap;
use crate::log_linear::{LogLinear, encode_all};
use crate::plan::Encoding;

/// The penalty per unit of row weight that the path begins at, and the factor from one to the next.
const STRONGEST: f64 = 4.0;
const FACTOR: f64 = 0.25;

/// Penalties without improvement after which the path ends.
const PATIENCE: usize = 2;

/// Products of numbers that all chains may do: about as many as the race of a few hundred rows and columns.
const WORK: f64 = 2e10;

/// Evaluations that a chain must be able to afford, or nothing is tried.
const LEAST_EVALUATIONS: f64 = 60.0;

/// How far above what is known a member may be and still help.
const NEAR: f64 = 1.1;

/// How every penalty is minimised: warm starts need a few iterations.
const ON_THE_PATH: Lbfgs =
    Lbfgs { memory: 10, iterations: 40, loss_tolerance: 1e-5, gradient_tolerance: 1e-7 };

/// How the model is fitted.
const AT_LAST: Lbfgs = Lbfgs { memory: 10, iterations: 200, loss_tolerance: 1e-7, gradient_tolerance: 1e-8 };

/// A linear model and what each chain says about the rows that it left out.
pub struct LinearMember {
    /// Fitted to all rows.
    pub model: LogLinear,
    /// `[rows, labels]`.
    pub out_of_fold: Matrix<f32>,
}

/// Fits a linear model with each of some encodings and keeps the best; none where it cannot come near `reached`, a divergence that is known
/// already, where there is too much work, or where somebody interrupts.
pub fn fit_linear(
    encodings: &[Encoding],
    data: &Dataset,
    groups: &RowGroups,
    reached: f64,
    context: &mut FitContext<'_>,
) -> Result<Option<LinearMember>> {
    let features = data.features()?;
    let stored = match features {
        Features::Dense(matrix) => matrix.as_slice().len(),
        Features::Sparse(rows) => rows.stored(),
    };
    // Forward and back, in every chain.
    let of_evaluation = 2.0 * (stored * data.labels() * groups.count()).max(1) as f64;
    if of_evaluation * LEAST_EVALUATIONS > WORK || features.cols() == 0 {
        return Ok(None);
    }
    let mut left = WORK;
    let mut best: Option<(Encoder, Found)> = None;
    let all: Vec<usize> = (0..data.rows()).collect();
    for &Encoding { scaling, clip, bins, .. } in encodings {
        let encoder = Encoder::fit(features, &all, data.weights(), scaling, clip, bins, false);
        let encoded = data.clone().with_inputs(encode_all(&encoder, features)?)?;
        let budget = left / of_evaluation;
        let Some(found) = Path::new(&encoded, groups)?.walk(budget, context)? else { continue };
        left -= found.evaluations * of_evaluation;
        if best.as_ref().is_none_or(|(_, known)| found.kl < known.kl) {
            best = Some((encoder, found));
        }
    }
    let Some((encoder, found)) = best.filter(|(_, found)| found.kl <= NEAR * reached) else {
        return Ok(None);
    };
    let encoded = encode_all(&encoder, features)?;
    let theta =
        minimise(AT_LAST, data.tabular()?.with_features(&encoded), found.l2, found.theta, &context.threads).0;
    let weights: Vec<f32> = theta.iter().map(|&weight| weight as f32).collect();
    let encoder = encoder.with_bias();
    let map = LinearMap::from_weights(encoder.inputs(), data.labels(), weights);
    Ok(Some(LinearMember { model: LogLinear { encoder, map }, out_of_fold: found.out_of_fold }))
}

/// The best penalty of a path.
struct Found {
    l2: f64,
    /// The divergence of the rows that were left out.
    kl: f64,
    out_of_fold: Matrix<f32>,
    /// The mean of the chains, where the last fit starts.
    theta: Vec<f64>,
    /// Evaluations of a chain, on average.
    evaluations: f64,
}

/// All chains on encoded rows.
struct Path<'a> {
    data: &'a Dataset,
    chains: Vec<Chain>,
}

/// A model that learns from all rows but those of one group.
struct Chain {
    learnt: Dataset,
    left_out: Vec<usize>,
    theta: Vec<f64>,
}

impl<'a> Path<'a> {
    fn new(data: &'a Dataset, groups: &RowGroups) -> Result<Self> {
        let size = (data.features()?.cols() + 1) * data.labels();
        let chains = (0..groups.count()).map(|group| {
            let (left_out, learnt): (Vec<usize>, Vec<usize>) =
                (0..data.rows()).partition(|&row| groups.of(row) == group);
            Chain { learnt: data.select(&learnt), left_out, theta: vec![0.0; size] }
        });
        Ok(Path { data, chains: chains.collect() })
    }

    /// Goes down the penalties until the left-out rows are no better, or so many evaluations are spent; none where a chain has nothing to
    /// learn from, or somebody interrupts.
    fn walk(mut self, budget: f64, context: &mut FitContext<'_>) -> Result<Option<Found>> {
        let weight_of = |data: &Dataset| (0..data.rows()).map(|row| f64::from(data.weight(row))).sum::<f64>();
        if self.chains.iter().any(|chain| weight_of(&chain.learnt) <= 0.0) {
            return Ok(None);
        }
        let mut l2 = STRONGEST * weight_of(self.data);
        let (mut best, mut waited, mut spent): (Option<Found>, usize, f64) = (None, 0, 0.0);
        let threads = context.threads.clone();
        let count = self.chains.len() as f64;
        while waited < PATIENCE && spent < budget {
            if context.check_interrupted().is_err() {
                return Ok(None);
            }
            // Each on one thread, so that the outcome does not depend on their number.
            let said = threads.map(self.chains.iter_mut(), |chain| chain.advance(self.data, l2));
            let mut out_of_fold = Matrix::zeros(self.data.rows(), self.data.labels());
            for (chain, said) in self.chains.iter().zip(said) {
                let (shares, evaluations) = said?;
                spent += evaluations as f64 / count;
                let rows = shares.chunks_exact(self.data.labels());
                chain
                    .left_out
                    .iter()
                    .zip(rows)
                    .for_each(|(&row, own)| out_of_fold.row_mut(row).copy_from_slice(own));
            }
            let kl = HeldOutKl::of(self.data, 0..self.data.rows(), out_of_fold.as_slice()).mean();
            if best.as_ref().is_none_or(|best| kl < best.kl) {
                let mut theta = vec![0.0; self.chains[0].theta.len()];
                for chain in &self.chains {
                    theta.iter_mut().zip(&chain.theta).for_each(|(sum, own)| *sum += own / count);
                }
                (best, waited) = (Some(Found { l2, kl, out_of_fold, theta, evaluations: 0.0 }), 0);
            } else {
                waited += 1;
            }
            l2 *= FACTOR;
        }
        Ok(best.map(|found| Found { evaluations: spent, ..found }))
    }
}

impl Chain {
    /// Minimises with one penalty; gives what it says of the rows that it left out, and the evaluations that it took.
    fn advance(&mut self, data: &Dataset, l2: f64) -> Result<(Vec<f32>, usize)> {
        let start = std::mem::take(&mut self.theta);
        let (theta, evaluations) = minimise(ON_THE_PATH, self.learnt.tabular()?, l2, start, &Threads::one());
        self.theta = theta;
        let rows = data.features()?.select(&self.left_out);
        let mut scores = vec![0.0; self.left_out.len() * data.labels()];
        linear_scores(&rows, 0, &self.theta, &mut Vec::new(), &mut scores);
        scores.chunks_exact_mut(data.labels()).for_each(softmax_in_place);
        Ok((scores.into_iter().map(|share| share as f32).collect(), evaluations))
    }
}

/// The parameters of the least penalised loss, as far as the method goes, and the evaluations that it took.
fn minimise(
    method: Lbfgs,
    data: Tabular<'_>,
    l2: f64,
    mut start: Vec<f64>,
    threads: &Threads,
) -> (Vec<f64>, usize) {
    let mut objective = Objective::new(data, l2, threads);
    let centring = objective.centring();
    centring.centre(&mut start);
    let mut evaluations = 0;
    let mut plain = start.clone();
    let minimum = method.minimise(
        start,
        |theta, gradient| {
            evaluations += 1;
            plain.copy_from_slice(theta);
            centring.restore(&mut plain);
            let loss = objective.evaluate(&plain, gradient);
            centring.centre_gradient(gradient);
            loss
        },
        |_| ControlFlow::<()>::Continue(()),
    );
    let mut theta = minimum.point;
    centring.restore(&mut theta);
    (theta, evaluations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Scaling;
    use ldlf_core::{Features, Matrix, Seed};

    const ENCODING: Encoding = Encoding { scaling: Scaling::Standard, clip: 20.0, bins: 0, bias: true };

    /// A number in [-0.5, 0.5) that looks random.
    fn value(row: usize, column: usize) -> f32 {
        ((row * 7919 + column * 104_729 + row * column * 31) % 1013) as f32 / 1013.0 - 0.5
    }

    /// Rows of six columns whose log-ratios are linear in the first two.
    fn linear_rows(rows: usize) -> Dataset {
        let features = (0..rows * 6).map(|at| value(at / 6, at % 6)).collect();
        let targets = (0..rows).flat_map(|row| {
            let mut shares = [4.0 * value(row, 0), 3.0 * value(row, 1), 0.0].map(f64::from);
            softmax_in_place(&mut shares);
            shares.map(|share| share as f32)
        });
        let targets = Matrix::new(rows, 3, targets.collect()).unwrap();
        Dataset::new(Features::Dense(Matrix::new(rows, 6, features).unwrap()), targets).unwrap()
    }

    fn fitted(data: &Dataset, reached: f64, threads: usize) -> Option<LinearMember> {
        let seed = Seed::new(3);
        let groups = RowGroups::draw(data, 5, seed);
        let mut nobody = ();
        let mut context = FitContext::within(seed, Threads::new(threads).unwrap(), &mut nobody);
        fit_linear(&[ENCODING], data, &groups, reached, &mut context).unwrap()
    }

    #[test]
    fn linear_log_ratios_are_found_by_few_rows() {
        let (data, fresh) = (linear_rows(60), linear_rows(200));
        let found = fitted(&data, f64::INFINITY, 1).unwrap();
        let said = found.model.predict(fresh.inputs(), &Threads::one()).unwrap();
        let kl = HeldOutKl::of(&fresh, 60..200, &said.as_slice()[60 * 3..]).mean();
        assert!(kl < 0.01 * fresh.mean_kl(), "{kl} {}", fresh.mean_kl());
    }

    /// The same columns with targets that have nothing to do with them.
    fn noise_rows(rows: usize) -> Dataset {
        let noise = |row: usize| [value(row, 77) + 0.6, value(row, 91) + 0.6, 0.5];
        let targets: Vec<f32> = (0..rows)
            .flat_map(|row| {
                let sum: f32 = noise(row).iter().sum();
                noise(row).map(|share| share / sum)
            })
            .collect();
        linear_rows(rows).with_targets(Matrix::new(rows, 3, targets).unwrap()).unwrap()
    }

    #[test]
    fn what_is_said_of_left_out_rows_is_worse_than_what_is_said_of_known_ones() {
        let data = noise_rows(120);
        let found = fitted(&data, f64::INFINITY, 1).unwrap();
        let seen = found.model.predict(data.inputs(), &Threads::one()).unwrap();
        let kl = |said: &Matrix<f32>| HeldOutKl::of(&data, 0..120, said.as_slice()).mean();
        assert!(kl(&seen) < kl(&found.out_of_fold));
        let (said, mean) = (kl(&found.out_of_fold), data.mean_kl());
        assert!(said < 1.1 * mean, "the strongest penalty is nearly the mean: {said} {mean}");
    }

    #[test]
    fn what_cannot_come_near_is_given_up() {
        assert!(fitted(&noise_rows(120), 1e-3, 1).is_none());
    }

    #[test]
    fn the_fit_is_the_same_with_any_number_of_threads() {
        let data = linear_rows(90);
        let (one, three) = (fitted(&data, 1.0, 1).unwrap(), fitted(&data, 1.0, 3).unwrap());
        assert_eq!(one.out_of_fold, three.out_of_fold);
        assert_eq!(one.model, three.model);
    }

    #[test]
    fn sparse_rows_give_the_same_model_as_dense_ones() {
        let dense = linear_rows(60);
        let Features::Dense(matrix) = dense.features().unwrap() else { unreachable!() };
        let mut sparse = ldlf_core::Csr::with_columns(6);
        matrix.iter_rows().for_each(|row| sparse.push_row((0..).zip(row.iter().copied())));
        let sparse = dense.clone().with_inputs(Features::Sparse(sparse)).unwrap();
        let (a, b) = (fitted(&dense, 1.0, 1).unwrap(), fitted(&sparse, 1.0, 1).unwrap());
        let predict = |found: &LinearMember| found.model.predict(dense.inputs(), &Threads::one()).unwrap();
        let far = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-3;
        assert!(!predict(&a).as_slice().iter().zip(predict(&b).as_slice()).any(far));
    }
}
