//! The pipeline from the data to the output: one thread reads ahead, the caller's predicts on all cores, one thread writes.
//! Few blocks are on the way at a time, and they keep their order.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use ldlf::internals::core::error::{Column, Message, Subject};
use ldlf::internals::core::familiarity::UNLIKE;
use ldlf::internals::core::{ErrorKind, message};
use ldlf::internals::io::write::estimates::Sureness;
use ldlf::{Error, Features, Images, Inputs, Matrix, Prediction, Result, Threads, TrainedModel};

use super::bad_rows::{BadRowList, BadRows};
use super::rows::{Block, Rows};
use crate::images::Skipping;
use crate::progress::{ProgressLine, interrupted};

/// Bytes of features in a block; a block must be worth all cores, and several are in memory at once.
const BLOCK_BYTES: usize = 4 << 20;

/// Blocks that wait between two threads.
const WAITING: usize = 2;

/// Rows of a block: by their width alone, so that the output does not depend on threads.
pub fn block_rows(model: &TrainedModel) -> usize {
    let width = model.features.saturating_add(model.schema.label_names.len()).max(1);
    (BLOCK_BYTES / 4 / width).clamp(256, 32_768)
}

/// What predicts.
pub struct Pipeline<'a> {
    /// The model.
    pub model: &'a TrainedModel,
    /// The threads it predicts on.
    pub threads: Threads,
    /// Shows the progress.
    pub progress: ProgressLine,
    /// Rows that an earlier run has done.
    pub done_before: usize,
    /// What to do with images that cannot be read.
    pub skipping: Skipping,
    /// What to do with rows that cannot be read.
    pub bad_rows: BadRows,
    /// Those that there were.
    pub bad_list: BadRowList,
    /// What to ask beside the predictions.
    pub asked: Asked,
    /// Rows unlike those of the training, where that was asked.
    pub unlike: usize,
    /// What the reader had to say about the rows, after the run.
    pub notices: Vec<Message>,
}

/// What is asked of the model beside its predictions.
#[derive(Clone, Copy)]
pub struct Asked {
    /// Spreads of the shares.
    pub spread: bool,
    /// How unlike the training rows a row is.
    pub familiarity: bool,
}

/// A predicted block.
pub struct Predicted {
    /// Rows of the input that it stands for.
    pub read: usize,
    /// The texts beside the predictions, `[columns][rows]`: the names of images, or what passes through.
    pub beside: Vec<Vec<String>>,
    /// The predictions of the rows that could be read.
    pub prediction: Prediction,
    /// What was asked beside them.
    pub sureness: Sureness,
    /// Where in the output, among them, rows without a prediction stand.
    pub empty: Vec<usize>,
}

/// Rows of a block that all have a prediction, or all have none.
pub struct Run<'a> {
    /// Their places in the output.
    pub rows: Range<usize>,
    /// Their predictions.
    pub prediction: Cow<'a, Prediction>,
    /// What was asked beside them.
    pub sureness: Cow<'a, Sureness>,
    /// Whether the predictions only stand for rows that have none.
    pub is_empty: bool,
}

impl Predicted {
    /// Cuts the block where rows with and without a prediction meet.
    pub fn runs(&self) -> Result<Vec<Run<'_>>> {
        let rows = self.prediction.rows() + self.empty.len();
        if self.empty.is_empty() {
            let prediction = Cow::Borrowed(&self.prediction);
            let sureness = Cow::Borrowed(&self.sureness);
            return Ok(vec![Run { rows: 0..rows, prediction, sureness, is_empty: false }]);
        }
        let (mut runs, mut start, mut predicted) = (Vec::new(), 0, 0);
        while start < rows {
            let is_empty = self.empty.binary_search(&start).is_ok();
            let same = |row: &usize| self.empty.binary_search(row).is_ok() == is_empty;
            let count = (start..rows).take_while(same).count();
            let prediction = match &self.prediction {
                Prediction::Values(_) if is_empty => Prediction::Values(vec![f64::NAN; count]),
                Prediction::Values(values) => {
                    Prediction::Values(values[predicted..predicted + count].to_vec())
                }
                Prediction::Distributions(all) => {
                    let labels = all.cols();
                    let numbers = match is_empty {
                        true => vec![f32::NAN; count * labels],
                        false => all.as_slice()[predicted * labels..(predicted + count) * labels].to_vec(),
                    };
                    Prediction::Distributions(Matrix::new(count, labels, numbers)?)
                }
            };
            let sureness = Cow::Owned(match is_empty {
                true => self.sureness.unknown(count),
                false => self.sureness.of_rows(predicted..predicted + count),
            });
            predicted += if is_empty { 0 } else { count };
            let (rows, prediction) = (start..start + count, Cow::Owned(prediction));
            runs.push(Run { rows, prediction, sureness, is_empty });
            start += count;
        }
        Ok(runs)
    }
}

