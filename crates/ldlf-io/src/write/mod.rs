//! From predictions and datasets to files, one module per format.
//!
//! Which formats can be written is said by the one table of formats: [`TableForm::all`] gives the forms of tables of predictions or
//! features, [`dataset_formats`] the formats of whole datasets.
//!
//! Tables are written a block of rows at a time. Which columns a prediction has is said by [`estimates`].
//!
//! ```
//! use ldlf_io::write::{Column, Formulas, TableForm};
//! let form = TableForm::of("scores.csv".as_ref())?;
//! let mut bytes = std::io::Cursor::new(Vec::new());
//! let mut writer = form.writer(&mut bytes, Formulas::Kept);
//! writer.block(&[Column::Numbers("score", vec![0.5, 2.0])]).unwrap();
//! writer.finish().unwrap();
//! assert_eq!(bytes.into_inner(), b"score\n0.5\n2\n");
//! # Ok::<(), ldlf_core::Error>(())
//! ```

#[cfg(feature = "parquet")]
pub(crate) mod arrow;
pub mod csv;
pub mod estimates;
pub mod jsonl;
pub(crate) mod npz;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
#[cfg(feature = "parquet")]
mod record_batch;
pub(crate) mod svm;

use std::io::{Seek, Write};
use std::path::Path;

use ldlf_core::dataset::Tabular;
use ldlf_core::{Dataset, Error, Matrix, Result};

use crate::format::{FileFormat, Format};
use crate::output::{Overwrite, write_atomically};

/// Some columns of a block of rows. A number that is NaN is a missing value.
pub enum Column<'a> {
    /// Single precision, `[rows, columns]`: what a whole is called, and a name per column.
    Matrix(&'a str, &'a [String], &'a Matrix<f32>),
    /// A number per row.
    Numbers(&'a str, Vec<f64>),
    /// A text per row, such as the name of its image.
    Names(&'a str, &'a [String]),
    /// The same, made for this column.
    Texts(&'a str, Vec<String>),
    /// A label per row: the names of all labels, and which one, if any.
    Labels(&'a str, &'a [String], Vec<Option<usize>>),
}

impl Column<'_> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Column::Matrix(_, _, rows) => rows.rows(),
            Column::Numbers(_, numbers) => numbers.len(),
            Column::Names(_, names) => names.len(),
            Column::Texts(_, texts) => texts.len(),
            Column::Labels(_, _, labels) => labels.len(),
        }
    }

    /// The same column without its numbers and labels: every row has a missing value.
    #[must_use]
    pub fn emptied(self) -> Self {
        match self {
            Column::Numbers(name, numbers) => Column::Numbers(name, vec![f64::NAN; numbers.len()]),
            Column::Labels(name, names, labels) => Column::Labels(name, names, vec![None; labels.len()]),
            Column::Texts(name, texts) => Column::Texts(name, vec![String::new(); texts.len()]),
            other => other,
        }
    }
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

/// What becomes of text that a spreadsheet would take for a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formulas {
    /// It stays as it is: the table reads back to the same names.
    Kept,
    /// It gets an apostrophe before it, which makes it text.
    Disarmed,
}

/// What a table is written to.
pub trait Output: Write + Seek + Send {}

impl<W: Write + Seek + Send> Output for W {}

/// A form in which tables are written; an extension names it.
pub struct TableForm {
    /// The extension, without its dot.
    pub extension: &'static str,
    /// Whether it is text, which a spreadsheet may take for formulas.
    pub is_text: bool,
    pub(crate) open: for<'w> fn(Box<dyn Output + 'w>, Formulas) -> BoxedWriter<'w>,
}

impl TableForm {
    /// All forms, in the order of the formats.
    pub fn all() -> impl Iterator<Item = &'static TableForm> {
        statements().flat_map(|(_, format)| format.tables)
    }

    /// The form by the extension of an output.
    pub fn of(path: &Path) -> Result<&'static Self> {
        let extension = path.extension().map(|text| text.to_string_lossy().to_ascii_lowercase());
        let form = TableForm::all().find(|form| extension.as_deref() == Some(form.extension));
        form.ok_or_else(|| {
            let forms = either(TableForm::all().map(|form| form.extension));
            Error::usage(format!("tables are written as {forms}"))
                .with_remedy("choose one of these")
                .in_file(path)
        })
    }

    /// A writer of this form; `formulas` matter where it is text.
    pub fn writer<'w>(&self, out: impl Output + 'w, formulas: Formulas) -> BoxedWriter<'w> {
        (self.open)(Box::new(out), formulas)
    }
}

/// Writes a table to a file, whole or not at all: `fill` gives the writer its blocks and finishes it.
pub fn save_table(
    path: &Path,
    overwrite: Overwrite,
    form: &TableForm,
    formulas: Formulas,
    fill: impl FnOnce(BoxedWriter<'_>) -> Result<()>,
) -> Result<()> {
    write_atomically(path, overwrite, |file| fill(form.writer(file, formulas)))
}

/// How a format writes a dataset; with votes, counts in place of shares.
pub(crate) type WriteDataset = fn(Tabular<'_>, Option<usize>, &mut dyn Write) -> std::io::Result<()>;

/// The formats in which datasets are written.
pub fn dataset_formats() -> impl Iterator<Item = Format> {
    statements().filter(|(_, format)| format.dataset.is_some()).map(|(format, _)| format)
}

/// The format of a dataset by the extension of an output.
pub fn dataset_format(path: &Path) -> Result<Format> {
    let format = Format::from_path(path).filter(|format| dataset_formats().any(|known| known == *format));
    format.ok_or_else(|| {
        let formats = either(dataset_formats().map(Format::name));
        Error::usage(format!("datasets are written as {formats}"))
            .with_remedy("choose one of these")
            .in_file(path)
    })
}

/// Writes features and labels in a format out of [`dataset_formats`]; with `votes`, counts in place of shares.
pub fn dataset(
    data: &Dataset,
    votes: Option<usize>,
    format: Format,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    match format.statement().ok().and_then(|format| format.dataset) {
        Some(write) => write(data.tabular().map_err(std::io::Error::other)?, votes, out),
        None => Err(std::io::Error::other(format!("datasets are not written as {format}"))),
    }
}

/// Writes features and labels to a file, whole or not at all; see [`dataset`].
pub fn save_dataset(
    data: &Dataset,
    votes: Option<usize>,
    format: Format,
    path: &Path,
    overwrite: Overwrite,
) -> Result<()> {
    write_atomically(path, overwrite, |out| dataset(data, votes, format, out))
}

/// A share as text, or the count of votes behind it.
fn label(share: f32, votes: Option<usize>) -> String {
    votes.map_or_else(|| share.to_string(), |votes| (share * votes as f32).round().to_string())
}

fn statements() -> impl Iterator<Item = (Format, &'static FileFormat)> {
    Format::ALL.iter().filter_map(|&format| Some((format, format.statement().ok()?)))
}

/// `.csv, .tsv or .svm`.
fn either(extensions: impl Iterator<Item = &'static str>) -> String {
    let dotted: Vec<String> = extensions.map(|extension| format!(".{extension}")).collect();
    match &dotted[..] {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => dotted.concat(),
    }
}
