//! How far predictions are from the truth.

use ldlf::measures::{Direction, Measure, MeasuredRow, RowPrediction, all, find};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::inputs::matrix_from_python;

/// Every measure as JSON: name, title, whether a higher value is better, and whether it needs labels that stand for numbers.
#[pyfunction]
pub fn describe_measures() -> String {
    let described = |measure: &Measure| {
        json!({
            "name": measure.name,
            "title": measure.title,
            "higher_is_better": measure.direction == Direction::HigherIsBetter,
            "ordered": measure.is_ordered(),
        })
    };
    Value::from(all().iter().map(described).collect::<Vec<_>>()).to_string()
}

/// The mean of a measure over the rows, by their weights. A measure of ordered labels needs `label_values`, one per label;
/// it compares with `values`, one per row, where they are given, and with the true distributions elsewhere.
#[pyfunction]
#[pyo3(signature = (name, truth, predicted, weights=None, label_values=None, values=None))]
pub fn measure(
    name: &str,
    truth: PyReadonlyArray2<'_, f32>,
    predicted: PyReadonlyArray2<'_, f32>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    label_values: Option<Vec<f64>>,
    values: Option<Vec<f64>>,
) -> PyResult<f64> {
    let measure = find(name).ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
    let (truth, predicted) = (matrix_from_python(&truth)?, matrix_from_python(&predicted)?);
    let (rows, labels) = (truth.rows(), truth.cols());
    if (rows, labels) != (predicted.rows(), predicted.cols()) {
        return Err(PyValueError::new_err(format!(
            "{rows} x {labels} true distributions cannot be compared with {} x {} predicted ones",
            predicted.rows(),
            predicted.cols()
        )));
    }
    let weights: Option<Vec<f32>> =
        weights.map(|weights| weights.as_array().iter().map(|&w| w as f32).collect());
    let refuse = |given: usize, what: &str, of: usize, whom: &str| {
        if given == of {
            Ok(())
        } else {
            Err(PyValueError::new_err(format!("{given} {what} for {of} {whom}")))
        }
    };
    weights.as_ref().map_or(Ok(()), |weights| refuse(weights.len(), "sample weights", rows, "rows"))?;
    values.as_ref().map_or(Ok(()), |values| refuse(values.len(), "true values", rows, "rows"))?;
    label_values.as_ref().map_or(Ok(()), |values| refuse(values.len(), "label values", labels, "labels"))?;
    let row = |row: usize| MeasuredRow {
        truth: truth.row(row),
        value: values.as_ref().map(|values| values[row]),
        predicted: RowPrediction::Distribution(predicted.row(row)),
        label_values: label_values.as_deref(),
    };
    Ok(measure.of_rows((0..rows).map(row), weights.as_deref()))
}
