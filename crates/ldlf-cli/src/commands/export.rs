//! `ldlf export`: a model for runtimes without `ldlf`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use ldlf::internals::core::error::shown;
use ldlf::internals::core::graph::GraphImages;
use ldlf::internals::io::output::write_atomically;
use ldlf::{Error, Result, registry};

use super::Ending;
use crate::inputs::{check_apart, check_destination, load_model};
use crate::printer::Printer;

/// `ldlf export`.
#[derive(Args)]
pub struct Export {
    /// The model file
    pub model: PathBuf,
    /// Where to write the model as ONNX
    #[arg(long, value_name = "FILE")]
    pub onnx: PathBuf,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
The file holds everything between a table's numbers and its distributions, scaling included, in standard operators (opset 17).
It reads `features`, single precision, [rows, features] in the model's order, and gives `distributions`, [rows, labels]; for
labels that stand for numbers also `mean` and `mode`. Names are in its metadata. A row with a missing value gives NaN.
A deep model of images reads `images` instead, [rows, 3, side, side]: red, green and blue from 0 to 255 of images that are resized
and cut as the metadata says.

Examples:
  ldlf export votes.ldlf --onnx votes.onnx
  ldlf export age.ldlf --onnx age.onnx";

/// Writes the model as an ONNX file.
pub fn run(args: &Export, printer: &Printer) -> Result<Ending> {
    let overwrite = check_destination(&args.onnx, args.force)?;
    check_apart(&args.onnx, &[&args.model])?;
    let model = load_model(&args.model)?;
    let bytes = ldlf::internals::onnx::to_bytes(&model).map_err(|error| match error {
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
    if let Some(names) = &model.schema.feature_names {
        printer.message(format_args!("the columns of `features`, in their order: {}", listed(names)));
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
