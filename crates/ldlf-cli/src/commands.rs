//! One module a verb.

mod completions;
mod cv;
mod datasets;
mod demo;
mod evaluate;
mod export;
#[cfg(feature = "deep")]
mod features;
mod generate;
mod inspect;
mod learners;
mod look;
mod plot;
mod predict;
mod report;
mod reproduce;
mod sweep;
mod train;

use ldlf::Result;

use crate::args::Command;
use crate::printer::Printer;

/// How a command that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All was done.
    Done,
    /// Ctrl-C ended it; what there was to keep was kept.
    Interrupted,
}

/// Runs a verb.
pub fn run(command: Command, printer: &Printer) -> Result<Ending> {
    match command {
        Command::Train(args) => train::run(&args, printer),
        Command::Predict(args) => predict::run(&args, printer),
        Command::Evaluate(args) => evaluate::run(&args, printer),
        Command::Cv(args) => cv::run(&args, printer),
        Command::Sweep(args) => sweep::run(&args, printer),
        Command::Reproduce(args) => reproduce::run(&args, printer),
        Command::Learners(args) => learners::run(&args, printer),
        Command::Datasets(args) => datasets::run(&args, printer),
        Command::Generate(args) => generate::run(&args, printer),
        Command::Inspect(args) => inspect::run(&args, printer),
        Command::Export(args) => export::run(&args, printer),
        #[cfg(feature = "deep")]
        Command::Features(args) => features::run(&args, printer),
        Command::Report(args) => report::run(&args, printer),
        Command::Plot(args) => plot::run(&args, printer),
        Command::Demo(args) => demo::run(&args, printer),
        Command::Completions(args) => completions::run(&args, printer),
    }
}
