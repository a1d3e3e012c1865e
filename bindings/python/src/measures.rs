//! How far predictions are from the truth.

use ldlf::measures::{all, mean_over_rows};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::inputs::matrix_from_python;

/// The mean of a measure over the rows, by their weights.
#[pyfunction]
#[pyo3(signature = (name, truth, predicted, weights=None))]
pub fn measure(
    name: &str,
    truth: PyReadonlyArray2<'_, f32>,
    predicted: PyReadonlyArray2<'_, f32>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<f64> {
    let measure = all().iter().find(|measure| measure.name == name);
    let measure = measure.ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
    let (truth, predicted) = (matrix_from_python(&truth)?, matrix_from_python(&predicted)?);
    if (truth.rows(), truth.cols()) != (predicted.rows(), predicted.cols()) {
        return Err(PyValueError::new_err(format!(
            "{} x {} true distributions cannot be compared with {} x {} predicted ones",
            truth.rows(),
            truth.cols(),
            predicted.rows(),
            predicted.cols()
        )));
    }
    let weights: Option<Vec<f32>> =
        weights.map(|weights| weights.as_array().iter().map(|&w| w as f32).collect());
    if let Some(weights) = weights.as_ref().filter(|weights| weights.len() != truth.rows()) {
        let (given, rows) = (weights.len(), truth.rows());
        return Err(PyValueError::new_err(format!("{given} sample weights for {rows} rows")));
    }
    Ok(mean_over_rows(measure, &truth, &predicted, weights.as_deref()))
}
