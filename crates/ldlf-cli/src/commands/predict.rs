//! `ldlf predict`: rows or images in, distributions and their estimates out, a block at a time.

mod bad_rows;
mod latency;
mod parts;
mod pipeline;
mod rows;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use ldlf::internals::core::familiarity::UNLIKE;
use ldlf::internals::core::inputs::InputKind;
use ldlf::internals::io::for_model::stream_for_model;
use ldlf::internals::io::output::Overwrite;
use ldlf::internals::io::read::ReadOptions;
use ldlf::internals::io::write::estimates::{Abilities, Estimate, EstimateColumns, Refusal};
use ldlf::internals::io::write::{self, BoxedWriter, Column, Formulas, TableForm};
use ldlf::{Error, Matrix, Prediction, Result, TrainedModel};

use self::bad_rows::{BadRowList, BadRows};
use self::parts::{Begun, PartFolder};
use self::pipeline::{Asked, Cuts, Pipeline, Predicted, Predictions, block_rows};
use self::rows::Rows;
use super::Ending;
use crate::args::{BadImages, ImageOptions, ThreadOptions, values};
use crate::images::{Skipping, to_predict};
use crate::inputs::{check_destination, check_input, is_standard, load_model};
use crate::printer::{Printer, STDOUT, counted};
use crate::progress::{ProgressLine, listen_for_ctrl_c};

/// `ldlf predict`.
#[derive(Args)]
pub struct Predict {
    /// The model file
    pub model: PathBuf,
    /// The rows to predict, - for standard input with --format, or a folder or zip file of images or a single one; label columns are not needed
    pub data: PathBuf,
    #[arg(long, short, value_name = "FILE", help = format!(
        "Where to write ({}), or - for CSV on standard output",
        values::table_extensions()
    ))]
    pub out: PathBuf,
    /// Write --out as a folder of files with this many rows each, which --resume can continue
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub part_rows: Option<usize>,
    /// Resume an interrupted run, or start a new one if there is none
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// The format of DATA, if its extension does not say
    #[arg(long, value_name = "FORMAT", value_parser = values::format)]
    pub format: Option<ldlf::internals::io::read::Format>,
    /// Columns to read as features, in the model's order; by default those the model names
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub features: Option<Vec<String>>,
    /// Columns of DATA to pass through to the output as text, such as an id: names or patterns
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// What becomes of a row with a value that cannot be read
    #[arg(long, value_enum, default_value = "fail", value_name = "WHAT")]
    pub bad_rows: BadRows,
    /// Where to list the rows that could not be read: their number, the columns of --keep, and the reason
    #[arg(long, value_name = "FILE")]
    pub bad_rows_out: Option<PathBuf>,
    /// What to write: distribution, mode, mean, median, quantile=Q, entropy, spread, familiarity, and with a probability: interval=P,
    /// vote_interval=P, set=P, quantile_interval=P
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "distribution")]
    pub write: Vec<Estimate>,
    /// Also measure the latency of predicting one image at a time
    #[arg(long)]
    pub latency: bool,
    /// In .csv and .tsv, put ' before names of labels that a spreadsheet would take for a formula
    #[arg(long)]
    pub safe_csv: bool,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub threads: ThreadOptions,
    #[command(flatten)]
    pub images: ImageOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Rows are read, predicted and written a few blocks at a time, in their order: a table may be larger than the memory.

One file is written whole or not at all. With --part-rows the output is a folder of numbered files (part-000000.parquet, ...),
each whole, which pandas, polars, Spark and others read as one table; after Ctrl-C, a crash or a full disk the same call with
--resume continues after the last finished part and leaves the same bytes as one unbroken run.

interval=0.9 holds the true value of a row (its single label, or the mean of its votes) with probability 0.9, vote_interval=0.9 a new vote,
and set=0.9 the label of a random voter: their sizes come from how far predictions were off on rows that the model did not learn from.
Models of sldlf and random-forest have that from the training, those of other learners with `ldlf train --calibrate 0.2`. quantile_interval=0.9 holds 90 %
of the predicted distribution and promises nothing.

spread is how far the shares of a row may lie from the predicted ones, a standard deviation per label: more where trees differ and where few
votes stand behind a share. familiarity is the fraction of training rows that are at least as unlike the others as this row: rows at 0.01 or
below are of another kind, and nothing is promised for them.

