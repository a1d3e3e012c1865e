//! Tables of columns in record batches: what Parquet and Arrow files have in common once they are open.
//!
//! Columns of integers, floats and booleans; text where a role takes text. Only the columns that have a role are read. A null is a
//! missing value. Errors name row and column.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use ldlf_core::error::{Message, Place, Subject};
use ldlf_core::{Error, Features, Result, Schema, message};

use super::assemble::{check_part, check_weight};
use super::derived::{Origin, fill_missing, is_missing};
use super::gather::{RowGatherer, single_precision};
use super::roles::{Roles, features_of_model, find};
use super::table_rows::TableRows;
use super::{Loaded, Purpose, ReadOptions, RowStream};

/// A file of batches whose columns are known and have not been chosen yet.
pub(super) trait Choose {
    /// The batches of the given columns, which are in rising order and come in that order.
    fn choose(self: Box<Self>, columns: &[usize]) -> Result<Box<dyn BatchSource>>;
}

/// Record batches in turn.
pub(super) trait BatchSource: Send {
    fn next(&mut self) -> Result<Option<RecordBatch>>;

    /// Passes over rows without reading more of them than it must; batches that were given out are not counted again.
    fn skip(&mut self, rows: usize) -> Result<()>;
}

/// A table that is open, with only its header read.
pub(super) struct ColumnTable {
    /// What messages call the file.
    pub file: String,
    pub header: Vec<String>,
    pub types: Vec<DataType>,
    /// The number of rows, where the file says so beforehand.
    pub rows: Option<usize>,
    pub source: Box<dyn Choose>,
}

impl ColumnTable {
    fn batches(self, columns: &[usize], purpose: Purpose) -> Result<Batches> {
        let mut order = columns.to_vec();
        order.sort_unstable();
        order.dedup();
        let source = self.source.choose(&order)?;
        Ok(Batches { file: self.file, header: self.header, source, order, rows: 0, purpose })
    }
}

/// Record batches with what their columns are called.
struct Batches {
    file: String,
    header: Vec<String>,
    source: Box<dyn BatchSource>,
    /// The columns of a batch, as positions in the header.
    order: Vec<usize>,
    /// Rows of the batches before the current one.
    rows: usize,
    purpose: Purpose,
}

