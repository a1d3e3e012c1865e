//! What `ldlogitboost` and `aoso-ldlogitboost` share: the additive model `p = softmax(F)` and the rounds that build `F`.
//!
//! `F` starts at `ln` of the mean training distribution, or at 0 where a booster needs nonzero gradients at the root.
//! Every round adds trees, scaled by the learning rate, that lower the K-L divergence to second order. Held-out rows
//! inside the training rows choose the number of rounds; the model is then refitted on all rows with that number
//! (unless `refit` is false).

use std::ops::ControlFlow;

use ldlf_core::dataset::Tabular;
use ldlf_core::early_stopping::{Patience, Verdict, hold_out};
use ldlf_core::learner::Summary;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Dataset, FitContext, FitEvent, Fitted, Matrix, Model, Result, Seed, StopReason, Threads};
use ldlf_math::numeric::{SMALLEST_PROBABILITY, softmax_in_place, xlogy};
use ldlf_math::random::permutation;
use ldlf_trees::boosted_model::BoostedModel;
use ldlf_trees::columns::Codes;
use ldlf_trees::regression_tree::Tree;
use ldlf_trees::split_search::SplitColumns;
use ldlf_trees::tree_builder::Limits;

use crate::aoso_ldlogitboost::AosoLdLogitBoost;
use crate::ldlogitboost::LdLogitBoost;

/// Second derivatives are kept above this, so that a label with a probability near 0 or 1 does not get an unbounded step.
pub(crate) const LEAST_CURVATURE: f32 = 1e-4;

/// The largest value of a leaf before the learning rate is applied (Friedman, Hastie, Tibshirani 2000 advise 2 to 4).
pub(crate) const LONGEST_STEP: f64 = 4.0;

/// Rows whose scores are updated together.
const ROWS_TOGETHER: usize = 512;

ldlf_core::parameters! {
    /// Parameters of `ldlogitboost` and `aoso-ldlogitboost`.
    pub struct BoostingParameters, builder BoostingParams for LdLogitBoost, AosoLdLogitBoost {
        /// Maximum number of boosting rounds.
        rounds: usize = 1000, at_least 1, known_as "n_estimators", except "3000 for `AosoLdLogitBoost`";
        /// Learning rate: the factor of every step.
        learning_rate: f64 = 0.05, above 0, at_most 1;
        /// Maximum depth of a tree.
        max_depth: usize = 6, at_least 1;
        /// Minimum weight of the rows in a leaf (their number where all weigh 1).
        min_leaf_weight: f64 = 10.0, above 0, known_as "min_samples_leaf";
        /// L2 penalty on leaf values, added to every sum of second derivatives.
        l2: f64 = 1.0, at_least 0, known_as "l2_regularization";
        /// Fraction of the features tried at each split.
        max_features: f64 = 0.2, above 0, at_most 1;
        /// Fraction of the rows drawn for each round.
        subsample: f64 = 0.7, above 0, at_most 1;
        /// Fraction of the training rows held out to choose the number of rounds; 0 runs all rounds.
        validation_fraction: f64 = 0.1, at_least 0, below 1;
        /// Rounds without improvement on the held-out rows before stopping.
        patience: usize = 40, at_least 1, known_as "n_iter_no_change", except "100 for `AosoLdLogitBoost`";
        /// Whether to refit on all rows with the chosen number of rounds.
        refit: bool = true;
    }
}

impl BoostingParameters {
    fn limits(&self) -> Limits {
        Limits {
            depth: self.max_depth,
            leaf_weight: self.min_leaf_weight,
            feature_share: self.max_features,
            penalty: self.l2,
        }
    }
}

/// The state that a round's trees are grown from.
pub(crate) struct Round<'a> {
    pub(crate) columns: SplitColumns<'a>,
    pub(crate) limits: Limits,
    /// The factor of leaf values.
    pub(crate) learning_rate: f64,
    /// The rows drawn for this round.
    pub(crate) rows: Vec<u32>,
    pub(crate) targets: &'a Matrix<f32>,
    /// The distributions as predicted so far.
    pub(crate) predicted: &'a Matrix<f32>,
    /// The weights of the rows.
    pub(crate) weights: &'a [f32],
    pub(crate) seed: Seed,
    pub(crate) threads: &'a Threads,
}

