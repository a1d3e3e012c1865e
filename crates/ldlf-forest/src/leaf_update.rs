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

/// Rows whose routing is kept at once where all of it is used once.
const ROUTED_TOGETHER: usize = 4096;

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
        match self.keep_routing(source, examples, threads) {
            Some(routing) => self.update_leaves_on(&routing, update, threads),
            None => {
                for _ in 0..update.iterations {
                    let statistics = self.leaf_statistics(source, examples, threads);
                    self.move_leaves(&statistics, &update.prior);
                }
            }
        }
    }

    /// The routing of some rows, for leaf updates that follow each other on the same activations; none above a memory budget.
    pub fn keep_routing<S: ActivationSource<T>>(
        &self,
        source: &S,
        examples: &Examples<'_, T>,
        threads: &Threads,
    ) -> Option<Routing<T>> {
        let per_row = self.shape().trees * self.shape().leaves() * size_of::<T>();
        let fits = examples.len().saturating_mul(per_row) <= ROUTING_BUDGET;
        fits.then(|| self.route_rows(source, examples, 0..examples.len(), threads))
    }

    /// As [`Head::update_leaves`], over rows that are routed already.
    pub fn update_leaves_on(&mut self, routing: &Routing<T>, update: &LeafUpdate, threads: &Threads) {
        if routing.rows == 0 || self.shape().labels == 1 {
            return;
        }
        for _ in 0..update.iterations {
            let statistics = self.add_up(&self.statistics_of(routing, threads));
            self.move_leaves(&statistics, &update.prior);
        }
    }

    /// What the trees that leave out a row predict for it, on average: the out-of-fold prediction of every row. A row that no tree
    /// leaves out gets what all trees predict.
    pub fn predict_left_out<S: ActivationSource<T>>(
        &self,
        source: &S,
        examples: &Examples<'_, T>,
        threads: &Threads,
    ) -> LeftOut<T> {
        let mut all =
            LeftOut { predicted: Vec::with_capacity(examples.len() * self.shape().labels), gap: 0.0 };
        for rows in chunks(examples.len(), ROUTED_TOGETHER) {
            let routing = self.route_rows(source, examples, rows, threads);
            all.add(self.predict_left_out_on(&routing, threads));
        }
        all
    }

    /// As [`Head::predict_left_out`], for rows that are routed already.
    pub fn predict_left_out_on(&self, routing: &Routing<T>, threads: &Threads) -> LeftOut<T> {
        let tasks = threads.map(&routing.tasks, |task| {
            let mut out = LeftOut { predicted: vec![T::ZERO; task.rows * self.shape().labels], gap: 0.0 };
            dispatch(Average { head: self, task, group_count: routing.group_count, out: &mut out });
            out
        });
        let mut all = LeftOut { predicted: Vec::with_capacity(routing.rows * self.shape().labels), gap: 0.0 };
        tasks.into_iter().for_each(|task| all.add(task));
        all
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

    fn route_rows<S: ActivationSource<T>>(
        &self,
        source: &S,
        examples: &Examples<'_, T>,
        rows: Range<usize>,
        threads: &Threads,
    ) -> Routing<T> {
        let tasks = threads.map(chunks(rows.len(), Self::task_rows(rows.len())), |task| {
            let blocks = task.len().div_ceil(ROWS);
            let mut shares = vec![Vec::with_capacity(blocks * self.shape().leaves()); self.shape().trees];
            let mut targets = Vec::with_capacity(blocks * self.shape().labels);
            let mut groups = Vec::new();
            let count = task.len();
            let task = rows.start + task.start..rows.start + task.end;
            self.for_each_block(source, examples, task, |block| {
                targets.extend_from_slice(&block.targets);
                if block.group_count > 0 {
                    groups.push(block.groups);
                }
                for (tree, shares) in shares.iter_mut().enumerate() {
                    vectorise!(route(&block.splits, self.units_of(tree), &mut block.shares));
                    shares.extend_from_slice(&block.shares);
                }
            });
            RoutedTask { shares, targets, groups, rows: count }
        });
        Routing { tasks, rows: rows.len(), group_count: examples.leave_out.map_or(0, |l| l.groups) }
    }

    /// The statistics of every tree and task, tree after tree.
    fn statistics_of(&self, routing: &Routing<T>, threads: &Threads) -> Vec<Vec<T>> {
        let (leaves, labels) = (self.shape().leaves(), self.shape().labels);
        let jobs: Vec<(usize, &RoutedTask<T>)> = (0..self.shape().trees)
            .flat_map(|tree| routing.tasks.iter().map(move |task| (tree, task)))
            .collect();
        threads.map(jobs, |(tree, task)| {
            let mut statistics = vec![T::ZERO; leaves * labels];
            dispatch(Statistics {
                leaves: self.leaves_of(tree),
                shares: &task.shares[tree],
                targets: &task.targets,
                ratios: &mut vec![[T::ZERO; ROWS]; TOGETHER * labels],
                groups: &task.groups,
                left_out: tree as u32 % routing.group_count.max(1),
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
                        groups: if block.group_count > 0 { std::slice::from_ref(&block.groups) } else { &[] },
                        left_out: tree as u32 % block.group_count.max(1),
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
    /// `[blocks]`: the group of every row; empty where no row is left out.
    groups: &'a [[u32; ROWS]],
    /// The group that the tree leaves out.
    left_out: u32,
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
        let together = self.shares.chunks(TOGETHER * leaves).zip(self.targets.chunks(TOGETHER * labels));
        for (index, (shares, targets)) in together.enumerate() {
            let ratios = &mut self.ratios[..targets.len()];
            let blocks = shares.chunks_exact(leaves).zip(targets.chunks_exact(labels));
            for (block, ((shares, targets), ratios)) in
                blocks.zip(ratios.chunks_exact_mut(labels)).enumerate()
            {
                mix(simd, shares, self.leaves, ratios);
                divide(targets, ratios);
                if let Some(groups) = self.groups.get(index * TOGETHER + block) {
                    leave_out(groups, self.left_out, ratios);
                }
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

/// Takes the rows of a group out of a block's ratios.
#[inline(always)]
fn leave_out<T: SimdFloat>(groups: &[u32; ROWS], left_out: u32, ratios: &mut [Lane<T>]) {
    for lane in ratios {
        for row in 0..ROWS {
            lane[row] = if groups[row] == left_out { T::ZERO } else { lane[row] };
        }
    }
}

/// The routing of some rows, kept over the iterations of a leaf update.
pub struct Routing<T> {
    tasks: Vec<RoutedTask<T>>,
    rows: usize,
    /// 0 where no row is left out.
    group_count: u32,
}

struct RoutedTask<T> {
    /// By tree: `[blocks, leaves]` lanes.
    shares: Vec<Vec<Lane<T>>>,
    /// `[blocks, labels]` lanes: the weighted targets.
    targets: Vec<Lane<T>>,
    /// `[blocks]`: the group of every row; empty where no row is left out.
    groups: Vec<[u32; ROWS]>,
    rows: usize,
}

/// What trees predict for the rows that they leave out.
pub struct LeftOut<T> {
    /// `[rows, labels]`: the mean over the trees that leave a row out.
    pub predicted: Vec<T>,
    /// How far the loss of the mean is below the mean loss of single trees, summed over rows by their weights: what averaging gains.
    pub gap: f64,
}

impl<T> LeftOut<T> {
    fn add(&mut self, rows: LeftOut<T>) {
        self.predicted.extend(rows.predicted);
        self.gap += rows.gap;
    }
}

/// The mean output of the trees that leave out each row of a task.
struct Average<'a, T> {
    head: &'a Head<T>,
    task: &'a RoutedTask<T>,
    group_count: u32,
    out: &'a mut LeftOut<T>,
}

impl<T: SimdFloat> WithSimd for Average<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Average { head, task, group_count, out } = self;
        let (labels, leaves, trees) = (head.shape().labels, head.shape().leaves(), head.shape().trees);
        let mut output = vec![[T::ZERO; ROWS]; labels];
        let mut sums = vec![[T::ZERO; ROWS]; labels];
        for (block, rows) in out.predicted.chunks_mut(ROWS * labels).enumerate() {
            let targets = &task.targets[block * labels..(block + 1) * labels];
            let (mut counts, mut losses) = ([T::ZERO; ROWS], [T::ZERO; ROWS]);
            sums.as_flattened_mut().fill(T::ZERO);
            for tree in 0..trees {
                let shares = &task.shares[tree][block * leaves..(block + 1) * leaves];
                mix(simd, shares, head.leaves_of(tree), &mut output);
                let counted: Lane<T> = match task.groups.get(block) {
                    // A group that no tree leaves out counts all trees.
                    Some(groups) => std::array::from_fn(|row| {
                        let own = groups[row] == tree as u32 % group_count || groups[row] as usize >= trees;
                        if own { T::ONE } else { T::ZERO }
                    }),
                    None => [T::ONE; ROWS],
                };
                (0..ROWS).for_each(|row| counts[row] += counted[row]);
                for ((sum, g), target) in sums.iter_mut().zip(&output).zip(targets) {
                    for row in 0..ROWS {
                        sum[row] += counted[row] * g[row];
                        losses[row] += -(counted[row] * target[row] * g[row].larger(T::FLOOR).logarithm());
                    }
                }
            }
            for (row, out) in rows.chunks_exact_mut(labels).enumerate() {
                out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = sum[row] / counts[row]);
            }
            for row in 0..rows.len() / labels {
                let mut gap = (losses[row] / counts[row]).as_f64();
                for (sum, target) in sums.iter().zip(targets) {
                    gap += (target[row] * (sum[row] / counts[row]).larger(T::FLOOR).logarithm()).as_f64();
                }
                out.gap += gap;
            }
        }
    }
}
