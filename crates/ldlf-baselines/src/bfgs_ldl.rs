//! `bfgs-ldl`: the maximum entropy model fitted by limited-memory BFGS.

use std::ops::{ControlFlow, RangeInclusive};

use ldlf_core::early_stopping::hold_out;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Facts, Features, FitContext, Fitted, Model, Preset, Result, Seed,
    StopReason,
};
use ldlf_linear::objective::Objective;
use ldlf_math::memory;
use ldlf_math::optimise::{Ending, Lbfgs, Minimum};

use crate::maximum_entropy::MaximumEntropy;
use crate::progress::{Progress, mean_kl, split};
use crate::scaling::{FeatureScaling, Scaling};

ldlf_core::parameters! {
    /// Parameters of `bfgs-ldl`.
    pub struct BfgsLdlParameters, builder BfgsLdlParams for BfgsLdl {
        /// L2 penalty `l2/2 |theta|^2` on the loss summed over rows; auto chooses it on held-out rows.
        l2: Auto<f64> = Auto::Auto, at_least 0;
        /// Maximum number of iterations of a minimisation.
        iterations: usize = 500, at_least 1, known_as "max_iter";
        /// Stops when an iteration lowers the mean loss by less than this.
        tolerance: f64 = 1e-7, at_least 0, known_as "tol";
        /// Pairs of steps and gradient differences that approximate the Hessian.
        memory: usize = 10, at_least 1;
        /// Iterations without improvement on the held-out rows before stopping; none runs to the minimum.
        patience: Option<usize> = None, at_least 1, known_as "n_iter_no_change";
        /// Fraction of the training rows held out to choose the penalty or for early stopping.
        validation_fraction: f64 = 0.2, above 0, below 1;
        /// How features are scaled.
        scaling: FeatureScaling = FeatureScaling::Standard;
    }
}

/// The penalty of a step down the grid, half a decade each, from 1e5 at step 0.
fn penalty(step: i32) -> f64 {
    10f64.powf(5.0 - 0.5 * f64::from(step))
}

/// Steps that are always tried, from 1e5 to 0.1.
const FIRST_STEPS: RangeInclusive<i32> = 0..=12;
/// Step of the strongest penalty that the grid may grow to, 1e9.
const STRONGEST: i32 = -8;
/// Step of the weakest penalty that the grid may grow to, 1e-6.
const WEAKEST: i32 = 22;
/// Steps beyond the best one that must be tried before the search ends, bounds aside.
const BEYOND: i32 = 2;

/// Maximum number of splits, for small datasets: a penalty is chosen on enough rows to tell two apart.
const MOST_SPLITS: usize = 5;
/// Held-out rows needed to tell two penalties apart.
const ENOUGH_ROWS: f64 = 500.0;

/// Minimises `sum_i w_i K-L(d_i, softmax(theta x_i + b)) + l2/2 |theta|^2` by L-BFGS with a strong Wolfe line search.
///
/// Without `l2` the penalty is chosen inside the training rows: on held-out rows, down a grid from 1e5 to 0.1 with warm starts.
/// While the best penalty lies at an edge the grid grows beyond it, up to 1e9 and down to 1e-6. Then the model is fitted to all rows. Source: Geng, "Label distribution learning", TKDE 2016 (unregularised: preset `paper`).
pub struct BfgsLdl;

