//! Apache Parquet tables.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{Column, TableWriter};

/// How many bytes may wait in memory before they are written as a group of rows.
const GROUP_BYTES: usize = 32 << 20;

/// A writer of Parquet files.
pub fn parquet<'w>(out: impl Write + Send + 'w) -> Box<dyn TableWriter + 'w> {
    Box::new(ParquetTable { state: State::Waiting(out) })
}

struct ParquetTable<W: Write + Send> {
    state: State<W>,
}

enum State<W: Write + Send> {
    /// The columns are not known yet.
    Waiting(W),
    Open(Arc<Schema>, Box<ArrowWriter<W>>),
    /// Opening failed; every further call does nothing.
    Failed,
}

impl<W: Write + Send> TableWriter for ParquetTable<W> {
    fn block(&mut self, columns: &[Column<'_>]) -> std::io::Result<()> {
        let (names, arrays) = arrays(columns);
        if let State::Waiting(out) = std::mem::replace(&mut self.state, State::Failed) {
            let fields: Vec<Field> = names
                .iter()
                .zip(&arrays)
                .map(|(name, array): (&String, &ArrayRef)| Field::new(name, array.data_type().clone(), false))
                .collect();
            let schema = Arc::new(Schema::new(fields));
            let compression = Compression::ZSTD(ZstdLevel::default());
            let properties = WriterProperties::builder().set_compression(compression).build();
            let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
            self.state = State::Open(schema, Box::new(writer));
        }
        let State::Open(schema, writer) = &mut self.state else { return Ok(()) };
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(std::io::Error::other)?;
        writer.write(&batch)?;
        if writer.in_progress_size() > GROUP_BYTES {
            writer.flush()?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> std::io::Result<()> {
        if let State::Open(_, writer) = self.state {
            writer.close()?;
        }
        Ok(())
    }
}

fn arrays(columns: &[Column<'_>]) -> (Vec<String>, Vec<ArrayRef>) {
    let mut names = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for column in columns {
        match column {
            Column::Distribution(labels, rows) => {
                for (label, name) in labels.iter().enumerate() {
                    names.push(name.clone());
                    let values: Vec<f32> = rows.iter_rows().map(|row| row[label]).collect();
                    arrays.push(Arc::new(Float32Array::from(values)));
                }
            }
            Column::Numbers(name, numbers) => {
                names.push(name.to_string());
                arrays.push(Arc::new(Float64Array::from(numbers.clone())));
            }
            Column::Labels(name, labels, which) => {
                names.push(name.to_string());
                let words: Vec<&str> = which.iter().map(|&label| labels[label].as_str()).collect();
                arrays.push(Arc::new(StringArray::from(words)));
            }
        }
    }
    (names, arrays)
}
