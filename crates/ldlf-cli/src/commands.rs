//! The verbs: one file and one line each. A file has the arguments of its verb, what `--help` says after them, and `run`.

use clap::Subcommand;
use ldlf::Result;

use crate::printer::Printer;

/// How a command that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It completed.
    Done,
    /// Ctrl-C ended it; what there was to keep was kept.
    Interrupted,
}

/// Makes the modules, [`Command`] and [`run`] of lines `module::Arguments`.
macro_rules! commands {
    ($( $(#[doc = $doc:literal])+ $(#[cfg($($condition:tt)*)])? $module:ident::$verb:ident, )*) => {
        $( $(#[cfg($($condition)*)])? mod $module; )*

        /// The verbs.
        #[derive(Subcommand)]
        pub enum Command {
            $(
                $(#[doc = $doc])+
                $(#[cfg($($condition)*)])?
                #[command(after_help = $module::HELP)]
                $verb($module::$verb),
            )*
        }

        /// Runs a verb.
        pub fn run(command: Command, printer: &Printer) -> Result<Ending> {
            match command {
                $( $(#[cfg($($condition)*)])? Command::$verb(args) => $module::run(&args, printer), )*
            }
        }
    };
}

commands! {
    /// Learn from a table and write a model file
    train::Train,
    /// Predict the rows of a table, in bounded memory
    predict::Predict,
    /// Measure a model on a table
    evaluate::Evaluate,
    /// Explain predictions: which columns moved a row away from the mean, and by how much
    explain::Explain,
    /// Show how important each column is to a model
    importance::Importance,
    /// Estimate how reliable annotators are, from one vote per line
    annotators::Annotators,
    /// Compare learners by cross-validation
    cv::Cv,
    /// Cross-validate a learner over values of its parameters
    sweep::Sweep,
    /// Search the parameters of a learner and train the best on all rows
    search::Search,
    /// Reproduce a table of the paper beside its published rows
    reproduce::Reproduce,
    /// List the learners, or describe one with its parameters
    learners::Learners,
    /// List known public datasets and how to get them
    datasets::Datasets,
    /// Write an artificial dataset
    generate::Generate,
    /// Show what a model file holds
    inspect::Inspect,
    /// Write a model for other runtimes, as ONNX
    export::Export,
    /// Export a layer's activations for images, as a table
    #[cfg(feature = "deep")]
    features::Features,
    /// Make one self-contained HTML page of results and models
    report::Report,
    /// Draw a single figure as SVG or PNG
    plot::Plot,
    /// See it work on built-in data, within a minute
    demo::Demo,
    /// Print a completion script for a shell
    completions::Completions,
}

pub use datasets::catalogue;
