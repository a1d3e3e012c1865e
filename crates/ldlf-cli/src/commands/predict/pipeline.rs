//! The pipeline from the data to the output: one thread reads ahead, the caller's predicts on all cores, one thread writes.
//! Few blocks are on the way at a time, and they keep their order.

use std::cell::Cell;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use ldlf::{Error, Images, Inputs, Matrix, Prediction, Result, Threads, TrainedModel};

use super::rows::Rows;
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
}

/// A predicted block, with the names of its rows where they are images.
pub struct Predicted {
    pub names: Option<Vec<String>>,
    pub prediction: Prediction,
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
            scope.spawn(move || read_blocks(rows, cuts, &read));
            let writer = scope.spawn(move || write(&Predictions { receiver, ended: Cell::new(false) }));
            let outcome = self.predict_all(blocks, &predicted, total, noun);
            drop(predicted);
            self.progress.finish();
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
        blocks: Receiver<Result<Inputs>>,
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
            let block = block.map_err(Stopped::By)?;
            count += block.rows();
            let block = self.predict(block).map_err(Stopped::By)?;
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

    fn predict(&mut self, block: Inputs) -> Result<Predicted> {
        let (model, threads) = (self.model, &self.threads);
        let images = match block {
            Inputs::Images(images) => images,
            table => return Ok(Predicted { names: None, prediction: model.predict_with(&table, threads)? }),
        };
        let none = || Prediction::Distributions(Matrix::zeros(0, model.schema.label_names.len()));
        let predict = |images: &Images| model.predict_with(&images.clone().into(), threads);
        let (images, prediction) = self.skipping.run(images, threads, none, predict)?;
        let names = images.names().map(str::to_string).collect();
        Ok(Predicted { names: Some(names), prediction })
    }
}

/// Why predicting ended early.
enum Stopped {
    By(Error),
    /// The writing thread failed, and reports why.
    ByWriter,
}

/// Reads until the end, an error, or until the receiver is closed.
fn read_blocks(mut rows: Rows, cuts: Cuts, read: &SyncSender<Result<Inputs>>) {
    let mut in_part = 0;
    loop {
        let block = rows.next_block(cuts.block.min(cuts.part - in_part)).transpose();
        let Some(block) = block else { return };
        let (failed, rows) = (block.is_err(), block.as_ref().map_or(0, Inputs::rows));
        if read.send(block).is_err() || failed {
            return;
        }
        in_part = (in_part + rows) % cuts.part;
    }
}
