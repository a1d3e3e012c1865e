//! `ldlf importance`: how much worse a model gets without each column, as a table.

use std::path::PathBuf;

use clap::Args;
use ldlf::internals::core::explain::permutation_importance;
use ldlf::{Error, Result, measures};
use ldlf_report::plots;

use super::{Ending, plot};
use crate::args::{DataOptions, ThreadOptions};
use crate::inputs::{check_destination, check_input, load_model};
use crate::model_data::read_for_model;
use crate::printer::{Printer, Table, counted, number};

/// `ldlf importance`.
#[derive(Args)]
pub struct Importance {
    /// The model file
    pub model: PathBuf,
    /// Rows with labels to measure it on: new ones say more than those it was trained on
    pub data: PathBuf,
    /// Also write a figure (.svg, .png)
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub threads: ThreadOptions,
    #[command(flatten)]
    pub options: DataOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
The importance of a column is how much worse the model gets when the column is shuffled (permutation importance). Features that
come from one column, its categories and its indicator of missing values, are shuffled together. Columns that say the same
share their importance: each looks less important than it is.

Examples:
  ldlf importance votes.ldlf test.csv
  ldlf importance votes.ldlf test.csv --json
  ldlf importance votes.ldlf test.csv --out importance.svg";

/// Measures the importances and prints them, the most important first.
pub fn run(args: &Importance, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let out = match &args.out {
        None => None,
        Some(path) => Some((path, plot::Format::of(path)?, check_destination(path, args.force)?)),
    };
    let model = load_model(&args.model)?;
    let data = read_for_model(&model, &args.data, &args.options, printer)?;
    let found = permutation_importance(&model, &data, &args.threads.pool()?)?;
    if let Some((path, format, overwrite)) = out {
        if found.columns.iter().all(|column| column.rise <= 0.0) {
            return Err(Error::data(
                "no column makes the model worse when it is shuffled: there is nothing to draw",
            )
            .with_remedy("leave out --out to see the numbers"));
        }
        plot::write(path, overwrite, format, &plots::importance(&found))?;
    }
    if args.json {
        printer.json(&found)?;
        return Ok(Ending::Done);
    }
    let title = measures::title(found.measure);
    let mut table = Table::new(["column", "importance"]);
    for column in &found.columns {
        table.row([column.column.clone(), number(Some(column.rise))]);
    }
    printer.text(&format!(
        "{} of {}, {}: {title} {} rises by so much when the column is shuffled\n\n{table}",
        counted(found.rows, "row"),
        data.name(),
        model.learner,
        number(Some(found.unshuffled)),
    ))?;
    Ok(Ending::Done)
}
