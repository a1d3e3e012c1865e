//! `ldlf export`: a model for runtimes without `ldlf`.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ldlf::internals::core::error::shown;
use ldlf::internals::core::graph::{GraphImages, Kind};
use ldlf::internals::io::output::write_atomically;
use ldlf::internals::onnx::{self, Takes};
use ldlf::{Error, Result, registry};

use super::Ending;
use crate::inputs::{check_destination, load_model};
use crate::printer::Printer;

/// `ldlf export`.
#[derive(Args)]
pub struct Export {
    /// The model file
    pub model: PathBuf,
    /// Where to write the model as ONNX
    #[arg(long, value_name = "FILE")]
    pub onnx: PathBuf,
    /// What the file takes: every column by itself, or one matrix of features
    #[arg(long, value_enum, value_name = "KIND", default_value = "auto")]
    pub inputs: Inputs,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
}

/// What `--inputs` says.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Inputs {
    /// Columns where the model read texts, dates, yes and no, or missing values; else features
    Auto,
    /// An input of shape [rows, 1] for every column that the model read
    Columns,
    /// `features`, of shape [rows, features]
    Features,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
The file holds everything between a table and its distributions, in standard operators (opset 17). It gives `distributions`,
[rows, labels]; for labels that stand for numbers also `mean` and `mode`. Names are in its metadata.

A model of plain numbers reads `features`, single precision, [rows, features] in the model's order; a row with a missing value
gives NaN. A model of other columns has an input for each, [rows, 1]: numbers in single precision (NaN where missing), yes and no
as 1 and 0, categories as texts (empty where missing), dates as int64 seconds since 1970 (the least int64 where missing).
A deep model of images reads `images`, [rows, 3, side, side]: red, green and blue from 0 to 255 of images that are resized and cut
as the metadata says.

Examples:
  ldlf export votes.ldlf --onnx votes.onnx
  ldlf export survey.ldlf --onnx survey.onnx --inputs features
  ldlf export age.ldlf --onnx age.onnx";

/// Writes the model as an ONNX file.
pub fn run(args: &Export, printer: &Printer) -> Result<Ending> {
    let overwrite = check_destination(&args.onnx, args.force)?;
    let model = load_model(&args.model)?;
    let takes = match args.inputs {
        Inputs::Auto => Takes::Auto,
        Inputs::Columns => Takes::Columns,
        Inputs::Features => Takes::Features,
    };
    let bytes = onnx::to_bytes(&model, takes).map_err(|error| match error {
        Error::Usage(_) if takes == Takes::Columns && model.schema.columns.is_none() => {
            error.with_remedy("export it with --inputs features")
        }
        Error::Usage(_) => {
            let names = registry::names(|facts| facts.exports).join(", ");
            error.with_remedy(format!("those of {names}, and mixtures of these, can"))
        }
        other => other,
    })?;
    write_atomically(&args.onnx, overwrite, |file| file.write_all(&bytes))?;
    let input = match model.model.images_of_graph() {
        Some(GraphImages { side, .. }) => format!("images of {side} x {side} pixels"),
        None => format!("{} features", model.features),
    };
    printer.message(format_args!(
        "wrote {} ({input}, {} labels, {} bytes)",
        args.onnx.display(),
        model.schema.label_names.len(),
        bytes.len()
    ));
    match (&model.schema.columns, &model.schema.feature_names) {
        (Some(columns), _) if takes.are_columns(&model) => {
            let inputs: Vec<String> = columns
                .list
                .iter()
                .map(|column| {
                    let kind = match column.encoding.input() {
                        Kind::Text => "text",
                        Kind::I64 => "seconds since 1970",
                        _ => "number",
                    };
                    format!("{} ({kind})", shown(&column.name))
                })
                .collect();
            printer.message(format_args!("its inputs, one per column: {}", listed(&inputs)));
        }
        (_, Some(names)) => {
            printer.message(format_args!("the columns of `features`, in their order: {}", listed(names)));
        }
        _ => {}
    }
    Ok(Ending::Done)
}

/// The first names; all of them are in the metadata of the file.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text = names.iter().take(SHOWN).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more, which its metadata has", names.len() - SHOWN);
    }
    text
}