Examples:
  ldlf predict votes.ldlf new.csv --out predicted.csv
  ldlf predict votes.ldlf new.csv --keep id,date --bad-rows skip --bad-rows-out bad.csv --out predicted.jsonl
  ldlf predict age.ldlf faces.parquet --write mean,interval=0.9,entropy --out ages.parquet
  ldlf predict votes.ldlf new.csv --write mode,set=0.9 --out sets.csv
  ldlf predict votes.ldlf new.csv --write distribution,spread,familiarity --out sure.csv
  ldlf predict votes.ldlf big.parquet --out scored.parquet --part-rows 1000000 --resume
  ldlf predict faces.ldlf photos --write mode,mean,quantile_interval=0.9 --out ages.csv
  zcat rows.csv.gz | ldlf predict votes.ldlf - --format csv --out - | head";

/// Predicts every row of the data in its order.
pub fn run(args: &Predict, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let in_parts = args.part_rows.is_some() || args.resume;
    if in_parts && is_standard(&args.out) {
        return Err(Error::usage(
            "--part-rows and --resume need a name for --out; standard output has no parts",
        ));
    }
    let bad_rows_out = check_bad_rows(args)?;
    let overwrite = if in_parts { Overwrite::Yes } else { check_destination(&args.out, args.force)? };
    let form = match TableForm::of(&args.out) {
        _ if is_standard(&args.out) => &write::csv::COMMAS,
        Err(error) if in_parts => {
            return Err(error.with_remedy("end the name of the folder so: its parts are files of that form"));
        }
        form => form?,
    };
    let formulas = if args.safe_csv { Formulas::Disarmed } else { Formulas::Kept };
    if args.safe_csv && !form.is_text {
        return Err(Error::usage(format!(
            "{}: --safe-csv is for .csv and .tsv; leave it out",
            args.out.display()
        )));
    }
    let model = load_model(&args.model)?;
    let estimates =
        EstimateColumns::new(&args.write, &model.schema, Abilities::from(&model)).map_err(refused)?;
    let asked = args.write.iter().filter_map(|estimate| estimate.promise()).fold(0.0, f64::max);
    if let Some(conformal) = model.conformal.as_ref().filter(|conformal| asked > conformal.highest_level()) {
        printer.message(format_args!(
            "note: {} rows or groups can promise no more than {:.3}: what is asked for {asked} holds everything",
            conformal.units,
            conformal.highest_level()
        ));
    }
    let rows = rows_of(args, &model, printer)?;
    let kept = rows.kept_names();
    let mut heads: Vec<String> = estimates.heads().map(str::to_string).collect();
    if let Some(name) = kept.iter().find(|name| heads.contains(name)) {
        return Err(Error::usage(format!("--keep names the column {name:?}, and so are predictions called"))
            .with_remedy("leave it out of --keep, or rename it in the data"));
    }
    heads = model.schema.image_column.iter().cloned().chain(kept.iter().cloned()).collect();
    let table = PredictionTable { form, formulas, estimates: &estimates, model: &model, beside: heads };
    let progress = ProgressLine::new(printer, rows.noun());
    let threads = args.threads.pool()?;
    let skipping = Skipping::new(&args.images);
    let bad_list = BadRowList::new(args.bad_rows, &kept);
    let bad_rows = args.bad_rows;
    let mut pipeline = Pipeline {
        model: &model,
        threads,
        progress,
        done_before: 0,
        skipping,
        bad_rows,
        bad_list,
        asked: table.asked(),
        unlike: 0,
        notices: Vec::new(),
    };
    let images = match &rows {
        Rows::Images { images, .. } => Some(images.clone()),
        Rows::Table(_) => None,
    };
    let ending = if in_parts {
        predict_parts(args, rows, &mut pipeline, &table, bad_rows_out, printer)?
    } else {
        let (started, noun) = (Instant::now(), rows.noun());
        let count = predict_one(&args.out, overwrite, rows, &mut pipeline, &table)?;
        let left_out = pipeline.skipping.left_out + pipeline.bad_list.left_out();
        say(printer, count - left_out, noun, started, "");
        pipeline.bad_list.say(count, printer);
        if let Some((path, overwrite)) = bad_rows_out {
            pipeline.bad_list.save(path, overwrite)?;
        }
        Ending::Done
    };
    printer.notes(&pipeline.notices);
    if pipeline.unlike > 0 {
        printer.message(format_args!(
            "note: {} unlike the training rows (familiarity at most {UNLIKE}; of rows like them one in a hundred is)",
            match pipeline.unlike {
                1 => "1 row is".to_string(),
                count => format!("{count} rows are"),
            }
        ));
    }
    pipeline.skipping.say(printer);
    if let (true, Some(images)) = (args.latency, &images) {
        printer.message(latency::measured(&model, images, &pipeline.threads)?);
    }
    Ok(ending)
}