impl Algorithm for BfgsLdl {
    type Parameters = BfgsLdlParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        exports: true,
        ..Facts::new(
            "bfgs-ldl",
            "maximum entropy model, fitted by L-BFGS; its penalty is chosen inside the training rows",
            "Geng, Label distribution learning, IEEE TKDE 28(7), 2016",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: raw features, no penalty, to convergence",
            ["l2=0", "scaling=raw"],
        )]
    }

    fn fit(p: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let features = data.features()?.cols();
        let sizes = [
            ("features", features + 1),
            ("labels", data.labels()),
            ("copies", p.memory.saturating_mul(2).saturating_add(8)),
        ];
        memory::check("the weights, their gradients and the memory of the search", &sizes, size_of::<f64>())?;
        let scaling = Scaling::choose(p.scaling, data)?;
        let splits =
            if p.l2.is_auto() { splits(p.validation_fraction, data, context.seed) } else { Vec::new() };
        let (training, held) = split(data, p.validation_fraction, p.patience, context);
        let total = p.iterations.saturating_mul(1 + splits.len() * FIRST_STEPS.count());
        let mut run = Run {
            parameters: p,
            scaling,
            labels: data.labels(),
            progress: Progress::new(context, total, None, None),
            failure: None,
        };
        let size = (features + 1) * data.labels();
        let mut choice = Choice { l2: p.l2.unwrap_or(0.0), start: vec![0.0; size], stopped: None };
        if p.l2.is_auto() {
            choice = run.choose_penalty(data, &splits, choice.start)?;
        }
        if let Some(reason) = choice.stopped {
            let model = run.model(&choice.start, choice.l2);
            let (model, summary) = run.progress.finish(model, reason);
            return Ok(Fitted::new(Box::new(model), summary));
        }
        run.progress.hold(held, p.patience);
        let training = training.as_ref().unwrap_or(data);
        let rows = run.scaling.apply(training.features()?);
        let tabular = training.tabular()?.with_features(&rows);
        let mut objective = Objective::new(tabular, choice.l2, run.progress.threads());
        let minimum = run.minimise(&mut objective, choice.start, choice.l2, p.tolerance)?;
        if !minimum.loss.is_finite() {
            return Err(Error::training("bfgs-ldl met a loss that is not finite")
                .with_remedy("try scaling=standard or a larger l2"));
        }
        let model = run.model(&minimum.point, choice.l2);
        let (model, summary) = run.progress.finish(model, minimum.ending.into());
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        MaximumEntropy::load(parts, shape)
    }
}

/// Pairs of training rows and held-out rows to choose the penalty on: one for a large dataset, up to five for a small one.
pub(crate) fn splits(fraction: f64, data: &Dataset, seed: Seed) -> Vec<(Dataset, Dataset)> {
    let wanted = (ENOUGH_ROWS / (fraction * data.rows() as f64)).ceil() as usize;
    (0..wanted.clamp(1, MOST_SPLITS))
        .map(|index| hold_out(data, fraction, seed.named("penalty").numbered(index as u64)))
        .filter(|(_, held)| !held.is_empty())
        .map(|(training, held)| (data.select(&training), data.select(&held)))
        .collect()
}

/// The penalty to use and where to start from.
struct Choice {
    l2: f64,
    start: Vec<f64>,
    /// Why the search stopped early, if it did.
    stopped: Option<StopReason>,
}

/// What every minimisation of one fit shares.
struct Run<'p, 'f, 'c> {
    parameters: &'p BfgsLdlParameters,
    scaling: Scaling,
    labels: usize,
    progress: Progress<'f, 'c, MaximumEntropy>,
    failure: Option<Error>,
}

