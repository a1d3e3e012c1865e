//! From arrays to features, targets and a dataset. Arrays are read where they lie, in any order; the one copy made is the
//! engine's own, in single precision.

use ldlf::internals::core::dataset::SingleLabel;
use ldlf::internals::core::error::{Column, Place};
use ldlf::internals::core::targets::{Spread, TargetRows, from_single_label};
use ldlf::{Csr, Dataset, Error, Features, Matrix, Result, Schema};
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::frames::columns_from_json;
use crate::images::{Images, inputs};

/// Features as Python hands them over: an array `[rows, features]`, or compressed sparse rows as
/// `(indptr, indices, values, columns)`.
///
/// An array with few entries that differ from zero is kept sparse: the rule of the readers.
pub fn features(given: &Bound<'_, PyAny>) -> PyResult<Features> {
    Ok(match features_as_given(given)? {
        Features::Dense(matrix) => given.py().detach(|| Features::by_density(matrix)),
        sparse => sparse,
    })
}

/// As [`features`], but what is given dense stays dense: where all parts of a table must be alike.
pub fn features_as_given(given: &Bound<'_, PyAny>) -> PyResult<Features> {
    let py = given.py();
    if let Ok((indptr, indices, values, columns)) =
        given.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>, usize)>()
    {
        let indptr = whole_numbers(&indptr, |offset| usize::try_from(offset).ok())?;
        let indices = whole_numbers(&indices, |column| u32::try_from(column).ok())?;
        let values = singles(&values)?;
        return Csr::new(columns, indptr, indices, values).map(Features::Sparse).map_err(raise);
    }
    if let Ok(array) = given.extract::<PyReadonlyArray2<'_, f32>>() {
        let view = array.as_array();
        return py.detach(|| dense(view, |v, _| Ok(v))).map_err(raise);
    }
    if let Ok(array) = given.extract::<PyReadonlyArray2<'_, f64>>() {
        let view = array.as_array();
        return py.detach(|| dense(view, single)).map_err(raise);
    }
    if given.cast::<Images>().is_ok() {
        let what = Error::data("the rows are images where a table of features is needed");
        return Err(raise(what.with_remedy(
            "give the features of a layer, which `ldlf features` writes, to a learner of tables",
        )));
    }
    Err(PyTypeError::new_err("features must be a float32 or float64 array of two dimensions, or sparse rows"))
}

/// A value in single precision, or a sentence with its place.
fn single(value: f64, place: (usize, usize)) -> Result<f32> {
    let single = value as f32;
    if single.is_finite() {
        return Ok(single);
    }
    let (row, column) = place;
    Err(Error::data(format!("{value:e} is outside the range of single precision"))
        .with_remedy("rescale the column")
        .at(Place::data("X").row(row).cell(Column::Numbered(column as u64))))
}

/// Rows that are read together where the array lies column after column: their part of a column fills whole cache lines.
const TILE: usize = 64;

fn dense<T: Copy>(
    view: ArrayView2<'_, T>,
    convert: impl Fn(T, (usize, usize)) -> Result<f32>,
) -> Result<Features> {
    let (rows, cols) = view.dim();
    let mut data = vec![0f32; rows * cols];
    let by_columns = view.strides()[0].unsigned_abs() < view.strides()[1].unsigned_abs();
    let size = if by_columns { TILE } else { 1 };
    for (tile, out) in data.chunks_mut((size * cols).max(1)).enumerate() {
        let first = tile * size;
        if by_columns {
            for column in 0..cols {
                for (row, out) in out[column..].iter_mut().step_by(cols).enumerate() {
                    *out = convert(view[[first + row, column]], (first + row, column))?;
                }
            }
        } else {
            for (column, (out, &value)) in out.iter_mut().zip(view.row(first)).enumerate() {
                *out = convert(value, (first, column))?;
            }
        }
    }
    Ok(Features::Dense(Matrix::new(rows, cols, data)?))
}

fn singles(given: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    if let Ok(values) = given.extract::<PyReadonlyArray1<'_, f32>>() {
        return Ok(values.as_array().to_vec());
    }
    let values: PyReadonlyArray1<'_, f64> = given.extract()?;
    let convert = |&value: &f64| {
        let single = value as f32;
        if single.is_finite() {
            return Ok(single);
        }
        Err(raise(Error::data(format!("X holds {value:e}, which is outside the range of single precision"))))
    };
    values.as_array().iter().map(convert).collect()
}

fn whole_numbers<T>(given: &Bound<'_, PyAny>, convert: impl Fn(i64) -> Option<T>) -> PyResult<Vec<T>> {
    let wrong = || raise(Error::data("sparse rows whose offsets or columns are negative or too large"));
    if let Ok(numbers) = given.extract::<PyReadonlyArray1<'_, i32>>() {
        return numbers.as_array().iter().map(|&n| convert(i64::from(n)).ok_or_else(wrong)).collect();
    }
    let numbers: PyReadonlyArray1<'_, i64> = given.extract()?;
    numbers.as_array().iter().map(|&n| convert(n).ok_or_else(wrong)).collect()
}

/// Probabilities or vote counts as distributions.
pub fn distributions(view: ArrayView2<'_, f64>) -> Result<Matrix<f32>> {
    let mut targets = TargetRows::new(view.ncols(), false);
    let mut line = Vec::with_capacity(view.ncols());
    for (row, values) in view.outer_iter().enumerate() {
        line.clear();
        line.extend(values.iter());
        targets.push(&line, &|label| Place::data("y").row(row).label(label))?;
    }
    Ok(targets.finish()?.distributions)
}

/// What messages call the rows of a fit.
pub const DATA: &str = "the training data";

