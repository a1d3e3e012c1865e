//! One learner on one fold: fit, predict, measure.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{FoldResult, JobId, Plan, Protocol, Watcher, fold_seed};
use crate::error::Place;
use crate::learner::Summary;
use crate::measures::{KL, mean_over_rows, score};
use crate::{
    Dataset, Error, FitContext, FitEvent, Fitted, InProgress, Learner, Prediction, Result, StopReason,
    Threads,
};

/// Iterations between two evaluations of the test fold in the released protocol.
const RELEASED_STEP: usize = 10;

/// Runs one job; an error names the learner and the fold.
pub(super) fn run(
    plan: &Plan<'_>,
    id: JobId,
    threads: &Threads,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Result<FoldResult> {
    let learner = plan.learners[id.learner].as_ref();
    let fold = &plan.folds[id.fold];
    // What missing values are filled with is learnt from the training rows alone.
    let mut training = plan.data.select(&fold.training).refilled()?;
    if plan.protocol == Protocol::Released && training.groups().is_none() {
        // A row may come several times: what a learner holds out must not be among what it learns from.
        training = training.with_groups(fold.training.iter().map(|&row| row as u32).collect())?;
    }
    let test = plan.data.select(&fold.test).filled_like(&training)?;
    let watches_test = plan.protocol == Protocol::Released && learner.facts().iterates;
    let mut observer = FoldObserver {
        id,
        watcher,
        stop,
        along_the_way: watches_test.then(|| AlongTheWay::new(&test, threads.clone())),
    };
    let context = (fold_seed(plan.seed, id.fold), threads);
    fit_and_measure(learner, &training, &test, context, &mut observer)
        .map(|mut result| {
            result.rows = fold.test.clone();
            result
        })
        .map_err(|error| {
            error.at(Place { learner: Some(learner.name().into()), fold: Some(id.fold), ..Place::default() })
        })
}

fn fit_and_measure(
    learner: &dyn Learner,
    training: &Dataset,
    test: &Dataset,
    (seed, threads): (u64, &Threads),
    observer: &mut FoldObserver<'_>,
) -> Result<FoldResult> {
    let started = Instant::now();
    let mut context = FitContext::new(seed, threads.clone(), observer);
    let Fitted { model, summary, .. } = learner.fit(training, &mut context)?;
    let mut fitting = started.elapsed();
    let history = std::mem::take(&mut context.history);
    drop(context);
    if observer.stop.load(Ordering::Relaxed) && summary.stopped == StopReason::Interrupted {
        return Err(Error::Interrupted);
    }
    let started = Instant::now();
    let last = model.predict(test.inputs(), threads)?;
    let predicting = started.elapsed();
    check(&last, test)?;

    let (mut prediction, mut best_iteration, mut test_curve) = (last, None, Vec::new());
    if let Some(mut along) = observer.along_the_way.take() {
        if let Some(error) = along.failed.take() {
            return Err(error);
        }
        fitting = fitting.saturating_sub(along.spent);
        if matches!(prediction, Prediction::Distributions(_)) {
            along.note(final_iteration(&summary), prediction);
            let (iteration, _, best) = along.best.take().expect("the last model was just noted");
            (prediction, best_iteration, test_curve) = (best, Some(iteration), along.curve);
        }
    }
    Ok(FoldResult {
        scores: score(&prediction, test),
        fit_seconds: fitting.as_secs_f64(),
        predict_seconds: predicting.as_secs_f64(),
        summary,
        best_iteration,
        prediction,
        rows: Vec::new(),
        history,
        test_curve,
    })
}

/// The iteration whose model a fit returned.
fn final_iteration(summary: &Summary) -> usize {
    summary.best_iteration.unwrap_or(summary.iterations)
}

/// Passes events on, and in the released protocol measures the test fold along the way.
struct FoldObserver<'a> {
    id: JobId,
    watcher: &'a dyn Watcher,
    stop: &'a AtomicBool,
    along_the_way: Option<AlongTheWay<'a>>,
}

impl crate::Observer for FoldObserver<'_> {
    fn interrupted(&mut self) -> bool {
        if self.watcher.interrupted() {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.stop.load(Ordering::Relaxed)
    }

    fn observe(&mut self, event: &FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason> {
        if let (FitEvent::Iteration { iteration, .. }, Some(along)) = (event, &mut self.along_the_way)
            && iteration % RELEASED_STEP == 0
            && let Err(error) = along.measure(*iteration, state)
        {
            along.failed = Some(error);
            return ControlFlow::Break(StopReason::Interrupted);
        }
        if self.watcher.event(self.id, event).is_break() {
            self.stop.store(true, Ordering::Relaxed);
        }
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        ControlFlow::Continue(())
    }
}

/// The test K-L over the iterations and the prediction at its lowest.
struct AlongTheWay<'a> {
    test: &'a Dataset,
    threads: Threads,
    best: Option<(usize, f64, Prediction)>,
    curve: Vec<(usize, f64)>,
    spent: Duration,
    failed: Option<Error>,
}

impl<'a> AlongTheWay<'a> {
    fn new(test: &'a Dataset, threads: Threads) -> Self {
        AlongTheWay { test, threads, best: None, curve: Vec::new(), spent: Duration::ZERO, failed: None }
    }

    fn measure(&mut self, iteration: usize, state: &dyn InProgress) -> Result<()> {
        let started = Instant::now();
        let prediction = state.predict(self.test.inputs(), &self.threads)?;
        check(&prediction, self.test)?;
        self.note(iteration, prediction);
        self.spent += started.elapsed();
        Ok(())
    }

    /// Of equal K-L the earlier iteration stays the best.
    fn note(&mut self, iteration: usize, prediction: Prediction) {
        let Prediction::Distributions(predicted) = &prediction else {
            return;
        };
        let kl = mean_over_rows(&KL, self.test.targets(), predicted, self.test.weights());
        if self.curve.last().is_none_or(|&(last, _)| last < iteration) && kl.is_finite() {
            self.curve.push((iteration, kl));
        }
        if self.best.as_ref().is_none_or(|(_, best, _)| kl < *best || best.is_nan()) {
            self.best = Some((iteration, kl, prediction));
        }
    }
}

/// Refuses a prediction that cannot be measured.
fn check(prediction: &Prediction, test: &Dataset) -> Result<()> {
    let (fits, finite) = match prediction {
        Prediction::Distributions(m) => {
            (m.rows() == test.rows() && m.cols() == test.labels(), m.as_slice().iter().all(|p| p.is_finite()))
        }
        Prediction::Values(v) => (v.len() == test.rows(), v.iter().all(|v| v.is_finite())),
    };
    match (fits, finite) {
        (false, _) => Err(Error::training("the prediction does not have the shape of the test rows")),
        (_, false) => Err(Error::training("the model predicts a number that is not finite")
            .with_remedy("try a smaller step")),
        _ => Ok(()),
    }
}
