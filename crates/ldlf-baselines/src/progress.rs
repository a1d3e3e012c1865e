//! Iterative fits: reports to the observer, early stopping on held-out rows, the best model so far.

use std::ops::ControlFlow;

use ldlf_core::early_stopping::{HeldOutKl, Patience, Verdict, hold_out};
use ldlf_core::learner::Summary;
use ldlf_core::{
    Dataset, FitContext, FitEvent, InProgress, Inputs, Model, Prediction, Result, StopReason, Threads,
};

/// Splits `data` into training rows and held-out rows; without patience, or with too few rows, nothing is held out.
pub(crate) fn split(
    data: &Dataset,
    fraction: f64,
    patience: Option<usize>,
    context: &FitContext<'_>,
) -> (Option<Dataset>, Option<Dataset>) {
    if patience.is_none() {
        return (None, None);
    }
    let (training, held) = hold_out(data, fraction, context.seed);
    if held.is_empty() { (None, None) } else { (Some(data.select(&training)), Some(data.select(&held))) }
}

/// The mean K-L divergence of a model on some rows, each counting by its weight.
pub(crate) fn mean_kl(model: &dyn Model, data: &Dataset, threads: &Threads) -> Result<f64> {
    let predicted = model.predict(data.inputs(), threads)?.into_distributions()?;
    Ok(HeldOutKl::of(data, 0..data.rows(), predicted.as_slice()).mean())
}

/// Follows a fit from iteration to iteration.
pub(crate) struct Progress<'f, 'c, M> {
    context: &'f mut FitContext<'c>,
    held: Option<Dataset>,
    patience: Patience,
    total: usize,
    iteration: usize,
    loss: Option<f64>,
    best: Option<M>,
    stopped: Option<StopReason>,
}

/// The model between two iterations.
struct Now<'a>(&'a dyn Model);

impl InProgress for Now<'_> {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        self.0.predict(inputs, threads)
    }
}

impl<'f, 'c, M: Model + Clone> Progress<'f, 'c, M> {
    /// Before the first of at most `total` iterations.
    pub(crate) fn new(
        context: &'f mut FitContext<'c>,
        total: usize,
        held: Option<Dataset>,
        patience: Option<usize>,
    ) -> Self {
        Progress {
            context,
            held,
            patience: Patience::new(patience.unwrap_or(usize::MAX)),
            total,
            iteration: 0,
            loss: None,
            best: None,
            stopped: None,
        }
    }

    /// The threads of the fit.
    pub(crate) fn threads(&self) -> &Threads {
        &self.context.threads
    }

    /// Validates on these rows from now on.
    pub(crate) fn hold(&mut self, held: Option<Dataset>, patience: Option<usize>) {
        self.held = held;
        self.patience = Patience::new(patience.unwrap_or(usize::MAX));
    }

    /// Records an iteration and its model. `Break` ends the fit.
    pub(crate) fn advance(&mut self, loss: f64, model: &M) -> Result<ControlFlow<StopReason>> {
        self.iteration += 1;
        self.loss = Some(loss);
        let (iteration, total) = (self.iteration, self.total);
        let event = FitEvent::Iteration { iteration, total, loss: Some(loss) };
        let mut verdict = self.context.report(event, &Now(model));
        if let Some(held) = &self.held {
            let kl = mean_kl(model, held, &self.context.threads)?;
            match self.patience.measured(iteration, kl) {
                Verdict::Best => self.best = Some(model.clone()),
                Verdict::GoOn => {}
                Verdict::Stop if verdict.is_continue() => {
                    verdict = ControlFlow::Break(StopReason::EarlyStopping);
                }
                Verdict::Stop => {}
            }
            let reported = self.context.report(FitEvent::Validation { iteration, kl }, &Now(model));
            if verdict.is_continue() {
                verdict = reported;
            }
        }
        if let ControlFlow::Break(reason) = verdict {
            self.stopped = Some(reason);
        }
        Ok(verdict)
    }

    /// The model to keep (the best on the held-out rows, else `last`) and how the fit went. `ended` is the reason where
    /// the fit was not stopped before.
    pub(crate) fn finish(self, last: M, ended: StopReason) -> (M, Summary) {
        let validation_kl = self.patience.best;
        let best_iteration = validation_kl.map(|_| self.patience.best_iteration);
        let summary = Summary {
            iterations: self.iteration,
            stopped: self.stopped.unwrap_or(ended),
            best_iteration: best_iteration.filter(|&best| best != self.iteration),
            loss: self.loss,
            validation_kl,
            mean_kl: None,
        };
        (self.best.unwrap_or(last), summary)
    }
}
