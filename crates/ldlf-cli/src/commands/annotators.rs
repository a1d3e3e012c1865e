//! `ldlf annotators`: how reliable those are who voted.

use std::path::PathBuf;

use clap::Args;
use ldlf::internals::core::votes::annotators::{Annotator, reliability};
use ldlf::internals::io::read::{Format, LongColumns, votes};
use ldlf::internals::io::write::{Column, Formulas, TableForm, save_table};
use ldlf::{Error, Result};
use serde_json::json;

use super::Ending;
use crate::args::values;
use crate::inputs::{check_destination, check_input};
use crate::printer::{Printer, Table, counted, number};

/// `ldlf annotators`.
#[derive(Args)]
pub struct Annotators {
    /// The table with one vote per line
    pub data: PathBuf,
    /// Its columns of the item, of who voted and of the label
    #[arg(long, value_name = "ITEM,ANNOTATOR,LABEL", value_parser = values::long)]
    pub long: LongColumns,
    #[arg(
        long,
        value_parser = values::format,
        help = format!("The format, if the extension does not say: {}", values::formats())
    )]
    pub format: Option<Format>,
    #[arg(long, short, value_name = "FILE", help = format!("Also write a table ({})", values::table_extensions()))]
    pub out: Option<PathBuf>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Reliability is estimated by the model of Dawid and Skene (1979): every item has one true label, every annotator calls labels
right or wrong as often as their votes beside those of the others say. `accuracy` is how often an annotator is right,
`reliability` the same beyond chance: 1 for who is always right, 0 for who votes without looking. Where people rightly
disagree all of them look less reliable; the order still tells who answers at random. An annotator of few votes stays near 0.5.

`ldlf train --long item,annotator,label --weigh-annotators` lets votes count by it.

Examples:
  ldlf annotators votes.csv --long item,annotator,label
  ldlf annotators votes.csv --long item,annotator,label --out annotators.csv";

/// Estimates the reliability of all annotators and prints it, the least reliable first.
pub fn run(args: &Annotators, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    if args.long.annotator.is_none() {
        return Err(Error::usage("who voted? Name the column: --long item,annotator,label"));
    }
    let out = match &args.out {
        None => None,
        Some(path) => Some((path, TableForm::of(path)?, check_destination(path, args.force)?)),
    };
    let (votes, notices) = votes(&args.data, args.format, &args.long)?;
    printer.notes(&notices);
    let mut found = reliability(&votes)?;
    // Equal ones stay in the order of their first votes.
    found.annotators.sort_by(|a, b| a.reliability.total_cmp(&b.reliability));
    if let Some((path, form, overwrite)) = out {
        let names: Vec<String> = found.annotators.iter().map(|one| one.annotator.clone()).collect();
        let numbers = |of: fn(&Annotator) -> f64| found.annotators.iter().map(of).collect::<Vec<f64>>();
        let columns = [
            Column::Names("annotator", &names),
            Column::Numbers("votes", numbers(|one| one.votes as f64)),
            Column::Numbers("accuracy", numbers(|one| one.accuracy)),
            Column::Numbers("reliability", numbers(|one| one.reliability)),
        ];
        save_table(path, overwrite, form, Formulas::Kept, |mut writer| {
            writer.block(&columns).and_then(|()| writer.finish()).map_err(|e| Error::io(path, e))
        })?;
    }
    if args.json {
        let shares: serde_json::Map<String, serde_json::Value> = votes
            .labels()
            .iter()
            .zip(&found.label_shares)
            .map(|(label, &share)| (label.clone(), json!(share)))
            .collect();
        printer.json(&json!({
            "votes": votes.len(),
            "items": votes.items(),
            "label_shares": shares,
            "rounds": found.rounds,
            "annotators": found.annotators,
        }))?;
        return Ok(Ending::Done);
    }
    let mut table = Table::new(["annotator", "votes", "accuracy", "reliability"]);
    for one in &found.annotators {
        table.row([
            one.annotator.clone(),
            one.votes.to_string(),
            number(Some(one.accuracy)),
            number(Some(one.reliability)),
        ]);
    }
    let (annotators, items) = (counted(found.annotators.len(), "annotator"), counted(votes.items(), "item"));
    printer.text(&format!("{annotators} on {items}, the least reliable first\n\n{table}"))?;
    Ok(Ending::Done)
}