impl Batches {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.source.next()
    }

    fn array<'a>(&self, batch: &'a RecordBatch, column: usize) -> &'a dyn Array {
        // Every column asked for is in the projection.
        batch.column(self.order.partition_point(|&known| known < column)).as_ref()
    }

    fn place_of_row(&self, row: usize) -> Place {
        Place::file(&self.file).row(self.rows + row + 1)
    }

    fn place(&self, row: usize, column: usize) -> Place {
        self.place_of_row(row).column(&self.header[column])
    }

    fn fault(&self, row: usize, column: usize, reason: impl Into<Message>) -> Error {
        Error::data(reason).at(self.place(row, column))
    }

    fn check_present(&self, array: &dyn Array, column: usize) -> Result<()> {
        if array.null_count() == 0 {
            return Ok(());
        }
        let row = (0..array.len()).find(|&row| array.is_null(row)).unwrap_or(0);
        Err(self.fault(row, column, "the value is missing"))
    }

    /// Which rows of a column have no value.
    fn missing(&self, batch: &RecordBatch, column: usize) -> Result<Vec<bool>> {
        let array = self.array(batch, column);
        let texts = texts_of(array);
        let numbers = match &texts {
            Some(_) => Vec::new(),
            None => self.numbers_or_nothing(batch, column)?,
        };
        let empty = |row: usize| match &texts {
            Some(texts) => is_missing(&texts[row]),
            None => numbers[row].is_nan(),
        };
        Ok((0..array.len()).map(|row| array.is_null(row) || empty(row)).collect())
    }

    /// A column of numbers.
    fn numbers(&self, batch: &RecordBatch, column: usize) -> Result<Vec<f64>> {
        self.check_present(self.array(batch, column), column)?;
        self.numbers_or_nothing(batch, column)
    }

    /// A column of numbers in which nulls may stand for anything.
    fn numbers_or_nothing(&self, batch: &RecordBatch, column: usize) -> Result<Vec<f64>> {
        let array = self.array(batch, column);
        macro_rules! all {
            ($type:ty) => {
                array.as_primitive::<$type>().values().iter().map(|&v| v as f64).collect()
            };
        }
        Ok(match array.data_type() {
            DataType::Int8 => all!(Int8Type),
            DataType::Int16 => all!(Int16Type),
            DataType::Int32 => all!(Int32Type),
            DataType::Int64 => all!(Int64Type),
            DataType::UInt8 => all!(UInt8Type),
            DataType::UInt16 => all!(UInt16Type),
            DataType::UInt32 => all!(UInt32Type),
            DataType::UInt64 => all!(UInt64Type),
            DataType::Float32 => all!(Float32Type),
            DataType::Float64 => all!(Float64Type),
            DataType::Float16 => {
                array.as_primitive::<Float16Type>().values().iter().map(|v| v.to_f64()).collect()
            }
            DataType::Boolean => {
                let flags = array.as_boolean();
                (0..flags.len()).map(|row| f64::from(u8::from(flags.value(row)))).collect()
            }
            other => {
                let name = &self.header[column];
                let remedy = match self.purpose {
                    Purpose::Learning => message![
                        "name the column in ",
                        Subject::Categories,
                        ", or leave it out with ",
                        Subject::Ignore,
                        " {name:?}"
                    ],
                    Purpose::Predicting => message!["the model needs numbers here"],
                };
                return Err(Error::data(format!("{other} is not a type of numbers"))
                    .with_remedy(remedy)
                    .at(Place::file(&self.file).column(name)));
            }
        })
    }

    fn finite(&self, batch: &RecordBatch, column: usize) -> Result<Vec<f64>> {
        let values = self.numbers(batch, column)?;
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(values),
            Some(row) => Err(self.fault(row, column, format!("{} is not a finite number", values[row]))),
        }
    }

    /// A column as text, whatever it holds.
    fn texts(&self, batch: &RecordBatch, column: usize) -> Result<Vec<String>> {
        self.check_present(self.array(batch, column), column)?;
        self.texts_or_nothing(batch, column)
    }

    /// A column as text, whatever it holds; empty where it holds nothing.
    fn texts_or_nothing(&self, batch: &RecordBatch, column: usize) -> Result<Vec<String>> {
        let array = self.array(batch, column);
        let mut texts = match texts_of(array) {
            Some(texts) => texts,
            None => self.numbers_or_nothing(batch, column)?.iter().map(f64::to_string).collect(),
        };
        for row in (0..array.len()).filter(|&row| array.is_null(row)) {
            texts[row].clear();
        }
        Ok(texts)
    }

    /// The features of a batch, row by row; a missing value that is allowed is NaN.
    fn features(&self, batch: &RecordBatch, origins: &[Origin]) -> Result<Vec<f32>> {
        let mut rows = vec![0f32; batch.num_rows() * origins.len()];
        for (place, origin) in origins.iter().enumerate() {
            let values: Vec<f32> = match origin {
                Origin::Number { column, missing } => self.feature(batch, *column, *missing)?,
                Origin::Category { column, category } => {
                    let texts = self.texts_or_nothing(batch, *column)?;
                    texts.iter().map(|text| f32::from(text == category)).collect()
                }
                Origin::Missing { column } => {
                    self.missing(batch, *column)?.into_iter().map(f32::from).collect()
                }
            };
            for (row, value) in values.into_iter().enumerate() {
                rows[row * origins.len() + place] = value;
            }
        }
        Ok(rows)
    }

    fn feature(&self, batch: &RecordBatch, column: usize, missing: bool) -> Result<Vec<f32>> {
        let read = |(row, value): (usize, f64)| {
            single_precision(value).map_err(|error| error.at(self.place(row, column)))
        };
        if !missing {
            return self.numbers(batch, column)?.into_iter().enumerate().map(read).collect();
        }
        let numbers = self.numbers_or_nothing(batch, column)?.into_iter().enumerate();
        let missing = self.missing(batch, column)?;
        numbers.map(|(row, value)| if missing[row] { Ok(f32::NAN) } else { read((row, value)) }).collect()
    }

    fn gather_features(&self, batch: &RecordBatch, roles: &Roles, rows: &mut TableRows) -> Result<()> {
        let categories: Vec<Vec<String>> = roles
            .categories
            .iter()
            .map(|&column| self.texts_or_nothing(batch, column))
            .collect::<Result<_>>()?;
        let mut read = self.features(batch, &roles.features)?;
        let width = roles.features.len();
        for row in 0..batch.num_rows() {
            let numbers = &mut read[row * width..(row + 1) * width];
            rows.push_features(&self.file, numbers, categories.iter().map(|texts| texts[row].as_str()))?;
        }
        Ok(())
    }

    fn gather_labels(&self, batch: &RecordBatch, roles: &Roles, rows: &mut TableRows) -> Result<()> {
        if roles.labels.is_empty() {
            return Ok(());
        }
        let labels: Vec<Vec<f64>> =
            roles.labels.iter().map(|&column| self.numbers(batch, column)).collect::<Result<_>>()?;
        for row in 0..batch.num_rows() {
            let values: Vec<f64> = labels.iter().map(|column| column[row]).collect();
            rows.targets.push(&values, &|label| match label {
                Some(label) => self.place(row, roles.labels[label]),
                None => self.place_of_row(row),
            })?;
        }
        Ok(())
    }

    /// Single labels, weights, parts of a split, groups and names of images.
    fn gather_others(&self, batch: &RecordBatch, roles: &Roles, rows: &mut TableRows) -> Result<()> {
        if let Some(column) = roles.single {
            rows.singles.extend(self.finite(batch, column)?);
        }
        if let Some(column) = roles.weights {
            for (row, weight) in self.finite(batch, column)?.into_iter().enumerate() {
                rows.weights.push(check_weight(weight).map_err(|error| error.at(self.place(row, column)))?);
            }
        }
        if let Some(column) = roles.split {
            for (row, part) in self.texts(batch, column)?.into_iter().enumerate() {
                check_part(&part).map_err(|error| error.at(self.place(row, column)))?;
                rows.split.push(part);
            }
        }
        if let Some(column) = roles.group {
            self.texts(batch, column)?.iter().for_each(|text| rows.groups.push(text));
        }
        if let Some(column) = roles.image {
            rows.images.extend(self.texts(batch, column)?);
        }
        Ok(())
    }
}

