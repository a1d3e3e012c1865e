//! `ldlf report`: results and models as one HTML page.

use std::io::Write;
use std::path::{Path, PathBuf};

use ldlf::output::{Overwrite, write_atomically};
use ldlf::{Error, Result, Threads};
use ldlf_report::load::{self, Evaluation};
use ldlf_report::page::{self, ReportedModel};

use super::{Ending, look};
use crate::args::Report;
use crate::inputs::{check_destination, is_standard};
use crate::printer::{Printer, counted};

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
    look::check_results(&args.results)?;
    let evaluations = read_all(&args.results)?;
    let threads = Threads::joined_by_caller(args.threads)?;
    let model = match look::read(&args.model, printer)? {
        Some((name, model, data)) => Some(look::inspected(&name, &model, &data, &args.row, &threads)?),
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
