//! `ldlf completions`: a script for a shell.

use clap::CommandFactory;
use ldlf::Result;

use super::Ending;
use crate::args::{Cli, Completions};
use crate::printer::Printer;

/// Prints the script.
pub fn run(args: &Completions, printer: &Printer) -> Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ldlf", &mut script);
    printer.text(&String::from_utf8_lossy(&script))?;
    Ok(Ending::Done)
}
