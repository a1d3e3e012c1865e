//! The `ldlf` command: train, predict, evaluate and compare learners of label distributions.
//!
//! A thin binary: [`args`] parses the call, `commands/<verb>.rs` runs it with the library, [`printer`] shows the result.

mod args;
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

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use ldlf::Error;

use crate::args::Cli;
use crate::commands::Ending;
use crate::exit::Exit;
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

fn main() -> ExitCode {
    survive_file_size_limits();
    if std::env::args_os().len() == 1 {
        return finish(
            Printer::new(false).text(&Cli::command().render_help().to_string()).map(|()| Ending::Done),
        );
    }
    let cli = Cli::parse();
    let printer = Printer::new(cli.quiet);
    finish(commands::run(cli.command, &printer))
}

/// Turns the outcome into an exit code; an error is one line on stderr.
fn finish(outcome: ldlf::Result<Ending>) -> ExitCode {
    match outcome {
        Ok(Ending::Done) => Exit::Done.into(),
        Ok(Ending::Interrupted) => Exit::Interrupted.into(),
        // The reader of the pipe has seen enough (`ldlf learners | head -3`): not an error.
        Err(Error::Io { path, source })
            if source.kind() == std::io::ErrorKind::BrokenPipe && path.as_os_str() == STDOUT =>
        {
            Exit::Done.into()
        }
        Err(error) => {
            let sentence = error.worded(&words::on_the_command_line);
            // Not eprintln: a closed stderr must not turn an error into a panic.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("error: {sentence}\n"));
            Exit::of(&error).into()
        }
    }
}
