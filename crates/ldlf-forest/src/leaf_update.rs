//! The leaf update over all rows: routing, statistics, and Eqn. 12 again and again.

use std::ops::Range;

use ldlf_core::Threads;
use ldlf_math::parallel::chunks;
use ldlf_math::simd::{Simd, WithSimd, dispatch};
use ldlf_math::vectorise;

use crate::block::{Block, Examples};
use crate::head::{ActivationSource, CHUNK, Head};
use crate::kernel::{Lane, ROWS, SimdFloat};
use crate::leaves::{LeafPrior, LeafUpdate, add_statistics, apply};
use crate::loss::{divide, mix};
use crate::routing::route;

/// A leaf update keeps the routing of all its rows below this many bytes, and routes anew at every iteration above.
const ROUTING_BUDGET: usize = 64 << 20;

impl<T: SimdFloat> Head<T> {
    /// Iterates the leaf update (Eqn. 12) with the activations held fixed; every tree moves on its own.
    ///
    /// The rows are routed once and the routing is kept; above a memory budget they are routed anew at every iteration.
    pub fn update_leaves<S: ActivationSource<T>>(
        &mut self,
        source: &S,
        examples: &Examples<'_, T>,
        update: &LeafUpdate,
        threads: &Threads,
    ) {
        let rows = examples.len();
        if rows == 0 || self.shape().labels == 1 {
            return;
        }
        let bytes = rows.saturating_mul(self.shape().trees * self.shape().leaves() * size_of::<T>());
        if bytes <= ROUTING_BUDGET {
            let routed = self.route_all(source, examples, threads);
            for _ in 0..update.iterations {
                let statistics = self.add_up(&self.statistics_of(&routed, rows, threads));
                self.move_leaves(&statistics, &update.prior);
            }
        } else {
            for _ in 0..update.iterations {
                let statistics = self.leaf_statistics(source, examples, threads);
                self.move_leaves(&statistics, &update.prior);
            }
        }
    }

    /// The statistics `sum_i w_i p_l(x_i) d_ic / g_c(x_i)` of every tree over some rows, `[trees, leaves, labels]`. Being sums, those
    /// of several processes can be added up before [`Head::move_leaves`].
    pub fn leaf_statistics<S: ActivationSource<T>>(
        &self,
        source: &S,
        examples: &Examples<'_, T>,
        threads: &Threads,
    ) -> Vec<f64> {
        match examples.is_empty() {
            true => vec![0.0; self.leaves().len()],
            false => self.add_up(&self.statistics_anew(source, examples, threads)),
        }
    }

    /// Moves every tree's leaves by statistics over all rows, `[trees, leaves, labels]`: one iteration of Eqn. 12.
    pub fn move_leaves(&mut self, statistics: &[f64], prior: &LeafPrior) {
        let size = self.shape().leaves() * self.shape().labels;
        for (leaves, statistics) in self.leaves_mut().chunks_mut(size).zip(statistics.chunks(size)) {
            apply(statistics, prior, leaves);
        }
    }

    /// Adds up the parts of the statistics, tree after tree, in their order.
    fn add_up(&self, parts: &[Vec<T>]) -> Vec<f64> {
        let per_tree = parts.len() / self.shape().trees;
        let mut totals = vec![0.0f64; self.leaves().len()];
        for (total, parts) in
            totals.chunks_mut(self.shape().leaves() * self.shape().labels).zip(parts.chunks(per_tree))
        {
            for part in parts {
                total.iter_mut().zip(part).for_each(|(total, part)| *total += part.as_f64());
            }
        }
        totals
    }

    /// Rows whose statistics are summed by one task: at most 16 tasks a tree, so that the partial sums stay small.
    fn task_rows(rows: usize) -> usize {
        rows.div_ceil(16).next_multiple_of(CHUNK).max(CHUNK)
    }

    /// Loads the rows of a task block by block, their targets multiplied by their weights.
    fn for_each_block<S: ActivationSource<T>>(
        &self,
        source: &S,
        examples: &Examples<'_, T>,
        task: Range<usize>,
        mut visit: impl FnMut(&mut Block<T>),
    ) {
        let mut block = Block::new(self.shape());
        let mut scratch = source.scratch();
        for chunk in chunks(task.len(), CHUNK) {
            let start = task.start + chunk.start;
            let activations = source.activations(start..task.start + chunk.end, &mut scratch);
            for rows in chunks(chunk.len(), ROWS) {
                vectorise!({
                    block.load_activations(activations, rows.start, rows.len());
                    block.load_examples(examples, start + rows.start, rows.len());
                    weigh(&mut block);
                },);
                visit(&mut block);
            }
        }
    }

