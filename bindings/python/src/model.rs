//! What was learnt, as Python holds it: predicts, and is the bytes of a model file when pickled or saved.

use std::path::PathBuf;
use std::sync::Arc;

use ldlf::internals::core::stored::{Array, Parts};
use ldlf::internals::io::output::Overwrite;
use ldlf::{FitEvent, Prediction, Threads, TrainedModel, registry};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::background::run_silently;
use crate::errors::raise;
use crate::inputs::{features, matrix_to_python};
use crate::training::{EventTuple, event_tuple};

/// A trained model. Never changes; pickles as the bytes of its model file.
#[pyclass(frozen, module = "ldlf._engine")]
pub struct Model {
    model: Arc<TrainedModel>,
    history: Vec<FitEvent>,
}

impl Model {
    /// A model fresh from its fit.
    pub fn new(model: TrainedModel, history: Vec<FitEvent>) -> Self {
        Model { model: Arc::new(model), history }
    }
}

#[pymethods]
impl Model {
    /// The model in the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let parts = Parts::from_bytes(bytes).map_err(raise)?;
        let model = TrainedModel::from_parts(parts, &registry::learners()).map_err(raise)?;
        Ok(Model::new(model, Vec::new()))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = py
            .detach(|| ldlf::internals::io::model_file::load(&path, &registry::learners()))
            .map_err(raise)?;
        Ok(Model::new(model, Vec::new()))
    }

    /// Writes a model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| ldlf::internals::io::model_file::save(&self.model, &path, Overwrite::Yes)).map_err(raise)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.model.to_parts().to_bytes()).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The bytes of the model's ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let export = || {
            ldlf::internals::onnx::to_bytes(&self.model).map_err(|error| {
                let names = registry::names(|facts| facts.exports).join(", ");
                error.with_remedy(format!("those of {names}, and mixtures of these, can"))
            })
        };
        let bytes = py.detach(export).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }

    /// Distributions `[rows, labels]`, or one value per row from the methods that give no more.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let inputs = features(rows)?.into();
        let model = self.model.clone();
        let work = move || model.predict_with(&inputs, &Threads::new(threads)?);
        match run_silently(py, work)?.map_err(raise)? {
            Prediction::Distributions(matrix) => Ok(matrix_to_python(py, matrix)?.into_any()),
            Prediction::Values(values) => Ok(PyArray1::from_vec(py, values).into_any()),
        }
    }

    /// Everything that happened in the fit, as `(event, iteration, total, loss, kl)`; empty when loaded.
    fn history(&self) -> Vec<EventTuple> {
        self.history.iter().map(event_tuple).collect()
    }

    /// What the file says beside the arrays, as JSON: learner, parameters, features, schema, summary, and the
    /// model's own facts.
    fn document(&self) -> String {
        let model = &self.model;
        json!({
            "learner": model.learner,
            "parameters": model.parameters,
            "features": model.features,
            "schema": model.schema,
            "summary": model.summary,
            "inspection": model.model.inspect(),
        })
        .to_string()
    }

    /// The names of the arrays that make up the model.
    fn array_names(&self) -> Vec<String> {
        self.model.to_parts().arrays().map(|(name, _)| name.to_string()).collect()
    }

    /// One of the arrays that make up the model.
    fn array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        fn shaped<'py, T: Element + Clone>(
            py: Python<'py>,
            shape: &[usize],
            data: &[T],
        ) -> PyResult<Bound<'py, PyAny>> {
            Ok(PyArray1::from_vec(py, data.to_vec()).reshape(shape)?.into_any())
        }
        let parts = self.model.to_parts();
        match parts.arrays().find(|(known, _)| *known == name) {
            Some((_, Array::F32(shape, data))) => shaped(py, shape, data),
            Some((_, Array::F64(shape, data))) => shaped(py, shape, data),
            Some((_, Array::U32(shape, data))) => shaped(py, shape, data),
            None => Err(PyKeyError::new_err(name.to_string())),
        }
    }
}