/// Checks what is said about bad rows, and gives the file that lists them.
fn check_bad_rows(args: &Predict) -> Result<Option<(&Path, Overwrite)>> {
    let Some(path) = &args.bad_rows_out else { return Ok(None) };
    if args.bad_rows == BadRows::Fail {
        return Err(Error::usage("--bad-rows-out lists rows that the run passes over").with_remedy(
            "add --bad-rows skip (left out) or --bad-rows empty (written without a prediction)",
        ));
    }
    if args.resume {
        return Err(Error::usage(
            "--bad-rows-out does not go with --resume: an earlier run read a part of the rows",
        )
        .with_remedy("use --bad-rows empty with --keep: rows without a prediction are the bad ones"));
    }
    TableForm::of(path)?;
    Ok(Some((path, check_destination(path, args.force)?)))
}

/// Opens what is to be predicted, if it is of the kind that the model reads.
fn rows_of(args: &Predict, model: &TrainedModel, printer: &Printer) -> Result<Rows> {
    // A table may lie in a folder of images, such as the last predictions.
    if model.reads() != InputKind::Images || !args.data.is_dir() {
        model.reads().check(args.images.kind_of(&args.data)?)?;
    }
    let Some(column) = &model.schema.image_column else {
        if args.latency {
            return Err(Error::usage("--latency is for images; leave it out"));
        }
        let features = args.features.clone().unwrap_or_default();
        let options = ReadOptions { format: args.format, features, ..ReadOptions::default() };
        let (keep, tolerant) = (&args.keep[..], args.bad_rows != BadRows::Fail);
        return Ok(Rows::Table(stream_for_model(&args.data, model, &options, keep, tolerant)?));
    };
    if !args.keep.is_empty() || args.bad_rows != BadRows::Fail {
        return Err(Error::usage("--keep and --bad-rows are for tables").with_remedy(
            "the name of its image stands beside each prediction, and --bad-images skip leaves out bad ones",
        ));
    }
    if args.features.is_some() {
        return Err(Error::usage("images have no columns; leave out --features"));
    }
    if args.images.bad_images == BadImages::Skip && (args.part_rows.is_some() || args.resume) {
        return Err(Error::usage(
            "--bad-images skip does not go with parts, whose rows are counted; leave out --part-rows and --resume",
        ));
    }
    let images = to_predict(&args.data, &args.images, args.format, column, printer)?;
    Ok(Rows::Images { images, next: 0 })
}

/// The error for a `--write` that this model does not support.
pub fn refused(refusal: Refusal) -> Error {
    Error::usage(match refusal {
        Refusal::NeedsLabelValues(estimate) => format!(
            "--write {} needs labels that stand for numbers; train with --label-values",
            estimate.name()
        ),
        Refusal::NeedsCalibration(estimate) => format!(
            "--write {0} needs calibration data, which this model lacks; train with --calibrate 0.2{1}",
            estimate.name(),
            match estimate {
                Estimate::Set(_) | Estimate::Spread => "",
                _ => ", or write quantile_interval, which promises nothing",
            }
        ),
        Refusal::NeedsTrainingRows(_) => {
            "--write familiarity needs a model that knows what its training rows looked like; train it anew, on a table of at least 40 rows"
                .to_string()
        }
        Refusal::NamedTwice(estimate) => format!("--write names {} twice; leave one out", estimate.name()),
        Refusal::NeedsDistributions(_) => {
            "this model predicts values, not distributions; leave quantiles, votes, sets and entropy out of --write"
                .to_string()
        }
    })
}

fn say(printer: &Printer, count: usize, noun: &str, started: Instant, more: &str) {
    let seconds = started.elapsed().as_secs_f64();
    printer.message(format_args!(
        "predicted {} in {seconds:.2} s ({:.0} {noun}s/s){more}",
        counted(count, noun),
        count as f64 / seconds.max(1e-9)
    ));
}

/// The table of predictions: how it is written, and its columns.
struct PredictionTable<'a> {
    form: &'static TableForm,
    formulas: Formulas,
    estimates: &'a EstimateColumns,
    model: &'a TrainedModel,
    /// The heads of the texts beside the predictions.
    beside: Vec<String>,
}

