//! From a file to a [`Dataset`], one module per format; and features alone, block by block, for predictions.
//!
//! | format | labels | features |
//! |---|---|---|
//! | [`mat`], MATLAB v5/v7 | variable `labels` | variable `features`, dense or sparse |
//! | [`csv`], comma or tab separated, with a header | columns named in [`ReadOptions::labels`] | the other columns |
//! | `parquet`, `arrow` (feature `parquet`) | as for csv | as for csv |
//! | [`npz`] | array `labels` | array `features`, or CSR in `features_data`, ... |
//! | [`svm`], svmlight with distributions | `d1,d2,...` before the features | `index:value`, from 1 |
//!
//! Labels are shares or vote counts; rows that do not sum to 1 are normalised, with one notice. One ordered label per
//! row (an age) becomes a distribution by [`ReadOptions::label_column`] and [`ReadOptions::spread`].
//!
//! Text in a feature column is read as categories where [`ReadOptions::categories`] says so, and missing values where
//! [`ReadOptions::missing_values`] allows them; both become features of their own, which later tables are matched to by name.
//!
//! **Density.** A matrix that a file stores dense is kept sparse while fewer than one in four of its entries differ from
//! zero, and dense `f32` from there on. What a file stores sparse stays sparse.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use ldlf_core::error::{Message, Subject, shown};
use ldlf_core::targets::Spread;
use ldlf_core::{Dataset, Error, Features, Result, Schema, message};

use crate::format::{FORMATS, FileFormat};
use crate::input;

#[cfg(feature = "parquet")]
pub(crate) mod arrow;
mod assemble;
#[cfg(feature = "parquet")]
mod columnar;
pub mod csv;
mod derived;
pub(crate) mod gather;
mod lines;
pub mod mat;
mod npy;
pub mod npz;
mod numbers;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod roles;
pub mod svm;
mod table_rows;
mod votes;

pub use crate::format::Format;

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
    /// Whether features may have missing values: each counts as 0, and a feature beside the column says where they are.
    pub missing_values: bool,
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
    /// A `.npy` array of vote counts or shares, `[rows, labels]`, beside a table with named columns: the labels of its rows.
    pub votes: Option<PathBuf>,
    /// Refuse rows of labels that need normalising.
    pub strict: bool,
}

/// A dataset and what the user should know about how it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The rows; with [`ReadOptions::image_column`] they are images of which only the names are known yet.
    pub dataset: Dataset,
    /// One sentence each, for the user.
    pub notices: Vec<Message>,
}

/// Reads a whole file, or standard input for `-`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Loaded> {
    options.spread.as_ref().map_or(Ok(()), Spread::check)?;
    let source = Source::open(path, options.format)?;
    refuse_beside_unnamed(&source, options)?;
    (source.format()?.read)(source, options)
}

/// Reads one column of text of a table, whatever else stands in it; `role` is what named it.
pub fn text_column(path: &Path, format: Option<Format>, column: &str, role: Subject) -> Result<Vec<String>> {
    let source = Source::open(path, format)?;
    match source.format()?.text_column {
        Some(text_column) => text_column(source, column, role),
        None => Err(needs_names(&source, role)),
    }
}

/// Features of a file in blocks of rows, in bounded memory where the format allows it (all but `.mat`, sparse or
/// Fortran-ordered arrays in `.npz`: those are read whole and then cut).
pub trait RowStream: Send {
    /// At most `rows` further rows, or `None` after the last. All blocks are dense, or all are sparse: the first block settles it.
    fn next_block(&mut self, rows: usize) -> Result<Option<Features>>;

    /// Passes over so many rows, or all that there are.
    fn skip(&mut self, mut rows: usize) -> Result<()> {
        while rows > 0 {
            let Some(block) = self.next_block(rows.min(SKIPPED_AT_ONCE))? else { break };
            rows -= block.rows();
        }
        Ok(())
    }

    /// The number of rows in all, where the format says so beforehand.
    fn total_rows(&self) -> Option<usize>;
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
    let source = Source::open(path, format)?;
    (source.format()?.stream)(source, schema, features)
}

/// What the columns are read for: decides which remedy a message may offer.
#[derive(Clone, Copy)]
enum Purpose {
    Learning,
    Predicting,
}

/// An input that is open, with what messages call it.
pub(crate) struct Source {
    /// What messages call it: the path as given.
    file: String,
    /// The file's stem, the name of the dataset.
    stem: String,
    format: Format,
    /// `None` is standard input.
    handle: Option<File>,
}

impl Source {
    fn open(path: &Path, format: Option<Format>) -> Result<Self> {
        if path == Path::new("-") {
            let format = format.ok_or_else(|| {
                Error::usage(message!["standard input needs ", Subject::Format, " (one of {FORMATS})"])
            })?;
            return Ok(Source { file: "stdin".into(), stem: "stdin".into(), format, handle: None });
        }
        let file = shown(&path.display().to_string());
        let format = format.or_else(|| Format::from_path(path));
        // A pipe that will not do is not waited for.
        if let Some(format) = format.filter(|format| format.seeks())
            && path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
        {
            return Err(no_pipe(&file, format));
        }
        let handle = input::open_stream(path)?;
        let format = format.ok_or_else(|| unknown_extension(path).in_file(&file))?;
        let stem = path.file_stem().map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned());
        Ok(Source { file, stem, format, handle: Some(handle) })
    }

    /// What its format can do, in a build that reads it.
    fn format(&self) -> Result<&'static FileFormat> {
        self.format.statement().map_err(|feature| {
            let format = self.format;
            Error::usage(format!("this build reads no {format}"))
                .with_remedy(format!("build it with the feature `{feature}`"))
                .in_file(&self.file)
        })
    }

    /// The bytes in order.
    fn into_reader(self) -> Box<dyn Read + Send> {
        match self.handle {
            Some(file) => Box::new(file),
            None => Box::new(std::io::stdin()),
        }
    }

    /// The file, for formats that are read from their end: neither standard input nor a pipe.
    fn into_seekable(self) -> Result<File> {
        match self.handle {
            Some(handle) if handle.metadata().is_ok_and(|m| m.is_file() && m.len() == 0) => {
                Err(empty(&self.file))
            }
            Some(handle) if handle.metadata().is_ok_and(|m| m.is_file()) => Ok(handle),
            _ => Err(no_pipe(&self.file, self.format)),
        }
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
        Some("gz" | "bz2" | "xz" | "zst" | "zip") => {
            Error::usage("compressed files are not read").with_remedy("decompress it first")
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
    let named = source.format()?.text_column.is_some();
    match (&options.image_column, &options.votes) {
        (Some(_), _) if !named => Err(needs_names(source, Subject::ImageColumn)),
        (_, Some(_)) if !named => Err(needs_names(source, Subject::Votes)),
        _ => Ok(()),
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
