//! Comma- and tab-separated tables.

use std::fmt::Write as _;
use std::io::Write;

use super::{BoxedWriter, Column, TableWriter};

/// What the system said, out of what the csv writer made of it: a full disk and a closed pipe must be told apart.
pub fn as_io(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}

/// What becomes of text that a spreadsheet would take for a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formulas {
    /// It stays as it is: the table reads back to the same names.
    Kept,
    /// It gets an apostrophe before it, which makes it text (`--safe-csv`).
    Disarmed,
}

/// A writer of values separated by `delimiter`.
pub fn delimited<'w>(out: impl Write + Send + 'w, delimiter: u8, formulas: Formulas) -> BoxedWriter<'w> {
    let writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    Box::new(Delimited { writer, formulas, has_heads: false, cell: String::new() })
}

/// Whether a spreadsheet may take a cell for a formula: by its first character, blanks aside, as the OWASP lists them.
fn is_formula(text: &str) -> bool {
    text.starts_with(['\t', '\r', '\n'])
        || text.trim_start().starts_with(['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'])
}

struct Delimited<W: Write> {
    writer: csv::Writer<W>,
    formulas: Formulas,
    has_heads: bool,
    /// Reused from cell to cell.
    cell: String,
}

impl<W: Write> Delimited<W> {
    /// Writes a number with as many digits as it takes to read the same number back.
    fn number(&mut self, number: impl std::fmt::Debug) -> csv::Result<()> {
        self.cell.clear();
        write!(self.cell, "{number:?}").expect("a string takes everything");
        let whole = self.cell.strip_suffix(".0").unwrap_or(&self.cell);
        self.writer.write_field(whole)
    }

    /// Writes a name.
    fn text(&mut self, text: &str) -> csv::Result<()> {
        if self.formulas == Formulas::Disarmed && is_formula(text) {
            return self.writer.write_field(format!("'{text}"));
        }
        self.writer.write_field(text)
    }

    fn heads(&mut self, columns: &[Column<'_>]) -> csv::Result<()> {
        for column in columns {
            match column {
                Column::Matrix(_, names, _) => {
                    names.iter().try_for_each(|name| self.text(name))?;
                }
                Column::Numbers(name, _) | Column::Names(name, _) | Column::Labels(name, ..) => {
                    self.text(name)?
                }
            }
        }
        self.writer.write_record(None::<&[u8]>)
    }

    fn rows(&mut self, columns: &[Column<'_>]) -> csv::Result<()> {
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
                    Column::Labels(_, names, labels) => self.text(&names[labels[row]])?,
                }
            }
            self.writer.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }
}

impl Column<'_> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Column::Matrix(_, _, rows) => rows.rows(),
            Column::Numbers(_, numbers) => numbers.len(),
            Column::Names(_, names) => names.len(),
            Column::Labels(_, _, labels) => labels.len(),
        }
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
