//! `ldlf generate`: artificial data as a file.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use ldlf::internals::io::read::Format;
use ldlf::internals::io::write;
use ldlf::{Error, Result, Settings, generate};

use super::Ending;
use super::train::described;
use crate::args::values;
use crate::inputs::{check_destination, is_standard};
use crate::printer::{Printer, STDOUT};

/// `ldlf generate`.
#[derive(Args)]
pub struct Generate {
    /// artificial: the set of Geng 2016, three features and three labels. mixture: mixtures of distributions, any size
    pub name: String,
    /// Rows
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = values::at_least_one)]
    pub rows: usize,
    /// Features (mixture; 20 by default)
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub features: Option<usize>,
    /// Labels (mixture; 5 by default)
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub labels: Option<usize>,
    /// Fraction of features that are not zero (mixture; dense by default)
    #[arg(long, value_name = "SHARE")]
    pub density: Option<f64>,
    /// Draw this many votes per row and write their counts, instead of exact distributions (mixture)
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub votes: Option<usize>,
    /// The seed
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[arg(long, short, value_name = "FILE", help = format!(
        "Where to write ({}), or - for CSV on standard output",
        values::dataset_extensions()
    ))]
    pub out: PathBuf,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Feature columns are called x_1, x_2, ..., label columns label_1, label_2, ...; vote counts votes_1, votes_2, ...

Examples:
  ldlf generate artificial --rows 2500 --out artificial.csv
  ldlf generate mixture --rows 5000 --features 20 --labels 5 --votes 30 --out votes.csv
  ldlf generate mixture --rows 5000 --features 2000 --density 0.01 --out sparse.svm";

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
