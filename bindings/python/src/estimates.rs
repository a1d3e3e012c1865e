//! Point estimates and intervals of distributions of ordered labels.

use ldlf::estimates;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Calls `estimate` for every row; the rows must have as many labels as there are values.
fn of_rows<R>(
    distributions: &PyReadonlyArray2<'_, f32>,
    values: &[f64],
    estimate: impl Fn(&[f32], &[f64]) -> R,
) -> PyResult<Vec<R>> {
    let view = distributions.as_array();
    if view.ncols() != values.len() {
        return Err(PyValueError::new_err(format!(
            "label_values gives {} numbers for {} labels",
            values.len(),
            view.ncols()
        )));
    }
    Ok(view.outer_iter().map(|row| estimate(&row.to_vec(), values)).collect())
}

fn check_level(name: &str, level: f64) -> PyResult<()> {
    if (0.0..=1.0).contains(&level) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("{name} must be between 0 and 1, got {level}")))
}

/// The expected value of every row.
#[pyfunction]
pub fn means<'py>(
    py: Python<'py>,
    distributions: PyReadonlyArray2<'py, f32>,
    values: Vec<f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    Ok(PyArray1::from_vec(py, of_rows(&distributions, &values, estimates::mean)?))
}

/// The smallest value of every row at which the cumulative probability reaches `level`.
#[pyfunction]
pub fn quantiles<'py>(
    py: Python<'py>,
    distributions: PyReadonlyArray2<'py, f32>,
    values: Vec<f64>,
    level: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    check_level("q", level)?;
    let found = of_rows(&distributions, &values, |p, values| estimates::quantile(p, values, level))?;
    Ok(PyArray1::from_vec(py, found))
}

/// The central interval of every row that holds at least the probability `level`: `[rows, 2]`.
#[pyfunction]
pub fn intervals<'py>(
    py: Python<'py>,
    distributions: PyReadonlyArray2<'py, f32>,
    values: Vec<f64>,
    level: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    check_level("level", level)?;
    let found = of_rows(&distributions, &values, |p, values| estimates::interval(p, values, level))?;
    let flat: Vec<f64> = found.iter().flat_map(|&(low, high)| [low, high]).collect();
    PyArray1::from_vec(py, flat).reshape([found.len(), 2])
}

/// The entropy of every row, in nats.
#[pyfunction]
pub fn entropies<'py>(
    py: Python<'py>,
    distributions: PyReadonlyArray2<'py, f32>,
) -> Bound<'py, PyArray1<f64>> {
    let view = distributions.as_array();
    PyArray1::from_vec(py, view.outer_iter().map(|row| estimates::entropy(&row.to_vec())).collect())
}
