//! The work buffers of one block of rows, and one tree's way through it. Made once, used for every block.

use ldlf_core::leave_out::RowGroups;
use ldlf_math::product::View;
use ldlf_math::simd::Simd;

use crate::kernel::{Lane, ROWS, SimdFloat, sigmoid};
use crate::loss::{divide_into, mix, pull};
use crate::routing::{backward, route};
use crate::tree_shape::ForestShape;

/// Targets of some rows, with weights.
#[derive(Clone, Copy)]
pub struct Examples<'a, T> {
    /// `[all rows, labels]`, row after row.
    pub targets: &'a [T],
    /// Number of labels.
    pub labels: usize,
    /// One weight a row of `targets`; 1 where absent.
    pub weights: Option<&'a [T]>,
    /// Which rows are meant, in order; all where absent.
    pub rows: Option<&'a [usize]>,
    /// Which trees leave out which rows; none leaves out any where absent.
    pub leave_out: Option<LeaveOut<'a>>,
}

/// Trees that each leave out one group of rows: tree `k` those of group `k mod groups`.
#[derive(Clone, Copy, Debug)]
pub struct LeaveOut<'a> {
    /// The group of every row of the targets, below `groups`.
    pub of_row: &'a [u32],
    /// How many groups there are.
    pub groups: u32,
}

impl<'a> From<&'a RowGroups> for LeaveOut<'a> {
    fn from(groups: &'a RowGroups) -> Self {
        LeaveOut { of_row: groups.of_rows(), groups: groups.count() as u32 }
    }
}

impl<T: SimdFloat> Examples<'_, T> {
    /// The number of rows meant.
    pub fn len(&self) -> usize {
        self.rows.map_or(self.targets.len() / self.labels.max(1), <[usize]>::len)
    }

    /// Whether no row is meant.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    fn row(&self, index: usize) -> usize {
        self.rows.map_or(index, |rows| rows[index])
    }

    /// The sum of the weights of the rows meant.
    pub fn total_weight(&self) -> f64 {
        match self.weights {
            None => self.len() as f64,
            Some(weights) => (0..self.len()).map(|index| weights[self.row(index)].as_f64()).sum(),
        }
    }
}

/// Everything one block of [`ROWS`] rows needs on its way through the forest. Rows past the end of the data are filled with
/// zeros and weigh nothing.
pub struct Block<T> {
    /// `[units]`: activations, then their sigmoids.
    pub splits: Vec<Lane<T>>,
    /// `[leaves]`: the shares of one tree's leaves.
    pub shares: Vec<Lane<T>>,
    /// `[leaves]`: the pulls of one tree's leaves.
    pub pulls: Vec<Lane<T>>,
    /// `[labels]`: one tree's output, then `d / g`.
    pub output: Vec<Lane<T>>,
    /// `[labels]`: the forest's output, then `d / g`, for the loss of the trees' mean.
    pub forest: Vec<Lane<T>>,
    /// `[labels]`: the targets.
    pub targets: Vec<Lane<T>>,
    /// The weight of every row.
    pub weights: Lane<T>,
    /// The group of every row, where trees leave out rows.
    pub groups: [u32; ROWS],
    /// How many groups there are; 0 where no tree leaves out any row.
    pub group_count: u32,
    /// `[units]`: the gradient with respect to the activations.
    pub gradient: Vec<Lane<T>>,
}

impl<T: SimdFloat> Block<T> {
    /// Buffers for a forest of this shape.
    pub fn new(shape: &ForestShape) -> Self {
        let lanes = |count: usize| vec![[T::ZERO; ROWS]; count];
        Block {
            splits: lanes(shape.units),
            shares: lanes(shape.leaves()),
            pulls: lanes(shape.leaves()),
            output: lanes(shape.labels),
            forest: lanes(shape.labels),
            targets: lanes(shape.labels),
            weights: [T::ZERO; ROWS],
            groups: [0; ROWS],
            group_count: 0,
            gradient: lanes(shape.units),
        }
    }

    /// Takes over the activations of `count` rows from `first` on (`[units, rows]` view) and applies the sigmoid.
    #[inline(always)]
    pub fn load_activations(&mut self, activations: View<'_, T>, first: usize, count: usize) {
        for (unit, lane) in self.splits.iter_mut().enumerate() {
            match activations.row_slice(unit) {
                Some(row) => lane[..count].copy_from_slice(&row[first..first + count]),
                None => (0..count).for_each(|row| lane[row] = activations.at(unit, first + row)),
            }
            lane[count..].fill(T::ZERO);
        }
        sigmoid(self.splits.as_flattened_mut());
    }

