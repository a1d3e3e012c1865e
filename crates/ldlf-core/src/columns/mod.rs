//! How raw columns become features: the one place that decides it, remembers it and applies it.
//!
//! A [`Profile`] sees the [`Cell`]s of a column, of a file or of a data frame, and decides what the column holds: numbers, yes and no,
//! dates or categories. The decisions make [`Columns`], which a model remembers ([`Schema::columns`](crate::Schema::columns)), so that
//! every later table is read in the same way, whatever it comes from. An [`Encoder`] applies them to rows.
//!
//! | column | features |
//! |---|---|
//! | numbers | the number |
//! | yes and no | 1 or 0 |
//! | dates | `NAME year`, `NAME month`, `NAME weekday`, `NAME days` (since the first), and `NAME hour` where there are times |
//! | categories | `NAME=VALUE`, one of them 1; rare ones share `NAME=(rare)`; one that was never seen has none |
//!
//! A missing value is filled with the mean of the training rows ([`Dataset::refilled`](crate::Dataset::refilled)), and where the column
//! had missing values in training, `NAME is missing` is 1 beside it.
//!
//! # Columns that are in memory
//! Whoever has columns in memory (a data frame) goes the same way: [`Columns::infer`] for training, [`Columns::encode`] for any rows,
//! and [`Dataset::refilled`](crate::Dataset::refilled) once the training rows have their weights.
//!
//! ```
//! use ldlf_core::columns::{Cells, Columns, Wishes};
//! use ldlf_core::{Dataset, Matrix, Schema};
//!
//! let year = [1950.0, 2010.0, f64::NAN];
//! let member = [Some("yes"), Some("no"), Some("yes")];
//! let frame: [(&str, &dyn Cells); 2] = [("year", &year), ("member", &member)];
//!
//! // Training: decide, encode, and fill in the means.
//! let inferred = Columns::infer(&frame, &Wishes::default())?;
//! let encoded = inferred.columns.encode(&frame)?;
//! let targets = Matrix::from_rows(&[[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]);
//! let data = Dataset::new(encoded.features, targets)?;
//! let schema = Schema {
//!     feature_names: Some(inferred.columns.feature_names()),
//!     columns: Some(inferred.columns),
//!     ..data.schema().clone()
//! };
//! let data = data.with_schema(schema)?.refilled()?;
//! assert_eq!(data.schema().feature_names.as_deref().unwrap(), ["year", "year is missing", "member"]);
//! let mut row = [0.0; 3];
//! data.features()?.copy_row_into(2, &mut row);
//! assert_eq!(row, [1980.0, 1.0, 1.0]);
//!
//! // Predicting: the columns of the model, by name, in any order.
//! let columns = data.schema().columns.as_ref().unwrap();
//! let new: [(&str, &dyn Cells); 2] = [("member", &[Some("TRUE")]), ("year", &[Some("1,999")])];
//! columns.encode(&new)?.features.copy_row_into(0, &mut row);
//! assert_eq!(row, [1999.0, 0.0, 1.0]);
//! # Ok::<(), ldlf_core::Error>(())
//! ```

mod dates;
mod encoder;
mod graph;
mod memory;
mod numbers;
mod profile;
mod words;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

pub use dates::{DateOrder, date_text};
pub use encoder::{Encoder, category_of};
pub use graph::MISSING_DATE;
pub use memory::{Cells, Encoded, Frame, Inferred, ToCell, Wishes};
pub use numbers::{DecimalMark, MarkEvidence, parse_number, parse_number_with};
pub use profile::{ColumnFacts, Decision, LeftOut, Profile, Wish};
pub use words::{is_missing, parse_boolean};

use crate::{Error, Result};

/// What stands in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Nothing.
    Missing,
    /// A number; NaN is nothing.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// A date and time, in seconds since the beginning of 1970.
    Date(i64),
    /// A text, which may stand for any of these.
    Text(&'a str),
}

/// How the raw columns of a table become features, in the order of the features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Columns {
    /// One entry per column that is used.
    pub list: Vec<Column>,
}

/// How one raw column becomes features: those of its encoding, then the indicator of missing values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The name of the raw column.
    pub name: String,
    /// What its cells hold.
    pub encoding: Encoding,
    /// What a missing value is filled with: one number per feature of the encoding, none for categories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fill: Vec<f64>,
    /// Whether a feature says where values are missing: where some were in training.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indicator: bool,
}

