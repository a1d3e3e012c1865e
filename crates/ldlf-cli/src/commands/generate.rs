//! `ldlf generate`: artificial data as a file.

use std::io::Write;
use std::path::Path;

use ldlf::model_file::{Overwrite, write_atomically};
use ldlf::{Dataset, Error, Result, Settings, generate};

use super::Ending;
use super::train::described;
use crate::args::Generate;
use crate::inputs::{check_destination, is_standard};
use crate::prediction_table::as_io;
use crate::printer::{Printer, STDOUT};

/// Generates and writes.
pub fn run(args: &Generate, printer: &Printer) -> Result<Ending> {
    let overwrite = check_destination(&args.out, args.force)?;
    let layout = if is_standard(&args.out) { Layout::Delimited(b',') } else { Layout::of(&args.out)? };
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
        layout
            .write(&data, args.votes, &mut out)
            .and_then(|()| out.flush())
            .map_err(|e| Error::io(STDOUT, e))?;
    } else {
        save(&data, args.votes, layout, &args.out, overwrite)?;
        printer.text(&format!("{}: {}", args.out.display(), described(&data)))?;
    }
    Ok(Ending::Done)
}

/// How rows are written.
#[derive(Clone, Copy)]
pub enum Layout {
    /// A header and values between delimiters.
    Delimited(u8),
    /// Labels, then `column:value` for what is not zero.
    Svm,
}

/// Writes data whole or not at all; with `votes`, counts in place of shares.
pub fn save(
    data: &Dataset,
    votes: Option<usize>,
    layout: Layout,
    path: &Path,
    overwrite: Overwrite,
) -> Result<()> {
    write_atomically(path, overwrite, |out| layout.write(data, votes, out))
}

impl Layout {
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|text| text.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("csv") => Ok(Layout::Delimited(b',')),
            Some("tsv") => Ok(Layout::Delimited(b'\t')),
            Some("svm") => Ok(Layout::Svm),
            _ => Err(Error::usage(format!(
                "{}: generated data is written as .csv, .tsv or .svm; choose one of these",
                path.display()
            ))),
        }
    }

    fn write(self, data: &Dataset, votes: Option<usize>, out: &mut dyn Write) -> std::io::Result<()> {
        match self {
            Layout::Delimited(delimiter) => delimited(data, votes, delimiter, out),
            Layout::Svm => svm(data, votes, out),
        }
    }
}

/// A share, or the count of votes behind it.
fn label(share: f32, votes: Option<usize>) -> String {
    votes.map_or_else(|| share.to_string(), |votes| (share * votes as f32).round().to_string())
}

fn delimited(
    data: &Dataset,
    votes: Option<usize>,
    delimiter: u8,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    let kind = if votes.is_some() { "votes" } else { "label" };
    let features = (1..=data.features.cols()).map(|column| format!("x_{column}"));
    writer
        .write_record(features.chain((1..=data.labels()).map(|label| format!("{kind}_{label}"))))
        .map_err(as_io)?;
    let mut row_values = vec![0.0f32; data.features.cols()];
    for row in 0..data.rows() {
        data.features.copy_row_into(row, &mut row_values);
        let labels = data.targets.row(row).iter().map(|&share| label(share, votes));
        writer.write_record(row_values.iter().map(f32::to_string).chain(labels)).map_err(as_io)?;
    }
    writer.flush()
}

fn svm(data: &Dataset, votes: Option<usize>, out: &mut dyn Write) -> std::io::Result<()> {
    for row in 0..data.rows() {
        let labels: Vec<String> = data.targets.row(row).iter().map(|&share| label(share, votes)).collect();
        let mut line = labels.join(",");
        data.features.for_each_in_row(row, |column, value| {
            if value != 0.0 {
                line += &format!(" {}:{value}", column + 1);
            }
        });
        writeln!(out, "{line}")?;
    }
    out.flush()
}
