//! One row at a time: no block, no threads, no allocation.

use ldlf_core::features::Row;
use ldlf_core::{Result, RowPredictor};
use ldlf_math::numeric::normalise;
use ldlf_math::vectorise;

use crate::head::Head;
use crate::kernel::sigmoid;
use crate::shallow_forest::ShallowForest;

/// A forest with the work buffers of a single row.
pub struct SingleRow<'a> {
    forest: &'a ShallowForest,
    trees: RowTrees,
    /// A sparse row with all its zeros.
    whole: Vec<f32>,
    /// The encoded row, `[inputs]`.
    encoded: Vec<f32>,
    /// The inputs of a sparse row that differ from zero.
    inputs: Vec<(u32, f32)>,
    splits: Vec<f32>,
    output: Vec<f32>,
}

impl<'a> SingleRow<'a> {
    /// Buffers for a forest.
    pub fn new(forest: &'a ShallowForest) -> Self {
        let shape = forest.head.shape();
        SingleRow {
            trees: RowTrees::new(&forest.head),
            whole: vec![0.0; forest.encoder.features()],
            encoded: vec![0.0; forest.encoder.inputs()],
            inputs: Vec::with_capacity(forest.encoder.inputs()),
            splits: vec![0.0; shape.units],
            output: vec![0.0; shape.labels],
            forest,
        }
    }
}

impl RowPredictor for SingleRow<'_> {
    fn predict(&mut self, row: Row<'_>) -> Result<&[f32]> {
        let ShallowForest { encoder, map, .. } = self.forest;
        match row {
            Row::Dense(values) => {
                encoder.encode_dense_row(values, &mut self.encoded);
                let inputs = (0..).zip(self.encoded.iter().copied());
                map.forward_row(inputs, &mut self.splits);
            }
            Row::Sparse(columns, values) => {
                self.whole.fill(0.0);
                columns.iter().zip(values).for_each(|(&column, &v)| self.whole[column as usize] = v);
                encoder.encode_dense_row(&self.whole, &mut self.encoded);
                self.inputs.clear();
                self.inputs.extend((0..).zip(self.encoded.iter().copied()).filter(|&(_, z)| z != 0.0));
                map.forward_row(self.inputs.iter().copied(), &mut self.splits);
            }
        }
        vectorise!({
            sigmoid(&mut self.splits);
            self.trees.predict(&self.splits, &mut self.output);
        },);
        normalise(&mut self.output);
        Ok(&self.output)
    }
}

/// Leaves whose shares are multiplied together.
const LANES: usize = 16;

/// The trees of a forest in an order for one row. Of every level the left children come first, then the right ones, so that a level
/// is two products of neighbouring numbers; leaves lie label by label.
struct RowTrees {
    /// The unit of every split, `[trees, splits]`, level after level.
    units: Vec<u32>,
    /// `[trees, labels, leaves]`, padded with zeros to whole vectors.
    leaves: Vec<[f32; LANES]>,
    /// The number of leaves of a tree.
    width: usize,
    /// The share of the row in every leaf of a tree, padded like the leaves.
    shares: Vec<f32>,
    /// The splits of a level.
    level: Vec<f32>,
    /// The output, `[labels]`, before its lanes are added up.
    sums: Vec<[f32; LANES]>,
    /// What a tree counts.
    part: f32,
}

impl RowTrees {
    fn new(head: &Head<f32>) -> Self {
        let shape = head.shape();
        let (width, labels) = (shape.leaves(), shape.labels);
        let mut units = Vec::with_capacity(head.units().len());
        let mut leaves = Vec::new();
        for tree in 0..shape.trees {
            let mut order = vec![0usize];
            while order.len() < width {
                let first = order.len() - 1;
                units.extend(order.iter().map(|&node| head.units_of(tree)[first + node]));
                order = [0, 1]
                    .into_iter()
                    .flat_map(|side| order.iter().map(move |node| 2 * node + side))
                    .collect();
            }
            for label in 0..labels {
                let own: Vec<f32> =
                    order.iter().map(|&leaf| head.leaves_of(tree)[leaf * labels + label]).collect();
                leaves.extend(own.chunks(LANES).map(|some| {
                    let mut lanes = [0.0; LANES];
                    lanes[..some.len()].copy_from_slice(some);
                    lanes
                }));
            }
        }
        RowTrees {
            units,
            leaves,
            width,
            shares: vec![0.0; width.next_multiple_of(LANES)],
            level: vec![0.0; width.div_ceil(2)],
            sums: vec![[0.0; LANES]; labels],
            part: 1.0 / shape.trees as f32,
        }
    }

    /// The mean output of the trees (Eqn. 2), given the sigmoids of the activations.
    #[inline(always)]
    fn predict(&mut self, splits: &[f32], out: &mut [f32]) {
        let RowTrees { units, leaves, width, shares, level, sums, part } = self;
        sums.fill([0.0; LANES]);
        let (per_label, labels) = (shares.len() / LANES, sums.len());
        let trees = units.chunks_exact((*width - 1).max(1)).zip(leaves.chunks_exact(per_label * labels));
        for (units, leaves) in trees {
            shares[0] = *part;
            let (mut here, mut units) = (1, units);
            while here < *width {
                let (own, deeper) = units.split_at(here);
                level.iter_mut().zip(own).for_each(|(to, &unit)| *to = splits[unit as usize]);
                let (left, right) = shares.split_at_mut(here);
                for ((left, right), &split) in left.iter_mut().zip(right).zip(&level[..here]) {
                    let all = *left;
                    *left = all * split;
                    *right = all * (1.0 - split);
                }
                (here, units) = (2 * here, deeper);
            }
            let shares = shares.as_chunks::<LANES>().0;
            for (sum, leaves) in sums.iter_mut().zip(leaves.chunks_exact(per_label)) {
                for (share, leaf) in shares.iter().zip(leaves) {
                    for lane in 0..LANES {
                        sum[lane] += share[lane] * leaf[lane];
                    }
                }
            }
        }
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = sum.iter().sum();
        }
    }
}