impl Run<'_, '_, '_> {
    fn model(&self, theta: &[f64], l2: f64) -> MaximumEntropy {
        MaximumEntropy {
            scaling: self.scaling.clone(),
            theta: theta.to_vec(),
            labels: self.labels,
            l2: Some(l2),
        }
    }

    fn minimise(
        &mut self,
        objective: &mut Objective<'_>,
        mut start: Vec<f64>,
        l2: f64,
        tolerance: f64,
    ) -> Result<Minimum<StopReason>> {
        let method = Lbfgs {
            memory: self.parameters.memory,
            iterations: self.parameters.iterations,
            loss_tolerance: tolerance,
            gradient_tolerance: 1e-9,
        };
        let centring = objective.centring();
        centring.centre(&mut start);
        let mut minimum = method.minimise(
            start,
            |theta, gradient| {
                let mut plain = theta.to_vec();
                centring.restore(&mut plain);
                let loss = objective.evaluate(&plain, gradient);
                centring.centre_gradient(gradient);
                loss
            },
            |iterate| {
                let mut model = self.model(iterate.point, l2);
                centring.restore(&mut model.theta);
                self.progress.advance(iterate.loss, &model).unwrap_or_else(|error| {
                    self.failure = Some(error);
                    ControlFlow::Break(StopReason::Interrupted)
                })
            },
        );
        centring.restore(&mut minimum.point);
        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok(minimum),
        }
    }

    /// Walks down the penalties on all splits at once and takes the one with the least held-out K-L over all of them. The grid
    /// grows until [`BEYOND`] steps past the best one are no better, or to its bound.
    fn choose_penalty(
        &mut self,
        data: &Dataset,
        splits: &[(Dataset, Dataset)],
        start: Vec<f64>,
    ) -> Result<Choice> {
        if splits.is_empty() {
            // Too few rows: a penalty of one row's weight is a safe choice.
            let l2 = FIRST_STEPS.map(penalty).find(|&l2| l2 <= data.rows() as f64).unwrap_or(penalty(0));
            return Ok(Choice { l2, start, stopped: None });
        }
        let scaled: Vec<Features> = splits
            .iter()
            .map(|(training, _)| Ok(self.scaling.apply(training.features()?)))
            .collect::<Result<_>>()?;
        let mut walks = Vec::with_capacity(splits.len());
        for ((training, held), rows) in splits.iter().zip(&scaled) {
            let tabular = training.tabular()?.with_features(rows);
            let objective = Objective::new(tabular, 0.0, self.progress.threads());
            walks.push(Walk { objective, held, theta: start.clone(), strongest: start.clone() });
        }
        let mut best = Tried { step: *FIRST_STEPS.start(), kl: f64::INFINITY, start };
        for step in FIRST_STEPS.chain(FIRST_STEPS.end() + 1..=WEAKEST) {
            if !FIRST_STEPS.contains(&step) && step > best.step + BEYOND {
                break;
            }
            if let Some(stopped) = self.try_step(&mut walks, step, &mut best)? {
                return Ok(stopped);
            }
            if step == *FIRST_STEPS.start() {
                walks.iter_mut().for_each(|walk| walk.strongest.clone_from(&walk.theta));
            }
        }
        walks.iter_mut().for_each(|walk| walk.theta = std::mem::take(&mut walk.strongest));
        for step in (STRONGEST..*FIRST_STEPS.start()).rev() {
            if step < best.step - BEYOND {
                break;
            }
            if let Some(stopped) = self.try_step(&mut walks, step, &mut best)? {
                return Ok(stopped);
            }
        }
        Ok(Choice { l2: penalty(best.step), start: best.start, stopped: None })
    }

    /// Minimises with one penalty on every split, from where the last penalty ended. Gives a choice only when stopped from outside.
    fn try_step(&mut self, walks: &mut [Walk<'_>], step: i32, best: &mut Tried) -> Result<Option<Choice>> {
        let l2 = penalty(step);
        let threads = self.progress.threads().clone();
        let mut sum = 0.0;
        for walk in &mut *walks {
            walk.objective.penalise(l2);
            let minimum = self.minimise(&mut walk.objective, std::mem::take(&mut walk.theta), l2, 1e-5)?;
            walk.theta = minimum.point;
            if let Ending::Stopped(reason) = minimum.ending {
                return Ok(Some(Choice {
                    l2,
                    start: std::mem::take(&mut walk.theta),
                    stopped: Some(reason),
                }));
            }
            sum += mean_kl(&self.model(&walk.theta, l2), walk.held, &threads)?;
        }
        if sum < best.kl {
            let start = walks.last().map_or_else(Vec::new, |walk| walk.theta.clone());
            *best = Tried { step, kl: sum, start };
        }
        Ok(None)
    }
}

/// The search for a penalty on one split.
struct Walk<'d> {
    objective: Objective<'d>,
    held: &'d Dataset,
    /// The minimum of the last penalty.
    theta: Vec<f64>,
    /// The minimum of the first penalty, where stronger ones start.
    strongest: Vec<f64>,
}

/// The best penalty so far.
struct Tried {
    step: i32,
    /// Held-out K-L, summed over the splits.
    kl: f64,
    /// The minimum of the last split: the start of the fit to all rows.
    start: Vec<f64>,
}
