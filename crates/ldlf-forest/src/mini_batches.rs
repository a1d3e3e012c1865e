//! Which rows make up which mini-batch. It follows from the seed and the iteration alone.

use ldlf_core::Seed;
use ldlf_math::random::permutation;

/// Training rows cut into mini-batches: every epoch has its own random order, and the rows left over wait for the next epoch.
#[derive(Clone, Debug)]
pub struct MiniBatches {
    rows: Vec<usize>,
    size: usize,
    seed: Seed,
}

/// The random order of an epoch, kept while batches are cut from it.
#[derive(Default)]
pub struct Order {
    epoch: Option<usize>,
    places: Vec<usize>,
}

impl MiniBatches {
    /// Mini-batches of `size` rows, or of all where there are fewer.
    pub fn new(rows: Vec<usize>, size: usize, seed: Seed) -> Self {
        let size = size.min(rows.len());
        MiniBatches { rows, size, seed }
    }

    /// All training rows.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Rows of a mini-batch.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Mini-batches of an epoch.
    pub fn per_epoch(&self) -> usize {
        (self.rows.len() / self.size).max(1)
    }

    /// Adds the mini-batch of an iteration, counted from 0, to `rows`.
    pub fn add(&self, iteration: usize, order: &mut Order, rows: &mut Vec<usize>) {
        let epoch = iteration / self.per_epoch();
        if order.epoch != Some(epoch) {
            let mut generator = self.seed.named("shuffle").numbered(epoch as u64).generator();
            order.places = permutation(self.rows.len(), &mut generator);
            order.epoch = Some(epoch);
        }
        let first = iteration % self.per_epoch() * self.size;
        rows.extend(order.places[first..first + self.size].iter().map(|&place| self.rows[place]));
    }

    /// The rows of the last `count` mini-batches before an iteration, one mini-batch after the other.
    pub fn last(&self, count: usize, iteration: usize) -> Vec<usize> {
        let (mut order, mut rows) = (Order::default(), Vec::new());
        for iteration in iteration.saturating_sub(count)..iteration {
            self.add(iteration, &mut order, &mut rows);
        }
        rows
    }

    /// The mini-batches from an iteration to the end of its epoch.
    pub fn rest_of_epoch(&self, iteration: usize) -> Vec<Vec<usize>> {
        let mut order = Order::default();
        let batch = |iteration: usize| {
            let mut rows = Vec::with_capacity(self.size);
            self.add(iteration, &mut order, &mut rows);
            rows
        };
        let end = (iteration / self.per_epoch() + 1) * self.per_epoch();
        (iteration..end).map(batch).collect()
    }
}