    fn route_all<S: ActivationSource<T>>(
        &self,
        source: &S,
        examples: &Examples<'_, T>,
        threads: &Threads,
    ) -> Routed<T> {
        let rows = examples.len();
        let tasks = threads.map(chunks(rows, Self::task_rows(rows)), |task| {
            let blocks = task.len().div_ceil(ROWS);
            let mut shares = vec![Vec::with_capacity(blocks * self.shape().leaves()); self.shape().trees];
            let mut targets = Vec::with_capacity(blocks * self.shape().labels);
            self.for_each_block(source, examples, task, |block| {
                targets.extend_from_slice(&block.targets);
                for (tree, shares) in shares.iter_mut().enumerate() {
                    vectorise!(route(&block.splits, self.units_of(tree), &mut block.shares));
                    shares.extend_from_slice(&block.shares);
                }
            });
            RoutedTask { shares, targets }
        });
        Routed { tasks }
    }

    /// The statistics of every tree and task, tree after tree.
    fn statistics_of(&self, routed: &Routed<T>, rows: usize, threads: &Threads) -> Vec<Vec<T>> {
        debug_assert!(rows > 0);
        let (leaves, labels) = (self.shape().leaves(), self.shape().labels);
        let jobs: Vec<(usize, &RoutedTask<T>)> = (0..self.shape().trees)
            .flat_map(|tree| routed.tasks.iter().map(move |task| (tree, task)))
            .collect();
        threads.map(jobs, |(tree, task)| {
            let mut statistics = vec![T::ZERO; leaves * labels];
            dispatch(Statistics {
                leaves: self.leaves_of(tree),
                shares: &task.shares[tree],
                targets: &task.targets,
                ratios: &mut vec![[T::ZERO; ROWS]; TOGETHER * labels],
                labels,
                statistics: &mut statistics,
            });
            statistics
        })
    }

    /// As [`Head::statistics_of`], routing every block again.
    fn statistics_anew<S: ActivationSource<T>>(
        &self,
        source: &S,
        examples: &Examples<'_, T>,
        threads: &Threads,
    ) -> Vec<Vec<T>> {
        let rows = examples.len();
        let size = self.shape().leaves() * self.shape().labels;
        let mut tasks: Vec<Vec<Vec<T>>> = threads.map(chunks(rows, Self::task_rows(rows)), |task| {
            let mut statistics = vec![vec![T::ZERO; size]; self.shape().trees];
            self.for_each_block(source, examples, task, |block| {
                for (tree, statistics) in statistics.iter_mut().enumerate() {
                    vectorise!(route(&block.splits, self.units_of(tree), &mut block.shares));
                    dispatch(Statistics {
                        leaves: self.leaves_of(tree),
                        shares: &block.shares,
                        targets: &block.targets,
                        ratios: &mut block.output,
                        labels: self.shape().labels,
                        statistics,
                    });
                }
            });
            statistics
        });
        let count = tasks.len();
        (0..self.shape().trees * count)
            .map(|index| std::mem::take(&mut tasks[index % count][index / count]))
            .collect()
    }
}

/// Blocks whose statistics are summed in registers before they are added up.
const TOGETHER: usize = 4;

/// Adds the statistics of one tree over some blocks.
struct Statistics<'a, T> {
    /// `[leaves, labels]`.
    leaves: &'a [T],
    /// `[blocks, leaves]` lanes.
    shares: &'a [Lane<T>],
    /// `[blocks, labels]` lanes.
    targets: &'a [Lane<T>],
    /// `[up to TOGETHER blocks, labels]` lanes, to work in.
    ratios: &'a mut [Lane<T>],
    labels: usize,
    /// `[leaves, labels]`, added to.
    statistics: &'a mut [T],
}

impl<T: SimdFloat> WithSimd for Statistics<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let labels = self.labels;
        let leaves = self.leaves.len() / labels;
        let groups = self.shares.chunks(TOGETHER * leaves).zip(self.targets.chunks(TOGETHER * labels));
        for (shares, targets) in groups {
            let ratios = &mut self.ratios[..targets.len()];
            let blocks = shares.chunks_exact(leaves).zip(targets.chunks_exact(labels));
            for ((shares, targets), ratios) in blocks.zip(ratios.chunks_exact_mut(labels)) {
                mix(simd, shares, self.leaves, ratios);
                divide(targets, ratios);
            }
            add_statistics(simd, shares, ratios, labels, self.statistics);
        }
    }
}

/// Multiplies the targets of a block by the rows' weights.
#[inline(always)]
fn weigh<T: SimdFloat>(block: &mut Block<T>) {
    for lane in &mut block.targets {
        for row in 0..ROWS {
            lane[row] *= block.weights[row];
        }
    }
}

/// The routing of all rows, kept over the iterations of a leaf update.
struct Routed<T> {
    tasks: Vec<RoutedTask<T>>,
}

struct RoutedTask<T> {
    /// By tree: `[blocks, leaves]` lanes.
    shares: Vec<Vec<Lane<T>>>,
    /// `[blocks, labels]` lanes: the weighted targets.
    targets: Vec<Lane<T>>,
}