    /// Takes over the targets and weights of `count` rows from `first` on.
    #[inline(always)]
    pub fn load_examples(&mut self, examples: &Examples<'_, T>, first: usize, count: usize) {
        let labels = examples.labels;
        for row in 0..count {
            let source = examples.row(first + row);
            let target = &examples.targets[source * labels..(source + 1) * labels];
            for (lane, &d) in self.targets.iter_mut().zip(target) {
                lane[row] = d;
            }
            self.weights[row] = examples.weights.map_or(T::ONE, |weights| weights[source]);
        }
        for lane in &mut self.targets {
            lane[count..].fill(T::ZERO);
        }
        self.weights[count..].fill(T::ZERO);
        self.group_count = examples.leave_out.map_or(0, |leave_out| leave_out.groups);
        if let Some(leave_out) = examples.leave_out {
            (0..count).for_each(|row| self.groups[row] = leave_out.of_row[examples.row(first + row)]);
        }
    }

    /// Writes the gradient of the first rows as `[rows, units]`, as many as there is room for.
    ///
    /// Eight units at a time, so that the lines written to stay in the nearest cache.
    #[inline(always)]
    pub fn store_gradient(&self, out: &mut [T]) {
        let units = self.gradient.len();
        let rows = out.len() / units.max(1);
        for (strip, lanes) in self.gradient.chunks(8).enumerate() {
            for row in 0..rows {
                let start = row * units + 8 * strip;
                for (out, lane) in out[start..start + lanes.len()].iter_mut().zip(lanes) {
                    *out = lane[row];
                }
            }
        }
    }

    /// The weights of the rows as one tree sees them: 0 for those that it leaves out.
    #[inline(always)]
    pub fn weights_for(&self, tree: usize) -> Lane<T> {
        if self.group_count == 0 {
            return self.weights;
        }
        let own = tree as u32 % self.group_count;
        std::array::from_fn(|row| if self.groups[row] == own { T::ZERO } else { self.weights[row] })
    }

    /// One tree forward and backward: adds `scale * w` times its gradient and gives its weighted loss. `weights` are those of
    /// [`Block::weights_for`].
    #[inline(always)]
    pub fn learn<S: Simd>(
        &mut self,
        simd: S,
        units: &[u32],
        leaves: &[T],
        weights: &Lane<T>,
        scale: T,
    ) -> f64 {
        route(&self.splits, units, &mut self.shares);
        mix(simd, &self.shares, leaves, &mut self.output);
        let mut losses = [T::ZERO; ROWS];
        divide_into(&self.targets, &mut self.output, &mut losses);
        pull(simd, &self.shares, leaves, &self.output, &mut self.pulls);
        let scales = weights.map(|weight| weight * scale);
        backward(&self.splits, units, &mut self.pulls, &scales, &mut self.gradient);
        weighted(&losses, weights)
    }

    /// One tree's part of the forest's output: adds `share` times its own.
    #[inline(always)]
    pub fn add_to_forest<S: Simd>(&mut self, simd: S, units: &[u32], leaves: &[T], share: T) {
        route(&self.splits, units, &mut self.shares);
        mix(simd, &self.shares, leaves, &mut self.output);
        for (sum, g) in self.forest.as_flattened_mut().iter_mut().zip(self.output.as_flattened()) {
            *sum += *g * share;
        }
    }

    /// Replaces the forest's output by `d / g` and gives the weighted loss.
    #[inline(always)]
    pub fn forest_loss(&mut self, weights: &Lane<T>) -> f64 {
        let mut losses = [T::ZERO; ROWS];
        divide_into(&self.targets, &mut self.forest, &mut losses);
        weighted(&losses, weights)
    }

    /// One tree backward from the forest's `d / g`: adds `scale * w` times its gradient.
    #[inline(always)]
    pub fn learn_from_forest<S: Simd>(
        &mut self,
        simd: S,
        units: &[u32],
        leaves: &[T],
        weights: &Lane<T>,
        scale: T,
    ) {
        route(&self.splits, units, &mut self.shares);
        pull(simd, &self.shares, leaves, &self.forest, &mut self.pulls);
        let scales = weights.map(|weight| weight * scale);
        backward(&self.splits, units, &mut self.pulls, &scales, &mut self.gradient);
    }
}

#[inline(always)]
fn weighted<T: SimdFloat>(losses: &Lane<T>, weights: &Lane<T>) -> f64 {
    losses.iter().zip(weights).map(|(&loss, &weight)| (loss * weight).as_f64()).sum()
}
