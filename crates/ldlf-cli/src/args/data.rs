//! How data are read: the options that train, evaluate, cv and sweep share.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ldlf::internals::core::inputs::InputKind;
use ldlf::internals::core::targets::Spread;
use ldlf::internals::core::votes::VoteWeights;
use ldlf::internals::io::read::{ColumnPlan, Format, LongColumns, MissingLabels, ReadOptions, plan, read};
use ldlf::{Dataset, Result};

use super::{ImageOptions, values};
use crate::images;
use crate::printer::Printer;

/// How rows are weighted by their number of votes.
#[derive(Clone, Copy, ValueEnum)]
enum WeightByVotes {
    Count,
    Effective,
}

/// What becomes of rows with a missing label.
#[derive(Clone, Copy, ValueEnum)]
enum MissingLabelWords {
    Refuse,
    Zero,
    Skip,
}

/// What the columns of the data are for.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub struct ColumnOptions {
    #[arg(
        long,
        value_parser = values::format,
        help = format!("The format, if the extension does not say: {}", values::formats())
    )]
    format: Option<Format>,
    /// The label columns: names or patterns such as 'votes_*'; shares or vote counts
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    labels: Vec<String>,
    /// Labels in a file beside the table: a NumPy file (.npy) of vote counts or shares with one line for each row and one number for
    /// each label, or with --long a table of votes
    #[arg(long, value_name = "FILE")]
    votes: Option<PathBuf>,
    /// One vote per line, in the data or in --votes: the columns of the item, of who voted (may be left out) and of the label
    #[arg(long, value_name = "ITEM,ANNOTATOR,LABEL", value_parser = values::long)]
    long: Option<LongColumns>,
    /// With --long: a vote counts as much as its annotator is reliable, as `ldlf annotators` estimates it
    #[arg(long)]
    weigh_annotators: bool,
    /// Weight rows by their number of votes: count, or effective, which levels off as the votes on a row agree
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "count")]
    weight_by_votes: Option<WeightByVotes>,
    /// Rows with a missing label are refused, or it counts as zero, or they are left out
    #[arg(long, value_name = "WHAT", default_value = "refuse", hide_default_value = true)]
    missing_labels: MissingLabelWords,
    /// A column with one label per row: a class, or a number such as an age, which --sigma or --triangle makes a distribution
    #[arg(long, value_name = "COLUMN")]
    label_column: Option<String>,
    /// Spread the single label as a Gaussian of this standard deviation; a list gives every label its own
    #[arg(
        long,
        value_name = "WIDTH",
        requires = "label_column",
        conflicts_with = "triangle",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    sigma: Vec<f64>,
    /// Spread the single label as a triangle that reaches this far to each side
    #[arg(long, value_name = "WIDTH", requires = "label_column", allow_hyphen_values = true)]
    triangle: Option<f64>,
    /// The numbers that the labels stand for: 0..100, or a list
    #[arg(long, value_name = "RANGE", value_parser = values::label_values, allow_hyphen_values = true)]
    // The full path keeps clap from taking the list for repeated arguments.
    label_values: Option<std::vec::Vec<f64>>,
    /// The feature columns: names or patterns; by default every column without another role that is no identifier
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    features: Vec<String>,
    /// Feature columns that hold categories, names or patterns; columns of text do by themselves
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    categories: Vec<String>,
    /// Feature columns that hold numbers, names or patterns: texts that are none count as missing
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    numeric: Vec<String>,
    /// Feature columns that hold dates, names or patterns
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    dates: Vec<String>,
    /// Accepted for older calls: missing values are always read
    #[arg(long, alias = "gaps", hide = true)]
    missing_values: bool,
    /// Columns to leave out: names or patterns
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ignore: Vec<String>,
    /// A column with the weight of each row
    #[arg(long, value_name = "COLUMN")]
    sample_weights: Option<String>,
    /// A column that says which rows are train, valid or test
    #[arg(long, value_name = "COLUMN")]
    split_column: Option<String>,
    /// A column whose equal values belong together, such as a person: they stay in one fold
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
    /// Refuse label rows that do not sum to 1 instead of normalising them
    #[arg(long)]
    strict: bool,
}

