//! From rows to distributions: encoder, linear map, trees.

use std::ops::Range;

use ldlf_core::{Inputs, Matrix, Prediction, Result, Threads};
use ldlf_math::numeric::normalise;
use ldlf_math::product::View;
use ldlf_math::vectorise;

use crate::encoder::{Encoded, EncodedRows, Encoder};
use crate::head::{ActivationSource, Block, CHUNK, Head};
use crate::kernel::ROWS;
use crate::linear::LinearMap;

/// Activations of rows that are encoded when asked for.
pub(crate) struct LinearActivations<'a> {
    pub map: &'a LinearMap,
    pub rows: EncodedRows<'a>,
}

impl ActivationSource<f32> for LinearActivations<'_> {
    type Scratch = (Encoded, Vec<f32>);

    fn scratch(&self) -> Self::Scratch {
        (self.rows.encoder.buffer(self.rows.features), Vec::new())
    }

    fn activations<'a>(&self, rows: Range<usize>, scratch: &'a mut Self::Scratch) -> View<'a, f32> {
        let (encoded, activations) = scratch;
        let count = rows.len();
        self.rows.encode(rows, encoded);
        activations.resize(self.map.units() * count, 0.0);
        self.map.forward(encoded.view(), activations);
        View::row_major(activations, self.map.units(), count)
    }
}

/// The forest's output for `count` rows, `[count, labels]`.
pub(crate) fn predict_rows(
    map: &LinearMap,
    head: &Head<f32>,
    rows: &EncodedRows<'_>,
    count: usize,
    threads: &Threads,
) -> Vec<f32> {
    /// Rows that one task predicts.
    const TASK: usize = 1024;
    let labels = head.shape().labels;
    let mut out = vec![0.0; count * labels];
    let source = LinearActivations { map, rows: EncodedRows { ..*rows } };
    threads.for_each_chunk([&mut out[..]], TASK * labels, |task, [out]| {
        let mut scratch = source.scratch();
        let mut block = Block::new(head.shape());
        for (part, out) in out.chunks_mut(CHUNK * labels).enumerate() {
            let start = task * TASK + part * CHUNK;
            let activations = source.activations(start..start + out.len() / labels, &mut scratch);
            for (index, out) in out.chunks_mut(ROWS * labels).enumerate() {
                vectorise!(block.load_activations(activations, index * ROWS, out.len() / labels));
                head.predict_block(&mut block, out);
            }
        }
        out.chunks_exact_mut(labels).for_each(normalise);
    });
    out
}

/// The distributions of all rows of some features.
pub(crate) fn predict(
    encoder: &Encoder,
    map: &LinearMap,
    head: &Head<f32>,
    inputs: &Inputs,
    threads: &Threads,
) -> Result<Prediction> {
    let features = inputs.table()?;
    let rows = EncodedRows { encoder, features, rows: None };
    let out = predict_rows(map, head, &rows, features.rows(), threads);
    Ok(Prediction::Distributions(Matrix::new(features.rows(), head.shape().labels, out)?))
}
