//! What surrounds a fit: seed, threads, deadline, and the observer behind progress bars, checkpoints and Ctrl-C.

use std::ops::ControlFlow;
use std::time::Instant;

use ldlf_math::optimise::Ending;
use serde::{Deserialize, Serialize};

use crate::stored::Parts;
use crate::{Error, Inputs, Prediction, Result, Seed, Threads};

/// Why a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// All iterations were done, or there was nothing to iterate.
    Finished,
    /// The validation measure stopped improving.
    EarlyStopping,
    /// The loss changed less than the tolerance.
    Converged,
    /// The time limit was reached.
    TimeLimit,
    /// The user (Ctrl-C) or the caller's observer stopped it.
    Interrupted,
}

impl From<Ending<StopReason>> for StopReason {
    fn from(ending: Ending<StopReason>) -> Self {
        match ending {
            Ending::Converged => StopReason::Converged,
            Ending::Exhausted => StopReason::Finished,
            Ending::Stopped(reason) => reason,
        }
    }
}

/// An event of a running fit.
#[derive(Clone, Debug, PartialEq)]
pub enum FitEvent {
    /// One iteration (a step, a round, a tree) is done.
    Iteration {
        /// Counted from 1.
        iteration: usize,
        /// How many there will be at most.
        total: usize,
        /// The training loss of this iteration, where there is one.
        loss: Option<f64>,
    },
    /// The leaves were updated after this iteration.
    LeafUpdate {
        /// Counted from 1.
        iteration: usize,
    },
    /// The validation rows were measured after this iteration.
    Validation {
        /// Counted from 1.
        iteration: usize,
        /// The mean K-L divergence on the validation rows.
        kl: f64,
    },
}

/// The model as it stands in the middle of a fit.
pub trait InProgress {
    /// What the model would predict now.
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction>;

    /// Rows per iteration, where it is constant: turns iterations per second into rows per second.
    fn rows_per_iteration(&self) -> Option<usize> {
        None
    }

    /// The mean absolute error on the validation rows when they were last measured, where labels are ordered.
    fn validation_mae(&self) -> Option<f64> {
        None
    }

    /// All that is needed to resume from here, or `None` if the learner cannot be resumed.
    fn checkpoint(&self) -> Option<Parts> {
        None
    }
}

/// Watches a fit: for progress bars, logs, checkpoints and Ctrl-C.
pub trait Observer {
    /// Called on every event; `Break` ends the fit, which then keeps the best model so far.
    fn observe(&mut self, event: &FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason>;

    /// Polled where there is nothing to report yet, such as within a search for parameters: `true` ends the fit without a model.
    fn interrupted(&mut self) -> bool {
        false
    }
}

/// Watches nothing.
impl Observer for () {
    fn observe(&mut self, _: &FitEvent, _: &dyn InProgress) -> ControlFlow<StopReason> {
        ControlFlow::Continue(())
    }
}

/// Any closure of the right shape watches.
impl<F: FnMut(&FitEvent, &dyn InProgress) -> ControlFlow<StopReason>> Observer for F {
    fn observe(&mut self, event: &FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason> {
        self(event, state)
    }
}

/// What a fit needs beside the data.
pub struct FitContext<'a> {
    /// The random seed.
    pub seed: Seed,
    /// The number that a user gave for it; none within another fit.
    pub seed_number: Option<u64>,
    /// The threads to use.
    pub threads: Threads,
    /// A checkpoint to resume from.
    pub resume: Option<Parts>,
    /// The moment at which to stop with the best so far.
    pub deadline: Option<Instant>,
    /// Everything reported so far.
    pub history: Vec<FitEvent>,
    observer: &'a mut dyn Observer,
}

impl<'a> FitContext<'a> {
    /// A context with the given seed and threads.
    pub fn new(seed: u64, threads: Threads, observer: &'a mut dyn Observer) -> Self {
        FitContext { seed_number: Some(seed), ..FitContext::within(Seed::new(seed), threads, observer) }
    }

    /// A context for a part of a fit, with a seed of that fit.
    pub fn within(seed: Seed, threads: Threads, observer: &'a mut dyn Observer) -> Self {
        FitContext {
            seed,
            seed_number: None,
            threads,
            resume: None,
            deadline: None,
            history: Vec::new(),
            observer,
        }
    }

    /// Notifies the observer, records the event, and returns whether to continue. A learner calls this at every iteration.
    pub fn report(&mut self, event: FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason> {
        let verdict = self.observer.observe(&event, state);
        self.history.push(event);
        if verdict.is_continue() && self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return ControlFlow::Break(StopReason::TimeLimit);
        }
        verdict
    }

    /// An error if the fit was interrupted, for use before there is a model to keep. A learner calls this between the steps of a search.
    pub fn check_interrupted(&mut self) -> Result<()> {
        if self.observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }
}
