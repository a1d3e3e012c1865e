//! What the verbs share: the call as a whole, and options that several of them take.

mod data;
mod images;
pub mod values;

use clap::{Args, Parser};

use crate::commands::Command;
pub use data::{ColumnOptions, DataOptions, read_with};
pub use images::{BadImages, ImageOptions, NetworkOptions};
pub use values::Axis;

/// Learn and predict label distributions: how much each label describes each row.
#[derive(Parser)]
#[command(name = "ldlf", version, after_help = OVERVIEW, max_term_width = 100)]
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
    /// The seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Threads to use; 0 means one for every core. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
}
