//! Which rows of a virtual shard belong to which mini-batch. Nobody has to ask: it follows from the seed and from how many training
//! rows every shard has.

use ldlf_core::Seed;
use ldlf_math::random::permutation;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// How mini-batches are cut from the training rows of all virtual shards.
///
/// Every epoch each virtual shard has its own random order; every mini-batch takes the next rows of every shard, in proportion to
/// its size, so that all workers have the same to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batches {
    /// Training rows by virtual shard.
    pub rows: Vec<usize>,
    /// Rows of a mini-batch, but for rounding: a shard's part is a whole number of rows.
    pub size: usize,
}

impl Batches {
    /// Mini-batches of `size` rows, or of all where there are fewer.
    pub fn new(rows: Vec<usize>, size: usize) -> Self {
        let size = size.min(rows.iter().sum()).max(1);
        Batches { rows, size }
    }

    /// All training rows.
    pub fn all_rows(&self) -> usize {
        self.rows.iter().sum()
    }

    /// Mini-batches of an epoch.
    pub fn per_epoch(&self) -> usize {
        (self.all_rows() / self.size).max(1)
    }

    /// Where the share of a virtual shard lies among `total` things that are dealt to all shards by their rows.
    pub fn share(&self, total: usize, shard: usize) -> std::ops::Range<usize> {
        let before: usize = self.rows[..shard].iter().sum();
        let all = self.all_rows().max(1) as u128;
        let at = |rows: usize| (rows as u128 * total as u128 / all) as usize;
        at(before)..at(before + self.rows[shard])
    }
}

/// The random order of one shard's training rows in one epoch, kept while mini-batches are cut from it.
#[derive(Default)]
pub(super) struct Order {
    epoch: Option<usize>,
    places: Vec<usize>,
}

impl Order {
    /// The places, among the shard's training rows, of its rows in a mini-batch.
    pub fn batch(&mut self, batches: &Batches, shard: usize, iteration: usize, seed: Seed) -> &[usize] {
        let (epoch, number) = (iteration / batches.per_epoch(), iteration % batches.per_epoch());
        let rows = batches.rows[shard];
        if self.epoch != Some(epoch) {
            let seed = seed.named("shuffle").numbered(epoch as u64).numbered(shard as u64);
            self.places = permutation(rows, &mut seed.generator());
            self.epoch = Some(epoch);
        }
        let at = |number: usize| {
            let dealt = number as u128 * batches.size as u128 * rows as u128;
            (dealt / batches.all_rows().max(1) as u128) as usize
        };
        &self.places[at(number)..at(number + 1)]
    }
}

/// Whether a row is held out for validation: drawn by its number.
pub(super) fn is_held_back(row: u64, share: f64, seed: Seed) -> bool {
    seed.named("validation").numbered(row).generator().random::<f64>() < share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_visits_rows_once_and_every_mini_batch_has_nearly_its_size() {
        let batches = Batches::new(vec![30, 0, 41, 29], 25);
        let mut seen = [vec![], vec![], vec![], vec![]];
        for iteration in 0..4 {
            let mut count = 0;
            for (shard, seen) in seen.iter_mut().enumerate() {
                let mut order = Order::default();
                let rows = order.batch(&batches, shard, iteration, Seed::new(0)).to_vec();
                count += rows.len();
                seen.extend(rows);
            }
            assert!((23..=27).contains(&count), "{count}");
        }
        for (mut seen, rows) in seen.into_iter().zip(&batches.rows) {
            let count = seen.len();
            seen.sort_unstable();
            seen.dedup();
            assert!(seen.len() == count && count == *rows, "{count} of {rows}");
        }
    }

    #[test]
    fn epochs_and_shards_have_orders_of_their_own() {
        let batches = Batches::new(vec![20, 20], 40);
        let of = |shard, iteration| Order::default().batch(&batches, shard, iteration, Seed::new(0)).to_vec();
        assert_ne!(of(0, 0), of(1, 0));
        assert_ne!(of(0, 0), of(0, 1));
        assert_eq!(of(1, 1), of(1, 1));
    }

    #[test]
    fn about_the_share_asked_for_is_held_back() {
        let held = (0..10_000).filter(|&row| is_held_back(row, 0.2, Seed::new(0))).count();
        assert!((1900..2100).contains(&held), "{held}");
    }
}