impl PredictionTable<'_> {
    fn asked(&self) -> Asked {
        let has = |estimate| self.estimates.has(estimate);
        Asked { spread: has(Estimate::Spread), familiarity: has(Estimate::Familiarity) }
    }

    /// Writes blocks from `first` on until `rows` are written or there are no more. No rows still make a table: its heads.
    fn write(
        &self,
        mut writer: BoxedWriter<'_>,
        first: Option<Predicted>,
        blocks: &Predictions,
        rows: usize,
        out: &Path,
    ) -> Result<()> {
        let io = |e| Error::io(out, e);
        let none = || Predicted {
            read: 0,
            beside: vec![Vec::new(); self.beside.len()],
            prediction: Prediction::Distributions(Matrix::zeros(0, self.model.schema.label_names.len())),
            sureness: self.asked().of_no_rows(self.model),
            empty: Vec::new(),
        };
        // No rows at all still make a table: its heads.
        let (mut block, mut held) = (Some(first.unwrap_or_else(none)), 0);
        while let Some(predicted) = block {
            held += predicted.read;
            for run in predicted.runs()? {
                let mut columns = self.estimates.of(&run.prediction, &run.sureness).map_err(refused)?;
                if run.is_empty {
                    columns = columns.into_iter().map(Column::emptied).collect();
                }
                let beside = self.beside.iter().zip(&predicted.beside);
                let beside = beside.map(|(head, texts)| Column::Names(head, &texts[run.rows.clone()]));
                let columns: Vec<Column<'_>> = beside.chain(columns).collect();
                writer.block(&columns).map_err(io)?;
            }
            block = if held < rows { blocks.next()? } else { None };
        }
        writer.finish().map_err(io)
    }

    /// Writes a file, whole or not at all.
    fn write_file(
        &self,
        path: &Path,
        overwrite: Overwrite,
        first: Option<Predicted>,
        blocks: &Predictions,
        rows: usize,
    ) -> Result<()> {
        write::save_table(path, overwrite, self.form, self.formulas, |writer| {
            self.write(writer, first, blocks, rows, path)
        })
    }
}

/// Predicts into one file or to standard output, and says how many rows there were.
fn predict_one(
    out: &Path,
    overwrite: Overwrite,
    rows: Rows,
    pipeline: &mut Pipeline<'_>,
    table: &PredictionTable<'_>,
) -> Result<usize> {
    let cuts = Cuts { block: block_rows(table.model), part: usize::MAX };
    let (count, ()) = if is_standard(out) {
        pipeline.run(rows, cuts, |blocks| {
            let mut stdout = BufWriter::new(std::io::stdout());
            let writer = write::csv::table(&mut stdout, b',', table.formulas);
            table.write(writer, blocks.next()?, blocks, usize::MAX, Path::new(STDOUT))?;
            stdout.flush().map_err(|e| Error::io(STDOUT, e))
        })?
    } else {
        // Ctrl-C then ends the loop, which removes the unfinished file.
        listen_for_ctrl_c();
        pipeline
            .run(rows, cuts, |blocks| table.write_file(out, overwrite, blocks.next()?, blocks, usize::MAX))?
    };
    Ok(count)
}

/// Predicts into a folder of parts, from the first missing part on.
fn predict_parts(
    args: &Predict,
    mut rows: Rows,
    pipeline: &mut Pipeline<'_>,
    table: &PredictionTable<'_>,
    bad_rows_out: Option<(&Path, Overwrite)>,
    printer: &Printer,
) -> Result<Ending> {
    let out = args.out.display();
    let parts = match PartFolder::begin(args, rows.fingerprint())? {
        Begun::Open(parts) => parts,
        Begun::AlreadyFinished => {
            printer.message(format_args!("{out} is complete; nothing was left to predict"));
            return Ok(Ending::Done);
        }
    };
    let cuts = Cuts { block: block_rows(table.model), part: parts.part_rows() };
    let (before, done) = (parts.finished, parts.rows_done());
    if before > 0 {
        printer.message(format_args!("{out}: resuming after {}", counted(before, "part")));
        rows.skip(done, cuts.block.min(cuts.part))?;
        pipeline.done_before = done;
    }
    listen_for_ctrl_c();
    let (started, noun) = (Instant::now(), rows.noun());
    let written = pipeline.run(rows, cuts, |blocks| {
        let mut number = before;
        let mut first = blocks.next()?;
        while first.is_some() || number == 0 {
            table.write_file(&parts.path(number), Overwrite::Yes, first, blocks, cuts.part)?;
            number += 1;
            first = blocks.next()?;
        }
        Ok(number)
    });
    // What was found out about the rows is kept with the finished parts.
    let listed = bad_rows_out.map_or(Ok(()), |(path, overwrite)| pipeline.bad_list.save(path, overwrite));
    let (count, number) = written.inspect_err(|_| {
        printer.message(format_args!("{out} keeps its finished parts; continue with --resume"));
    })?;
    parts.finish()?;
    let left_out = pipeline.bad_list.left_out();
    say(printer, count - left_out, noun, started, &format!("; {out} has {}", counted(number, "part")));
    pipeline.bad_list.say(count, printer);
    listed.map(|()| Ending::Done)
}
