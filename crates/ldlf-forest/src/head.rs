//! The forest head: it sees activations and targets only, so that the shallow model, a deep network and any other feature
//! function can stand in front of it.

use std::ops::Range;

use ldlf_core::{Result, Seed};
use ldlf_math::parallel::chunks;
use ldlf_math::product::View;
use ldlf_math::simd::{Simd, WithSimd, dispatch};
use ldlf_math::vectorise;

pub use crate::block::{Block, Examples, LeaveOut};
use crate::kernel::{ROWS, SimdFloat};
pub use crate::leaves::LeafUpdate;
use crate::loss::{LossForm, mix, pull};
use crate::routing::{backward, route};
use crate::tree_shape::{ForestShape, check_memory, draw_units};

/// `K` trees over the output units of one feature function: the unit of every split and the distribution of every leaf.
///
/// ```
/// use ldlf_core::Seed;
/// use ldlf_forest::{head::Head, tree_shape::ForestShape};
/// use ldlf_math::product::View;
/// let shape = ForestShape { trees: 2, depth: 3, units: 4, labels: 3 };
/// let head = Head::<f64>::new(shape, Seed::new(0))?;
/// let activations = [0.5, -1.0, 2.0, 0.0]; // one row, four units
/// let mut distribution = [0.0; 3];
/// head.predict(View::row_major(&activations, 1, 4), &mut distribution);
/// assert!((distribution.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), ldlf_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Head<T> {
    shape: ForestShape,
    units: Vec<u32>,
    leaves: Vec<T>,
}

/// Computes activations for rows on demand; lets leaf updates run over more rows than memory holds.
pub trait ActivationSource<T>: Sync {
    /// What a thread keeps between calls.
    type Scratch: Send;
    /// A scratch for rows in chunks of at most [`CHUNK`].
    fn scratch(&self) -> Self::Scratch;
    /// The activations of some rows as `[units, rows]`.
    fn activations<'a>(&self, rows: Range<usize>, scratch: &'a mut Self::Scratch) -> View<'a, T>;
}

/// Rows whose activations are computed in one go.
pub const CHUNK: usize = 4 * ROWS;

impl<T: SimdFloat> Head<T> {
    /// A head with random unit maps and uniform leaves.
    pub fn new(shape: ForestShape, seed: Seed) -> Result<Self> {
        Self::check_sizes(&shape)?;
        let share = T::of(1.0 / shape.labels as f64);
        Ok(Head {
            units: draw_units(&shape, seed),
            leaves: vec![share; shape.trees * shape.leaves() * shape.labels],
            shape,
        })
    }

    /// Refuses sizes that are none of a forest or do not fit into memory.
    pub fn check_sizes(shape: &ForestShape) -> Result<()> {
        shape.check()?;
        let sizes = [("trees", shape.trees), ("leaves", shape.leaves()), ("labels", shape.labels)];
        check_memory("the leaves", &sizes, 3 * size_of::<T>())?;
        Ok(check_memory("the unit maps", &[("trees", shape.trees), ("splits", shape.splits())], 4)?)
    }

    /// A head from its parts: `units` is `[trees, splits]`, `leaves` `[trees, leaves, labels]`.
    ///
    /// # Panics
    /// When the parts do not fit the shape; a caller who reads them from a file checks first.
    pub fn from_parts(shape: ForestShape, units: Vec<u32>, leaves: Vec<T>) -> Self {
        assert_eq!(units.len(), shape.trees * shape.splits());
        assert_eq!(leaves.len(), shape.trees * shape.leaves() * shape.labels);
        assert!(units.iter().all(|&unit| (unit as usize) < shape.units));
        Head { shape, units, leaves }
    }

    /// The sizes.
    pub fn shape(&self) -> &ForestShape {
        &self.shape
    }

    /// The unit of every split, `[trees, splits]`.
    pub fn units(&self) -> &[u32] {
        &self.units
    }

    /// The distribution of every leaf, `[trees, leaves, labels]`.
    pub fn leaves(&self) -> &[T] {
        &self.leaves
    }

    /// The leaves, to overwrite with others of the same shape.
    pub fn leaves_mut(&mut self) -> &mut [T] {
        &mut self.leaves
    }

    pub(crate) fn units_of(&self, tree: usize) -> &[u32] {
        &self.units[tree * self.shape.splits()..(tree + 1) * self.shape.splits()]
    }

    pub(crate) fn leaves_of(&self, tree: usize) -> &[T] {
        let size = self.shape.leaves() * self.shape.labels;
        &self.leaves[tree * size..(tree + 1) * size]
    }

