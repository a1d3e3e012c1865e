//! `ldlf export`: a model for runtimes that know nothing of `ldlf`.

use std::io::Write;

use ldlf::output::write_atomically;
use ldlf::{Error, Result, registry};

use super::Ending;
use crate::args::Export;
use crate::inputs::{check_apart, check_destination, load_model};
use crate::printer::Printer;

/// Writes the model as an ONNX file.
pub fn run(args: &Export, printer: &Printer) -> Result<Ending> {
    let overwrite = check_destination(&args.onnx, args.force)?;
    check_apart(&args.onnx, &[&args.model])?;
    let model = load_model(&args.model)?;
    let bytes = ldlf::onnx::to_bytes(&model).map_err(|error| match error {
        Error::Usage(_) => {
            let names = registry::names(|facts| facts.exports).join(", ");
            error.with_remedy(format!("those of {names}, and mixtures of these, can"))
        }
        other => other,
    })?;
    write_atomically(&args.onnx, overwrite, |file| file.write_all(&bytes))?;
    printer.message(format_args!(
        "wrote {} ({} features, {} labels, {} bytes)",
        args.onnx.display(),
        model.features,
        model.schema.label_names.len(),
        bytes.len()
    ));
    Ok(Ending::Done)
}