/// How one round's trees are grown.
pub(crate) trait Booster: Sync {
    /// Whether `F` starts at the mean distribution; else at 0.
    fn starts_at_mean(&self) -> bool;

    /// The trees of a round, with their leaves already scaled: one for each label with one output each, or one with an
    /// output for each label.
    fn grow_round(&self, round: &Round<'_>) -> Vec<Tree>;
}

/// Rows with their scores.
struct Scored<'a> {
    data: Tabular<'a>,
    scores: Vec<f64>,
    predicted: Matrix<f32>,
    weights: Vec<f32>,
}

impl<'a> Scored<'a> {
    fn new(data: Tabular<'a>, start: &[f32]) -> Self {
        let scores: Vec<f64> = start.iter().map(|&v| f64::from(v)).collect();
        let mut first: Vec<f64> = scores.clone();
        softmax_in_place(&mut first);
        let first: Vec<f32> = first.into_iter().map(|p| p as f32).collect();
        let rows = data.rows();
        Scored {
            data,
            scores: scores.repeat(rows),
            predicted: Matrix::new(rows, start.len(), first.repeat(rows)).expect("a start for each row"),
            weights: (0..rows).map(|row| data.weight(row)).collect(),
        }
    }

    /// Adds the trees of a round to every row and gives the mean K-L divergence.
    fn add(&mut self, trees: &[Tree], threads: &Threads) -> f64 {
        let labels = self.data.labels();
        let Scored { data, scores, predicted, weights } = self;
        let size = ROWS_TOGETHER * labels;
        let blocks: Vec<_> =
            scores.chunks_mut(size).zip(predicted.as_mut_slice().chunks_mut(size)).enumerate().collect();
        let losses = threads.map(blocks, |(block, (scores, predicted))| {
            let (mut loss, mut weight) = (0.0, 0.0);
            let mut p = vec![0.0f64; labels];
            let of_rows = scores.chunks_exact_mut(labels).zip(predicted.chunks_exact_mut(labels));
            for (row, (f, predicted)) in (block * ROWS_TOGETHER..).zip(of_rows) {
                for (number, tree) in trees.iter().enumerate() {
                    let leaf = tree.predict_row(data.features, row);
                    let first = if leaf.len() == labels { 0 } else { number };
                    f[first..].iter_mut().zip(leaf).for_each(|(f, &step)| *f += f64::from(step));
                }
                p.copy_from_slice(f);
                softmax_in_place(&mut p);
                predicted.iter_mut().zip(&p).for_each(|(out, &p)| *out = p as f32);
                let w = f64::from(weights[row]);
                let divergence: f64 = data
                    .targets()
                    .row(row)
                    .iter()
                    .zip(&p)
                    .map(|(&d, &p)| {
                        let d = f64::from(d);
                        xlogy(d, d) - xlogy(d, p)
                    })
                    .sum();
                loss += w * divergence;
                weight += w;
            }
            (loss, weight)
        });
        let (loss, weight) =
            losses.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        loss / if weight > 0.0 { weight } else { 1.0 }
    }
}

/// The result of a run of rounds.
struct Run {
    model: BoostedModel,
    rounds: usize,
    loss: f64,
    best_round: usize,
    validation_kl: Option<f64>,
    stopped: StopReason,
}

