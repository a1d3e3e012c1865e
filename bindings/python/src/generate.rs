//! Built-in data, and that of public sets.

use std::path::PathBuf;

use ldlf::{Format, Settings};
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::inputs::{features_to_python, matrix_to_python};

/// Rows of a built-in generator: features as [`crate::inputs::features`] reads them, and distributions. `options` is JSON.
#[pyfunction]
pub fn generate<'py>(
    py: Python<'py>,
    name: &str,
    rows: usize,
    seed: u64,
    options: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray2<f32>>)> {
    let options: Settings = serde_json::from_str(options)
        .map_err(|error| PyValueError::new_err(format!("the options cannot be read: {error}")))?;
    let data = py.detach(|| ldlf::generate::named(name, rows, seed, &options)).map_err(raise)?;
    let features = data.features().map_err(raise)?.clone();
    Ok((features_to_python(py, features)?, matrix_to_python(py, data.targets().clone())?))
}

/// The rows of a MATLAB file with the variables `features` and `labels`.
#[pyfunction]
pub fn read_mat<'py>(
    py: Python<'py>,
    path: PathBuf,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray2<f32>>)> {
    let data = py.detach(|| ldlf::read(path).format(Format::Mat).dataset()).map_err(raise)?;
    let features = features_to_python(py, data.features().map_err(raise)?.clone())?;
    Ok((features, matrix_to_python(py, data.targets().clone())?))
}

/// The public sets and where they come from, as JSON.
#[pyfunction]
pub fn describe_datasets() -> String {
    ldlf_cli::catalogue().to_string()
}
