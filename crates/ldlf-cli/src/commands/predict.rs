//! `ldlf predict`: rows or pictures in, distributions and their answers out, a block at a time.

mod latency;
mod parts;
mod pipeline;
mod rows;

use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use ldlf::model_file::{Overwrite, write_atomically};
use ldlf::read::stream;
use ldlf::{Error, Matrix, Prediction, Result, Threads, TrainedModel};

use self::parts::{Begun, Parts};
use self::pipeline::{Cuts, Pipeline, Predicted, Predictions, block_rows};
use self::rows::Rows;
use super::Ending;
use crate::args::{BadImages, Predict};
use crate::inputs::{check_apart, check_destination, check_input, is_standard, load_model};
use crate::model_data::check_kind;
use crate::pictures::to_predict;
use crate::prediction_table::{Answers, BoxedWriter, Column, Formulas, Kind, delimited};
use crate::printer::{Printer, STDOUT, counted};
use crate::progress::{Progress, listen_for_ctrl_c};

/// Predicts every row of the data in its order.
pub fn run(args: &Predict, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let in_parts = args.part_rows.is_some() || args.resume;
    if in_parts && is_standard(&args.out) {
        return Err(Error::usage(
            "--part-rows and --resume need a name for --out; standard output has no parts",
        ));
    }
    let overwrite = if in_parts { Overwrite::Yes } else { check_destination(&args.out, args.force)? };
    check_apart(&args.out, &[&args.model, &args.data])?;
    let kind = if is_standard(&args.out) { Kind::Csv } else { Kind::of(&args.out)? };
    let formulas = if args.safe_csv { Formulas::Disarmed } else { Formulas::Kept };
    if args.safe_csv && !matches!(kind, Kind::Csv | Kind::Tsv) {
        return Err(Error::usage(format!(
            "{}: --safe-csv is for .csv and .tsv; leave it out",
            args.out.display()
        )));
    }
    let model = load_model(&args.model)?;
    let answers = Answers::new(&args.write, &model.schema)?;
    let rows = rows_of(args, &model, printer)?;
    let table = Table { kind, formulas, answers: &answers, model: &model };
    let progress = Progress::new(printer, rows.noun());
    let threads = Threads::joined_by_caller(args.threads)?;
    let skip_bad = args.pictures.bad_images == BadImages::Skip;
    let mut pipeline = Pipeline { model: &model, threads, progress, done_before: 0, skip_bad, left_out: 0 };
    let images = match &rows {
        Rows::Pictures { images, .. } => Some(images.clone()),
        Rows::Table(_) => None,
    };
    let ending = if in_parts {
        predict_parts(args, rows, &mut pipeline, &table, printer)?
    } else {
        let (started, noun) = (Instant::now(), rows.noun());
        let count = predict_one(&args.out, overwrite, rows, &mut pipeline, &table)?;
        say(printer, count - pipeline.left_out, noun, started, "");
        Ending::Done
    };
    if pipeline.left_out > 0 {
        let pictures = counted(pipeline.left_out, "picture");
        printer.message(format_args!("note: left out {pictures} that could not be read"));
    }
    if let (true, Some(images)) = (args.latency, &images) {
        printer.message(latency::measured(&model, images, &pipeline.threads)?);
    }
    Ok(ending)
}

/// Opens what is to be predicted, if it is of the kind that the model reads.
fn rows_of(args: &Predict, model: &TrainedModel, printer: &Printer) -> Result<Rows> {
    let pictures = args.pictures.are_meant(&args.data);
    check_kind(model, pictures)?;
    args.pictures.refuse_without_pictures(&args.data)?;
    let Some(column) = model.schema.image_column.as_deref().filter(|_| pictures) else {
        if args.latency {
            return Err(Error::usage("--latency is for pictures; leave it out"));
        }
        let mut schema = model.schema.clone();
        if args.features.is_some() {
            schema.feature_names = args.features.clone();
        }
        return Ok(Rows::Table(stream(&args.data, args.format, &schema, model.features)?));
    };
    if args.features.is_some() {
        return Err(Error::usage("pictures have no columns; leave out --features"));
    }
    if args.pictures.bad_images == BadImages::Skip && (args.part_rows.is_some() || args.resume) {
        return Err(Error::usage(
            "--bad-images skip does not go with parts, whose rows are counted; leave out --part-rows and --resume",
        ));
    }
    let images = to_predict(&args.data, &args.pictures, args.format, column, printer)?;
    Ok(Rows::Pictures { images, next: 0 })
}