/// The sizes of the blocks to read: as large as they may be, and cut where a part of the output ends.
#[derive(Clone, Copy)]
pub struct Cuts {
    /// Rows of a block at most.
    pub block: usize,
    /// Rows of a part.
    pub part: usize,
}

/// Predicted blocks as the writing thread takes them.
pub struct Predictions {
    receiver: Receiver<Passed>,
    ended: Cell<bool>,
}

enum Passed {
    Block(Predicted),
    End,
}

impl Predictions {
    /// The next block, or `None` after the last one. An error where the others stopped before the end; they report
    /// the cause.
    pub fn next(&self) -> Result<Option<Predicted>> {
        if self.ended.get() {
            return Ok(None);
        }
        match self.receiver.recv() {
            Ok(Passed::Block(predicted)) => Ok(Some(predicted)),
            Ok(Passed::End) => {
                self.ended.set(true);
                Ok(None)
            }
            Err(_) => Err(Error::Interrupted),
        }
    }
}

impl Pipeline<'_> {
    /// Reads, predicts and writes all rows; gives their number and what `write` gave.
    pub fn run<T: Send>(
        &mut self,
        rows: Rows,
        cuts: Cuts,
        write: impl FnOnce(&Predictions) -> Result<T> + Send,
    ) -> Result<(usize, T)> {
        let (total, noun) = (rows.total(), rows.noun());
        std::thread::scope(|scope| {
            let (read, blocks) = sync_channel(WAITING);
            let (predicted, receiver) = sync_channel(WAITING);
            let reader = scope.spawn(move || read_blocks(rows, cuts, &read));
            let writer = scope.spawn(move || write(&Predictions { receiver, ended: Cell::new(false) }));
            let outcome = self.predict_all(blocks, &predicted, total, noun);
            drop(predicted);
            self.progress.finish();
            self.notices = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match outcome {
                Ok(count) => written.map(|written| (count, written)),
                Err(Stopped::ByWriter) => Err(written.err().unwrap_or(Error::Interrupted)),
                Err(Stopped::By(error)) => Err(error),
            }
        })
    }

    fn predict_all(
        &mut self,
        blocks: Receiver<Result<Block>>,
        predicted: &SyncSender<Passed>,
        total: Option<usize>,
        noun: &str,
    ) -> std::result::Result<usize, Stopped> {
        let started = Instant::now();
        let mut count = 0;
        for block in blocks {
            if interrupted() {
                return Err(Stopped::By(Error::Interrupted));
            }
            let block = block.map_err(|error| Stopped::By(self.with_way_past(error)))?;
            let before = self.done_before + count;
            count += block.rows();
            let block = self.predict(block, before).map_err(Stopped::By)?;
            predicted.send(Passed::Block(block)).map_err(|_| Stopped::ByWriter)?;
            let rate =
                || format!("({:.0} {noun}s/s)", count as f64 / started.elapsed().as_secs_f64().max(1e-9));
            let done = self.done_before + count;
            match total {
                Some(total) => self.progress.step(done, 0.0, total, rate),
                None => self.progress.count(done, rate),
            }
        }
        predicted.send(Passed::End).map_err(|_| Stopped::ByWriter)?;
        Ok(count)
    }

    /// A row that cannot be read could be passed over.
    fn with_way_past(&self, error: Error) -> Error {
        let of_a_row = error.place().is_some_and(|place| {
            matches!(place.column, Some(Column::Named(_))) && (place.line.is_some() || place.row.is_some())
        });
        if self.bad_rows == BadRows::Fail && of_a_row && error.kind() == ErrorKind::Data {
            return error.or_remedy(message!["pass over such rows with ", Subject::BadRows]);
        }
        error
    }

    /// The prediction for no row, in the form that the model's have.
    fn no_rows(&self) -> Result<Prediction> {
        let zeros = Features::Dense(Matrix::zeros(1, self.model.features));
        Ok(match self.model.predict_with(&zeros.into(), &self.threads)? {
            Prediction::Values(_) => Prediction::Values(Vec::new()),
            Prediction::Distributions(one) => Prediction::Distributions(Matrix::zeros(0, one.cols())),
        })
    }

    fn predict(&mut self, block: Block, before: usize) -> Result<Predicted> {
        let (model, threads) = (self.model, &self.threads);
        let asked = self.asked;
        let none = || {
            let nothing = Prediction::Distributions(Matrix::zeros(0, model.schema.label_names.len()));
            (nothing, asked.of_no_rows(model))
        };
        let read = block.rows();
        let images = match block.inputs {
            Inputs::Images(images) => images,
            table => {
                self.bad_list.note(before, &block.bad, &block.kept);
                let mut bad: Vec<usize> = block.bad.iter().map(|bad| bad.row).collect();
                let mut beside = block.kept;
                if self.bad_rows == BadRows::Skip && !bad.is_empty() {
                    for texts in &mut beside {
                        let mut row = 0..;
                        texts.retain(|_| row.next().is_some_and(|row| bad.binary_search(&row).is_err()));
                    }
                    bad.clear();
                }
                let (prediction, sureness) = match table.rows() {
                    0 => (self.no_rows()?, self.asked.of_no_rows(model)),
                    _ => self.asked.of(model, &table, threads)?,
                };
                let unlike = |of_rows: &Vec<f64>| of_rows.iter().filter(|of_row| **of_row <= UNLIKE).count();
                self.unlike += sureness.familiarity.as_ref().map_or(0, unlike);
                return Ok(Predicted { read, beside, prediction, sureness, empty: bad });
            }
        };
        let predict = |images: &Images| asked.of(model, &images.clone().into(), threads);
        let (images, (prediction, sureness)) = self.skipping.run(images, threads, none, predict)?;
        let names = images.names().map(str::to_string).collect();
        Ok(Predicted { read, beside: vec![names], prediction, sureness, empty: Vec::new() })
    }
}

