//! What a training repeats: a step on a mini-batch, and the leaf update. All buffers are made once.

use std::borrow::Cow;
use std::ops::Range;

use ldlf_core::dataset::Tabular;
use ldlf_core::optimise::step::Step;
use ldlf_core::product::View;
use ldlf_core::{Threads, vectorise};

use crate::encoder::{EncodedRows, Encoder};
use crate::head::{ActivationSource, Block, Head, LeafUpdate};
use crate::kernel::ROWS;
use crate::linear::{Homes, LinearMap, OptimiserState};
use crate::loss::LossForm;
pub use crate::pass::DropoutDraw;
use crate::pass::{Aim, Forest, Pass, Passed, examples};

/// A forest that learns: encoder, linear map and head, with the state of the optimiser and the work buffers.
pub struct Stepper {
    encoder: Encoder,
    map: LinearMap,
    head: Head<f32>,
    optimiser: OptimiserState,
    pass: Pass,
    form: LossForm,
}

impl Stepper {
    /// Buffers for mini-batches of at most `batch` rows.
    pub fn new(encoder: Encoder, map: LinearMap, head: Head<f32>, batch: usize) -> Self {
        Stepper {
            optimiser: OptimiserState::new(&map),
            pass: Pass::new(head.shape(), encoder.inputs(), batch),
            encoder,
            map,
            head,
            form: LossForm::Trees,
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
        data: Tabular<'_>,
        rows: &[usize],
        trees: Range<usize>,
        step: &Step,
        dropout: Option<DropoutDraw>,
        threads: &Threads,
    ) -> f64 {
        let weight = examples(&data, Some(rows)).total_weight();
        let aim = Aim { form: self.form, trees, scale: 1.0 / weight.max(f64::MIN_POSITIVE) };
        let forest = Forest { encoder: &self.encoder, map: &self.map, head: &self.head };
        let loss = self.pass.run(forest, data, rows, &aim, dropout, threads);
        let (inputs, gradient) = self.pass.passed(data);
        let (optimiser, map, bias) = (&mut self.optimiser, &mut self.map, self.encoder.bias());
        match inputs {
            Passed::Dense(x) => optimiser.step_dense(map, x, gradient, step, bias, threads),
            Passed::Sparse(parts) => optimiser.step_sparse(map, parts.iter(), gradient, step, bias, threads),
        }
        loss
    }

    /// Iterates the leaf update over some rows.
    pub fn update_leaves(
        &mut self,
        data: Tabular<'_>,
        rows: &[usize],
        update: &LeafUpdate,
        threads: &Threads,
    ) {
        self.settle(threads);
        let source = LinearActivations {
            map: &self.map,
            rows: EncodedRows { encoder: &self.encoder, features: data.features, rows: Some(rows) },
        };
        self.head.update_leaves(&source, &examples(&data, Some(rows)), update, threads);
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