/// Reads a table with labels.
pub(super) fn read(table: ColumnTable, stem: String, options: &ReadOptions) -> Result<Loaded> {
    let roles = Roles::resolve(&table.file, &table.header, options)?;
    let others = [roles.single, roles.weights, roles.split, roles.group, roles.image].into_iter().flatten();
    let features = roles.features.iter().map(Origin::column);
    let columns: Vec<usize> =
        features.chain(roles.categories.iter().chain(&roles.labels).copied()).chain(others).collect();
    let mut batches = table.batches(&columns, Purpose::Learning)?;

    let mut rows = TableRows::new(&batches.header, &roles, options);
    while let Some(batch) = batches.next()? {
        batches.gather_features(&batch, &roles, &mut rows)?;
        batches.gather_labels(&batch, &roles, &mut rows)?;
        batches.gather_others(&batch, &roles, &mut rows)?;
        batches.rows += batch.num_rows();
    }
    if batches.rows == 0 {
        return Err(Error::data("columns but no rows").in_file(&batches.file));
    }
    rows.finish(&batches.file, stem, &batches.header, roles, options)
}

/// Reads one column as text.
pub(super) fn text_column(table: ColumnTable, column: &str, role: Subject) -> Result<Vec<String>> {
    let column = find(&table.file, &table.header, column, role)?;
    let mut batches = table.batches(&[column], Purpose::Predicting)?;
    let mut texts = Vec::new();
    while let Some(batch) = batches.next()? {
        texts.extend(batches.texts(&batch, column)?);
        batches.rows += batch.num_rows();
    }
    Ok(texts)
}

