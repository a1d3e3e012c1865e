//! What a training repeats: a step on a mini-batch, and the leaf update. All buffers are made once.

use std::borrow::Cow;
use std::ops::Range;

use ldlf_core::Threads;
use ldlf_core::dataset::Tabular;
use ldlf_core::leave_out::RowGroups;
use ldlf_math::optimise::step::Step;

use crate::encoder::{EncodedRows, Encoder};
use crate::head::{Head, LeafUpdate, LeaveOut};
use crate::lazy_optimizer::{DecayTargets, LazyOptimizer};
use crate::leaf_update::{LeftOut, Routing};
use crate::linear::LinearMap;
use crate::loss::LossForm;
pub use crate::pass::DropoutDraw;
use crate::pass::{Aim, Pass, Passed, examples};
use crate::predict::LinearActivations;

/// A forest that learns: encoder, linear map and head, with the state of the optimiser and the work buffers.
pub struct Stepper {
    encoder: Encoder,
    map: LinearMap,
    head: Head<f32>,
    optimiser: LazyOptimizer,
    pass: Pass,
    form: LossForm,
    leave_out: Option<RowGroups>,
}

impl Stepper {
    /// Buffers for mini-batches of at most `batch` rows.
    pub fn new(encoder: Encoder, map: LinearMap, head: Head<f32>, batch: usize) -> Self {
        Stepper {
            optimiser: LazyOptimizer::new(&map),
            pass: Pass::new(head.shape(), encoder.inputs(), batch),
            encoder,
            map,
            head,
            form: LossForm::Trees,
            leave_out: None,
        }
    }

    /// The same with another form of the loss.
    pub fn with_loss(self, form: LossForm) -> Self {
        Stepper { form, ..self }
    }

    /// The same with trees that each leave out one group of rows.
    pub fn with_leave_out(self, leave_out: Option<RowGroups>) -> Self {
        Stepper { leave_out, ..self }
    }

    /// From now on every tree learns from all rows.
    pub fn give_rows_back(&mut self) {
        self.leave_out = None;
    }

    /// The same with some weights that decay to other values than zero.
    pub fn with_decay_targets(self, targets: DecayTargets) -> Self {
        Stepper { optimiser: self.optimiser.with_decay_targets(targets), ..self }
    }

    /// The same with a learning rate for every weight, `[inputs, units]`, relative to that of a step.
    pub fn with_rates(self, rates: Vec<f32>) -> Self {
        Stepper { optimiser: self.optimiser.with_rates(rates), ..self }
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
        match self.optimiser.is_flushed() {
            true => Cow::Borrowed(&self.map),
            false => Cow::Owned(self.flushed().0),
        }
    }

    /// The linear map and the optimiser's first and second moments with all steps taken.
    pub fn flushed(&self) -> (LinearMap, Vec<f32>, Vec<f32>) {
        let (mut map, mut optimiser) = (self.map.clone(), self.optimiser.clone());
        optimiser.flush(&mut map, self.encoder.bias(), &Threads::one());
        (map, optimiser.first, optimiser.second)
    }

    /// Takes over weights, moments and leaves of the same shapes.
    pub fn restore(&mut self, weights: &[f32], first: Vec<f32>, second: Vec<f32>, leaves: &[f32]) {
        self.optimiser.restart(&self.map);
        (self.optimiser.first, self.optimiser.second) = (first, second);
        self.map.weights_mut().copy_from_slice(weights);
        self.head.leaves_mut().copy_from_slice(leaves);
    }

    /// Goes on with other weights and leaves of the same shapes.
    pub fn replace(&mut self, weights: &[f32], leaves: &[f32]) {
        self.flush(&Threads::one());
        self.map.weights_mut().copy_from_slice(weights);
        self.head.leaves_mut().copy_from_slice(leaves);
    }

    /// Encoder, map and head, without the rest.
    pub fn into_parts(mut self) -> (Encoder, LinearMap, Head<f32>) {
        self.flush(&Threads::one());
        (self.encoder, self.map, self.head)
    }

    fn flush(&mut self, threads: &Threads) {
        self.optimiser.flush(&mut self.map, self.encoder.bias(), threads);
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
        let leave_out = self.leave_out.as_ref().map(LeaveOut::from);
        // Every tree's loss is a mean over the rows that it learns from; rows without weight teach nothing.
        let kept = self.leave_out.as_ref().map_or(1.0, |groups| 1.0 - 1.0 / groups.count() as f64);
        let weight = kept * examples(&data, Some(rows), leave_out).total_weight();
        let scale = if weight > f64::from(f32::MIN_POSITIVE) { 1.0 / weight } else { 0.0 };
        let aim = Aim { form: self.form, trees, scale, leave_out };
        let (optimiser, map, bias) = (&mut self.optimiser, &mut self.map, self.encoder.bias());
        self.pass.encode(&self.encoder, data, rows, dropout, threads);
        if let (Passed::Sparse(parts), _) = self.pass.passed(data) {
            optimiser.catch_up(map, parts.iter(), bias, threads);
        }
        let loss = self.pass.learn(map, &self.head, data, rows, &aim, threads);
        let (inputs, gradient) = self.pass.passed(data);
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
        self.flush(threads);
        let leave_out = self.leave_out.as_ref().map(LeaveOut::from);
        let examples = examples(&data, Some(rows), leave_out);
        self.head.update_leaves(&source(&self.map, &self.encoder, &data, rows), &examples, update, threads);
    }

    /// The routing of some rows as the map is now, for leaf updates that follow each other; none above a memory budget.
    pub fn keep_routing(
        &mut self,
        data: Tabular<'_>,
        rows: &[usize],
        threads: &Threads,
    ) -> Option<Routing<f32>> {
        self.flush(threads);
        let leave_out = self.leave_out.as_ref().map(LeaveOut::from);
        let examples = examples(&data, Some(rows), leave_out);
        self.head.keep_routing(&source(&self.map, &self.encoder, &data, rows), &examples, threads)
    }

    /// What the trees that leave out a row predict for it.
    pub fn predict_left_out(&mut self, data: Tabular<'_>, rows: &[usize], threads: &Threads) -> LeftOut<f32> {
        self.flush(threads);
        let leave_out = self.leave_out.as_ref().map(LeaveOut::from);
        let examples = examples(&data, Some(rows), leave_out);
        let source = source(&self.map, &self.encoder, &data, rows);
        self.head.predict_left_out(&source, &examples, threads)
    }

    /// The trees, to iterate their leaves.
    pub fn head_mut(&mut self) -> &mut Head<f32> {
        &mut self.head
    }
}

/// The activations of some rows.
fn source<'a>(
    map: &'a LinearMap,
    encoder: &'a Encoder,
    data: &Tabular<'a>,
    rows: &'a [usize],
) -> LinearActivations<'a> {
    LinearActivations { map, rows: EncodedRows { encoder, features: data.features, rows: Some(rows) } }
}
