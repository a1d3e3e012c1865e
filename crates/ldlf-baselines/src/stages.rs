//! Learners that fit others, perhaps several times, and report as one fit.

use std::ops::ControlFlow;

use ldlf_core::learner::Summary;
use ldlf_core::{
    Dataset, FitContext, FitEvent, Fitted, InProgress, Learner, Model, Prediction, Result, StopReason,
};

/// Consecutive fits with one count of iterations.
pub(crate) struct Stages {
    /// Iterations reported by the finished stages.
    before: usize,
    /// Maximum number of stages left.
    left: usize,
}

impl Stages {
    /// At most `count` stages.
    pub(crate) fn new(count: usize) -> Self {
        Stages { before: 0, left: count }
    }

    /// Fits `learner` as the next stage.
    pub(crate) fn fit(
        &mut self,
        learner: &dyn Learner,
        data: &Dataset,
        context: &mut FitContext<'_>,
    ) -> Result<Fitted> {
        let (seed, threads) = (context.seed, context.threads.clone());
        let (before, left) = (self.before, self.left);
        let mut last = before;
        let mut relay = |event: &FitEvent, state: &dyn InProgress| {
            let event = match *event {
                FitEvent::Iteration { iteration, total, loss } => {
                    last = before + iteration;
                    FitEvent::Iteration {
                        iteration: last,
                        total: left.saturating_mul(total).saturating_add(before),
                        loss,
                    }
                }
                FitEvent::LeafUpdate { iteration } => FitEvent::LeafUpdate { iteration: before + iteration },
                FitEvent::Validation { iteration, kl } => {
                    FitEvent::Validation { iteration: before + iteration, kl }
                }
            };
            context.report(event, state)
        };
        let mut inner = FitContext::new(0, threads, &mut relay);
        inner.seed = seed;
        let fitted = learner.fit(data, &mut inner);
        drop(inner);
        (self.before, self.left) = (last, left.saturating_sub(1).max(1));
        fitted
    }
}

/// Whether a stage was stopped from outside, so that no further one may follow.
pub(crate) fn was_stopped(summary: &Summary) -> bool {
    matches!(summary.stopped, StopReason::Interrupted | StopReason::TimeLimit)
}

/// A finished model as an observer sees it.
pub(crate) struct Shown<'a>(pub &'a dyn Model);

impl InProgress for Shown<'_> {
    fn predict(&self, inputs: &ldlf_core::Inputs, threads: &ldlf_core::Threads) -> Result<Prediction> {
        self.0.predict(inputs, threads)
    }
}

/// Reports step `iteration` of `total` of a fit that has few steps, without a loss.
pub(crate) fn report_step(
    context: &mut FitContext<'_>,
    iteration: usize,
    total: usize,
    model: &dyn Model,
) -> ControlFlow<StopReason> {
    context.report(FitEvent::Iteration { iteration, total, loss: None }, &Shown(model))
}
