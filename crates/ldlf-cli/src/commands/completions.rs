//! `ldlf completions`: a script for a shell.

use clap::builder::PossibleValuesParser;
use clap::{Args, Command, CommandFactory};
use ldlf::internals::io::read::Format;
use ldlf::internals::io::write::estimates::Estimate;
use ldlf::{Result, measures, registry};

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
    clap_complete::generate(args.shell, &mut with_values(Cli::command()), "ldlf", &mut script);
    printer.text(&String::from_utf8_lossy(&script))?;
    Ok(Ending::Done)
}

/// The call with the values of options whose words the parser leaves to others: learners, presets, formats, estimates, measures.
fn with_values(mut call: Command) -> Command {
    let mut presets: Vec<&str> =
        registry::learners().iter().flat_map(|entry| (entry.presets)()).map(|preset| preset.name).collect();
    presets.sort_unstable();
    presets.dedup();
    let known: [(&str, Vec<&str>); 6] = [
        ("learner", registry::names(|_| true)),
        ("preset", presets),
        ("format", Format::ALL.iter().map(|format| format.name()).collect()),
        ("write", Estimate::WORDS.to_vec()),
        ("measure", measures::all().iter().map(|measure| measure.name).collect()),
        ("measures", measures::all().iter().map(|measure| measure.name).collect()),
    ];
    let verbs: Vec<String> = call.get_subcommands().map(|verb| verb.get_name().to_string()).collect();
    for verb in verbs {
        call = call.mut_subcommand(verb, |mut verb| {
            let name = match verb.get_name() {
                // The learner that is described, and the experiment.
                "learners" => registry::names(|_| true),
                "reproduce" => super::reproduce::names(),
                _ => Vec::new(),
            };
            let own = Some(("name", name)).filter(|(_, words)| !words.is_empty());
            for (option, words) in known.iter().chain(&own) {
                if verb.get_arguments().any(|argument| argument.get_id() == *option) {
                    let parser = PossibleValuesParser::new(words.clone());
                    verb = verb.mut_arg(option, |argument| argument.value_parser(parser));
                }
            }
            verb
        });
    }
    call
}
