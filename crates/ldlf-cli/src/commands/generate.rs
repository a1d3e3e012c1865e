//! `ldlf generate`: artificial data as a file.

use std::io::Write;

use ldlf::read::Format;
use ldlf::{Error, Result, Settings, generate, write};

use super::Ending;
use super::train::described;
use crate::args::Generate;
use crate::inputs::{check_destination, is_standard};
use crate::printer::{Printer, STDOUT};

/// Generates and writes.
pub fn run(args: &Generate, printer: &Printer) -> Result<Ending> {
    let overwrite = check_destination(&args.out, args.force)?;
    let format = if is_standard(&args.out) { Format::Csv } else { write::dataset_format(&args.out)? };
    let mut options = Settings::new();
    let counts = [("features", args.features), ("labels", args.labels), ("votes", args.votes)];
    for (name, count) in counts {
        if let Some(count) = count {
            options.set(name, count as u64);
        }
    }
    if let Some(density) = args.density {
        options.set("density", density);
    }
    let known = generate::GENERATORS.iter().any(|generator| generator.name == args.name);
    let data = generate::named(&args.name, args.rows, args.seed, &options).map_err(|error| match error {
        // A parameter's sentence does not say whose parameter it is.
        refused @ Error::Usage(_) if known => refused.in_data(&args.name),
        other => other,
    })?;
    if is_standard(&args.out) {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        write::dataset(&data, args.votes, format, &mut out)
            .and_then(|()| out.flush())
            .map_err(|e| Error::io(STDOUT, e))?;
    } else {
        write::save_dataset(&data, args.votes, format, &args.out, overwrite)?;
        printer.text(&format!("{}: {}", args.out.display(), described(&data)))?;
    }
    Ok(Ending::Done)
}
