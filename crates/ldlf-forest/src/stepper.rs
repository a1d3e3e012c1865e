//! What a training repeats: a step on a mini-batch, and the leaf update. All buffers are made once.

use std::borrow::Cow;
use std::ops::Range;

use ldlf_core::optimise::step::Step;
use ldlf_core::parallel::chunks;
use ldlf_core::product::View;
use ldlf_core::{Csr, Dataset, Features, Seed, Threads, vectorise};

use crate::encoder::{Dropout, EncodedRows, EncodedView, Encoder};
use crate::head::{ActivationSource, Block, Examples, Head, LeafUpdate};
use crate::kernel::ROWS;
use crate::linear::{ByInput, Homes, LinearMap, OptimiserState};
use crate::loss::LossForm;
use crate::tree_shape::ForestShape;

/// A forest that learns: encoder, linear map and head, with the state of the optimiser and the work buffers.
pub struct Stepper {
    encoder: Encoder,
    map: LinearMap,
    head: Head<f32>,
    optimiser: OptimiserState,
    parts: Vec<Part>,
    part_rows: usize,
    form: LossForm,
    /// `[batch, inputs]` for dense features; empty for sparse ones, whose rows stand in their parts.
    inputs: Vec<f32>,
    /// `[batch, units]`: with respect to the activations.
    gradient: Vec<f32>,
}

/// The part of a mini-batch that one task works on.
struct Part {
    sparse: Csr,
    by_input: ByInput,
    activations: Vec<f32>,
    block: Block<f32>,
    loss: f64,
}

/// Inputs that are left out of one step.
#[derive(Clone, Copy, Debug)]
pub struct DropoutDraw {
    /// The share left out.
    pub share: f32,
    /// Where the chance of this step comes from.
    pub seed: Seed,
}

impl Stepper {
    /// Buffers for mini-batches of at most `batch` rows.
    pub fn new(encoder: Encoder, map: LinearMap, head: Head<f32>, batch: usize) -> Self {
        let part_rows = (batch / 4).next_multiple_of(ROWS).clamp(ROWS, 8 * ROWS);
        let parts = chunks(batch, part_rows).map(|_| Part::new(head.shape(), &encoder, part_rows)).collect();
        Stepper {
            optimiser: OptimiserState::new(&map),
            encoder,
            map,
            head,
            parts,
            part_rows,
            form: LossForm::Trees,
            inputs: Vec::new(),
            gradient: Vec::new(),
        }
    }

    /// The same with another form of the loss.
    pub fn with_loss(self, form: LossForm) -> Self {
        Stepper { form, ..self }
    }

    /// The same with some weights drawn to other values than zero.
    pub fn with_homes(self, homes: Homes) -> Self {
        Stepper { optimiser: self.optimiser.with_homes(homes), ..self }
    }

    /// Scales the features.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The trees.
    pub fn head(&self) -> &Head<f32> {
        &self.head
    }

