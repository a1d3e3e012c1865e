//! What was learnt, as Python holds it: predicts, and is the bytes of a model file when pickled or saved.

use std::path::PathBuf;
use std::sync::Arc;

use ldlf::internals::core::explain::{SourceColumn, explain, importance_of};
use ldlf::internals::core::forest_view::{ForestView, SplitFeature, TreeView};
use ldlf::internals::core::stored::{Array, Parts};
use ldlf::internals::io::output::Overwrite;
use ldlf::internals::onnx::Takes;
use ldlf::{Dataset, Error, FitEvent, Prediction, Threads, TrainedModel, registry};
use numpy::{Element, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::background::run_silently;
use crate::errors::raise;
use crate::images::inputs;
use crate::inputs::{DATA, distributions, features, matrix_to_python};
use crate::training::{EventTuple, event_tuple};

/// A tree as Python gets it.
type TreeTuple = (Vec<Vec<(usize, f64)>>, Vec<Vec<f32>>, Vec<f64>);

/// An explanation as Python gets it.
type ExplainedTuple<'py> = (&'static str, Vec<String>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray3<f64>>);

/// So many rows are predicted on the calling thread: they take less time than starting another, and end before a Ctrl-C is missed.
const FEW_ROWS: usize = 16;

/// A trained model. Never changes; pickles as the bytes of its model file.
#[pyclass(frozen, module = "ldlf._engine")]
pub struct Model {
    model: Arc<TrainedModel>,
    history: Vec<FitEvent>,
    checkpoint: Option<Parts>,
}

impl Model {
    /// A model, and what happened in its fit.
    pub fn new(model: TrainedModel, history: Vec<FitEvent>) -> Self {
        Model::fitted(model, history, None)
    }

    /// A model fresh from its fit, with a checkpoint to continue from.
    pub fn fitted(model: TrainedModel, history: Vec<FitEvent>, checkpoint: Option<Parts>) -> Self {
        Model { model: Arc::new(model), history, checkpoint }
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

    /// The bytes of the model's ONNX file, which takes `"columns"`, `"features"`, or what suits the model (`"auto"`).
    fn to_onnx<'py>(&self, py: Python<'py>, inputs: &str) -> PyResult<Bound<'py, PyBytes>> {
        let takes = match inputs {
            "auto" => Takes::Auto,
            "columns" => Takes::Columns,
            "features" => Takes::Features,
            other => {
                let message = format!("inputs must be 'auto', 'columns' or 'features', got {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        if takes == Takes::Columns && self.model.schema.columns.is_none() {
            return Err(PyValueError::new_err(
                "the model was not fitted on a data frame, so that it knows no columns; inputs=\"features\" exports it",
            ));
        }
        let export = || {
            ldlf::internals::onnx::to_bytes(&self.model, takes).map_err(|error| {
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
        let inputs = inputs(rows)?;
        let found = if inputs.rows() <= FEW_ROWS {
            py.detach(|| self.model.predict_with(&inputs, &Threads::one()))
        } else {
            let model = self.model.clone();
            run_silently(py, move || model.predict_with(&inputs, &Threads::new(threads)?))?
        };
        match found.map_err(raise)? {
            Prediction::Distributions(matrix) => Ok(matrix_to_python(py, matrix)?.into_any()),
            Prediction::Values(values) => Ok(PyArray1::from_vec(py, values).into_any()),
        }
    }

    /// Intervals `[rows, 2]` that hold a row's true value, or a new vote on it, with probability `level`.
    fn promised_intervals<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        of_votes: bool,
        level: f64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inputs = inputs(rows)?;
        let model = self.model.clone();
        let work = move || match of_votes {
            true => model.predict_vote_interval(&inputs, level),
            false => model.predict_interval(&inputs, level),
        };
        let found = run_silently(py, work)?.map_err(raise)?;
        let flat: Vec<f64> = found.iter().flat_map(|&(low, high)| [low, high]).collect();
        PyArray1::from_vec(py, flat).reshape([found.len(), 2])
    }

    /// Which labels are in the set that holds a random voter's label with probability `level`: `[rows, labels]`.
    fn promised_sets<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        level: f64,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let inputs = inputs(rows)?;
        let model = self.model.clone();
        let found = run_silently(py, move || model.predict_set(&inputs, level))?.map_err(raise)?;
        let shape = [found.len(), self.model.schema.label_names.len()];
        PyArray1::from_vec(py, found.concat()).reshape(shape)
    }

    /// How far every share may lie from the predicted one, as a standard deviation: `[rows, labels]`.
    fn spreads<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let inputs = inputs(rows)?;
        let model = self.model.clone();
        matrix_to_python(py, run_silently(py, move || model.predict_spread(&inputs))?.map_err(raise)?)
    }

    /// The fraction of training rows that are at least as unlike the others as each of these.
    fn familiarity<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inputs = inputs(rows)?;
        let model = self.model.clone();
        let found = run_silently(py, move || model.predict_familiarity(&inputs))?.map_err(raise)?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// Everything that happened in the fit, as `(event, iteration, total, loss, kl)`; empty when loaded.
    fn history(&self) -> Vec<EventTuple> {
        self.history.iter().map(event_tuple).collect()
    }

    /// The bytes of the checkpoint that the fit was asked to keep, where the learner can resume.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(parts) = &self.checkpoint else { return Ok(None) };
        let bytes = py.detach(|| parts.to_bytes()).map_err(raise)?;
        Ok(Some(PyBytes::new(py, &bytes)))
    }

