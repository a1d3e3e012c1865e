//! What the verbs share: the call as a whole, and options that several of them take.

mod data;
mod images;
pub mod values;

use clap::{Args, Parser};
use ldlf::{Result, Threads};

use crate::commands::Command;
pub use data::{ColumnOptions, DataOptions, read_with};
pub use images::{BadImages, ImageOptions, NetworkOptions};
pub use values::Axis;

/// Learn and predict label distributions: how much each label describes each row.
#[derive(Parser)]
#[command(name = "ldlf", version, long_version = crate::built_from::LONG_VERSION, after_help = OVERVIEW, max_term_width = 100)]
pub struct Cli {
    /// No progress and no messages; results and errors only.
    #[arg(short, long, global = true, display_order = 900)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const OVERVIEW: &str = "\
Start here:
  ldlf demo                                                    no file needed
  ldlf train votes.csv --labels 'votes_*' --out votes.ldlf     learn from a table
  ldlf predict votes.ldlf new.csv --out predicted.csv          predict new rows
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,mean    compare learners

Exit codes: 0 ok, 2 usage, 3 bad data, 4 bad model file, 5 training failed, 130 interrupted, 1 anything else.";

/// Randomness and threads.
#[derive(Args)]
pub struct Compute {
    /// The random seed
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[command(flatten)]
    pub threads: ThreadOptions,
}

/// Threads alone, for verbs without randomness.
#[derive(Args)]
pub struct ThreadOptions {
    /// Number of threads; 0 means one per core. Results do not depend on it
    #[arg(id = "threads", long = "threads", default_value_t = 0, value_name = "N")]
    pub count: usize,
}

impl ThreadOptions {
    /// The threads, one of which is the caller's.
    pub fn pool(&self) -> Result<Threads> {
        Ok(Threads::joined_by_caller(self.count)?)
    }
}

/// What all verbs take that fit learners to data.
#[derive(Args)]
pub struct FitOptions {
    #[command(flatten)]
    pub compute: Compute,
    #[command(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    pub options: DataOptions,
}
