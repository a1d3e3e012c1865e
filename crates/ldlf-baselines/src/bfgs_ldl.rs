//! `bfgs-ldl`: the maximum entropy model fitted by limited-memory BFGS.

use std::ops::ControlFlow;

use ldlf_core::early_stopping::hold_out;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Facts, FitContext, Fitted, Model, Preset, Result, StopReason,
};
use ldlf_math::memory;
use ldlf_math::optimise::{Ending, Lbfgs, Minimum};

use crate::maximum_entropy::{MaximumEntropy, Objective};
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

/// The penalties tried, from the strongest: each minimum is a good start for the next.
fn penalties() -> impl ExactSizeIterator<Item = f64> {
    (0..13u8).map(|step| 10f64.powf(5.0 - 0.5 * f64::from(step)))
}

/// Maximum number of splits, for small datasets: a penalty is chosen on enough rows to tell two apart.
const MOST_SPLITS: usize = 5;
/// Ratio of the held-out K-L to the best so far above which weaker penalties are not tried, and by which the best must beat the
/// strongest: before anything is learnt, the held-out K-L fluctuates a little.
const CLEARLY_WORSE: f64 = 1.01;
/// Held-out rows needed to tell two penalties apart.
const ENOUGH_ROWS: f64 = 500.0;

/// Minimises `sum_i w_i K-L(d_i, softmax(theta x_i + b)) + l2/2 |theta|^2` by L-BFGS with a strong Wolfe line search.
///
/// Without `l2` the penalty is chosen inside the training rows: on held-out rows, down a grid with warm starts, then the
/// model is fitted to all rows. Source: Geng, "Label distribution learning", TKDE 2016 (unregularised: preset `paper`).
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
            ["l2=0.0", "scaling=raw"],
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
        let splits = if p.l2.is_auto() { splits(p, data, context) } else { Vec::new() };
        let (training, held) = split(data, p.validation_fraction, p.patience, context);
        let total = p.iterations.saturating_mul(1 + splits.len() * penalties().len());
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
        let mut objective = Objective::new(
            training.as_ref().unwrap_or(data),
            &run.scaling,
            choice.l2,
            run.progress.threads(),
        )?;
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
fn splits(p: &BfgsLdlParameters, data: &Dataset, context: &FitContext<'_>) -> Vec<(Dataset, Dataset)> {
    let fraction = p.validation_fraction;
    let wanted = (ENOUGH_ROWS / (fraction * data.rows() as f64)).ceil() as usize;
    (0..wanted.clamp(1, MOST_SPLITS))
        .map(|index| hold_out(data, fraction, context.seed.named("penalty").numbered(index as u64)))
        .filter(|(training, held)| !training.is_empty() && !held.is_empty())
        .map(|(training, held)| (data.select(&training), data.select(&held)))
        .filter(|(training, held)| {
            [training, held].iter().all(|side| (0..side.rows()).any(|row| side.weight(row) > 0.0))
        })
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

    /// Walks down the penalties on every split, each until the held-out K-L was clearly worse twice in a row, and takes
    /// the penalty that is best over all splits.
    fn choose_penalty(
        &mut self,
        data: &Dataset,
        splits: &[(Dataset, Dataset)],
        start: Vec<f64>,
    ) -> Result<Choice> {
        let threads = self.progress.threads().clone();
        let grid: Vec<f64> = penalties().collect();
        let mut sums = vec![0.0; grid.len()];
        // Where the last split's minima lie: the start of the fit to all rows.
        let mut minima = vec![start.clone(); grid.len()];
        for (training, held) in splits {
            let mut objective = Objective::new(training, &self.scaling, 0.0, &threads)?;
            let mut theta = start.clone();
            let (mut strongest, mut least, mut waited) = (f64::INFINITY, f64::INFINITY, 0);
            let mut hopeless = false;
            for (index, &l2) in grid.iter().enumerate() {
                if hopeless {
                    sums[index] = f64::INFINITY;
                    continue;
                }
                objective.penalise(l2);
                let minimum = self.minimise(&mut objective, theta, l2, 1e-5)?;
                theta = minimum.point;
                if let Ending::Stopped(reason) = minimum.ending {
                    return Ok(Choice { l2, start: theta, stopped: Some(reason) });
                }
                let kl = mean_kl(&self.model(&theta, l2), held, &threads)?;
                sums[index] += kl;
                minima[index].clone_from(&theta);
                if index == 0 {
                    strongest = kl;
                }
                least = least.min(kl);
                let learnt = strongest > CLEARLY_WORSE * least;
                waited = if learnt && kl > CLEARLY_WORSE * least { waited + 1 } else { 0 };
                hopeless = waited == 2;
            }
        }
        // Without splits (too few rows) all sums are 0: a penalty of one row's weight is a safe choice.
        let best = match splits.is_empty() {
            true => grid.iter().position(|&l2| l2 <= data.rows() as f64).unwrap_or(0),
            false => {
                (0..grid.len()).fold(0, |best, index| if sums[index] < sums[best] { index } else { best })
            }
        };
        Ok(Choice { l2: grid[best], start: minima.swap_remove(best), stopped: None })
    }
}
