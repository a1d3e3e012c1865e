//! `ldlf report`: results and models as one HTML page.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use ldlf::internals::io::output::{Overwrite, write_atomically};
use ldlf::{Error, Result};
use ldlf_report::load::{self, Evaluation};
use ldlf_report::page::{self, ReportedModel};

use super::Ending;
use crate::args::ThreadOptions;
use crate::inputs::{check_destination, is_standard};
use crate::inspected_model;
use crate::inspected_model::ModelOptions;
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
  ldlf report sweep.journal --model votes.ldlf --data votes.csv -o model.html";

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
            Some(inspected_model::inspected(&name, &model, &data, &args.row, &threads)?)
        }
        None => None,
    };
    let page = page::Report { title: args.title.clone(), evaluations, model, chosen: args.row.clone() };
    let bytes = write(&args.out, overwrite, &page)?;
    printer.message(format_args!("report: {} ({})", args.out.display(), counted(bytes, "byte")));
    Ok(Ending::Done)
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
