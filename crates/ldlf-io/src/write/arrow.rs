//! Apache Arrow tables (IPC), a batch per block: with a table of contents at their end as files, without one as streams.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;

use super::record_batch::record_batch;
use super::{BoxedWriter, Column, TableForm, TableWriter};

/// Files under two names, and streams.
pub(crate) const FORMS: [TableForm; 3] = [
    TableForm { extension: "arrow", is_text: false, open: |out, _| file(out) },
    TableForm { extension: "feather", is_text: false, open: |out, _| file(out) },
    TableForm { extension: "arrows", is_text: false, open: |out, _| stream(out) },
];

/// Which of the two forms.
#[derive(Clone, Copy)]
enum Form {
    /// With a table of contents: `.arrow`, `.feather`.
    File,
    /// Without one, for pipes: `.arrows`.
    Stream,
}

/// A writer of files.
fn file<'w>(out: impl Write + Send + 'w) -> BoxedWriter<'w> {
    Box::new(ArrowTable { form: Form::File, state: State::Waiting(out) })
}

/// A writer of streams.
fn stream<'w>(out: impl Write + Send + 'w) -> BoxedWriter<'w> {
    Box::new(ArrowTable { form: Form::Stream, state: State::Waiting(out) })
}

struct ArrowTable<W: Write> {
    form: Form,
    state: State<W>,
}

enum State<W: Write> {
    /// The columns are not known yet.
    Waiting(W),
    File(FileWriter<W>),
    Stream(StreamWriter<W>),
    /// Opening failed; every further call does nothing.
    Failed,
}

impl<W: Write> ArrowTable<W> {
    fn open(form: Form, out: W, batch: &RecordBatch) -> Result<State<W>, ArrowError> {
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD))?;
        Ok(match form {
            Form::File => State::File(FileWriter::try_new_with_options(out, &batch.schema(), options)?),
            Form::Stream => State::Stream(StreamWriter::try_new_with_options(out, &batch.schema(), options)?),
        })
    }
}

/// What the system said, out of what the library made of it.
fn as_io(error: ArrowError) -> std::io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => std::io::Error::other(other),
    }
}

impl<W: Write + Send> TableWriter for ArrowTable<W> {
    fn block(&mut self, columns: &[Column<'_>]) -> std::io::Result<()> {
        let batch = record_batch(columns).map_err(as_io)?;
        if matches!(self.state, State::Waiting(_))
            && let State::Waiting(out) = std::mem::replace(&mut self.state, State::Failed)
        {
            self.state = Self::open(self.form, out, &batch).map_err(as_io)?;
        }
        match &mut self.state {
            State::File(writer) => writer.write(&batch).map_err(as_io),
            State::Stream(writer) => writer.write(&batch).map_err(as_io),
            State::Waiting(_) | State::Failed => Ok(()),
        }
    }

    fn finish(self: Box<Self>) -> std::io::Result<()> {
        match self.state {
            State::File(mut writer) => writer.finish().map_err(as_io),
            State::Stream(mut writer) => writer.finish().map_err(as_io),
            State::Waiting(_) | State::Failed => Ok(()),
        }
    }
}
