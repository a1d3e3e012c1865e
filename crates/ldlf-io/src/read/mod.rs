//! From a file to a [`Dataset`], one module per format; and features alone, block by block, for predictions.
//!
//! | format | labels | features |
//! |---|---|---|
//! | [`mat`], MATLAB v5/v7 | variable `labels` | variable `features`, dense or sparse |
//! | [`csv`], comma or tab separated, with a header | columns named in [`ReadOptions::labels`] | the other columns |
//! | `parquet`, `arrow` (feature `parquet`), `xlsx` (feature `xlsx`), JSON lines | as for csv | as for csv |
//! | [`npz`] | array `labels` | array `features`, or CSR in `features_data`, ... |
//! | [`svm`], svmlight with distributions | `d1,d2,...` before the features | `index:value`, from 1 |
//!
//! Labels are shares or vote counts; rows that do not sum to 1 are normalised, with one notice. One ordered label per
//! row (an age) becomes a distribution by [`ReadOptions::label_column`] and [`ReadOptions::spread`]; a column of texts holds classes. One
//! vote per line becomes counts by [`ReadOptions::long`].
//!
//! What a feature column holds (numbers, yes and no, dates, categories) its cells say, in a first pass over the table;
//! [`ldlf_core::columns`] decides, and [`ReadOptions::categories`], [`ReadOptions::numeric`] and [`ReadOptions::dates`] come first.
//!
//! **Density.** A matrix that a file stores dense is kept sparse while fewer than one in four of its entries differ from
//! zero, and dense `f32` from there on. What a file stores sparse stays sparse.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ldlf_core::error::{Message, Subject};
use ldlf_core::targets::Spread;
use ldlf_core::votes::{VoteWeights, Votes};
use ldlf_core::{Dataset, Error, Features, Result, Schema, message};

use crate::format::{FORMATS, Reads};

#[cfg(feature = "parquet")]
pub(crate) mod arrow;
mod assemble;
mod classes;
#[cfg(feature = "parquet")]
mod columnar;
pub mod csv;
pub(crate) mod gather;
mod joined;
pub(crate) mod json_lines;
mod label_order;
mod lines;
mod long;
pub mod mat;
mod model_columns;
mod npy;
pub mod npz;
mod numbers;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod partitioned;
mod plan;
mod roles;
mod source;
pub mod svm;
pub(crate) mod table;
mod table_rows;
mod text;
mod votes;
#[cfg(feature = "xlsx")]
pub(crate) mod xlsx;

pub use crate::format::Format;
pub use long::LongColumns;
pub use plan::ColumnPlan;
pub(crate) use source::Source;
use source::Tables;
pub use source::{files_meant, is_file_of, is_folder_of_tables, is_pattern};