/// What the cells of a column hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Numbers.
    Number {
        /// Whether a text that is no number counts as missing, as the user wished.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lenient: bool,
    },
    /// Yes and no.
    Boolean {},
    /// Dates.
    Date {
        /// The first day in training, from which days are counted, since the beginning of 1970.
        origin: i64,
        /// Whether the hour is a feature.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hour: bool,
        /// What comes first in texts such as `3/4/2021`, where training had some.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        order: Option<DateOrder>,
    },
    /// Categories, in the order of their features.
    Categories {
        /// Their spelling.
        values: Vec<String>,
        /// Whether those that training had rarely share a feature, which new ones then have too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        rare: bool,
    },
}

impl Encoding {
    /// In a word, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Encoding::Number { .. } => "number",
            Encoding::Boolean {} => "boolean",
            Encoding::Date { .. } => "date",
            Encoding::Categories { .. } => "categories",
        }
    }

    /// The number of its features.
    pub fn width(&self) -> usize {
        match self {
            Encoding::Number { .. } | Encoding::Boolean {} => 1,
            Encoding::Date { hour, .. } => 4 + usize::from(*hour),
            Encoding::Categories { values, rare } => values.len() + usize::from(*rare),
        }
    }

    /// The number of its features that a missing value is filled into.
    fn filled(&self) -> usize {
        if matches!(self, Encoding::Categories { .. }) { 0 } else { self.width() }
    }
}

impl Column {
    /// A column whose missing values are not yet filled with anything but 0.
    pub fn new(name: impl Into<String>, encoding: Encoding, indicator: bool) -> Self {
        let fill = vec![0.0; encoding.filled()];
        Column { name: name.into(), encoding, fill, indicator }
    }

    /// The number of its features.
    pub fn width(&self) -> usize {
        self.encoding.width() + usize::from(self.indicator)
    }

    fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        let mut names: Vec<String> = match &self.encoding {
            Encoding::Number { .. } | Encoding::Boolean {} => vec![name.clone()],
            Encoding::Date { hour, .. } => {
                let parts = ["year", "month", "weekday", "days", "hour"];
                parts[..4 + usize::from(*hour)].iter().map(|part| format!("{name} {part}")).collect()
            }
            Encoding::Categories { values, rare } => {
                let rare = rare.then_some("(rare)");
                values.iter().map(String::as_str).chain(rare).map(|value| format!("{name}={value}")).collect()
            }
        };
        names.extend(self.indicator.then(|| format!("{name}{IS_MISSING}")));
        names
    }
}

/// The suffix of the feature that says where a column has no value.
pub const IS_MISSING: &str = " is missing";

impl Columns {
    /// The number of features.
    pub fn width(&self) -> usize {
        self.list.iter().map(Column::width).sum()
    }

    /// The names of the features.
    pub fn feature_names(&self) -> Vec<String> {
        self.list.iter().flat_map(Column::feature_names).collect()
    }

    /// For every feature the column that it comes from, as a position in the list.
    pub fn sources(&self) -> Vec<usize> {
        let of = |(at, column): (usize, &Column)| std::iter::repeat_n(at, column.width());
        self.list.iter().enumerate().flat_map(of).collect()
    }

    /// Refuses columns of which two would make a feature of the same name, and fills that do not fit.
    pub fn check(&self) -> Result<()> {
        let names = self.feature_names();
        if names.iter().collect::<HashSet<_>>().len() < names.len() {
            let clash = "a column has the name of a feature made from another, such as \"colour=red\"";
            return Err(Error::data(clash).with_remedy("rename it"));
        }
        let fits = |column: &Column| {
            column.fill.len() == column.encoding.filled() && column.fill.iter().all(|fill| fill.is_finite())
        };
        match self.list.iter().find(|column| !fits(column)) {
            None => Ok(()),
            Some(column) => {
                Err(Error::data(format!("the fill values of column {:?} do not fit it", column.name)))
            }
        }
    }

    /// The features that missing values are filled into: column of the list, which of its fill values, feature, and its indicator.
    pub(crate) fn fills(&self) -> impl Iterator<Item = Fill> + '_ {
        let mut start = 0;
        self.list.iter().enumerate().flat_map(move |(column, of)| {
            let first = start;
            start += of.width();
            let indicator = of.indicator.then_some(first + of.encoding.width());
            (0..of.fill.len()).map(move |place| Fill { column, place, feature: first + place, indicator })
        })
    }
}

/// Where a missing value is filled in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub column: usize,
    pub place: usize,
    pub feature: usize,
    pub indicator: Option<usize>,
}