    /// The share of every row that reaches every leaf (Eqn. 1).
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; result: `[rows, trees, leaves]`
    pub fn route(&self, activations: View<'_, T>) -> Vec<T> {
        let (trees, leaves) = (self.shape.trees, self.shape.leaves());
        let mut result = vec![T::ZERO; activations.rows() * trees * leaves];
        let mut block = Block::new(&self.shape);
        for rows in chunks(activations.rows(), ROWS) {
            vectorise!(block.load_activations(activations.transposed(), rows.start, rows.len()));
            for tree in 0..trees {
                vectorise!(route(&block.splits, self.units_of(tree), &mut block.shares));
                for (leaf, lane) in block.shares.iter().enumerate() {
                    for (row, &share) in rows.clone().zip(lane) {
                        result[(row * trees + tree) * leaves + leaf] = share;
                    }
                }
            }
        }
        result
    }

    /// The mean of the trees' outputs (Eqn. 2 and the paper's testing stage).
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; `out`: `[rows, labels]`, overwritten
    pub fn predict(&self, activations: View<'_, T>, out: &mut [T]) {
        let mut block = Block::new(&self.shape);
        let labels = self.shape.labels;
        for rows in chunks(activations.rows(), ROWS) {
            let out = &mut out[rows.start * labels..rows.end * labels];
            vectorise!(block.load_activations(activations.transposed(), rows.start, rows.len()));
            self.predict_block(&mut block, out);
        }
    }

    /// Predicts the rows whose splits `block` holds into `out`, as many as `out` has room for.
    pub fn predict_block(&self, block: &mut Block<T>, out: &mut [T]) {
        dispatch(Predict { head: self, block, out });
    }

    /// The forest loss (Eqn. 3 averaged over trees) and its gradient with respect to the activations (Eqn. 6 and 13).
    ///
    /// Rows count by their weight, divided by the sum of the weights.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; `gradient`: `[rows, units]`, overwritten
    pub fn loss_and_grad(
        &self,
        activations: View<'_, T>,
        examples: &Examples<'_, T>,
        gradient: &mut [T],
    ) -> f64 {
        self.share_of_loss_and_grad(activations, examples, examples.total_weight(), gradient)
    }

    /// As [`Head::loss_and_grad`] for some of the rows over which a loss is averaged: their part of it, where `total` is the
    /// weight of all.
    pub fn share_of_loss_and_grad(
        &self,
        activations: View<'_, T>,
        examples: &Examples<'_, T>,
        total: f64,
        gradient: &mut [T],
    ) -> f64 {
        let mut block = Block::new(&self.shape);
        let (rows, units) = (activations.rows(), self.shape.units);
        let mut loss = 0.0;
        for (range, gradient) in chunks(rows, ROWS).zip(gradient.chunks_mut(ROWS * units)) {
            vectorise!({
                block.load_activations(activations.transposed(), range.start, range.len());
                block.load_examples(examples, range.start, range.len());
            });
            loss += self.learn_block(&mut block, LossForm::Trees, 0..self.shape.trees, 1.0 / total);
            vectorise!(block.store_gradient(gradient));
        }
        loss
    }

    /// The gradient of `sum_ic v_ic p_ic` with respect to the activations, where `p` is what [`Head::predict`] gives: what lets
    /// any loss of the predictions stand above the head.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; `above`: `[rows, labels]`, `v`; `gradient`: `[rows, units]`, overwritten
    pub fn predict_grad(&self, activations: View<'_, T>, above: &[T], gradient: &mut [T]) {
        let mut block = Block::new(&self.shape);
        let (units, labels) = (self.shape.units, self.shape.labels);
        let examples = Examples { targets: above, labels, weights: None, rows: None, leave_out: None };
        for (range, gradient) in chunks(activations.rows(), ROWS).zip(gradient.chunks_mut(ROWS * units)) {
            vectorise!({
                block.load_activations(activations.transposed(), range.start, range.len());
                block.load_examples(&examples, range.start, range.len());
            });
            dispatch(PullBack { head: self, block: &mut block });
            vectorise!(block.store_gradient(gradient));
        }
    }

    /// The loss of the rows in `block` under some of the trees, and its gradient in `block.gradient`, both times `scale` and
    /// averaged over those trees.
    pub fn learn_block(&self, block: &mut Block<T>, form: LossForm, trees: Range<usize>, scale: f64) -> f64 {
        match form {
            LossForm::Trees => dispatch(Learn { head: self, block, trees, scale }),
            LossForm::Forest => dispatch(LearnForest { head: self, block, trees, scale }),
        }
    }
}

