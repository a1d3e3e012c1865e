//! `ldlf predict`: rows in, distributions and their answers out, a block at a time.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use ldlf::model_file::write_atomically;
use ldlf::read::{RowStream, stream};
use ldlf::{Error, Matrix, Prediction, Result, Threads, TrainedModel};

use super::Ending;
use crate::args::Predict;
use crate::inputs::{check_apart, check_destination, check_input, is_standard, load_model};
use crate::prediction_table::{Answers, Formulas, Kind, TableWriter, delimited};
use crate::printer::{Printer, STDOUT, counted};
use crate::progress::{Progress, interrupted, listen_for_ctrl_c};

/// Rows that are in memory at once.
const BLOCK: usize = 4096;

/// Predicts every row of the data in its order.
pub fn run(args: &Predict, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    let overwrite = check_destination(&args.out, args.force)?;
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
    let mut schema = model.schema.clone();
    if args.features.is_some() {
        schema.feature_names = args.features.clone();
    }
    let threads = Threads::joined_by_caller(args.threads)?;
    let rows = stream(&args.data, args.format, &schema, model.features)?;
    let started = Instant::now();
    let mut pump =
        Pump { rows, model: &model, answers: &answers, threads, progress: Progress::new(printer, "row") };

    let count = if is_standard(&args.out) {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let count = pump.run(delimited(&mut out, b',', formulas), Path::new(STDOUT))?;
        out.flush().map_err(|e| Error::io(STDOUT, e))?;
        count
    } else {
        // Ctrl-C then ends the loop below, which takes the unfinished file away.
        listen_for_ctrl_c();
        let mut outcome = Ok(0);
        let written = write_atomically(&args.out, overwrite, |file| {
            let writer = kind.writer(file, formulas).map_err(|e| Error::io(&args.out, e));
            outcome = writer.and_then(|writer| pump.run(writer, &args.out));
            // What went wrong is in `outcome`; this only keeps the file from being renamed.
            if outcome.is_ok() { Ok(()) } else { Err(std::io::Error::other("unfinished")) }
        });
        let count = outcome?;
        written?;
        count
    };
    let seconds = started.elapsed().as_secs_f64();
    printer.message(format_args!(
        "predicted {} in {seconds:.2} s ({:.0} rows/s)",
        counted(count, "row"),
        count as f64 / seconds.max(1e-9)
    ));
    Ok(Ending::Done)
}

/// What moves rows from the data to the output.
struct Pump<'a> {
    rows: Box<dyn RowStream>,
    model: &'a TrainedModel,
    answers: &'a Answers,
    threads: Threads,
    progress: Progress,
}

impl Pump<'_> {
    /// Moves all rows and says how many there were.
    fn run(&mut self, mut writer: Box<dyn TableWriter + '_>, out: &Path) -> Result<usize> {
        let io = |e| Error::io(out, e);
        let mut count = 0;
        while let Some(block) = self.rows.next_block(BLOCK)? {
            if interrupted() {
                return Err(Error::Interrupted);
            }
            let prediction = self.model.predict(&block, &self.threads)?;
            writer.block(&self.answers.columns(&prediction)?).map_err(io)?;
            count += block.rows();
            if let Some(total) = self.rows.total_rows() {
                self.progress.step(count, 0.0, total, String::new);
            }
        }
        if count == 0 {
            // No rows still make a table: its heads.
            let none = Prediction::Distributions(Matrix::zeros(0, self.model.schema.label_names.len()));
            writer.block(&self.answers.columns(&none)?).map_err(io)?;
        }
        self.progress.finish();
        writer.finish().map_err(io)?;
        Ok(count)
    }
}
