//! What a training of the shallow forest does: a learner's parameters, worked out for some data.

use ldlf_core::{Settings, choices};
use ldlf_math::optimise::step::{LearningRate, Optimizer, Step};

use crate::algorithm1::{Ensemble, LeafSchedule, Schedule};
use crate::encoder::Scaling;
use crate::loss::LossForm;
use crate::tree_shape::ForestShape;

choices! {
    /// Which rows a leaf update looks at.
    pub enum LeafRows {
        /// Those of the mini-batches since the last update: Algorithm 1 of the paper.
        Batches = "batches",
        /// Those of the last mini-batches that make up one epoch.
        Epoch = "epoch",
        /// All training rows.
        All = "all",
        /// All training rows up to 50,000; above that those of the mini-batches since the last update.
        Auto = "auto",
    }
}

choices! {
    /// What the first splits are.
    pub enum Init {
        /// Random directions.
        Random = "random",
        /// The splits of a random forest grown greedily on the training rows, softened; decay then leads back to them.
        Greedy = "greedy",
    }
}

/// Above so many training rows a leaf update over all of them would take longer than the steps between two updates.
pub(crate) const MANY_ROWS: usize = 50_000;

/// All that a training does. Several of them may be tried on the same rows.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What messages and checkpoints call the learner.
    pub learner: &'static str,
    /// Every parameter, as checkpoints keep them.
    pub settings: Settings,
    /// Parameters that may be others when a checkpoint is resumed.
    pub free: &'static [&'static str],
    /// What to try when the loss is no longer finite.
    pub remedy: String,
    /// Which of several forests on the same rows it is: each begins with other random weights.
    pub number: usize,
    /// How the trees learn from a mini-batch.
    pub ensemble: Ensemble,
    /// The sizes.
    pub shape: ForestShape,
    /// How features become inputs of the linear map.
    pub encoding: Encoding,
    /// What the first splits are.
    pub init: Init,
    /// What the gradient steps lower.
    pub loss: LossForm,
    /// How gradients become steps.
    pub steps: StepRule,
    /// The fraction of inputs that are left out of a step.
    pub dropout: f64,
    /// Rows of a mini-batch.
    pub batch_size: usize,
    /// How many iterations there are.
    pub iterations: Iterations,
    /// When and how leaves are updated.
    pub leaves: LeafPlan,
    /// Whether every tree leaves out a group of rows.
    pub leave_out: Option<LeaveOutPlan>,
    /// The fraction of rows that are held out for early stopping; with rows that trees leave out, these serve instead.
    pub held_out: Option<f64>,
    /// Validations without improvement before training stops.
    pub patience: usize,
    /// Relative change of the mean loss between leaf updates below which training has converged.
    pub tolerance: Option<f64>,
}

/// How features become inputs of the linear map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encoding {
    /// How features are scaled.
    pub scaling: Scaling,
    /// Deviations from the mean beyond which a value is cut off.
    pub clip: f64,
    /// Quantile bins of a numeric column among sparse ones.
    pub bins: usize,
    /// Whether there is an input of ones.
    pub bias: bool,
}

/// How gradients become steps.
#[derive(Clone, Copy, Debug)]
pub struct StepRule {
    /// The rule.
    pub optimizer: Optimizer,
    /// The learning rate over the iterations.
    pub length: LearningRate,
    /// Momentum of sgd.
    pub momentum: f64,
    /// Weight decay.
    pub weight_decay: f64,
}

impl StepRule {
    /// The step of an iteration, counted from 0, of so many.
    pub fn at(&self, iteration: usize, total: usize) -> Step {
        let rate = self.length.at(iteration, total);
        Step::new(self.optimizer, iteration, rate, self.momentum, self.weight_decay)
    }
}

/// How many iterations there are: epochs within bounds, or always the most.
#[derive(Clone, Copy, Debug)]
pub struct Iterations {
    /// Passes over the training rows.
    pub epochs: Option<f64>,
    /// The least, however few rows there are.
    pub least: usize,
    /// The most.
    pub most: usize,
}

/// When and how leaves are updated.
#[derive(Clone, Copy, Debug)]
pub struct LeafPlan {
    /// Mini-batches between two updates.
    pub every: usize,
    /// Rows of an update.
    pub rows: LeafRows,
    /// Iterations of an update.
    pub iterations: usize,
    /// Pseudo-count that draws every leaf to the mean training distribution; where it is to be chosen, the one to begin with.
    pub prior: f64,
    /// Whether the pseudo-count is chosen by the rows that trees leave out.
    pub choose_prior: bool,
}

/// How many groups of rows there are, of which every tree leaves out one, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeaveOutPlan {
    /// Number of groups.
    pub groups: usize,
    /// The fraction of the iterations, at the end, in which every tree learns from all rows.
    pub given_back: f64,
}

impl LeaveOutPlan {
    /// The iteration from which every tree learns from all rows.
    pub fn given_back_at(&self, total: usize) -> usize {
        ((1.0 - self.given_back) * total as f64).round() as usize
    }
}

impl LeafPlan {
    /// How many of the last mini-batches an update looks at; none means all training rows.
    pub fn batches(&self, rows: usize, per_epoch: usize) -> Option<usize> {
        match self.rows {
            LeafRows::Auto if rows > MANY_ROWS => Some(self.every),
            LeafRows::All | LeafRows::Auto => None,
            LeafRows::Batches => Some(self.every),
            LeafRows::Epoch => Some(per_epoch),
        }
    }
}

impl Plan {
    /// Iterations on this many training rows.
    pub fn total_iterations(&self, rows: usize) -> usize {
        let batches = (rows / self.batch_size.min(rows).max(1)).max(1);
        let Iterations { epochs, least, most } = self.iterations;
        match epochs {
            None => most,
            Some(epochs) => ((epochs * batches as f64).ceil() as usize).max(least).min(most),
        }
    }

    /// When what is done in so many iterations; held-out rows are measured after every leaf update.
    pub fn schedule(&self, total: usize, validates: bool) -> Schedule {
        let every = self.leaves.every;
        Schedule {
            learner: self.learner,
            remedy: self.remedy.clone(),
            total,
            leaves: Some(LeafSchedule { every, early: false }),
            validate_every: validates.then_some(every),
            patience: self.patience,
            tolerance: self.tolerance,
        }
    }
}