/// The mean output of all trees for the rows of a block.
struct Predict<'a, T> {
    head: &'a Head<T>,
    block: &'a mut Block<T>,
    out: &'a mut [T],
}

impl<T: SimdFloat> WithSimd for Predict<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Predict { head, block, out } = self;
        let mean = T::of(1.0 / head.shape.trees as f64);
        block.targets.as_flattened_mut().fill(T::ZERO);
        for tree in 0..head.shape.trees {
            route(&block.splits, head.units_of(tree), &mut block.shares);
            mix(simd, &block.shares, head.leaves_of(tree), &mut block.output);
            for (sum, g) in block.targets.as_flattened_mut().iter_mut().zip(block.output.as_flattened()) {
                *sum += *g * mean;
            }
        }
        for (row, out) in out.chunks_exact_mut(head.shape.labels).enumerate() {
            for (label, out) in out.iter_mut().enumerate() {
                *out = block.targets[label][row];
            }
        }
    }
}

/// Forward and backward for the rows of a block.
struct Learn<'a, T> {
    head: &'a Head<T>,
    block: &'a mut Block<T>,
    trees: Range<usize>,
    scale: f64,
}

impl<T: SimdFloat> WithSimd for Learn<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let scale = self.scale / self.trees.len() as f64;
        self.block.gradient.as_flattened_mut().fill(T::ZERO);
        let mut loss = 0.0;
        for tree in self.trees {
            let (units, leaves) = (self.head.units_of(tree), self.head.leaves_of(tree));
            let weights = self.block.weights_for(tree);
            loss += self.block.learn(simd, units, leaves, &weights, T::of(scale));
        }
        loss * scale
    }
}

/// Forward and backward for the rows of a block, with the loss of the trees' mean. Trees that leave out the same rows make up a
/// forest of their own: what they learn then depends on no tree that saw the rows they leave out.
struct LearnForest<'a, T> {
    head: &'a Head<T>,
    block: &'a mut Block<T>,
    trees: Range<usize>,
    scale: f64,
}

impl<T: SimdFloat> WithSimd for LearnForest<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let LearnForest { head, block, trees, scale } = self;
        let groups = (block.group_count as usize).clamp(1, trees.len());
        block.gradient.as_flattened_mut().fill(T::ZERO);
        let mut loss = 0.0;
        for first in trees.start..trees.start + groups {
            let together = (first..trees.end).step_by(groups);
            let share = 1.0 / together.len() as f64;
            block.forest.as_flattened_mut().fill(T::ZERO);
            for tree in together.clone() {
                block.add_to_forest(simd, head.units_of(tree), head.leaves_of(tree), T::of(share));
            }
            let weights = block.weights_for(first);
            let part = scale * (together.len() as f64 / trees.len() as f64);
            loss += block.forest_loss(&weights) * part;
            for tree in together {
                let (units, leaves) = (head.units_of(tree), head.leaves_of(tree));
                block.learn_from_forest(simd, units, leaves, &weights, T::of(part * share));
            }
        }
        loss
    }
}

/// The gradient of the predictions for the rows of a block, whose targets are what stands above them.
struct PullBack<'a, T> {
    head: &'a Head<T>,
    block: &'a mut Block<T>,
}

impl<T: SimdFloat> WithSimd for PullBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let PullBack { head, block } = self;
        // The pulls of a loss fall with the output, those of the output itself rise.
        let scales = [T::of(-1.0 / head.shape.trees as f64); ROWS];
        block.gradient.as_flattened_mut().fill(T::ZERO);
        for tree in 0..head.shape.trees {
            let (units, leaves) = (head.units_of(tree), head.leaves_of(tree));
            route(&block.splits, units, &mut block.shares);
            pull(simd, &block.shares, leaves, &block.targets, &mut block.pulls);
            backward(&block.splits, units, &mut block.pulls, &scales, &mut block.gradient);
        }
    }
}

/// Activations that are in memory already, `[rows, units]`.
pub struct Given<'a, T>(pub View<'a, T>);

impl<T: SimdFloat> ActivationSource<T> for Given<'_, T> {
    type Scratch = Vec<T>;

    fn scratch(&self) -> Vec<T> {
        Vec::new()
    }

    fn activations<'a>(&self, rows: Range<usize>, scratch: &'a mut Vec<T>) -> View<'a, T> {
        scratch.clear();
        for unit in 0..self.0.cols() {
            scratch.extend(rows.clone().map(|row| self.0.at(row, unit)));
        }
        View::row_major(scratch, self.0.cols(), rows.len())
    }
}