/// What the columns of a file are for.
///
/// In formats without column names (`.mat`, `.npz`, svmlight), [`labels`](Self::labels) and [`features`](Self::features)
/// do not choose anything: when given, they are the names of all labels and features in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The format; by the extension when absent. Standard input (`-`) needs it.
    pub format: Option<Format>,
    /// Names of label columns, or patterns with `*`.
    pub labels: Vec<String>,
    /// A column, or a `.mat` or `.npz` vector, with one ordered label per row. With a [`spread`](Self::spread) the targets
    /// are made from it; without one, the labels of the file are the targets and this is the truth beside them.
    pub label_column: Option<String>,
    /// How a single label spreads over its neighbours; a sigma of 0 chooses one-hot targets.
    pub spread: Option<Spread>,
    /// The numbers that the labels stand for, rising. By default every integer between the smallest and the largest
    /// single label, or their distinct values when some are no integers.
    pub label_values: Option<Vec<f64>>,
    /// Names of feature columns, or patterns with `*`; all columns without another role when empty.
    pub features: Vec<String>,
    /// Names of feature columns that hold categories, or patterns with `*`: each category becomes a feature of its own.
    pub categories: Vec<String>,
    /// Names of feature columns that hold numbers, or patterns with `*`: texts that are none count as missing.
    pub numeric: Vec<String>,
    /// Names of feature columns that hold dates, or patterns with `*`.
    pub dates: Vec<String>,
    /// Names of columns to leave out, or patterns with `*`.
    pub ignore: Vec<String>,
    /// A column or vector with the weight of each row.
    pub sample_weights: Option<String>,
    /// A column or vector with the part that each row belongs to.
    pub split_column: Option<String>,
    /// A column or vector of which equal values belong together (one person).
    pub group: Option<String>,
    /// A column that names the image of each row: the rows then have no features, and columns without a role are left out.
    /// Needs a table with named columns.
    pub image_column: Option<String>,
    /// The labels of the rows of a table with named columns, in a file beside it: a `.npy` array of vote counts or shares, `[rows,
    /// labels]`, or with [`long`](Self::long) a table of votes.
    pub votes: Option<PathBuf>,
    /// One vote per line, in [`votes`](Self::votes) or else in the table itself: the votes on an item become its counts, and the items
    /// are the rows.
    pub long: Option<LongColumns>,
    /// Whether a vote counts as much as its annotator is reliable ([`ldlf_core::votes::annotators`]).
    pub weigh_annotators: bool,
    /// How much rows weigh by their number of votes; alike when absent.
    pub weight_by_votes: Option<VoteWeights>,
    /// What becomes of rows of which a label is missing.
    pub missing_labels: MissingLabels,
    /// Refuse rows of labels that need normalising.
    pub strict: bool,
}

/// What becomes of rows of a table of which some labels are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingLabels {
    /// They are an error.
    #[default]
    Refuse,
    /// What is missing is 0: a pivot table leaves out what nobody chose.
    Zero,
    /// They are left out.
    Skip,
}

/// A dataset and what the user should know about how it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The rows; with [`ReadOptions::image_column`] they are images of which only the names are known yet.
    pub dataset: Dataset,
    /// One sentence each, for the user.
    pub notices: Vec<Message>,
    /// What every column is for and how it was read, where columns have names.
    pub plan: Vec<ColumnPlan>,
}

/// Reads a whole file, or standard input for `-`; a folder of tables with the same columns, or a pattern such as `parts/*.csv`, is one
/// table.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Loaded> {
    read_as(path, options, None)
}

/// As [`read`], with the features of a model that has such a schema.
pub(crate) fn read_as(path: &Path, options: &ReadOptions, model: Option<&Schema>) -> Result<Loaded> {
    options.spread.as_ref().map_or(Ok(()), Spread::check)?;
    long::check(options)?;
    match Tables::find(path, options.format)? {
        Ok(tables) => table::read(&tables, options, model),
        Err(source) => {
            refuse_beside_unnamed(&source, options)?;
            match source.format()?.reads {
                Reads::Arrays { read, .. } => read(source, options),
                Reads::Table(_) => Err(unknown_extension(path).in_file(&source.file)),
            }
        }
    }
}

/// What every column of a table would be for and how it would be read, with what the user should know; nothing else is read.
pub fn plan(path: &Path, options: &ReadOptions) -> Result<(Vec<ColumnPlan>, Vec<Message>)> {
    match Tables::find(path, options.format)? {
        Ok(tables) => table::plan(&tables, options),
        Err(source) => Err(needs_names(&source, Subject::Features)),
    }
}

/// Reads the votes of a table with one vote per line.
pub fn votes(path: &Path, format: Option<Format>, columns: &LongColumns) -> Result<(Votes, Vec<Message>)> {
    match Tables::find(path, format)? {
        Ok(tables) => long::votes(&tables, columns),
        Err(source) => Err(needs_names(&source, Subject::Long)),
    }
}

/// Reads one column of text of a table, whatever else stands in it; `role` is what named it.
pub fn text_column(path: &Path, format: Option<Format>, column: &str, role: Subject) -> Result<Vec<String>> {
    match Tables::find(path, format)? {
        Ok(tables) => table::text_column(tables.open()?, column, role),
        Err(source) => Err(needs_names(&source, role)),
    }
}

