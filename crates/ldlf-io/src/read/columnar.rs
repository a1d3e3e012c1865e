//! Tables of columns in record batches: what Parquet and Arrow files have in common once they are open.
//!
//! Columns of numbers, yes and no, dates and text, plain or as dictionaries. Only the columns that are asked for are read. A null is a
//! missing value. Errors name row and column.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_schema::{DataType, TimeUnit};
use ldlf_core::columns::{Cell, date_text};
use ldlf_core::error::{Place, Subject};
use ldlf_core::{Error, Result, message};

use super::table::Table;

/// A file of batches whose columns are known and have not been chosen yet.
pub(super) trait Choose: Send {
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

/// The rows of a table of columns.
pub(super) struct ColumnRows {
    file: String,
    header: Vec<String>,
    types: Vec<DataType>,
    rows: Option<usize>,
    /// What is open, before the columns are chosen.
    closed: Option<Box<dyn Choose>>,
    source: Option<Box<dyn BatchSource>>,
    /// For every column of the header its place in a batch.
    places: Vec<usize>,
    /// The columns of the current batch.
    columns: Vec<Values>,
    arrays: Vec<ArrayRef>,
    batch_rows: usize,
    /// The current row within the batch, from 1; and the rows of all batches before.
    row: usize,
    before: usize,
}

impl ColumnRows {
    pub fn boxed(table: ColumnTable) -> Result<Box<dyn Table>> {
        let ColumnTable { file, header, types, rows, source } = table;
        let places = vec![usize::MAX; header.len()];
        Ok(Box::new(ColumnRows {
            file,
            header,
            types,
            rows,
            closed: Some(source),
            source: None,
            places,
            columns: Vec::new(),
            arrays: Vec::new(),
            batch_rows: 0,
            row: 0,
            before: 0,
        }))
    }

    /// Reads the next batch; `false` after the last.
    fn next_batch(&mut self) -> Result<bool> {
        let Some(source) = &mut self.source else { return Ok(false) };
        let Some(batch) = source.next()? else { return Ok(false) };
        self.before += self.batch_rows;
        (self.batch_rows, self.row) = (batch.num_rows(), 0);
        let names: Vec<usize> =
            (0..self.header.len()).filter(|&column| self.places[column] != usize::MAX).collect();
        self.columns.clear();
        self.arrays = batch.columns().to_vec();
        for (array, column) in batch.columns().iter().zip(names) {
            let values = guarded(&self.file, "column", || Values::of(array))?.ok_or_else(|| {
                let name = &self.header[column];
                Error::data(format!("{} is not read", array.data_type()))
                    .with_remedy(message!["leave the column out with ", Subject::Ignore, " {name:?}"])
                    .at(Place::file(&self.file).column(name))
            })?;
            self.columns.push(values);
        }
        Ok(true)
    }
}

impl Table for ColumnRows {
    fn file(&self) -> &str {
        &self.file
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn choose(&mut self, columns: &[usize]) -> Result<()> {
        let mut order = columns.to_vec();
        order.sort_unstable();
        order.dedup();
        for (place, &column) in order.iter().enumerate() {
            self.places[column] = place;
        }
        if let Some(closed) = self.closed.take() {
            self.source = Some(closed.choose(&order)?);
        }
        Ok(())
    }

    fn numeric(&mut self) -> Result<Vec<bool>> {
        Ok(self.types.iter().map(|kind| kind.is_numeric() || *kind == DataType::Boolean).collect())
    }

    fn next_row(&mut self) -> Result<bool> {
        while self.row == self.batch_rows {
            if !self.next_batch()? {
                return Ok(false);
            }
        }
        self.row += 1;
        Ok(true)
    }

    #[inline]
    fn cell(&self, column: usize) -> Cell<'_> {
        // Every column asked for was chosen.
        self.columns[self.places[column]].cell(self.row - 1)
    }

    fn kept_text(&self, column: usize) -> String {
        let (array, row) = (&self.arrays[self.places[column]], self.row - 1);
        if array.is_null(row) {
            return String::new();
        }
        match array.data_type() {
            DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
            DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
            DataType::Float32 => array.as_primitive::<Float32Type>().value(row).to_string(),
            _ => match self.cell(column) {
                Cell::Number(number) => number.to_string(),
                Cell::Boolean(value) => value.to_string(),
                Cell::Date(seconds) => date_text(seconds),
                Cell::Text(text) => text.to_string(),
                Cell::Missing => String::new(),
            },
        }
    }

    fn place(&self) -> Place {
        Place::file(&self.file).row(self.before + self.row)
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let at_hand = rows.min(self.batch_rows - self.row);
        self.row += at_hand;
        let Some(source) = self.source.as_mut().filter(|_| rows > at_hand) else { return Ok(()) };
        source.skip(rows - at_hand)?;
        self.before += self.batch_rows + rows - at_hand;
        (self.batch_rows, self.row) = (0, 0);
        Ok(())
    }