/// Runs at most `rounds` rounds; reports continue the count at `before`.
fn run(
    booster: &dyn Booster,
    p: &BoostingParameters,
    rounds: usize,
    before: usize,
    training: &Dataset,
    validation: Option<&Dataset>,
    context: &mut FitContext<'_>,
) -> Result<Run> {
    let labels = training.labels();
    let start: Vec<f32> = if booster.starts_at_mean() {
        training.mean_target().iter().map(|&p| p.max(SMALLEST_PROBABILITY).ln() as f32).collect()
    } else {
        vec![0.0; labels]
    };
    let codes = Codes::new(training.features()?, &context.threads);
    let mut scored = Scored::new(training.tabular()?, &start);
    let held_back = validation.map(Dataset::tabular).transpose()?;
    let mut held_back = held_back.map(|data| Scored::new(data, &start));
    let mut model = BoostedModel::new(start, Vec::new());
    let mut patience = Patience::new(p.patience);
    let with_weight: Vec<u32> =
        (0..training.rows() as u32).filter(|&row| training.weight(row as usize) > 0.0).collect();
    let seen = ((with_weight.len() as f64 * p.subsample).ceil() as usize).clamp(1, with_weight.len().max(1));
    let (mut done, mut loss, mut stopped, mut kept_trees) = (0, f64::NAN, StopReason::Finished, 0);
    for number in 1..=rounds {
        let seed = context.seed.named("round").numbered(number as u64);
        let mut rows = with_weight.clone();
        if seen < rows.len() {
            let order = permutation(rows.len(), &mut seed.named("rows").generator());
            rows = order[..seen].iter().map(|&at| with_weight[at]).collect();
            rows.sort_unstable();
        }
        let trees = booster.grow_round(&Round {
            columns: SplitColumns::Best(&codes),
            limits: p.limits(),
            learning_rate: p.learning_rate,
            rows,
            targets: training.targets(),
            predicted: &scored.predicted,
            weights: &scored.weights,
            seed,
            threads: &context.threads,
        });
        loss = scored.add(&trees, &context.threads);
        let kl = held_back.as_mut().map(|rows| rows.add(&trees, &context.threads));
        model.extend(trees);
        done = number;
        let iteration = before + number;
        let event = FitEvent::Iteration { iteration, total: before + rounds, loss: Some(loss) };
        let mut verdict = context.report(event, &model);
        match kl {
            None => kept_trees = model.trees().len(),
            Some(kl) => {
                match patience.measured(number, kl) {
                    Verdict::Best => kept_trees = model.trees().len(),
                    Verdict::GoOn => {}
                    Verdict::Stop => stopped = StopReason::EarlyStopping,
                }
                if verdict.is_continue() {
                    verdict = context.report(FitEvent::Validation { iteration, kl }, &model);
                }
            }
        }
        if let ControlFlow::Break(reason) = verdict {
            stopped = reason;
            break;
        }
        if stopped == StopReason::EarlyStopping {
            break;
        }
    }
    model.truncate(kept_trees);
    let best_round = if validation.is_some() { patience.best_iteration } else { done };
    Ok(Run { model, rounds: done, loss, best_round, validation_kl: patience.best, stopped })
}

/// Chooses the number of rounds on held-out rows, then builds the model from all rows.
pub(crate) fn fit_boosted(
    booster: &dyn Booster,
    p: &BoostingParameters,
    data: &Dataset,
    context: &mut FitContext<'_>,
) -> Result<Fitted> {
    let (training, validation) = hold_out(data, p.validation_fraction, context.seed);
    let first = if validation.is_empty() {
        run(booster, p, p.rounds, 0, data, None, context)?
    } else {
        let (training, validation) = (data.select(&training), data.select(&validation));
        run(booster, p, p.rounds, 0, &training, Some(&validation), context)?
    };
    let mut summary = Summary {
        iterations: first.rounds,
        stopped: first.stopped,
        best_iteration: (first.best_round != first.rounds).then_some(first.best_round),
        loss: Some(first.loss),
        validation_kl: first.validation_kl,
        mean_kl: None,
    };
    let whole = matches!(first.stopped, StopReason::Finished | StopReason::EarlyStopping);
    if validation.is_empty() || !p.refit || !whole {
        return Ok(Fitted::new(Box::new(first.model), summary));
    }
    let second = run(booster, p, first.best_round, first.rounds, data, None, context)?;
    summary.iterations += second.rounds;
    if second.stopped != StopReason::Finished {
        // An interrupted refit is worse than the model that was validated.
        summary.stopped = second.stopped;
        return Ok(Fitted::new(Box::new(first.model), summary));
    }
    summary.loss = Some(second.loss);
    Ok(Fitted::new(Box::new(second.model), summary))
}

/// Reads a boosted model whose trees have `outputs` outputs each.
pub(crate) fn load_boosted(parts: &Parts, shape: &ModelShape, outputs: usize) -> Result<Box<dyn Model>> {
    Ok(Box::new(BoostedModel::load(parts, shape, outputs)?))
}
