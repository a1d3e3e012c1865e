//! A learner that fits another one, perhaps several times, and is watched as one fit.

use std::ops::ControlFlow;

use ldlf_core::learner::Summary;
use ldlf_core::{
    Dataset, FitContext, FitEvent, Fitted, InProgress, Learner, Model, Prediction, Result, StopReason,
};

/// Fits `learner` as stage `stage` of at most `stages`: its iterations count on from those of the stages before.
pub(crate) fn fit_stage(
    learner: &dyn Learner,
    data: &Dataset,
    (stage, stages): (usize, usize),
    context: &mut FitContext<'_>,
) -> Result<Fitted> {
    let (seed, threads) = (context.seed, context.threads.clone());
    let mut of_one_stage = 0;
    let mut relay = |event: &FitEvent, state: &dyn InProgress| {
        if let FitEvent::Iteration { total, .. } = event {
            of_one_stage = *total;
        }
        let before = stage * of_one_stage;
        let event = match *event {
            FitEvent::Iteration { iteration, total, loss } => {
                FitEvent::Iteration { iteration: before + iteration, total: stages * total, loss }
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
    learner.fit(data, &mut inner)
}

/// Whether a stage was stopped from outside, so that no further one may follow.
pub(crate) fn was_stopped(summary: &Summary) -> bool {
    matches!(summary.stopped, StopReason::Interrupted | StopReason::TimeLimit)
}

/// A finished model as it is shown to an observer.
pub(crate) struct Shown<'a>(pub &'a dyn Model);

impl InProgress for Shown<'_> {
    fn predict(&self, features: &ldlf_core::Features, threads: &ldlf_core::Threads) -> Result<Prediction> {
        self.0.predict(features, threads)
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
