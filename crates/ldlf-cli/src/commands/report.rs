//! `ldlf report`: results and models as one HTML page.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use ldlf::internals::io::output::{Overwrite, write_atomically};
use ldlf::{Dataset, Error, Prediction, Result, TrainedModel};
use ldlf_report::load::{self, Evaluation};
use ldlf_report::page::{self, ReportedModel, RowsShown, Subgroups};

use super::Ending;
use super::evaluate::{asked_of_rows, compare};
use crate::args::ThreadOptions;
use crate::inputs::{check_destination, is_standard};
use crate::inspected_model;
use crate::inspected_model::{BySubgroup, ModelOptions};
use crate::printer::{Printer, counted};

/// `ldlf report`.
#[derive(Args)]
pub struct Report {
    /// Folders of `cv --results`, JSON of `cv` or `sweep`, tables of `sweep --out`, or journals
    #[arg(value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// Where to write the page
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// The page's heading
    #[arg(long, default_value = "Label distribution learning: results", value_name = "TEXT")]
    pub title: String,
    /// A row to show, numbered from 0; may be repeated
    #[arg(long, value_name = "N")]
    pub row: Vec<usize>,
    /// What `train --out-of-fold` wrote, for data that the model was trained on: rows are then shown as predicted without being learnt from
    #[arg(long, value_name = "FILE", requires = "model")]
    pub out_of_fold: Option<PathBuf>,
    /// Also measure the rows of every value of this column of the data by themselves
    #[arg(long, value_name = "COLUMN", requires = "model")]
    pub by: Option<String>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub threads: ThreadOptions,
    #[command(flatten)]
    pub model: ModelOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Examples:
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,bfgs-ldl,mean --results results
  ldlf report results -o report.html
  ldlf report movie scene yeast -o all.html                    ranks and tests over the three
  ldlf report sweep.journal --model votes.ldlf --data test.csv --by country -o model.html
  ldlf train votes.csv --labels 'votes_*' --out-of-fold unseen.csv --out votes.ldlf
  ldlf report --model votes.ldlf --data votes.csv --out-of-fold unseen.csv -o model.html

Rows that the model was trained on are never shown as if they were new: with --out-of-fold they are shown as trees predicted them that did
not learn from them, without it they are left out.";

/// Reads everything, draws it, and writes the page.
pub fn run(args: &Report, printer: &Printer) -> Result<Ending> {
    if is_standard(&args.out) {
        return Err(Error::usage("the report is a file; name one with --out"));
    }
    if args.results.is_empty() && args.model.model.is_none() {
        return Err(Error::usage(
            "there is nothing to report; name results, or a model with --model and --data",
        ));
    }
    let overwrite = check_destination(&args.out, args.force)?;
    inspected_model::check_results(&args.results)?;
    let evaluations = read_all(&args.results)?;
    let threads = args.threads.pool()?;
    let model = match inspected_model::read(&args.model, printer)? {
        Some((name, model, data)) => {
            let out_of_fold = match &args.out_of_fold {
                Some(path) => Some(inspected_model::read_out_of_fold(path, &model, &data)?),
                None => None,
            };
            if !model.was_fitted_on(data.inputs()) && model.known_inputs().is_some() && out_of_fold.is_some()
            {
                printer.message(format_args!(
                    "note: the model was not trained on these rows; --out-of-fold is left out"
                ));
            }
            let by = args.by.as_ref().map(|column| {
                let (model, data) = (&model, &data);
                move |prediction: &Prediction| subgroups(column, args, model, data, prediction)
            });
            let by = by.as_ref().map(|by| by as BySubgroup<'_>);
            let found =
                inspected_model::inspected(&name, &model, &data, out_of_fold, by, &args.row, &threads)?;
            if found.shown == RowsShown::Training {
                printer.message(format_args!(
                    "note: the model was trained on these rows, which are not shown; name --out-of-fold, or other rows"
                ));
            }
            Some(found)
        }
        None => None,
    };
    let page = page::Report { title: args.title.clone(), evaluations, model, chosen: args.row.clone() };
    let bytes = write(&args.out, overwrite, &page)?;
    printer.message(format_args!("report: {} ({})", args.out.display(), counted(bytes, "byte")));
    Ok(Ending::Done)
}

/// Measures by subgroup, as `ldlf evaluate --by` has them.
fn subgroups(
    column: &str,
    args: &Report,
    model: &TrainedModel,
    data: &Dataset,
    prediction: &Prediction,
) -> Result<Subgroups> {
    let path = args.model.data.as_deref().unwrap_or(Path::new(""));
    let rows = compare::subgroups(column, path, &args.model.options, data)?;
    let compared =
        compare::per_row(&asked_of_rows(&[], model.schema.label_values.is_some()), model, prediction, data);
    let values = rows.iter().map(|(value, rows)| {
        let means =
            compare::means(&compared, data, rows).into_iter().map(|one| [one.value, one.low, one.high]);
        (value.clone(), rows.len(), means.collect())
    });
    Ok(Subgroups {
        column: column.to_string(),
        measures: compared.iter().map(|one| one.title.clone()).collect(),
        units: compare::units(data).to_string(),
        values: values.collect(),
    })
}

/// The evaluations of all paths, in their order.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Evaluation>> {
    let mut evaluations = Vec::new();
    for path in paths {
        evaluations.extend(load::read(path)?);
    }
    Ok(evaluations)
}

/// Writes the page whole or not at all, and says how large it is.
pub fn write(path: &Path, overwrite: Overwrite, report: &page::Report) -> Result<usize> {
    let html = page::render(report)?;
    write_atomically(path, overwrite, |out| out.write_all(html.as_bytes()))?;
    Ok(html.len())
}

/// The report of one results folder and its model.
pub fn of_folder(title: &str, folder: &Path, model: ReportedModel) -> Result<page::Report> {
    let evaluations = load::read(folder)?;
    Ok(page::Report { title: title.to_string(), evaluations, model: Some(model), chosen: Vec::new() })
}
