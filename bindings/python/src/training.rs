//! A fit: settings to learner, arrays to dataset, and an observer that calls back into Python.

use std::ops::ControlFlow;

use ldlf::internals::core::parameters::{Kind, Parameter, show_value};
use ldlf::internals::core::stored::Parts;
use ldlf::{
    FitContext, FitEvent, InProgress, Observer, Result, Settings, StopReason, Threads, TrainedModel, Value,
    registry,
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::background::{Worker, run};
use crate::errors::raise;
use crate::images::check_readable;
use crate::inputs::{Names, dataset};
use crate::model::Model;

/// Fits a learner and gives its model. `settings` is a JSON object; `callback(event, iteration, total, loss, kl)` is called on
/// every event and ends the fit by returning `True`. With `keep_checkpoint` the model has one of the last moment; `checkpoint` is
/// one to resume from.
#[pyfunction]
#[pyo3(signature = (
    learner, settings, features, targets, weights, names, seed, threads, callback=None, keep_checkpoint=false, checkpoint=None,
    calibrate=None
))]
#[allow(clippy::too_many_arguments, reason = "called from one place, by name, in Python")]
pub fn fit(
    py: Python<'_>,
    learner: &str,
    settings: &str,
    features: &Bound<'_, PyAny>,
    targets: PyReadonlyArray2<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    names: Names,
    seed: u64,
    threads: usize,
    callback: Option<Bound<'_, PyAny>>,
    keep_checkpoint: bool,
    checkpoint: Option<&[u8]>,
    calibrate: Option<f64>,
) -> PyResult<Model> {
    let entry = registry::find(learner).map_err(raise)?;
    let settings: Settings = serde_json::from_str(settings)
        .map_err(|error| PyValueError::new_err(format!("the parameters cannot be read: {error}")))?;
    check_kinds(&settings, &(entry.parameters)())?;
    let learner = (entry.build)(&settings).map_err(raise)?;
    let data = dataset(features, &targets, weights, names)?;
    let resume = checkpoint.map(Parts::from_bytes).transpose().map_err(raise)?;
    let listens = callback.is_some();
    let on_event = |event: FitEvent| match &callback {
        None => Ok(true),
        Some(callback) => Ok(!callback.call1(event_tuple(&event))?.is_truthy()?),
    };
    type Fit = (TrainedModel, Vec<FitEvent>, Option<Parts>);
    let work = move |worker: &Worker<FitEvent, Result<Fit>>| {
        let threads = Threads::new(threads)?;
        let data = check_readable(data, &settings, &threads)?;
        let mut watcher = Watcher { worker, listens, keeps: keep_checkpoint, checkpoint: None };
        let mut context = FitContext::new(seed, threads, &mut watcher);
        context.resume = resume;
        let model = match calibrate {
            None => TrainedModel::fit(learner.as_ref(), &data, &mut context)?,
            Some(fraction) => TrainedModel::fit_calibrated(learner.as_ref(), &data, fraction, &mut context)?,
        };
        let history = std::mem::take(&mut context.history);
        Ok((model, history, watcher.checkpoint))
    };
    // The best model so far goes with the exception: the estimator keeps it.
    let on_interrupted = |error: &PyErr, result: Result<Fit>| {
        if let Ok((model, history, checkpoint)) = result
            && error.is_instance_of::<PyKeyboardInterrupt>(py)
        {
            let _ = error.value(py).setattr("ldlf_model", Model::fitted(model, history, checkpoint));
        }
    };
    let (model, history, checkpoint) = run(py, work, on_event, on_interrupted)?.map_err(raise)?;
    Ok(Model::fitted(model, history, checkpoint))
}

/// A value of another kind than its parameter takes is a `TypeError`; a value out of range is left to the learner's own check.
pub fn check_kinds(settings: &Settings, declared: &[Parameter]) -> PyResult<()> {
    for parameter in declared {
        let Some(value) = settings.get(parameter.name) else { continue };
        let fits = match (&parameter.kind, value) {
            (_, Value::Null) => parameter.optional,
            (_, Value::String(word)) if parameter.auto && word == "auto" => true,
            (Kind::Integer | Kind::Number, value) => value.is_number(),
            (Kind::Flag, value) => value.is_boolean(),
            (Kind::Choice { .. } | Kind::Text, value) => value.is_string(),
        };
        if !fits {
            let (name, allowed) = (parameter.name, parameter.allowed());
            return Err(PyTypeError::new_err(format!("{name} must be {allowed}, got {}", show_value(value))));
        }
    }
    Ok(())
}

/// Stops when the caller wants to, passes events on if there is a callback, and keeps the last checkpoint if one is wanted.
struct Watcher<'a, R> {
    worker: &'a Worker<FitEvent, R>,
    listens: bool,
    keeps: bool,
    checkpoint: Option<Parts>,
}

impl<R> Observer for Watcher<'_, R> {
    fn observe(&mut self, event: &FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason> {
        let stop = self.worker.must_stop() || (self.listens && !self.worker.report(event.clone()));
        // A fit may end after any leaf update or validation, and after its last iteration.
        let may_end = !matches!(event, FitEvent::Iteration { iteration, total, .. } if iteration < total);
        if self.keeps && (stop || may_end) {
            self.checkpoint = state.checkpoint().or(self.checkpoint.take());
        }
        if stop {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        ControlFlow::Continue(())
    }
}

/// An event as the arguments of a callback: what, iteration, total, loss, K-L.
pub type EventTuple = (&'static str, usize, Option<usize>, Option<f64>, Option<f64>);

/// The arguments of a callback for an event.
pub fn event_tuple(event: &FitEvent) -> EventTuple {
    match *event {
        FitEvent::Iteration { iteration, total, loss } => ("iteration", iteration, Some(total), loss, None),
        FitEvent::LeafUpdate { iteration } => ("leaf_update", iteration, None, None, None),
        FitEvent::Validation { iteration, kl } => ("validation", iteration, None, None, Some(kl)),
    }
}
