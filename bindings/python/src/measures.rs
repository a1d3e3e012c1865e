//! How far predictions are from the truth.

use ldlf::Matrix;
use ldlf::measures::{Direction, Measure, MeasuredRow, RowPrediction, all, find};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
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
    let measure = named(name)?;
    let compared = Compared::new(truth, predicted, label_values, values)?;
    let weights: Option<Vec<f32>> =
        weights.map(|weights| weights.as_array().iter().map(|&w| w as f32).collect());
    weights.as_ref().map_or(Ok(()), |w| refuse(w.len(), "sample weights", compared.truth.rows(), "rows"))?;
    Ok(measure.of_rows(compared.rows(), weights.as_deref()))
}

/// A measure row by row; not a number where a measure is of all rows at once, as kappa is.
#[pyfunction]
#[pyo3(signature = (name, truth, predicted, label_values=None, values=None))]
pub fn measure_rows<'py>(
    py: Python<'py>,
    name: &str,
    truth: PyReadonlyArray2<'py, f32>,
    predicted: PyReadonlyArray2<'py, f32>,
    label_values: Option<Vec<f64>>,
    values: Option<Vec<f64>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let measure = named(name)?;
    let compared = Compared::new(truth, predicted, label_values, values)?;
    let found = compared.rows().map(|row| measure.of_row(&row)).collect();
    Ok(PyArray1::from_vec(py, found))
}

fn named(name: &str) -> PyResult<&'static Measure> {
    find(name).ok_or_else(|| PyKeyError::new_err(name.to_string()))
}

fn refuse(given: usize, what: &str, of: usize, whom: &str) -> PyResult<()> {
    match given == of {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("{given} {what} for {of} {whom}"))),
    }
}

/// True and predicted distributions of the same rows over the same labels.
struct Compared {
    truth: Matrix<f32>,
    predicted: Matrix<f32>,
    label_values: Option<Vec<f64>>,
    /// The true value of every row, where there is one.
    values: Option<Vec<f64>>,
}

impl Compared {
    fn new(
        truth: PyReadonlyArray2<'_, f32>,
        predicted: PyReadonlyArray2<'_, f32>,
        label_values: Option<Vec<f64>>,
        values: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let (truth, predicted) = (matrix_from_python(&truth)?, matrix_from_python(&predicted)?);
        let (rows, labels) = (truth.rows(), truth.cols());
        if (rows, labels) != (predicted.rows(), predicted.cols()) {
            return Err(PyValueError::new_err(format!(
                "{rows} x {labels} true distributions cannot be compared with {} x {} predicted ones",
                predicted.rows(),
                predicted.cols()
            )));
        }
        values.as_ref().map_or(Ok(()), |values| refuse(values.len(), "true values", rows, "rows"))?;
        label_values.as_ref().map_or(Ok(()), |v| refuse(v.len(), "label values", labels, "labels"))?;
        Ok(Compared { truth, predicted, label_values, values })
    }

    fn rows(&self) -> impl Iterator<Item = MeasuredRow<'_>> {
        (0..self.truth.rows()).map(|row| MeasuredRow {
            truth: self.truth.row(row),
            value: self.values.as_ref().map(|values| values[row]),
            predicted: RowPrediction::Distribution(self.predicted.row(row)),
            label_values: self.label_values.as_deref(),
        })
    }
}
