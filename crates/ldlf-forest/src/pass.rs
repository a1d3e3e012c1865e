//! The way of some rows through the forest and back: what every step on a mini-batch begins with, here or on a worker.

use std::ops::Range;

use ldlf_core::dataset::Tabular;
use ldlf_core::{Csr, Dataset, Features, Seed, Threads};
use ldlf_math::parallel::chunks;
use ldlf_math::product::View;
use ldlf_math::vectorise;

use crate::by_input::ByInput;
use crate::encoder::{Dropout, EncodedView, Encoder};
use crate::head::{Block, Examples, Head, LeaveOut};
use crate::kernel::ROWS;
use crate::linear::LinearMap;
use crate::loss::LossForm;
use crate::tree_shape::ForestShape;

/// Work buffers for a number of rows, made once. Parts of the rows go to tasks; how they are cut depends on that number alone.
pub(crate) struct Pass {
    parts: Vec<Part>,
    part_rows: usize,
    used: usize,
    /// `[rows, inputs]` for dense features; empty for sparse ones, whose rows stand in their parts.
    inputs: Vec<f32>,
    /// `[rows, units]`: with respect to the activations.
    gradient: Vec<f32>,
}

/// The part of the rows that one task works on.
struct Part {
    sparse: Csr,
    by_input: ByInput,
    activations: Vec<f32>,
    block: Block<f32>,
    loss: f64,
}

/// What rows go through.
#[derive(Clone, Copy)]
pub(crate) struct Layers<'a> {
    pub encoder: &'a Encoder,
    pub map: &'a LinearMap,
    pub head: &'a Head<f32>,
}

/// What is lowered: the loss of some of the trees, in one of its forms, times a factor.
pub(crate) struct Aim<'a> {
    pub form: LossForm,
    pub trees: Range<usize>,
    pub scale: f64,
    pub leave_out: Option<LeaveOut<'a>>,
}

/// Inputs that are left out of one step.
#[derive(Clone, Copy, Debug)]
pub struct DropoutDraw {
    /// The share left out.
    pub share: f32,
    /// Where the chance of this step comes from.
    pub seed: Seed,
    /// The number of the data's first row, where every row draws by its own number; none draws part by part.
    pub first_row: Option<u64>,
}

/// Rows after their way there and back.
pub(crate) enum Passed<'a> {
    /// `[rows, inputs]`.
    Dense(&'a [f32]),
    /// Parts of the rows, one after the other.
    Sparse(SparseParts<'a>),
}

/// The sparse rows of all parts.
#[derive(Clone, Copy)]
pub(crate) struct SparseParts<'a>(&'a [Part]);

impl<'a> SparseParts<'a> {
    /// The rows of every part, ordered by input.
    pub fn iter(self) -> impl Iterator<Item = &'a ByInput> + Clone + Sync {
        self.0.iter().map(|part| &part.by_input)
    }
}

impl Pass {
    /// Buffers for at most `rows` rows.
    pub fn new(shape: &ForestShape, inputs: usize, rows: usize) -> Self {
        let part_rows = (rows / 4).next_multiple_of(ROWS).clamp(ROWS, 8 * ROWS);
        let parts = chunks(rows, part_rows).map(|_| Part::new(shape, inputs, part_rows)).collect();
        Pass { parts, part_rows, used: 0, inputs: Vec::new(), gradient: Vec::new() }
    }

    /// Takes rows forward and backward, at most as many as there are buffers for. Gives their loss.
    pub fn run(
        &mut self,
        forest: Layers<'_>,
        data: Tabular<'_>,
        rows: &[usize],
        aim: &Aim<'_>,
        dropout: Option<DropoutDraw>,
        threads: &Threads,
    ) -> f64 {
        self.encode(forest.encoder, data, rows, dropout, threads);
        self.learn(forest.map, forest.head, data, rows, aim, threads)
    }

