//! Columns as the record batches that Parquet and Arrow files are made of.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Field, Schema};

use super::Column;

/// A block of rows as a record batch.
pub fn record_batch(columns: &[Column<'_>]) -> Result<RecordBatch, ArrowError> {
    let (names, arrays) = arrays(columns);
    let fields: Vec<Field> = names
        .iter()
        .zip(&arrays)
        .map(|(name, array): (&String, &ArrayRef)| Field::new(name, array.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

fn arrays(columns: &[Column<'_>]) -> (Vec<String>, Vec<ArrayRef>) {
    let mut names = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for column in columns {
        match column {
            Column::Matrix(_, heads, rows) => {
                for (label, name) in heads.iter().enumerate() {
                    names.push(name.clone());
                    let values = rows.iter_rows().map(|row| (!row[label].is_nan()).then_some(row[label]));
                    arrays.push(Arc::new(values.collect::<Float32Array>()));
                }
            }
            Column::Numbers(name, numbers) => {
                names.push(name.to_string());
                let values = numbers.iter().map(|&number| (!number.is_nan()).then_some(number));
                arrays.push(Arc::new(values.collect::<Float64Array>()));
            }
            Column::Names(name, texts) => {
                names.push(name.to_string());
                arrays.push(Arc::new(StringArray::from_iter_values(texts.iter())));
            }
            Column::Texts(name, texts) => {
                names.push(name.to_string());
                arrays.push(Arc::new(StringArray::from_iter_values(texts.iter())));
            }
            Column::Labels(name, labels, which) => {
                names.push(name.to_string());
                let words = which.iter().map(|label| label.map(|label| labels[label].as_str()));
                arrays.push(Arc::new(words.collect::<StringArray>()));
            }
        }
    }
    (names, arrays)
}