    /// What the model says about its training rows without having seen them, `[rows, labels]`, where the learner can tell and the
    /// model is fresh from its fit.
    fn out_of_fold<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
        self.model.out_of_fold.clone().map(|rows| matrix_to_python(py, rows)).transpose()
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

    /// By how much the divergence of predictions rises when a feature is shuffled among rows (permutation importance); plain values
    /// are measured by their absolute error.
    fn importances<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        targets: PyReadonlyArray2<'py, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let features = features(rows)?;
        let view = targets.as_array();
        let targets = py.detach(|| distributions(view)).map_err(raise)?;
        let model = self.model.clone();
        let work = move || {
            let data = Dataset::new_named(DATA, features, targets)?.with_schema(model.schema.clone())?;
            let alone = |feature: usize| SourceColumn { name: feature.to_string(), features: vec![feature] };
            let each = (0..model.features).map(alone).collect();
            let found = importance_of(&model, &data, each, &Threads::new(threads)?)?;
            let mut rises = vec![0.0; model.features];
            found.columns.iter().for_each(|column| rises[column.features[0]] = column.rise);
            Ok::<_, Error>(rises)
        };
        Ok(PyArray1::from_vec(py, run_silently(py, work)?.map_err(raise)?))
    }

    /// What every column adds to the mean prediction over background rows, label by label: how it was found, the columns, the mean
    /// prediction `[labels]`, the parts `[rows, columns, labels]`.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        background: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<ExplainedTuple<'py>> {
        let (rows, background) = (features(rows)?, features(background)?);
        let model = self.model.clone();
        let work = move || explain(&model, &background, &rows, &Threads::new(threads)?);
        let found = run_silently(py, work)?.map_err(raise)?;
        let shape = [found.rows.len(), found.columns.len(), found.labels.len()];
        let parts = found.rows.iter().flat_map(|row| row.contributions.as_slice()).copied().collect();
        let names = found.columns.into_iter().map(|column| column.name).collect();
        let parts = PyArray1::from_vec(py, parts).reshape(shape)?;
        Ok((found.method.described(), names, PyArray1::from_vec(py, found.base), parts))
    }

    /// The trees of a forest over some rows, or None of other models. Each is: by split the strongest features with their effects, by
    /// leaf its distribution, by leaf the mean probability of reaching it.
    fn trees(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        threads: usize,
    ) -> PyResult<Option<Vec<TreeTuple>>> {
        let features = features(rows)?;
        let model = self.model.clone();
        let work = move || Ok::<_, Error>(model.model.look_inside(&features, &[], &Threads::new(threads)?));
        let view: Option<ForestView> = run_silently(py, work)?.map_err(raise)?;
        let plain = |tree: TreeView| {
            let split = |split: Vec<SplitFeature>| split.iter().map(|f| (f.feature, f.strength)).collect();
            (tree.splits.into_iter().map(split).collect(), tree.leaves, tree.mass)
        };
        Ok(view.map(|view| view.trees.into_iter().map(plain).collect()))
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