/// Streams the feature columns of a table.
pub(super) fn stream(table: ColumnTable, schema: &Schema, features: usize) -> Result<Box<dyn RowStream>> {
    let numeric =
        |column: usize| table.types[column].is_numeric() || table.types[column] == DataType::Boolean;
    let origins = features_of_model(&table.file, &table.header, schema, features, numeric)?;
    let rows = table.rows;
    let columns: Vec<usize> = origins.iter().map(Origin::column).collect();
    let batches = table.batches(&columns, Purpose::Predicting)?;
    Ok(Box::new(ColumnStream { batches, origins, rows, read: Vec::new(), next: 0, sparse: None }))
}

struct ColumnStream {
    batches: Batches,
    origins: Vec<Origin>,
    rows: Option<usize>,
    /// Rows of the current batch, and where the first that was not given out begins.
    read: Vec<f32>,
    next: usize,
    sparse: Option<bool>,
}

impl RowStream for ColumnStream {
    fn next_block(&mut self, rows: usize) -> Result<Option<Features>> {
        let width = self.origins.len();
        let mut block = RowGatherer::new(width);
        while block.rows() < rows.max(1) {
            if self.next == self.read.len() {
                let Some(batch) = self.batches.next()? else { break };
                self.read = self.batches.features(&batch, &self.origins)?;
                fill_missing(&mut self.read);
                self.batches.rows += batch.num_rows();
                self.next = 0;
                continue;
            }
            block
                .push(&self.read[self.next..self.next + width])
                .map_err(|error| error.in_file(&self.batches.file))?;
            self.next += width;
        }
        Ok((block.rows() > 0).then(|| block.finish_like(&mut self.sparse)))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let width = self.origins.len();
        let at_hand = rows.min((self.read.len() - self.next) / width);
        self.next += at_hand * width;
        self.batches.source.skip(rows - at_hand)?;
        self.batches.rows += rows - at_hand;
        Ok(())
    }

    fn total_rows(&self) -> Option<usize> {
        self.rows
    }
}

/// The values of an array of text or of a dictionary of texts, if it is one; nulls are empty.
fn texts_of(array: &dyn Array) -> Option<Vec<String>> {
    let Some(dictionary) = array.as_any_dictionary_opt().filter(|_| !array.is_empty()) else {
        return plain_texts(array);
    };
    let texts = plain_texts(dictionary.values().as_ref())?;
    let keys = dictionary.normalized_keys().into_iter();
    Some(keys.map(|key| texts.get(key).cloned().unwrap_or_default()).collect())
}

/// The values of an array of plain text, if it is one.
fn plain_texts(array: &dyn Array) -> Option<Vec<String>> {
    fn all<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Option<Vec<String>> {
        Some(texts.map(|text| text.unwrap_or_default().to_string()).collect())
    }
    match array.data_type() {
        DataType::Utf8 => all(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => all(array.as_string::<i64>().iter()),
        DataType::Utf8View => all(array.as_string_view().iter()),
        _ => None,
    }
}

/// Calls into a library that takes much of a file for granted and panics where it is wrong.
pub(super) fn guarded<T>(file: &str, kind: &str, call: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|_| Error::data(format!("not a usable {kind} file (its decoder gave up)")).in_file(file))
}
