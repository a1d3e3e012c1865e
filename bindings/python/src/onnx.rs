//! ONNX files of models and of the forest head under PyTorch.

use std::io::Write;
use std::path::PathBuf;

use ldlf::internals::core::graph::Graph;
use ldlf::internals::forest::graph::{add_forest, add_linear_forest};
use ldlf::internals::io::output::{Overwrite, write_atomically};
use ldlf::internals::onnx::graph_to_bytes;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raise;
use crate::head::assemble;

/// The forest head as an ONNX file, behind its linear map where it has one.
///
/// `weights` is `[units, features]`, as PyTorch holds it; without it the features are the activations.
#[pyfunction]
pub fn head_to_onnx<'py>(
    py: Python<'py>,
    weights: Option<PyReadonlyArray2<'py, f32>>,
    bias: Option<PyReadonlyArray1<'py, f32>>,
    units: PyReadonlyArray2<'py, i64>,
    leaves: PyReadonlyArray3<'py, f32>,
    width: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let activations = weights.as_ref().map_or(width, |weights| weights.shape()[0]);
    let head = assemble(&units, &leaves, activations)?;
    let mut graph = Graph::new(width);
    let features = graph.features();
    let distributions = match weights {
        None => add_forest(&mut graph, &features, &head),
        Some(weights) => {
            let by_input: Vec<f32> = weights.as_array().t().iter().copied().collect();
            let bias = bias.map(|bias| bias.as_array().to_vec());
            if weights.shape()[1] != width || bias.as_ref().is_some_and(|bias| bias.len() != activations) {
                return Err(PyValueError::new_err("weights and bias do not fit each other"));
            }
            add_linear_forest(&mut graph, &features, &by_input, bias.as_deref(), &head)
        }
    };
    graph.finish(&distributions, head.shape().labels, None);
    let bytes = graph_to_bytes(&graph, vec![("learner", "forest head".into())]).map_err(raise)?;
    Ok(PyBytes::new(py, &bytes))
}

/// Writes a file, whole or not at all, over one that may be there.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    py.detach(|| write_atomically(&path, Overwrite::Yes, |file| file.write_all(bytes))).map_err(raise)
}