    /// The linear map with all steps taken.
    pub fn map(&self) -> Cow<'_, LinearMap> {
        match self.optimiser.is_settled() {
            true => Cow::Borrowed(&self.map),
            false => Cow::Owned(self.settled().0),
        }
    }

    /// The linear map and the optimiser's first and second moments with all steps taken.
    pub fn settled(&self) -> (LinearMap, Vec<f32>, Vec<f32>) {
        let (mut map, mut optimiser) = (self.map.clone(), self.optimiser.clone());
        optimiser.settle(&mut map, self.encoder.bias(), &Threads::one());
        (map, optimiser.first, optimiser.second)
    }

    /// Takes over weights, moments and leaves of the same shapes.
    pub fn restore(&mut self, weights: &[f32], first: Vec<f32>, second: Vec<f32>, leaves: &[f32]) {
        self.optimiser.restart(&self.map);
        (self.optimiser.first, self.optimiser.second) = (first, second);
        self.map.weights_mut().copy_from_slice(weights);
        self.head.leaves_mut().copy_from_slice(leaves);
    }

    /// Encoder, map and head, without the rest.
    pub fn into_parts(mut self) -> (Encoder, LinearMap, Head<f32>) {
        self.settle(&Threads::one());
        (self.encoder, self.map, self.head)
    }

    fn settle(&mut self, threads: &Threads) {
        self.optimiser.settle(&mut self.map, self.encoder.bias(), threads);
    }

    /// One step on some rows, at most as many as there are buffers for, with the loss of some of the trees. Gives that loss.
    pub fn step(
        &mut self,
        data: &Dataset,
        rows: &[usize],
        trees: Range<usize>,
        step: &Step,
        dropout: Option<DropoutDraw>,
        threads: &Threads,
    ) -> f64 {
        let examples = examples(data, Some(rows));
        let scale = 1.0 / examples.total_weight().max(f64::MIN_POSITIVE);
        let (map, head, encoder, form) = (&self.map, &self.head, &self.encoder, self.form);
        let (inputs, units, size) = (encoder.inputs(), head.shape().units, self.part_rows);
        if let Features::Dense(_) = data.features {
            self.inputs.resize(rows.len() * inputs, 0.0);
        }
        self.gradient.resize(rows.len() * units, 0.0);
        let parts = &mut self.parts[..rows.len().div_ceil(size)];
        let slices = [(&mut self.inputs[..], size * inputs), (&mut self.gradient[..], size * units)];
        threads.for_each_part(parts, slices, |index, part, [x, gradient]| {
            let first = index * size;
            let own = rows[first..].iter().copied().take(size);
            let mut generator = dropout.map(|d| d.seed.numbered(index as u64).generator());
            let dropout = dropout
                .zip(generator.as_mut())
                .map(|(draw, generator)| Dropout { share: draw.share, generator });
            let encoded = match &data.features {
                Features::Dense(features) => {
                    encoder.encode_dense(features, own, dropout, x);
                    EncodedView::Dense(x)
                }
                Features::Sparse(features) => {
                    encoder.encode_sparse(features, own, dropout, &mut part.sparse);
                    part.by_input.fill(&part.sparse);
                    EncodedView::Sparse(&part.sparse)
                }
            };
            part.activations.resize(gradient.len(), 0.0);
            map.forward(encoded, &mut part.activations);
            part.learn(head, form, trees.clone(), &examples, first, scale, gradient);
        });
        let parts = &self.parts[..rows.len().div_ceil(size)];
        let bias = self.encoder.bias();
        match &data.features {
            Features::Dense(_) => {
                self.optimiser.step_dense(&mut self.map, &self.inputs, &self.gradient, step, bias, threads)
            }
            Features::Sparse(_) => {
                let by_input = parts.iter().map(|part| &part.by_input);
                self.optimiser.step_sparse(&mut self.map, by_input, &self.gradient, step, bias, threads);
            }
        }
        parts.iter().map(|part| part.loss).sum()
    }

    /// Iterates the leaf update over some rows.
    pub fn update_leaves(&mut self, data: &Dataset, rows: &[usize], update: &LeafUpdate, threads: &Threads) {
        self.settle(threads);
        let source = LinearActivations {
            map: &self.map,
            rows: EncodedRows { encoder: &self.encoder, features: &data.features, rows: Some(rows) },
        };
        self.head.update_leaves(&source, &examples(data, Some(rows)), update, threads);
    }
}

impl Part {
    fn new(shape: &ForestShape, encoder: &Encoder, rows: usize) -> Self {
        Part {
            sparse: Csr::with_columns(encoder.inputs()),
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
        form: LossForm,
        trees: Range<usize>,
        examples: &Examples<'_, f32>,
        first: usize,
        scale: f64,
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
            self.loss += head.learn_block(block, form, trees.clone(), scale);
            vectorise!(block.store_gradient(gradient));
        }
    }
}

/// Targets and weights of a dataset as the head wants them.
fn examples<'a>(data: &'a Dataset, rows: Option<&'a [usize]>) -> Examples<'a, f32> {
    Examples {
        targets: data.targets.as_slice(),
        labels: data.labels(),
        weights: data.weights.as_deref(),
        rows,
    }
}

/// Activations of rows that are encoded when asked for.
pub(crate) struct LinearActivations<'a> {
    pub map: &'a LinearMap,
    pub rows: EncodedRows<'a>,
}

impl ActivationSource<f32> for LinearActivations<'_> {
    type Scratch = (crate::encoder::Encoded, Vec<f32>);

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
        for (part, out) in out.chunks_mut(crate::head::CHUNK * labels).enumerate() {
            let start = task * TASK + part * crate::head::CHUNK;
            let activations = source.activations(start..start + out.len() / labels, &mut scratch);
            for (index, out) in out.chunks_mut(ROWS * labels).enumerate() {
                vectorise!(block.load_activations(activations, index * ROWS, out.len() / labels));
                head.predict_block(&mut block, out);
            }
        }
        out.chunks_exact_mut(labels).for_each(ldlf_core::numeric::normalise);
    });
    out
}