/// Features of a file in blocks of rows, in bounded memory where the format allows it (all but `.mat`, sparse or
/// Fortran-ordered arrays in `.npz`: those are read whole and then cut).
pub trait RowStream: Send {
    /// At most `rows` further rows, or `None` after the last. All blocks are dense, or all are sparse: the first block settles it.
    fn next_block(&mut self, rows: usize) -> Result<Option<Features>>;

    /// The same with what passes through beside the features; rows that cannot be read are apart where that was asked for.
    fn next_rows(&mut self, rows: usize) -> Result<Option<RowBlock>> {
        Ok(self.next_block(rows)?.map(|features| RowBlock { features, kept: Vec::new(), bad: Vec::new() }))
    }

    /// The names of the columns that pass through.
    fn kept_names(&self) -> &[String] {
        &[]
    }

    /// Passes over so many rows, or all that there are.
    fn skip(&mut self, mut rows: usize) -> Result<()> {
        while rows > 0 {
            let Some(block) = self.next_rows(rows.min(SKIPPED_AT_ONCE))? else { break };
            rows -= block.rows();
        }
        Ok(())
    }

    /// The number of rows in all, where the format says so beforehand.
    fn total_rows(&self) -> Option<usize>;

    /// What the user should know about the rows given out so far, such as values that training did not have.
    fn notices(&self) -> Vec<Message> {
        Vec::new()
    }
}

/// Some rows of a stream.
#[derive(Debug)]
pub struct RowBlock {
    /// The rows that could be read.
    pub features: Features,
    /// The texts of the columns that pass through, `[columns][rows]`; rows that could not be read are among them.
    pub kept: Vec<Vec<String>>,
    /// The rows that could not be read, in their order.
    pub bad: Vec<BadRow>,
}

impl RowBlock {
    /// The number of rows, those that could not be read included.
    pub fn rows(&self) -> usize {
        self.features.rows() + self.bad.len()
    }
}

/// A row that could not be read.
#[derive(Debug)]
pub struct BadRow {
    /// Its number within its block, from 0.
    pub row: usize,
    /// Why.
    pub error: Error,
}

/// What a stream of rows is to give.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The names of the model.
    pub schema: &'a Schema,
    /// How many features the model has.
    pub features: usize,
    /// Columns that pass through as text: names, or patterns with `*`. Needs columns with names.
    pub keep: &'a [String],
    /// Whether a row that cannot be read stands apart ([`RowBlock::bad`]) in place of ending the stream. Rows without a place of
    /// their own in the file, such as those of a matrix in `.mat`, always end it.
    pub tolerant: bool,
}

/// Rows that are read to be passed over, where a format has no quicker way.
const SKIPPED_AT_ONCE: usize = 1024;

/// Opens a file, or standard input for `-`, for features only.
///
/// A model with feature names gets its columns by name, in its order; other columns are left out. A model
/// without names gets all numeric columns that are not called like one of its labels, and their number must be `features`.
pub fn stream(
    path: &Path,
    format: Option<Format>,
    schema: &Schema,
    features: usize,
) -> Result<Box<dyn RowStream>> {
    stream_wanted(path, format, &Wanted { schema, features, keep: &[], tolerant: false })
}

/// The same with what else is wanted of the rows.
pub fn stream_wanted(path: &Path, format: Option<Format>, wanted: &Wanted<'_>) -> Result<Box<dyn RowStream>> {
    match Tables::find(path, format)? {
        Ok(tables) => table::stream(tables.open()?, wanted),
        Err(source) if !wanted.keep.is_empty() => Err(needs_names(&source, Subject::Keep)),
        Err(source) => match source.format()?.reads {
            Reads::Arrays { stream, .. } => stream(source, wanted.features),
            Reads::Table(_) => Err(unknown_extension(path).in_file(&source.file)),
        },
    }
}

fn no_pipe(file: &str, format: Format) -> Error {
    Error::usage(format!("{format} files are not read from a pipe"))
        .with_remedy("save it to a file first")
        .in_file(file)
}

fn empty(file: &str) -> Error {
    Error::data("the file is empty").in_file(file)
}

