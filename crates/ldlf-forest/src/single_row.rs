//! One row at a time: no block, no threads, no allocation.

use ldlf_core::features::Row;
use ldlf_core::numeric::normalise;
use ldlf_core::{Result, RowPredictor, vectorise};

use crate::kernel::sigmoid;
use crate::shallow::ShallowForest;

/// A forest with the work buffers of a single row.
pub struct SingleRow<'a> {
    forest: &'a ShallowForest,
    /// The row with all its zeros.
    whole: Vec<f32>,
    /// The encoded row, `[inputs]`.
    encoded: Vec<f32>,
    /// The inputs that differ from zero.
    inputs: Vec<(u32, f32)>,
    splits: Vec<f32>,
    shares: Vec<f32>,
    output: Vec<f32>,
}

impl<'a> SingleRow<'a> {
    /// Buffers for a forest.
    pub fn new(forest: &'a ShallowForest) -> Self {
        let shape = forest.head.shape();
        SingleRow {
            whole: vec![0.0; forest.encoder.features()],
            encoded: vec![0.0; forest.encoder.inputs()],
            inputs: Vec::with_capacity(forest.encoder.inputs()),
            splits: vec![0.0; shape.units],
            shares: vec![0.0; shape.leaves()],
            output: vec![0.0; shape.labels],
            forest,
        }
    }
}

impl RowPredictor for SingleRow<'_> {
    fn predict(&mut self, row: Row<'_>) -> Result<&[f32]> {
        let ShallowForest { encoder, map, head } = self.forest;
        let values = match row {
            Row::Dense(values) => values,
            Row::Sparse(columns, values) => {
                self.whole.fill(0.0);
                columns.iter().zip(values).for_each(|(&column, &v)| self.whole[column as usize] = v);
                &self.whole
            }
        };
        encoder.encode_dense_row(values, &mut self.encoded);
        self.inputs.clear();
        self.inputs.extend((0..).zip(self.encoded.iter().copied()).filter(|&(_, z)| z != 0.0));
        map.forward_row(&self.inputs, &mut self.splits);
        vectorise!({
            sigmoid(&mut self.splits);
            head.predict_row(&self.splits, &mut self.shares, &mut self.output);
        },);
        normalise(&mut self.output);
        Ok(&self.output)
    }
}
