//! `ldlf learners`: every learner with what it takes.

use clap::Args;
use ldlf::internals::core::LearnerEntry;
use ldlf::{Result, registry};

use super::Ending;
use crate::printer::{Printer, Table, word};

/// `ldlf learners`.
#[derive(Args)]
pub struct Learners {
    /// Describe this learner with its parameters and presets
    pub name: Option<String>,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Examples:
  ldlf learners
  ldlf learners sldlf
  ldlf learners --json";

/// Lists all learners, or describes one.
pub fn run(args: &Learners, printer: &Printer) -> Result<Ending> {
    match &args.name {
        Some(name) => {
            let entry = registry::find(name)?;
            if args.json { printer.json(&entry.description())? } else { printer.text(&described(&entry))? }
        }
        None if args.json => {
            printer.json(&registry::learners().iter().map(LearnerEntry::description).collect::<Vec<_>>())?
        }
        None => printer.text(&listed())?,
    }
    Ok(Ending::Done)
}

fn listed() -> String {
    let mut table = Table::new(["learner", "takes", "what it is"]).left_columns(3).wrapped();
    for entry in registry::learners() {
        table.row([entry.name().to_string(), takes(&entry), entry.facts.summary.to_string()]);
    }
    format!("{table}\n`ldlf learners NAME` shows the parameters and presets of one.\n")
}

fn described(entry: &LearnerEntry) -> String {
    let mut text = format!("{}: {}\n", entry.name(), entry.facts.summary);
    if !entry.facts.source.is_empty() {
        text += &format!("source: {}\n", entry.facts.source);
    }
    text += &format!("takes: {}\n", takes(entry));
    let parameters = (entry.parameters)();
    if parameters.is_empty() {
        text += "\nThere are no parameters to set.\n";
    } else {
        let mut table =
            Table::new(["parameter", "default", "allowed", "what it does"]).left_columns(4).wrapped();
        for parameter in &parameters {
            let help = parameter.help.trim_end_matches('.').to_string();
            table.row([parameter.name.to_string(), word(&parameter.default), parameter.allowed(), help]);
        }
        text += &format!("\n{table}");
    }
    for preset in (entry.presets)() {
        text += &format!("\npreset {}: {}\n", preset.name, preset.help);
        let settings: Vec<String> =
            preset.settings.0.iter().map(|(name, value)| format!("{name}={}", word(value))).collect();
        text += &format!("  {}\n", settings.join(" "));
    }
    text
}

fn takes(entry: &LearnerEntry) -> String {
    let facts = &entry.facts;
    let words = [
        (facts.reads_images(), "images"),
        (facts.sparse, "sparse rows"),
        (facts.weights, "weights"),
        (facts.ordered, "ordered labels only"),
        (facts.iterates, "early stopping"),
    ];
    let has: Vec<&str> = words.iter().filter(|(has, _)| *has).map(|(_, word)| *word).collect();
    if has.is_empty() { "dense rows".into() } else { has.join(", ") }
}
