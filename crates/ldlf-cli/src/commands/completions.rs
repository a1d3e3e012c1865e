//! `ldlf completions`: a script for a shell.

use clap::{Args, CommandFactory};
use ldlf::Result;

use super::Ending;
use crate::args::Cli;
use crate::printer::Printer;

/// `ldlf completions`.
#[derive(Args)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Examples:
  ldlf completions bash > ~/.local/share/bash-completion/completions/ldlf
  ldlf completions zsh > ~/.zfunc/_ldlf";

/// Prints the script.
pub fn run(args: &Completions, printer: &Printer) -> Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ldlf", &mut script);
    printer.text(&String::from_utf8_lossy(&script))?;
    Ok(Ending::Done)
}
