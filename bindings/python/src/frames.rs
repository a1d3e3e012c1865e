//! Columns of data frames: what they hold is decided, remembered and applied by the rules of the library, as for files.

use ldlf::internals::core::columns::{Cell, Cells, Columns, Wishes};
use ldlf::internals::core::error::Message;
use ldlf::{Error, Result};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::errors::raise;
use crate::inputs::features_to_python;

/// A raw column as Python hands it over: its kind in a word, and its values.
enum Values {
    Numbers(Vec<f64>),
    Booleans(Vec<Option<bool>>),
    Dates(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
}

impl Cells for Values {
    fn rows(&self) -> usize {
        match self {
            Values::Numbers(values) => values.len(),
            Values::Booleans(values) => values.len(),
            Values::Dates(values) => values.len(),
            Values::Texts(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Values::Numbers(values) => Cell::Number(values[row]),
            Values::Booleans(values) => values[row].map_or(Cell::Missing, Cell::Boolean),
            Values::Dates(values) => values[row].map_or(Cell::Missing, Cell::Date),
            Values::Texts(values) => values[row].as_deref().map_or(Cell::Missing, Cell::Text),
        }
    }
}

type Given<'py> = Vec<(String, String, Bound<'py, PyAny>)>;

fn columns_of(given: Given<'_>) -> PyResult<Vec<(String, Values)>> {
    let column = |(name, kind, values): (String, String, Bound<'_, PyAny>)| {
        let values = match kind.as_str() {
            "number" => Values::Numbers(numbers(&values)?),
            "boolean" => Values::Booleans(values.extract()?),
            "date" => Values::Dates(values.extract()?),
            "text" => Values::Texts(values.extract()?),
            other => return Err(PyTypeError::new_err(format!("column {name:?}: unknown kind {other:?}"))),
        };
        Ok((name, values))
    };
    given.into_iter().map(column).collect()
}

/// The numbers of an array of NumPy, or of anything else that holds some.
fn numbers(values: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    match values.extract::<PyReadonlyArray1<'_, f64>>() {
        Ok(array) => Ok(array.as_array().to_vec()),
        Err(_) => values.extract(),
    }
}

fn sentences(notices: &[Message]) -> Vec<String> {
    notices.iter().map(ToString::to_string).collect()
}

/// The columns as JSON, every column that is left out with the reason, and what the user should know.
type Decided = (String, Vec<(String, String)>, Vec<String>);

/// What training decides about raw columns.
#[pyfunction]
pub fn infer_columns(py: Python<'_>, frame: Given<'_>) -> PyResult<Decided> {
    let owned = columns_of(frame)?;
    let infer = || {
        let frame: Vec<(&str, &dyn Cells)> =
            owned.iter().map(|(name, values)| (name.as_str(), values as &dyn Cells)).collect();
        let inferred = Columns::infer(&frame, &Wishes::default())?;
        let left = |(name, facts): &(String, _)| -> Option<(String, String)> {
            let facts: &ldlf::internals::core::columns::ColumnFacts = facts;
            facts.left_out.map(|why| (name.clone(), why.reason().to_string()))
        };
        let left_out = inferred.facts.iter().filter_map(left).collect();
        Ok::<_, Error>((as_json(&inferred.columns)?, left_out, sentences(&inferred.notices)))
    };
    py.detach(infer).map_err(raise)
}

fn as_json(columns: &Columns) -> Result<String> {
    serde_json::to_string(columns)
        .map_err(|error| Error::data(format!("the columns cannot be kept: {error}")))
}

/// Columns from JSON, checked.
pub fn columns_from_json(text: &str) -> Result<Columns> {
    let columns: Columns = serde_json::from_str(text)
        .map_err(|error| Error::data(format!("the columns cannot be read: {error}")))?;
    columns.check()?;
    Ok(columns)
}

/// The features of rows by columns that were decided on, the names of these features, and what the user should know.
#[pyfunction]
pub fn encode_columns<'py>(
    py: Python<'py>,
    columns: &str,
    frame: Given<'py>,
) -> PyResult<(Bound<'py, PyAny>, Vec<String>, Vec<String>)> {
    let owned = columns_of(frame)?;
    let encode = || {
        let columns = columns_from_json(columns)?;
        let frame: Vec<(&str, &dyn Cells)> =
            owned.iter().map(|(name, values)| (name.as_str(), values as &dyn Cells)).collect();
        let encoded = columns.encode(&frame)?;
        Ok::<_, Error>((encoded.features, columns.feature_names(), sentences(&encoded.notices)))
    };
    let (features, names, notices) = py.detach(encode).map_err(raise)?;
    Ok((features_to_python(py, features)?, names, notices))
}
