//! Apache Parquet tables.

use std::io::Write;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;

use super::record_batch::record_batch;
use super::{BoxedWriter, Column, TableForm, TableWriter};

/// Parquet files.
pub(crate) const FORM: TableForm =
    TableForm { extension: "parquet", is_text: false, open: |out, _| table(out) };

/// How many bytes may wait in memory before they are written as a group of rows.
const GROUP_BYTES: usize = 32 << 20;

/// A writer of Parquet files.
fn table<'w>(out: impl Write + Send + 'w) -> BoxedWriter<'w> {
    Box::new(ParquetTable { state: State::Waiting(out) })
}

struct ParquetTable<W: Write + Send> {
    state: State<W>,
}

enum State<W: Write + Send> {
    /// The columns are not known yet.
    Waiting(W),
    Open(Box<ArrowWriter<W>>),
    /// Opening failed; every further call does nothing.
    Failed,
}

impl<W: Write + Send> TableWriter for ParquetTable<W> {
    fn block(&mut self, columns: &[Column<'_>]) -> std::io::Result<()> {
        let batch = record_batch(columns).map_err(std::io::Error::other)?;
        if matches!(self.state, State::Waiting(_))
            && let State::Waiting(out) = std::mem::replace(&mut self.state, State::Failed)
        {
            let compression = Compression::ZSTD(ZstdLevel::default());
            let properties = WriterProperties::builder().set_compression(compression).build();
            let writer = ArrowWriter::try_new(out, batch.schema(), Some(properties))?;
            self.state = State::Open(Box::new(writer));
        }
        let State::Open(writer) = &mut self.state else { return Ok(()) };
        writer.write(&batch)?;
        if writer.in_progress_size() > GROUP_BYTES {
            writer.flush()?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> std::io::Result<()> {
        if let State::Open(writer) = self.state {
            writer.close()?;
        }
        Ok(())
    }
}
