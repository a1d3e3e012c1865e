//! `ldlf evaluate`: the measures of a model on a table.

use std::path::PathBuf;

use clap::Args;
pub use ldlf::measures::{direction, title as measures_title};
use ldlf::{Result, measures};
use serde_json::json;

use super::Ending;
use crate::args::{DataOptions, ThreadOptions};
use crate::inputs::{check_input, load_model};
use crate::model_data::read_for_model;
use crate::printer::{Printer, Table, number};

/// `ldlf evaluate`.
#[derive(Args)]
pub struct Evaluate {
    /// The model file
    pub model: PathBuf,
    /// The rows to measure it on, or - for standard input with --format
    pub data: PathBuf,
    /// Print the measures as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub threads: ThreadOptions,
    #[command(flatten)]
    pub options: DataOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Feature and label columns are those the model names, unless options say otherwise. With --split-column only the rows marked
test are measured.

Examples:
  ldlf evaluate votes.ldlf test.csv
  ldlf evaluate movie.ldlf Movie.mat --json";

/// Predicts the rows and measures how far the predictions are from the labels.
pub fn run(args: &Evaluate, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let model = load_model(&args.model)?;
    let data = read_for_model(&model, &args.data, &args.options, printer)?;
    let prediction = model.predict_with(data.inputs(), &args.threads.pool()?)?;
    let scores = measures::score(&prediction, &data);
    if args.json {
        printer.json(&json!({
            "model": args.model.display().to_string(),
            "learner": model.learner,
            "dataset": data.name(),
            "rows": data.rows(),
            "measures": scores,
        }))?;
    } else {
        let mut table = Table::new(["measure", "value", "better"]).left_columns(1);
        for (name, value) in scores.iter() {
            table.row([measures::title(name), &number(value), better(name)]);
        }
        printer.text(&table.to_string())?;
    }
    Ok(Ending::Done)
}

/// Which way a measure points, in a word.
fn better(name: &str) -> &'static str {
    if measures::direction(name) == measures::Direction::LowerIsBetter { "lower" } else { "higher" }
}