fn say(printer: &Printer, count: usize, noun: &str, started: Instant, more: &str) {
    let seconds = started.elapsed().as_secs_f64();
    printer.message(format_args!(
        "predicted {} in {seconds:.2} s ({:.0} {noun}s/s){more}",
        counted(count, noun),
        count as f64 / seconds.max(1e-9)
    ));
}

/// What the output is like.
struct Table<'a> {
    kind: Kind,
    formulas: Formulas,
    answers: &'a Answers,
    model: &'a TrainedModel,
}

impl Table<'_> {
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
        let head = self.model.schema.image_column.as_deref();
        let none = || Predicted {
            names: head.map(|_| Vec::new()),
            prediction: Prediction::Distributions(Matrix::zeros(0, self.model.schema.label_names.len())),
        };
        // No rows at all still make a table: its heads.
        let (mut block, mut held) = (Some(first.unwrap_or_else(none)), 0);
        while let Some(Predicted { names, prediction }) = block {
            let mut columns = self.answers.columns(&prediction)?;
            if let (Some(head), Some(names)) = (head, &names) {
                columns.insert(0, Column::Names(head, names));
            }
            writer.block(&columns).map_err(io)?;
            held += prediction.rows();
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
        write_atomically(path, overwrite, |file| {
            self.write(self.kind.writer(file, self.formulas), first, blocks, rows, path)
        })
    }
}

/// Predicts into one file or to standard output, and says how many rows there were.
fn predict_one(
    out: &Path,
    overwrite: Overwrite,
    rows: Rows,
    pipeline: &mut Pipeline<'_>,
    table: &Table<'_>,
) -> Result<usize> {
    let cuts = Cuts { block: block_rows(table.model), part: usize::MAX };
    let (count, ()) = if is_standard(out) {
        pipeline.run(rows, cuts, |blocks| {
            let mut stdout = BufWriter::new(std::io::stdout());
            let writer = delimited(&mut stdout, b',', table.formulas);
            table.write(writer, blocks.next()?, blocks, usize::MAX, Path::new(STDOUT))?;
            stdout.flush().map_err(|e| Error::io(STDOUT, e))
        })?
    } else {
        // Ctrl-C then ends the loop, which takes the unfinished file away.
        listen_for_ctrl_c();
        pipeline
            .run(rows, cuts, |blocks| table.write_file(out, overwrite, blocks.next()?, blocks, usize::MAX))?
    };
    Ok(count)
}

/// Predicts into a folder of parts, from the first part on that is not there.
fn predict_parts(
    args: &Predict,
    mut rows: Rows,
    pipeline: &mut Pipeline<'_>,
    table: &Table<'_>,
    printer: &Printer,
) -> Result<Ending> {
    let out = args.out.display();
    let parts = match Parts::begin(args, rows.fingerprint())? {
        Begun::Open(parts) => parts,
        Begun::AlreadyFinished => {
            printer.message(format_args!("{out} is complete; nothing was left to predict"));
            return Ok(Ending::Done);
        }
    };
    let cuts = Cuts { block: block_rows(table.model), part: parts.part_rows() };
    let (before, done) = (parts.finished, parts.rows_done());
    if before > 0 {
        printer.message(format_args!("{out}: going on after {}", counted(before, "part")));
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
    let (count, number) = written.inspect_err(|_| {
        printer.message(format_args!("{out} keeps its finished parts; go on with --resume"));
    })?;
    parts.finish()?;
    say(printer, count, noun, started, &format!("; {out} has {}", counted(number, "part")));
    Ok(Ending::Done)
}
