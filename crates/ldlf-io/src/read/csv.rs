//! Comma- and tab-separated values with a header line.
//!
//! Every error names file, line and column. A byte order mark and blanks around values are tolerated; what is not
//! a number must have a role that takes text (categories, split, group) or be left out.

use std::io::Read;

use ::csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Trim};
use ldlf_core::error::{Message, Place, Subject};
use ldlf_core::{Error, Features, Result, Schema, message};

use super::assemble::{check_part, check_weight};
use super::derived::{Origin, fill_missing, is_missing};
use super::gather::{RowGatherer, single_precision};
use super::lines::LineStarts;
use super::roles::{Roles, features_of_model, find};
use super::table_rows::TableRows;
use super::{Format, Loaded, Purpose, ReadOptions, RowStream, Source, empty, read_error};
use crate::format::FileFormat;
use crate::write;

/// Comma-separated values.
pub(crate) const CSV: FileFormat = FileFormat {
    read,
    stream,
    text_column: Some(text_column),
    seeks: false,
    open_ended: false,
    tables: &[write::csv::COMMAS],
    dataset: Some(|data, votes, out| write::csv::dataset(data, votes, b',', out)),
};

/// Tab-separated values.
pub(crate) const TSV: FileFormat = FileFormat {
    tables: &[write::csv::TABS],
    dataset: Some(|data, votes, out| write::csv::dataset(data, votes, b'\t', out)),
    ..CSV
};

/// A table of text, open at its first row.
struct TextTable {
    file: String,
    reader: Reader<LineStarts<Box<dyn Read + Send>>>,
    header: Vec<String>,
    record: StringRecord,
    line: u64,
    purpose: Purpose,
}

impl TextTable {
    fn open(source: Source, purpose: Purpose) -> Result<Self> {
        let (file, format) = (source.file.clone(), source.format);
        let delimiter = if format == Format::Tsv { b'\t' } else { b',' };
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            // Rows of another length are refused below, in our words.
            .flexible(true)
            .trim(Trim::All)
            .from_reader(LineStarts::new(source.into_reader()));
        let mut table =
            TextTable { file, reader, header: Vec::new(), record: StringRecord::new(), line: 0, purpose };
        if !table.read_record()? {
            return Err(empty(&table.file));
        }
        table.header = table.record.iter().map(str::to_string).collect();
        table.check_separator(format)?;
        let numbers: Vec<f64> = table.header.iter().filter_map(|name| name.parse().ok()).collect();
        // Whole numbers may well be names (0, 1, 2, ... or years); measurements are not.
        if numbers.len() == table.header.len() && numbers.iter().any(|v| v.fract() != 0.0 || *v < 0.0) {
            return Err(Error::data("numbers where the names of the columns are expected")
                .with_remedy("add a header line")
                .at(table.here()));
        }
        Ok(table)
    }

    /// A header of one name with another format's separator in it is most likely of that format.
    fn check_separator(&self, format: Format) -> Result<()> {
        let [name] = &self.header[..] else { return Ok(()) };
        let (found, remedy) = if name.contains(';') {
            ("semicolons", message!["save the file with commas"])
        } else if format == Format::Csv && name.contains('\t') {
            ("tabs", message!["give ", Subject::Format, " tsv"])
        } else if format == Format::Tsv && name.contains(',') {
            ("commas", message!["give ", Subject::Format, " csv"])
        } else {
            return Ok(());
        };
        Err(Error::data(format!("{found} separate the columns")).with_remedy(remedy).at(self.here()))
    }

    fn read_record(&mut self) -> Result<bool> {
        let start = self.reader.position().byte();
        let more = self.reader.read_record(&mut self.record);
        // The parser's own line numbers leave out blank lines and the LF after a CR.
        self.line = self.reader.get_mut().line_from(start);
        more.map_err(|error| match error.into_kind() {
            ErrorKind::Io(error) => read_error(&self.file, error),
            ErrorKind::Utf8 { .. } => Error::data("the text is not UTF-8").at(self.here()),
            other => Error::data(format!("{other:?}")).at(self.here()),
        })
    }

    /// Moves to the next row; `false` after the last.
    fn next_row(&mut self) -> Result<bool> {
        if !self.read_record()? {
            return Ok(false);
        }
        if self.record.len() != self.header.len() {
            let (found, heads) = (self.record.len(), self.header.len());
            return Err(Error::data(format!("{found} values where the header has {heads}")).at(self.here()));
        }
        Ok(true)
    }

    fn text(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or_default()
    }

    /// The text of a column that must not be empty.
    fn present(&self, column: usize) -> Result<&str> {
        match self.text(column) {
            "" => Err(self.fault(column, "the value is missing")),
            text => Ok(text),
        }
    }

    fn number(&self, column: usize) -> Result<f64> {
        let text = self.present(column)?;
        text.parse().map_err(|_| self.fault(column, format!("{text:?} is not a number")))
    }

    fn finite(&self, column: usize) -> Result<f64> {
        let value = self.number(column)?;
        if value.is_finite() {
            return Ok(value);
        }
        Err(self.fault(column, format!("{:?} is not a finite number", self.text(column))))
    }