    fn total_rows(&self) -> Option<usize> {
        self.rows
    }
}

/// The values of a column of a batch.
enum Values {
    /// A null is NaN.
    Numbers(Vec<f64>),
    Booleans(BooleanArray),
    /// Seconds since the beginning of 1970.
    Dates(Vec<Option<i64>>),
    Texts(StringArray),
    LargeTexts(LargeStringArray),
    TextViews(StringViewArray),
    /// The values of a dictionary, and which of them each row has.
    Dictionary(Box<Values>, Vec<Option<usize>>),
    Nothing,
}

impl Values {
    /// The values of an array, if it is of a type that is read.
    fn of(array: &ArrayRef) -> Option<Self> {
        macro_rules! numbers {
            ($type:ty) => {
                numbers!($type, |value| value as f64)
            };
            ($type:ty, $convert:expr) => {{
                let array = array.as_primitive::<$type>();
                let mut values: Vec<f64> = array.values().iter().map(|&value| $convert(value)).collect();
                if array.null_count() > 0 {
                    (0..values.len())
                        .filter(|&row| array.is_null(row))
                        .for_each(|row| values[row] = f64::NAN);
                }
                Values::Numbers(values)
            }};
        }
        macro_rules! dates {
            ($type:ty, $convert:expr) => {
                Values::Dates(array.as_primitive::<$type>().iter().map(|value| value.map($convert)).collect())
            };
        }
        Some(match array.data_type() {
            DataType::Int8 => numbers!(Int8Type),
            DataType::Int16 => numbers!(Int16Type),
            DataType::Int32 => numbers!(Int32Type),
            DataType::Int64 => numbers!(Int64Type),
            DataType::UInt8 => numbers!(UInt8Type),
            DataType::UInt16 => numbers!(UInt16Type),
            DataType::UInt32 => numbers!(UInt32Type),
            DataType::UInt64 => numbers!(UInt64Type),
            DataType::Float32 => numbers!(Float32Type),
            DataType::Float64 => numbers!(Float64Type),
            DataType::Float16 => {
                numbers!(Float16Type, |value: <Float16Type as arrow_array::ArrowPrimitiveType>::Native| value
                    .to_f64())
            }
            DataType::Decimal128(_, scale) => {
                let unit = 10f64.powi(i32::from(*scale));
                numbers!(Decimal128Type, |value: i128| value as f64 / unit)
            }
            DataType::Boolean => Values::Booleans(array.as_boolean().clone()),
            DataType::Date32 => dates!(Date32Type, |day| i64::from(day) * 86_400),
            DataType::Date64 => dates!(Date64Type, |time: i64| time.div_euclid(1000)),
            DataType::Timestamp(TimeUnit::Second, _) => dates!(TimestampSecondType, |time| time),
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                dates!(TimestampMillisecondType, |time: i64| time.div_euclid(1000))
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                dates!(TimestampMicrosecondType, |time: i64| time.div_euclid(1_000_000))
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                dates!(TimestampNanosecondType, |time: i64| time.div_euclid(1_000_000_000))
            }
            DataType::Utf8 => Values::Texts(array.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Values::LargeTexts(array.as_string::<i64>().clone()),
            DataType::Utf8View => Values::TextViews(array.as_string_view().clone()),
            DataType::Null => Values::Nothing,
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary_opt()?;
                let values = Values::of(dictionary.values())?;
                let known = dictionary.values().len();
                let keys = if known == 0 { vec![0; array.len()] } else { dictionary.normalized_keys() };
                let key = |(row, key): (usize, usize)| (!array.is_null(row) && key < known).then_some(key);
                Values::Dictionary(Box::new(values), keys.into_iter().enumerate().map(key).collect())
            }
            _ => return None,
        })
    }

    #[inline]
    fn cell(&self, row: usize) -> Cell<'_> {
        fn text(is_null: bool, text: &str) -> Cell<'_> {
            if is_null { Cell::Missing } else { Cell::Text(text) }
        }
        match self {
            Values::Numbers(values) => Cell::Number(values[row]),
            Values::Booleans(array) if array.is_null(row) => Cell::Missing,
            Values::Booleans(array) => Cell::Boolean(array.value(row)),
            Values::Dates(values) => values[row].map_or(Cell::Missing, Cell::Date),
            Values::Texts(array) => text(array.is_null(row), array.value(row)),
            Values::LargeTexts(array) => text(array.is_null(row), array.value(row)),
            Values::TextViews(array) => text(array.is_null(row), array.value(row)),
            Values::Dictionary(values, keys) => keys[row].map_or(Cell::Missing, |key| values.cell(key)),
            Values::Nothing => Cell::Missing,
        }
    }
}

/// Calls into a library that takes much of a file for granted and panics where it is wrong.
pub(super) fn guarded<T>(file: &str, kind: &str, call: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|_| Error::data(format!("not a usable {kind} file (its decoder gave up)")).in_file(file))
}
