//! The table that `predict` and `features` write: which columns, and one writer a format.

mod answers;
#[cfg(feature = "parquet")]
mod arrow;
mod delimited;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod record_batch;

use std::io::{Seek, Write};
use std::path::Path;

use ldlf::{Error, Matrix, Result};

pub use answers::Answers;
pub use delimited::{Formulas, as_io, delimited};

/// Some columns of a block of rows.
pub enum Column<'a> {
    /// Single precision, `[rows, columns]`: what a whole is called, and a name a column.
    Matrix(&'a str, &'a [String], &'a Matrix<f32>),
    /// A number a row.
    Numbers(&'a str, Vec<f64>),
    /// A text a row, such as the name of its image.
    Names(&'a str, &'a [String]),
    /// A label a row: the names of all labels, and which one.
    Labels(&'a str, &'a [String], Vec<usize>),
}

/// Takes blocks of rows that all have the same columns.
pub trait TableWriter: Send {
    /// Adds rows; the first block also brings the heads.
    fn block(&mut self, columns: &[Column<'_>]) -> std::io::Result<()>;

    /// Writes what has to stand at the end.
    fn finish(self: Box<Self>) -> std::io::Result<()>;
}

/// A writer of any format.
pub type BoxedWriter<'w> = Box<dyn TableWriter + 'w>;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Apache Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Apache Arrow IPC.
    #[cfg(feature = "parquet")]
    Arrow(arrow::Form),
    /// A zip archive of NumPy arrays.
    Npz,
}

impl Kind {
    /// The format that the extension of an output tells.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|text| text.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("csv") => Ok(Kind::Csv),
            Some("tsv") => Ok(Kind::Tsv),
            #[cfg(feature = "parquet")]
            Some("parquet") => Ok(Kind::Parquet),
            #[cfg(feature = "parquet")]
            Some("arrow" | "feather") => Ok(Kind::Arrow(arrow::Form::File)),
            #[cfg(feature = "parquet")]
            Some("arrows") => Ok(Kind::Arrow(arrow::Form::Stream)),
            Some("npz") => Ok(Kind::Npz),
            _ => Err(Error::usage(format!(
                "{}: tables are written as .csv, .tsv, .parquet, .arrow, .feather, .arrows or .npz; choose one of these",
                path.display()
            ))),
        }
    }

    /// A writer of this format.
    pub fn writer<'w, W: Write + Seek + Send + 'w>(self, out: W, formulas: Formulas) -> BoxedWriter<'w> {
        match self {
            Kind::Csv => delimited(out, b',', formulas),
            Kind::Tsv => delimited(out, b'\t', formulas),
            #[cfg(feature = "parquet")]
            Kind::Parquet => parquet::parquet(out),
            #[cfg(feature = "parquet")]
            Kind::Arrow(form) => arrow::arrow(out, form),
            Kind::Npz => npz::npz(out),
        }
    }
}