/// What to do about a file whose extension is that of no format.
fn unknown_extension(path: &Path) -> Error {
    let extension = path.extension().map(|text| text.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("npy") => Error::usage("a single array is not read")
            .with_remedy("save it with numpy.savez as features (and labels) of a .npz"),
        Some("xz" | "zip" | "7z" | "rar") => Error::usage("such archives are not read")
            .with_remedy("decompress it, or compress it by gzip, zstd or bzip2"),
        Some("xls" | "xlsb" | "ods") => {
            Error::usage("this kind of spreadsheet is not read").with_remedy("save it as .xlsx or .csv")
        }
        Some("json") => Error::usage("JSON is read as one object per line")
            .with_remedy("save it as .jsonl, in pandas with to_json(orient=\"records\", lines=True)"),
        Some("sav" | "dta" | "sas7bdat" | "rds" | "rdata" | "pkl" | "pickle" | "h5" | "hdf5") => {
            Error::usage("files of this kind are not read").with_remedy("save it as .csv or .parquet")
        }
        _ => Error::usage("the extension names no known format").with_remedy(message![
            "give ",
            Subject::Format,
            " (one of {FORMATS})"
        ]),
    }
}

/// The message of a container without an array or variable that it must have.
fn missing_name(file: &str, kind: &str, name: &str, held: &[String]) -> Error {
    let shown = if held.is_empty() { "none".to_string() } else { roles::listed(held) };
    let missing = Error::data(format!("no {kind} {name:?}; it holds {shown}")).in_file(file);
    match name {
        "features" | "labels" if !held.is_empty() => missing.with_remedy("name them features and labels"),
        _ => missing,
    }
}

/// A failed read: damage of the data, or the system's refusal.
fn read_error(file: &str, error: std::io::Error) -> Error {
    if error.kind() == ErrorKind::OutOfMemory {
        Error::data(error.to_string()).in_file(file)
    } else if numbers::is_damage(&error) {
        Error::data(format!("the file is damaged or cut short ({error})")).in_file(file)
    } else {
        Error::io(file, error)
    }
}

/// Refuses what stands beside the rows of a table in formats that bring their labels themselves.
fn refuse_beside_unnamed(source: &Source, options: &ReadOptions) -> Result<()> {
    let named = [
        (options.image_column.is_some(), Subject::ImageColumn),
        (options.votes.is_some(), Subject::Votes),
        (options.long.is_some(), Subject::Long),
        (options.missing_labels != MissingLabels::Refuse, Subject::MissingLabels),
    ];
    match named.into_iter().find(|(given, _)| *given) {
        Some((_, role)) => Err(needs_names(source, role)),
        None => Ok(()),
    }
}

fn needs_names(source: &Source, role: Subject) -> Error {
    let (known, format) = (Format::with_names(), source.format);
    Error::usage(message![role, " needs a table with named columns ({known}), not {format}"])
        .in_file(&source.file)
}

/// Refuses choices of columns by name in a format whose columns have none.
fn refuse_ignore(source: &Source, options: &ReadOptions) -> Result<()> {
    if options.ignore.is_empty() {
        return Ok(());
    }
    let format = source.format;
    let refusal = message![Subject::Ignore, " needs columns with names, which {format} files do not have"];
    Err(Error::usage(refusal).in_file(&source.file))
}

/// Blocks cut from features that are in memory.
struct InMemory {
    features: Features,
    next: usize,
}

impl InMemory {
    fn cut(file: &str, features: Features, expected: usize) -> Result<Box<dyn RowStream>> {
        check_feature_count(file, features.cols(), expected)?;
        Ok(Box::new(InMemory { features, next: 0 }))
    }
}

impl RowStream for InMemory {
    fn next_block(&mut self, rows: usize) -> Result<Option<Features>> {
        let end = self.next.saturating_add(rows.max(1)).min(self.features.rows());
        if self.next == end {
            return Ok(None);
        }
        let block: Vec<usize> = (self.next..end).collect();
        self.next = end;
        Ok(Some(self.features.select(&block)))
    }

    fn total_rows(&self) -> Option<usize> {
        Some(self.features.rows())
    }
}

fn check_feature_count(file: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::data(format!("{found} features where the model expects {expected}")).in_file(file))
}
