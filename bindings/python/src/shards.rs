//! Training on virtual shards: both ends of a protocol in bytes, which Python carries between processes.

use ldlf::internals::core::error::Place;
use ldlf::internals::core::parameters::ParameterSet;
use ldlf::internals::forest::shallow::ForestParameters;
use ldlf::internals::forest::shards;
use ldlf::{Dataset, Error, FitEvent, Settings, Threads};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::raise;
use crate::inputs::{DATA, Names, distributions, features_as_given};
use crate::model::Model;
use crate::training::{EventTuple, check_kinds, event_tuple};

/// The virtual shards of one process.
#[pyclass(module = "ldlf._engine")]
pub struct Holding {
    inner: shards::Holding,
}

#[pymethods]
impl Holding {
    /// Nothing held yet; so many threads work on every question.
    #[new]
    fn new(threads: usize) -> PyResult<Self> {
        Ok(Holding { inner: shards::Holding::new(Threads::new(threads).map_err(raise)?) })
    }

    /// Copies the rows of a virtual shard into the engine's own memory. Dense rows stay dense and sparse ones sparse.
    fn add(
        &mut self,
        py: Python<'_>,
        number: usize,
        first_row: u64,
        features: &Bound<'_, PyAny>,
        targets: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let features = features_as_given(features)?;
        let view = targets.as_array();
        let weights: Option<Vec<f32>> =
            weights.map(|weights| weights.as_array().iter().map(|&w| w as f32).collect());
        py.detach(|| {
            let mut data = Dataset::new_named(DATA, features, distributions(view)?)?;
            // That not all weights are 0 can only be said of all shards together.
            if let Some(weights) = &weights
                && let Some(odd) = weights.iter().position(|w| !w.is_finite() || *w < 0.0)
            {
                let weight = weights[odd];
                return Err(Error::data(format!("{weight} is not a finite number of at least 0"))
                    .at(Place::data("sample_weight").row(odd)));
            }
            if let Some(weights) = weights {
                data = data.with_weights_of_a_part(weights)?;
            }
            self.inner.add(number, first_row, data)
        })
        .map_err(raise)
    }

    /// The answer to a question, or None where everything must be sent first.
    fn answer<'py>(
        &mut self,
        py: Python<'py>,
        question: PyBackedBytes,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let answer = py.detach(|| self.inner.answer(&question)).map_err(raise)?;
        Ok(answer.map(|bytes| PyBytes::new(py, &bytes)))
    }
}

/// The parameters of a training, and the next question.
#[pyclass(module = "ldlf._engine")]
pub struct Coordinator {
    inner: Option<shards::Coordinator>,
    history: Vec<FitEvent>,
}

#[pymethods]
impl Coordinator {
    /// A training of `sldlf` on `rows` rows in `virtual_shards` shards; `settings` is a JSON object.
    #[new]
    #[allow(clippy::too_many_arguments, reason = "called from one place, by name, in Python")]
    fn new(
        settings: &str,
        rows: usize,
        features: usize,
        labels: usize,
        sparse: bool,
        virtual_shards: usize,
        names: Names,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let settings: Settings = serde_json::from_str(settings)
            .map_err(|error| PyValueError::new_err(format!("the parameters cannot be read: {error}")))?;
        check_kinds(&settings, &ForestParameters::declared())?;
        let build = || {
            let schema = names.schema(labels)?;
            let table = shards::Table { rows, features, sparse, shards: virtual_shards, schema };
            shards::Coordinator::new(&settings, table, seed, Threads::new(threads)?)
        };
        Ok(Coordinator { inner: Some(build().map_err(raise)?), history: Vec::new() })
    }

    /// The question to all workers, or None when the training is over.
    fn question<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let question = self.ours()?.question().map_err(raise)?;
        Ok(question.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// The same with the whole state, for a new worker.
    fn question_for_newcomer<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let question = self.ours()?.question_for_newcomer().map_err(raise)?;
        Ok(question.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Takes the answers of all and moves on; returns the events.
    fn hear(&mut self, py: Python<'_>, answers: Vec<PyBackedBytes>) -> PyResult<Vec<EventTuple>> {
        let Some(inner) = &mut self.inner else { return Err(over()) };
        let events = py.detach(|| inner.hear(&answers)).map_err(raise)?;
        let tuples = events.iter().map(event_tuple).collect();
        self.history.extend(events);
        Ok(tuples)
    }

    /// Ends the training where it stands.
    fn stop(&mut self) -> PyResult<()> {
        self.inner.as_mut().map(shards::Coordinator::stop).ok_or_else(over)
    }

    /// The model of a training that is over; the coordinator has nothing left then.
    fn model(&mut self) -> PyResult<Model> {
        let model = self.inner.take().ok_or_else(over)?.model().map_err(raise)?;
        Ok(Model::new(model, std::mem::take(&mut self.history)))
    }
}

impl Coordinator {
    fn ours(&self) -> PyResult<&shards::Coordinator> {
        self.inner.as_ref().ok_or_else(over)
    }
}

fn over() -> PyErr {
    PyValueError::new_err("the training is over and its model was taken")
}
