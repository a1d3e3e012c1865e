//! Comma- and tab-separated tables.

use std::fmt::Write as _;
use std::io::Write;

use ldlf_core::dataset::Tabular;

use super::{BoxedWriter, Column, Formulas, TableForm, TableWriter, label};

/// Comma-separated values.
pub const COMMAS: TableForm =
    TableForm { extension: "csv", is_text: true, open: |out, formulas| table(out, b',', formulas) };

/// Tab-separated values.
pub const TABS: TableForm =
    TableForm { extension: "tsv", is_text: true, open: |out, formulas| table(out, b'\t', formulas) };

/// What the system said, out of what the csv writer made of it: a full disk and a closed pipe must be distinguished.
fn as_io(error: ::csv::Error) -> std::io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}

/// A writer of values separated by `delimiter`.
pub fn table<'w>(out: impl Write + Send + 'w, delimiter: u8, formulas: Formulas) -> BoxedWriter<'w> {
    let writer = ::csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    Box::new(Delimited { writer, formulas, has_heads: false, cell: String::new() })
}

/// Whether a spreadsheet may take a cell for a formula: by its first character, blanks aside, as the OWASP lists them.
fn is_formula(text: &str) -> bool {
    text.starts_with(['\t', '\r', '\n'])
        || text.trim_start().starts_with(['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'])
}

struct Delimited<W: Write> {
    writer: ::csv::Writer<W>,
    formulas: Formulas,
    has_heads: bool,
    /// Reused from cell to cell.
    cell: String,
}

impl<W: Write> Delimited<W> {
    /// Writes a number with as many digits as it takes to read the same number back; a missing value is an empty cell.
    fn number(&mut self, number: impl std::fmt::Debug + PartialEq) -> ::csv::Result<()> {
        self.cell.clear();
        // NaN alone differs from itself.
        #[allow(clippy::eq_op)]
        if number != number {
            return self.writer.write_field("");
        }
        write!(self.cell, "{number:?}").expect("a string takes everything");
        let whole = self.cell.strip_suffix(".0").unwrap_or(&self.cell);
        self.writer.write_field(whole)
    }

    /// Writes a name.
    fn text(&mut self, text: &str) -> ::csv::Result<()> {
        if self.formulas == Formulas::Disarmed && is_formula(text) {
            return self.writer.write_field(format!("'{text}"));
        }
        self.writer.write_field(text)
    }

    fn heads(&mut self, columns: &[Column<'_>]) -> ::csv::Result<()> {
        for column in columns {
            match column {
                Column::Matrix(_, names, _) => {
                    names.iter().try_for_each(|name| self.text(name))?;
                }
                Column::Numbers(name, _)
                | Column::Names(name, _)
                | Column::Texts(name, _)
                | Column::Labels(name, ..) => self.text(name)?,
            }
        }
        self.writer.write_record(None::<&[u8]>)
    }

    fn rows(&mut self, columns: &[Column<'_>]) -> ::csv::Result<()> {
        if !self.has_heads {
            self.heads(columns)?;
            self.has_heads = true;
        }
        let rows = columns.first().map_or(0, Column::rows);
        for row in 0..rows {
            for column in columns {
                match column {
                    Column::Matrix(_, _, rows) => rows.row(row).iter().try_for_each(|&p| self.number(p))?,
                    Column::Numbers(_, numbers) => self.number(numbers[row])?,
                    Column::Names(_, names) => self.text(&names[row])?,
                    Column::Texts(_, texts) => self.text(&texts[row])?,
                    Column::Labels(_, names, labels) => {
                        self.text(labels[row].map_or("", |label| &names[label]))?
                    }
                }
            }
            self.writer.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }
}

impl<W: Write + Send> TableWriter for Delimited<W> {
    fn block(&mut self, columns: &[Column<'_>]) -> std::io::Result<()> {
        self.rows(columns).map_err(as_io)
    }

    fn finish(mut self: Box<Self>) -> std::io::Result<()> {
        self.writer.flush()
    }
}

/// Writes features and labels; with `votes`, counts in place of shares.
pub(crate) fn dataset(
    data: Tabular<'_>,
    votes: Option<usize>,
    delimiter: u8,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut writer = ::csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    let kind = if votes.is_some() { "votes" } else { "label" };
    let features = (1..=data.features.cols()).map(|column| format!("x_{column}"));
    writer
        .write_record(features.chain((1..=data.labels()).map(|label| format!("{kind}_{label}"))))
        .map_err(as_io)?;
    let mut row_values = vec![0.0f32; data.features.cols()];
    for row in 0..data.rows() {
        data.features.copy_row_into(row, &mut row_values);
        let labels = data.targets().row(row).iter().map(|&share| label(share, votes));
        writer.write_record(row_values.iter().map(f32::to_string).chain(labels)).map_err(as_io)?;
    }
    writer.flush()
}

/// Writes lines of comma-separated texts, the first of which are the heads.
pub fn lines(out: impl Write, lines: impl IntoIterator<Item = Vec<String>>) -> std::io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    lines.into_iter().try_for_each(|line| writer.write_record(line)).map_err(as_io)?;
    writer.flush()
}
