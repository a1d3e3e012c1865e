//! The mini-batches of a training, epoch after epoch.

use std::vec;

use ldlf_core::Result;

use super::OnNetwork;
use crate::images::{Augmentation, Batch, PrefetchedBatches, prefetch};
use crate::network::{Preprocessing, READERS};

/// The input of a mini-batch.
pub(super) enum Given {
    /// Of the backbone.
    Inputs(Vec<f32>),
    /// Of the projection.
    Features(Vec<f32>),
}

/// The remaining mini-batches of an epoch.
pub(super) enum Epoch {
    /// Images, prefetched.
    Images(PrefetchedBatches),
    /// Rows of a table, or rows whose features are known.
    Rows(vec::IntoIter<Vec<usize>>),
}

impl OnNetwork<'_> {
    /// The mini-batch of an iteration.
    pub(super) fn next_batch(&mut self, iteration: usize) -> Result<(Vec<usize>, Given)> {
        if self.epoch.is_none() || iteration.is_multiple_of(self.batches.per_epoch()) {
            self.epoch = Some(self.rest_of_epoch(iteration)?);
        }
        let batch = match &mut self.epoch {
            Some(Epoch::Images(ahead)) => {
                ahead.next().transpose()?.map(|Batch { rows, pixels }| (rows, Given::Inputs(pixels)))
            }
            Some(Epoch::Rows(batches)) => match (batches.next(), &self.frozen) {
                (None, _) => None,
                (Some(rows), Some(frozen)) => {
                    let features = frozen.in_epoch(&rows, iteration / self.batches.per_epoch());
                    Some((rows, Given::Features(features)))
                }
                (Some(rows), None) => {
                    let scaled = self.preprocessing.scaled(self.data.features()?, &rows);
                    Some((rows, Given::Inputs(scaled)))
                }
            },
            None => None,
        };
        Ok(batch.expect("an epoch has a mini-batch for each of its iterations"))
    }

    fn rest_of_epoch(&self, iteration: usize) -> Result<Epoch> {
        let batches = self.batches.rest_of_epoch(iteration);
        match &self.preprocessing {
            _ if self.frozen.is_some() => Ok(Epoch::Rows(batches.into_iter())),
            Preprocessing::Images(preparation) => {
                let images = self.data.inputs().images()?;
                let p = &self.plan.network;
                let augmentation =
                    Augmentation { flip: p.flip, crop: p.crop, jitter: p.jitter, erasing: p.erasing };
                let epoch = (iteration / self.batches.per_epoch()) as u64;
                let look = Some((&augmentation, self.seed.named("augmentation").numbered(epoch)));
                Ok(Epoch::Images(prefetch(images, &batches, preparation, look, READERS)?))
            }
            Preprocessing::Table { .. } => Ok(Epoch::Rows(batches.into_iter())),
        }
    }
}
