//! The `ldlf` command: train, predict, evaluate and compare learners of label distributions.
//!
//! A thin layer: `args` parses the call, `commands/<verb>.rs` runs it with the library, `printer` shows the result. The binary and the
//! Python package both call [`run`].

mod args;
mod built_from;
mod commands;
mod contenders;
mod exit;
mod images;
mod inputs;
mod inspected_model;
mod model_data;
mod printer;
mod progress;
mod words;

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use ldlf::internals::core::LearnerEntry;
use ldlf::{Error, registry};

pub use crate::commands::catalogue;

use crate::args::Cli;
use crate::commands::Ending;
use crate::exit::Exit;
use crate::inputs::check_apart;
use crate::printer::{Printer, STDOUT};

/// A file that reaches the size limit of the process (`ulimit -f`) is an error of the write, like a full disk; by default the
/// signal would end the process before it can remove its temporary file.
fn survive_file_size_limits() {
    #[cfg(unix)]
    {
        let raised = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        // Where the signal cannot be handled the default remains: the process ends.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, raised);
    }
}

/// The arguments of the command as its parser knows them, from which the reference of the guide is made.
pub fn declaration() -> clap::Command {
    Cli::command()
}

/// Runs a call, whose first word is the program's name, and gives the exit code. A call that cannot be parsed, and `--help`, end the process.
pub fn run(call: impl IntoIterator<Item = OsString>) -> u8 {
    survive_file_size_limits();
    let call: Vec<OsString> = call.into_iter().collect();
    if call.len() <= 1 {
        return finish(
            Printer::new(false).text(&Cli::command().render_help().to_string()).map(|()| Ending::Done),
        );
    }
    let refused = |error: clap::Error| -> ! { with_hint(error, &call).exit() };
    let matches = Cli::command().try_get_matches_from(&call).unwrap_or_else(|error| refused(error));
    let apart = matches.subcommand().map_or(Ok(()), |(verb, call)| check_apart(verb, call));
    if let Err(error) = apart {
        return finish(Err(error));
    }
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| refused(error));
    let printer = Printer::new(cli.quiet);
    finish(commands::run(cli.command, &printer))
}

/// A parameter of a learner that is given as an option is set by `--set`.
fn with_hint(mut error: clap::Error, call: &[OsString]) -> clap::Error {
    let unknown = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => option.clone(),
        _ => return error,
    };
    let name = unknown.trim_start_matches('-').split('=').next().unwrap_or_default().replace('-', "_");
    let is_parameter = |entry: &LearnerEntry| (entry.parameters)().iter().any(|known| known.name == name);
    if registry::learners().iter().any(is_parameter) {
        // The parser keeps the option without its value, which stands behind it.
        let words: Vec<String> = call.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let option = unknown.split('=').next().unwrap_or_default();
        let value = words.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
            Some((before, value)) => (before == option).then(|| value.to_string()),
            None => words.get(at + 1).filter(|value| word == option && !value.starts_with("--")).cloned(),
        });
        let value = value.unwrap_or_else(|| "VALUE".into());
        let hint = ContextValue::String(format!("--set {name}={value}"));
        error.insert(ContextKind::SuggestedArg, hint);
    }
    error
}

/// `error:` as the parser of arguments writes it: red and bold on a terminal, unless `NO_COLOR` is set.
fn error_word() -> &'static str {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    if std::io::stderr().is_terminal() && !plain { "\x1b[1m\x1b[31merror:\x1b[0m" } else { "error:" }
}

/// Turns the outcome into an exit code; an error is one line on stderr.
fn finish(outcome: ldlf::Result<Ending>) -> u8 {
    match outcome {
        Ok(Ending::Done) => Exit::Done as u8,
        Ok(Ending::Interrupted) => Exit::Interrupted as u8,
        // The reader of the pipe has seen enough (`ldlf learners | head -3`): not an error.
        Err(Error::Io { path, source })
            if source.kind() == std::io::ErrorKind::BrokenPipe && path.as_os_str() == STDOUT =>
        {
            Exit::Done as u8
        }
        Err(error) => {
            let sentence = error.worded(&words::on_the_command_line);
            // Not eprintln: a closed stderr must not turn an error into a panic.
            let line = format!("{} {sentence}\n", error_word());
            let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
            Exit::of(&error) as u8
        }
    }
}