impl Asked {
    /// The predictions of some rows, and what was asked beside them.
    fn of(self, model: &TrainedModel, inputs: &Inputs, threads: &Threads) -> Result<(Prediction, Sureness)> {
        let prediction = model.predict_with(inputs, threads)?;
        let spread = match (self.spread, &prediction) {
            (true, Prediction::Distributions(p)) => Some(model.spread_with(inputs, p, threads)?),
            _ => None,
        };
        let familiarity = self.familiarity.then(|| model.familiarity_with(inputs, threads)).transpose()?;
        Ok((prediction, Sureness { spread, familiarity }))
    }

    /// What there is to say of no row, in the same form.
    pub fn of_no_rows(self, model: &TrainedModel) -> Sureness {
        Sureness {
            spread: self.spread.then(|| Matrix::zeros(0, model.schema.label_names.len())),
            familiarity: self.familiarity.then(Vec::new),
        }
    }
}

/// Why predicting ended early.
enum Stopped {
    By(Error),
    /// The writing thread failed, and reports why.
    ByWriter,
}

/// Reads until the end, an error, or until the receiver is closed; gives what there is to say about the rows.
fn read_blocks(mut rows: Rows, cuts: Cuts, read: &SyncSender<Result<Block>>) -> Vec<Message> {
    let mut in_part = 0;
    loop {
        let block = rows.next_block(cuts.block.min(cuts.part - in_part)).transpose();
        let Some(block) = block else { return rows.notices() };
        let (failed, count) = (block.is_err(), block.as_ref().map_or(0, Block::rows));
        if read.send(block).is_err() || failed {
            return rows.notices();
        }
        in_part = (in_part + count) % cuts.part;
    }
}