    /// The first half of [`Pass::run`]: encodes the rows.
    pub fn encode(
        &mut self,
        encoder: &Encoder,
        data: Tabular<'_>,
        rows: &[usize],
        dropout: Option<DropoutDraw>,
        threads: &Threads,
    ) {
        let (inputs, size) = (encoder.inputs(), self.part_rows);
        if let Features::Dense(_) = data.features {
            self.inputs.resize(rows.len() * inputs, 0.0);
        }
        self.used = rows.len().div_ceil(size);
        let slices = [(&mut self.inputs[..], size * inputs)];
        threads.for_each_part(&mut self.parts[..self.used], slices, |index, part, [x]| {
            let own = rows[index * size..].iter().copied().take(size);
            let mut generator = dropout.map(|d| d.seed.numbered(index as u64).generator());
            let dropout = dropout.zip(generator.as_mut()).map(|(draw, generator)| Dropout {
                share: draw.share,
                generator,
                by_row: draw.first_row.map(|first| (draw.seed, first)),
            });
            match data.features {
                Features::Dense(features) => encoder.encode_dense(features, own, dropout, x),
                Features::Sparse(features) => {
                    encoder.encode_sparse(features, own, dropout, &mut part.sparse);
                    part.by_input.fill(&part.sparse);
                }
            }
        });
    }

    /// The second half of [`Pass::run`]: takes the rows that were just encoded forward and backward.
    pub fn learn(
        &mut self,
        map: &LinearMap,
        head: &Head<f32>,
        data: Tabular<'_>,
        rows: &[usize],
        aim: &Aim<'_>,
        threads: &Threads,
    ) -> f64 {
        let examples = examples(&data, Some(rows), aim.leave_out);
        let (units, size) = (head.shape().units, self.part_rows);
        self.gradient.resize(rows.len() * units, 0.0);
        let slices = [(&mut self.gradient[..], size * units)];
        let x = &self.inputs;
        threads.for_each_part(&mut self.parts[..self.used], slices, |index, part, [gradient]| {
            let first = index * size;
            let encoded = match data.features {
                Features::Dense(_) => {
                    let inputs = map.inputs();
                    EncodedView::Dense(&x[first * inputs..(first + gradient.len() / units) * inputs])
                }
                Features::Sparse(_) => EncodedView::Sparse(&part.sparse),
            };
            part.activations.resize(gradient.len(), 0.0);
            map.forward(encoded, &mut part.activations);
            part.learn(head, aim, &examples, first, gradient);
        });
        self.parts[..self.used].iter().map(|part| part.loss).sum()
    }

    /// The encoded rows and the gradient with respect to their activations, `[rows, units]`.
    pub fn passed(&self, data: Tabular<'_>) -> (Passed<'_>, &[f32]) {
        let rows = match data.features {
            Features::Dense(_) => Passed::Dense(&self.inputs),
            Features::Sparse(_) => Passed::Sparse(SparseParts(&self.parts[..self.used])),
        };
        (rows, &self.gradient)
    }
}

impl Part {
    fn new(shape: &ForestShape, inputs: usize, rows: usize) -> Self {
        Part {
            sparse: Csr::with_columns(inputs),
            by_input: ByInput::default(),
            activations: Vec::with_capacity(shape.units * rows),
            block: Block::new(shape),
            loss: 0.0,
        }
    }

    /// Forward and backward through the forest, block by block. `gradient` is `[rows, units]`, overwritten.
    fn learn(
        &mut self,
        head: &Head<f32>,
        aim: &Aim<'_>,
        examples: &Examples<'_, f32>,
        first: usize,
        gradient: &mut [f32],
    ) {
        let units = head.shape().units;
        let rows = gradient.len() / units;
        let activations = View::row_major(&self.activations, units, rows);
        let block = &mut self.block;
        self.loss = 0.0;
        for (range, gradient) in chunks(rows, ROWS).zip(gradient.chunks_mut(ROWS * units)) {
            vectorise!({
                block.load_activations(activations, range.start, range.len());
                block.load_examples(examples, first + range.start, range.len());
            });
            self.loss += head.learn_block(block, aim.form, aim.trees.clone(), aim.scale);
            vectorise!(block.store_gradient(gradient));
        }
    }
}

/// Targets and weights of a dataset as the head wants them.
pub(crate) fn examples<'a>(
    data: &'a Dataset,
    rows: Option<&'a [usize]>,
    leave_out: Option<LeaveOut<'a>>,
) -> Examples<'a, f32> {
    Examples {
        targets: data.targets().as_slice(),
        labels: data.labels(),
        weights: data.weights(),
        rows,
        leave_out,
    }
}