    /// The features of the current row; a missing value that is allowed is NaN.
    fn features_into(&self, origins: &[Origin], out: &mut Vec<f32>) -> Result<()> {
        out.clear();
        for origin in origins {
            let text = self.text(origin.column());
            out.push(match origin {
                Origin::Number { missing: true, .. } if is_missing(text) => f32::NAN,
                Origin::Number { column, .. } => self.feature(*column)?,
                Origin::Category { category, .. } => f32::from(text == category),
                Origin::Missing { .. } => f32::from(is_missing(text)),
            });
        }
        Ok(())
    }

    fn feature(&self, column: usize) -> Result<f32> {
        let text = self.text(column);
        let value = match (text.parse::<f64>(), self.purpose) {
            (Ok(value), _) => value,
            (Err(_), Purpose::Learning) if is_missing(text) => {
                return Err(self.fault(column, "the value is missing").with_remedy(message![
                    "fill it in, or let missing values be features with ",
                    Subject::MissingValues
                ]));
            }
            (Err(_), Purpose::Learning) => {
                let name = &self.header[column];
                let remedy = message![
                    "correct it, name the column in ",
                    Subject::Categories,
                    ", or leave it out with ",
                    Subject::Ignore,
                    " {name:?}"
                ];
                self.number(column).map_err(|error| error.with_remedy(remedy))?
            }
            (Err(_), Purpose::Predicting) if text.is_empty() => self.number(column)?,
            (Err(_), Purpose::Predicting) => {
                self.number(column).map_err(|error| error.with_remedy("the model needs a number here"))?
            }
        };
        single_precision(value).map_err(|error| error.at(self.place(column)))
    }

    /// The current line.
    fn here(&self) -> Place {
        Place::file(&self.file).line(self.line)
    }

    fn place(&self, column: usize) -> Place {
        self.here().column(&self.header[column])
    }

    fn fault(&self, column: usize, reason: impl Into<Message>) -> Error {
        Error::data(reason).at(self.place(column))
    }
}

/// Reads a table with labels.
pub(super) fn read(source: Source, options: &ReadOptions) -> Result<Loaded> {
    let stem = source.stem.clone();
    let mut table = TextTable::open(source, Purpose::Learning)?;
    let roles = Roles::resolve(&table.file, &table.header, options)?;
    let mut rows = TableRows::new(&table.header, &roles, options);
    let (mut row, mut label_row) = (Vec::new(), Vec::new());
    while table.next_row()? {
        table.features_into(&roles.features, &mut row)?;
        let categories = roles.categories.iter().map(|&column| table.text(column));
        rows.push_features(&table.file, &mut row, categories)?;
        if !roles.labels.is_empty() {
            label_row.clear();
            for &column in &roles.labels {
                label_row.push(table.number(column)?);
            }
            rows.targets.push(&label_row, &|label| match label {
                Some(label) => table.place(roles.labels[label]),
                None => table.here(),
            })?;
        }
        if let Some(column) = roles.single {
            rows.singles.push(table.finite(column)?);
        }
        if let Some(column) = roles.weights {
            let weight = table.finite(column)?;
            rows.weights.push(check_weight(weight).map_err(|error| error.at(table.place(column)))?);
        }
        if let Some(column) = roles.split {
            let part = table.present(column)?;
            rows.split.push(check_part(part).map_err(|error| error.at(table.place(column)))?.to_string());
        }
        if let Some(column) = roles.group {
            rows.groups.push(table.present(column)?);
        }
        if let Some(column) = roles.image {
            rows.images.push(table.present(column)?.to_string());
        }
    }
    if rows.features.rows() == 0 {
        return Err(Error::data("a header but no rows").in_file(&table.file));
    }
    rows.finish(&table.file, stem, &table.header, roles, options)
}

/// Reads one column as text.
pub(super) fn text_column(source: Source, column: &str, role: Subject) -> Result<Vec<String>> {
    let mut table = TextTable::open(source, Purpose::Predicting)?;
    let column = find(&table.file, &table.header, column, role)?;
    let mut texts = Vec::new();
    while table.next_row()? {
        texts.push(table.present(column)?.to_string());
    }
    Ok(texts)
}

/// Streams the feature columns of a table.
pub(super) fn stream(source: Source, schema: &Schema, features: usize) -> Result<Box<dyn RowStream>> {
    let mut table = TextTable::open(source, Purpose::Predicting)?;
    let waiting = table.next_row()?;
    let numeric = |column| {
        let text = table.text(column);
        text.is_empty() || text.parse::<f64>().is_ok()
    };
    let origins = features_of_model(&table.file, &table.header, schema, features, numeric)?;
    Ok(Box::new(TextStream { table, origins, waiting, sparse: None }))
}

struct TextStream {
    table: TextTable,
    origins: Vec<Origin>,
    /// Whether the table stands at a row that was not given out yet.
    waiting: bool,
    /// The form of all blocks, once the first is known.
    sparse: Option<bool>,
}

impl RowStream for TextStream {
    fn next_block(&mut self, rows: usize) -> Result<Option<Features>> {
        let mut block = RowGatherer::new(self.origins.len());
        let mut row = Vec::new();
        while self.waiting && block.rows() < rows.max(1) {
            self.table.features_into(&self.origins, &mut row)?;
            fill_missing(&mut row);
            block.push(&row).map_err(|error| error.in_file(&self.table.file))?;
            self.waiting = self.table.next_row()?;
        }
        Ok((block.rows() > 0).then(|| block.finish_like(&mut self.sparse)))
    }

    fn total_rows(&self) -> Option<usize> {
        None
    }
}
