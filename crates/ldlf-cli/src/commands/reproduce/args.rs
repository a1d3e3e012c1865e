//! The arguments of `ldlf reproduce`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{ColumnOptions, Compute, values};

/// `ldlf reproduce`.
#[derive(Args)]
pub struct Reproduce {
    /// The experiment: table1, table2, table3, figure3 or complexity
    pub name: String,
    /// The folder with the sets: ldl/NAME.mat, folds/NAME.txt, morph/MORPH.*
    #[arg(long, default_value = "data", value_name = "DIR")]
    pub data: PathBuf,
    /// Only these sets
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "table")]
    pub sets: Vec<String>,
    /// A table of your own in place of the sets, such as deep features with an age column
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub table: Option<PathBuf>,
    /// The ten folds of your own table: one number per line, from 0, no header
    #[arg(long, value_name = "FILE", requires = "table")]
    pub fold_file: Option<PathBuf>,
    /// These learners instead of the table's own
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub learner: Vec<String>,
    /// A parameter of a learner; may be repeated
    #[arg(long, value_name = "LEARNER.NAME=VALUE")]
    pub set: Vec<String>,
    /// Repeats of the cross-validation with new folds, 1 by default; random splits per fraction, 10 by default
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub repeats: Option<usize>,
    /// The folder for finished folds and results; by default reproduce-NAME here
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Fit nothing: show what is already finished in the output folder, and name the rest
    #[arg(long)]
    pub finished: bool,
    /// Print everything as JSON instead of Markdown
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub compute: Compute,
    #[command(flatten)]
    pub options: ColumnOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Sets that are not in the folder are named with where to get them; the others are run. Finished folds are kept in the output
folder: after Ctrl-C the same command resumes from there, and with --finished it shows what there is so far.

Examples:
  ldlf reproduce table2 --data data
  ldlf reproduce table3 --data data --sets FG-Net --repeats 5 --learner sldlf,larr,d2ldl
  ldlf reproduce table2 --table fc7.parquet --label-column age --sigma 2 --group person
  ldlf reproduce table1 --data data --sets Movie --json > table1.json
  ldlf reproduce figure3 --data data --sets Movie --repeats 2
  ldlf reproduce complexity";