/// What the columns are called, as Python hands it over.
#[derive(FromPyObject)]
pub struct Names {
    #[pyo3(item)]
    feature_names: Option<Vec<String>>,
    #[pyo3(item)]
    label_names: Option<Vec<String>>,
    #[pyo3(item)]
    label_values: Option<Vec<f64>>,
    /// The single label of every row and the sigmas of the Gaussians around them, where the targets were made so.
    #[pyo3(item)]
    singles: Option<(Vec<f64>, Vec<f64>)>,
    /// How many rows at the end are the caller's own validation rows.
    #[pyo3(item)]
    validation_rows: usize,
    /// How raw columns became the features, as JSON.
    #[pyo3(item)]
    columns: Option<String>,
}

impl Names {
    /// The schema of so many labels.
    pub fn schema(self, labels: usize) -> Result<Schema> {
        if let Some(values) = &self.label_values {
            ldlf::internals::core::targets::check_label_values(values)?;
            if values.len() != labels {
                let given = values.len();
                return Err(Error::usage(format!("label_values gives {given} numbers for {labels} labels")));
            }
        }
        let names = || (0..labels).map(|label| format!("label_{label}")).collect();
        Ok(Schema {
            feature_names: self.feature_names,
            label_names: self.label_names.unwrap_or_else(names),
            label_values: self.label_values,
            single: self.singles.map(|(_, sigmas)| SingleLabel {
                column: None,
                spread: Some(gaussian(sigmas)),
                classes: false,
            }),
            image_column: None,
            columns: self.columns.as_deref().map(columns_from_json).transpose()?,
        })
    }
}

/// A checked dataset.
pub fn dataset(
    given: &Bound<'_, PyAny>,
    targets: &PyReadonlyArray2<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    names: Names,
) -> PyResult<Dataset> {
    let inputs = inputs(given)?;
    let view = targets.as_array();
    let weights: Option<Vec<f32>> =
        weights.map(|weights| weights.as_array().iter().map(|&w| w as f32).collect());
    let build = move || {
        let mut data = Dataset::new_named(DATA, inputs, distributions(view)?)?;
        if let Some(weights) = weights {
            data = data.with_weights(weights)?;
        }
        if let Some((labels, _)) = &names.singles {
            data = data.with_truth(labels.clone())?;
        }
        if names.validation_rows > 0 {
            let learnt = data.rows() - names.validation_rows.min(data.rows());
            let part = |row: usize| if row < learnt { "train" } else { "valid" }.to_string();
            let parts = (0..data.rows()).map(part).collect();
            data = data.with_split(parts)?;
        }
        let schema = names.schema(data.labels())?;
        data.with_schema(schema)?.refilled()
    };
    given.py().detach(build).map_err(raise)
}

/// Rows of probabilities or vote counts as distributions in single precision.
#[pyfunction]
pub fn normalise<'py>(
    py: Python<'py>,
    targets: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let view = targets.as_array();
    matrix_to_python(py, py.detach(|| distributions(view)).map_err(raise)?)
}

/// A Gaussian of one width, or of a width for every label.
fn gaussian(sigmas: Vec<f64>) -> Spread {
    match sigmas[..] {
        [sigma] => Spread::Gaussian { sigma },
        _ => Spread::Gaussians { sigmas },
    }
}

/// One ordered label per row as a distribution around it: a Gaussian over `label_values` of the given sigma, or of that of its label.
#[pyfunction]
pub fn spread<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'py, f64>,
    label_values: Vec<f64>,
    sigmas: Vec<f64>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let view = labels.as_array();
    let spread = gaussian(sigmas);
    let build = || {
        let mut data = Vec::with_capacity(view.len() * label_values.len());
        for (row, &label) in view.iter().enumerate() {
            let target = from_single_label(label, &label_values, &spread)
                .map_err(|error| error.recast(Error::Data).at(Place::data("y").row(row)))?;
            data.extend_from_slice(&target);
        }
        Ok::<_, Error>(Matrix::new(view.len(), label_values.len(), data)?)
    };
    matrix_to_python(py, py.detach(build).map_err(raise)?)
}

/// The labels that single values imply: every integer from the smallest to the largest when all are integers, else the
/// distinct values in order.
#[pyfunction]
pub fn implied_labels<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let values =
        ldlf::internals::core::targets::implied_label_values(&labels.as_array().to_vec()).map_err(raise)?;
    Ok(PyArray1::from_vec(py, values))
}

/// A matrix as an array, without a copy: the array takes the memory over.
pub fn matrix_to_python<T: Element + Copy + Default>(
    py: Python<'_>,
    matrix: Matrix<T>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let shape = [matrix.rows(), matrix.cols()];
    PyArray1::from_vec(py, matrix.into_vec()).reshape(shape)
}

/// A dense matrix of an array.
pub fn matrix_from_python(array: &PyReadonlyArray2<'_, f32>) -> PyResult<Matrix<f32>> {
    let view = array.as_array();
    Matrix::new(view.nrows(), view.ncols(), view.iter().copied().collect()).map_err(raise)
}

/// Features as arrays again: dense, or the parts of compressed sparse rows.
pub fn features_to_python<'py>(py: Python<'py>, features: Features) -> PyResult<Bound<'py, PyAny>> {
    match features {
        Features::Dense(matrix) => Ok(matrix_to_python(py, matrix)?.into_any()),
        Features::Sparse(csr) => {
            let (offsets, columns, values) = csr.parts();
            let offsets: Vec<i64> = offsets.iter().map(|&offset| offset as i64).collect();
            let columns: Vec<i64> = columns.iter().map(|&column| i64::from(column)).collect();
            let parts =
                (PyArray1::from_vec(py, offsets), PyArray1::from_vec(py, columns), values.to_pyarray(py));
            Ok((parts.0, parts.1, parts.2, csr.cols()).into_pyobject(py)?.into_any())
        }
    }
}