impl ColumnOptions {
    /// The same, as the library takes it.
    pub fn for_reading(&self) -> ReadOptions {
        let gaussian = match self.sigma[..] {
            [] => None,
            [sigma] => Some(Spread::Gaussian { sigma }),
            _ => Some(Spread::Gaussians { sigmas: self.sigma.clone() }),
        };
        ReadOptions {
            format: self.format,
            labels: self.labels.clone(),
            label_column: self.label_column.clone(),
            spread: gaussian.or(self.triangle.map(|width| Spread::Triangle { width })),
            label_values: self.label_values.clone(),
            features: self.features.clone(),
            categories: self.categories.clone(),
            numeric: self.numeric.clone(),
            dates: self.dates.clone(),
            ignore: self.ignore.clone(),
            sample_weights: self.sample_weights.clone(),
            split_column: self.split_column.clone(),
            group: self.group.clone(),
            image_column: None,
            votes: self.votes.clone(),
            long: self.long.clone(),
            weigh_annotators: self.weigh_annotators,
            weight_by_votes: self.weight_by_votes.map(|by| match by {
                WeightByVotes::Count => VoteWeights::Count,
                WeightByVotes::Effective => VoteWeights::Effective,
            }),
            missing_labels: match self.missing_labels {
                MissingLabelWords::Refuse => MissingLabels::Refuse,
                MissingLabelWords::Zero => MissingLabels::Zero,
                MissingLabelWords::Skip => MissingLabels::Skip,
            },
            strict: self.strict,
        }
    }

    /// Whether nothing is said about the data.
    pub fn is_default(&self) -> bool {
        self.for_reading() == ReadOptions::default()
    }

    /// Whether the source's own split is wanted.
    pub fn has_split(&self) -> bool {
        self.split_column.is_some()
    }
}

/// What the data are: a table, or images with a table beside them.
#[derive(Args)]
pub struct DataOptions {
    #[command(flatten)]
    pub columns: ColumnOptions,
    #[command(flatten)]
    pub images: ImageOptions,
    /// Memory for decoded images that are kept from epoch to epoch, such as 500MB; 0 keeps none
    #[arg(long, value_name = "SIZE", default_value = "1GB", value_parser = values::size, help_heading = "Images")]
    pub image_cache: usize,
}

impl DataOptions {
    /// What the columns are for, as the library takes it.
    pub fn for_reading(&self) -> ReadOptions {
        ReadOptions { image_column: self.images.image_column.clone(), ..self.columns.for_reading() }
    }

    /// Whether the source's own split is wanted.
    pub fn has_split(&self) -> bool {
        self.columns.has_split()
    }

    /// Reads the data and prints the reader's notices.
    pub fn read(&self, path: &Path, printer: &Printer) -> Result<Dataset> {
        self.read_as(path, &self.for_reading(), printer)
    }

    /// What every column would be for and how it would be read, printing the reader's notices.
    pub fn plan(&self, path: &Path, printer: &Printer) -> Result<Vec<ColumnPlan>> {
        let table = self.images.table.as_deref().unwrap_or(path);
        let (columns, notices) = plan(table, &self.for_reading())?;
        printer.notes(&notices);
        Ok(columns)
    }

    /// Reads the data for a training, with what every column is for.
    pub fn read_planned(&self, path: &Path, printer: &Printer) -> Result<(Dataset, Vec<ColumnPlan>)> {
        match self.images.kind_of(path)? {
            InputKind::Images => Ok((self.read(path, printer)?, Vec::new())),
            InputKind::Table => {
                let loaded = read(path, &self.for_reading())?;
                printer.notes(&loaded.notices);
                Ok((loaded.dataset, loaded.plan))
            }
        }
    }

    /// Reads the data with other roles of its columns than the call names.
    pub fn read_as(&self, path: &Path, options: &ReadOptions, printer: &Printer) -> Result<Dataset> {
        match self.images.kind_of(path)? {
            InputKind::Images => images::read(path, self, options, printer),
            InputKind::Table => read_with(path, options, printer),
        }
    }
}

/// Reads a table and prints the reader's notices.
pub fn read_with(path: &Path, options: &ReadOptions, printer: &Printer) -> Result<Dataset> {
    let loaded = read(path, options)?;
    printer.notes(&loaded.notices);
    Ok(loaded.dataset)
}
