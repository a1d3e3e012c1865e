//! Apache Parquet tables, read by record batch.

use std::fs::File;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ColumnChunkMetaData;
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use ldlf_core::{Error, Result};

use super::Source;
use super::columnar::{BatchSource, Choose, ColumnRows, ColumnTable, guarded};
use crate::format::{FileFormat, Reads};
use crate::write;

/// Parquet files.
pub(crate) const FORMAT: FileFormat = FileFormat {
    reads: Reads::Table(|source| ColumnRows::boxed(open(source)?)),
    seeks: true,
    open_ended: false,
    tables: &[write::parquet::FORM],
    dataset: None,
};

/// Rows read at once.
const BATCH: usize = 1024;

/// Opens a table and reads its header.
pub(super) fn open(source: Source) -> Result<ColumnTable> {
    let file = source.file.clone();
    let handle = source.into_seekable()?;
    let metadata =
        guarded(&file, KIND, || ArrowReaderMetadata::load(&handle, ArrowReaderOptions::default()))?
            .map_err(|e| unreadable(&file, &e))?;
    let chunks = || metadata.metadata().row_groups().iter().flat_map(|group| group.columns());
    // The library takes these for granted, and would panic.
    let odd = |chunk: &ColumnChunkMetaData| {
        chunk.data_page_offset() < 0
            || chunk.dictionary_page_offset().is_some_and(|offset| offset < 0)
            || chunk.compressed_size() < 0
    };
    if chunks().any(odd) {
        return Err(Error::data("not a usable Parquet file (a column before its start)").in_file(file));
    }
    if chunks().any(|chunk| chunk.compression() == Compression::LZO) {
        return Err(Error::data("compressed by LZO, which is not read")
            .with_remedy("save it with the compression zstd")
            .in_file(file));
    }
    let fields = metadata.schema().fields();
    Ok(ColumnTable {
        header: fields.iter().map(|field| field.name().clone()).collect(),
        types: fields.iter().map(|field| field.data_type().clone()).collect(),
        rows: Some(usize::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0)),
        source: Box::new(OpenFile { file: file.clone(), handle, metadata }),
        file,
    })
}

/// What messages call the kind of file.
const KIND: &str = "Parquet";

struct OpenFile {
    file: String,
    handle: File,
    metadata: ArrowReaderMetadata,
}

impl OpenFile {
    /// The batches of some columns from a row on.
    fn reader(&self, columns: &[usize], first_row: usize) -> Result<ParquetRecordBatchReader> {
        let handle = self.handle.try_clone().map_err(|e| Error::io(&self.file, e))?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(handle, self.metadata.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let builder = builder.with_projection(mask).with_batch_size(BATCH);
        let builder = if first_row == 0 { builder } else { builder.with_offset(first_row) };
        guarded(&self.file, KIND, || builder.build())?.map_err(|e| unreadable(&self.file, &e))
    }
}

impl Choose for OpenFile {
    fn choose(self: Box<Self>, columns: &[usize]) -> Result<Box<dyn BatchSource>> {
        let reader = self.reader(columns, 0)?;
        Ok(Box::new(Batches { open: *self, columns: columns.to_vec(), reader, given: 0 }))
    }
}

struct Batches {
    open: OpenFile,
    columns: Vec<usize>,
    reader: ParquetRecordBatchReader,
    /// Rows that were given out or passed over.
    given: usize,
}

impl BatchSource for Batches {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let (file, reader) = (&self.open.file, &mut self.reader);
        let batch = guarded(file, KIND, || reader.next())?.transpose();
        let batch = batch.map_err(|e| unreadable_batch(file, &e))?;
        self.given += batch.as_ref().map_or(0, RecordBatch::num_rows);
        Ok(batch)
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        if rows > 0 {
            self.given = self.given.saturating_add(rows);
            self.reader = self.open.reader(&self.columns, self.given)?;
        }
        Ok(())
    }
}

fn unreadable(file: &str, error: &ParquetError) -> Error {
    Error::data(format!("not a usable Parquet file ({error})")).in_file(file)
}

fn unreadable_batch(file: &str, error: &ArrowError) -> Error {
    Error::data(format!("the Parquet data cannot be read ({error})")).in_file(file)
}
