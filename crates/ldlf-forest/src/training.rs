//! Algorithm 1: steps on mini-batches, and a leaf update after every so many of them.

use std::cell::OnceCell;
use std::ops::{ControlFlow, Range};

use ldlf_core::checkpoint::Origin;
use ldlf_core::dataset::Tabular;
use ldlf_core::early_stopping::{Verdict, hold_out};
use ldlf_core::learner::Summary;
use ldlf_core::measures::KL;
use ldlf_core::model_file::{Array, Parts};
use ldlf_core::parameters::ParameterSet;
use ldlf_core::random::permutation;
use ldlf_core::{
    Dataset, FitContext, FitEvent, InProgress, Inputs, Prediction, Result, Seed, StopReason, Threads,
};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::encoder::{EncodedRows, Encoder};
use crate::greedy::soften;
use crate::head::{Head, LeafUpdate};
use crate::kernel::ROWS;
use crate::leaves::LeafPrior;
use crate::linear::{Homes, LinearMap};
use crate::progress::Progress;
use crate::shallow::{ForestParameters, Init, LeafRows, ShallowForest};
use crate::stepper::{DropoutDraw, Stepper, predict_rows};
use crate::tree_shape::check_memory;

/// How the trees of a forest learn from a mini-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ensemble {
    /// All trees at once, on the average of their losses: the paper's rule.
    Joint,
    /// One tree, drawn at random: the rule of deep neural decision forests.
    OneTree,
}

/// Above so many training rows a leaf update over all of them would take longer than the steps between two updates.
pub(crate) const MANY_ROWS: usize = 50_000;

/// Everything that changes while a forest is trained.
struct Training<'a> {
    learner: &'static str,
    parameters: &'a ForestParameters,
    ensemble: Ensemble,
    data: Tabular<'a>,
    rows: Vec<usize>,
    validation: Vec<usize>,
    seed: Seed,
    total: usize,
    prior: LeafPrior,
    stepper: Stepper,
    progress: Progress,
    best: Option<(Vec<f32>, Vec<f32>)>,
    fingerprint: OnceCell<String>,
}

/// Trains a forest on `data`.
pub fn train(
    learner: &'static str,
    parameters: &ForestParameters,
    ensemble: Ensemble,
    data: &Dataset,
    context: &mut FitContext<'_>,
) -> Result<(ShallowForest, Summary)> {
    let mut training = Training::new(learner, parameters, ensemble, data.tabular()?, context)?;
    let stopped = training.run(context)?;
    training.finish(stopped, &context.threads)
}

impl<'a> Training<'a> {
    fn new(
        learner: &'static str,
        parameters: &'a ForestParameters,
        ensemble: Ensemble,
        data: Tabular<'a>,
        context: &mut FitContext<'_>,
    ) -> Result<Self> {
        let shape = parameters.forest_shape(data.labels(), ensemble);
        shape.check()?;
        let seed = context.seed;
        let (rows, validation) = match parameters.stops_early(data.features()?.cols()) {
            true => hold_out(&data, parameters.validation_fraction, seed),
            false => ((0..data.rows()).collect(), Vec::new()),
        };
        let sizes = [("features", data.features()?.cols()), ("units", shape.units)];
        check_memory("the weights and the optimiser's state", &sizes, 4 * size_of::<f32>())?;
        let batch = parameters.batch_size.min(rows.len());
        let sizes = [("units", shape.units), ("rows of a mini-batch", batch.next_multiple_of(ROWS))];
        check_memory("the activations and gradients of a mini-batch", &sizes, 4 * size_of::<f32>())?;
        let ForestParameters { scaling, feature_clip: clip, bins, bias, .. } = *parameters;
        let encoder = Encoder::fit(data.features()?, &rows, scaling, clip, bins, bias);
        let head = Head::new(shape, seed)?;
        let mut map = LinearMap::new(encoder.inputs() - usize::from(bias), bias, shape.units, seed);
        let homes = match parameters.init {
            Init::Random => Homes::new(),
            Init::Greedy => soften(&mut map, &encoder, &shape, data, &rows, seed, &context.threads)?,
        };
        let mean = data.mean_target_of(rows.iter().copied());
        let mut training = Training {
            learner,
            parameters,
            ensemble,
            data,
            total: parameters.total_iterations(rows.len()),
            rows,
            validation,
            seed,
            prior: LeafPrior { strength: parameters.leaf_prior, base: mean },
            stepper: Stepper::new(encoder, map, head, batch).with_loss(parameters.loss).with_homes(homes),
            progress: Progress::new(parameters.patience),
            best: None,
            fingerprint: OnceCell::new(),
        };
        if let Some(checkpoint) = context.resume.take() {
            training.restore(&checkpoint)?;
        }
        Ok(training)
    }

    fn batch_size(&self) -> usize {
        self.parameters.batch_size.min(self.rows.len())
    }

    /// Adds the rows of a mini-batch to `rows`. They follow from the seed and the iteration alone: every epoch has its own
    /// random order, cut into batches, and the rows left over wait for the next epoch.
    fn add_batch(&self, iteration: usize, order: &mut Order, rows: &mut Vec<usize>) {
        let size = self.batch_size();
        let per_epoch = (self.rows.len() / size).max(1);
        let epoch = iteration / per_epoch;
        if order.epoch != Some(epoch) {
            let mut generator = self.seed.named("shuffle").numbered(epoch as u64).generator();
            order.places = permutation(self.rows.len(), &mut generator);
            order.epoch = Some(epoch);
        }
        let first = iteration % per_epoch * size;
        rows.extend(order.places[first..first + size].iter().map(|&place| self.rows[place]));
    }

    fn run(&mut self, context: &mut FitContext<'_>) -> Result<StopReason> {
        let (mut order, mut batch) = (Order::default(), Vec::new());
        while self.progress.iteration < self.total {
            let iteration = self.progress.iteration;
            batch.clear();
            self.add_batch(iteration, &mut order, &mut batch);
            let loss = self.step(iteration, &batch, &context.threads);
            self.progress.stepped(loss, self.learner, self.parameters)?;
            let mut verdict = ControlFlow::Continue(());
            if self.progress.iteration.is_multiple_of(self.parameters.leaf_every) {
                verdict = self.after_leaf_update(context)?;
            }
            let event = FitEvent::Iteration {
                iteration: self.progress.iteration,
                total: self.total,
                loss: Some(loss),
            };
            let told = context.report(event, self);
            if let ControlFlow::Break(reason) = told {
                return Ok(reason);
            }
            if let ControlFlow::Break(reason) = verdict {
                return Ok(reason);
            }
        }
        Ok(StopReason::Finished)
    }

    /// Updates the leaves, measures the validation rows, and says whether to stop.
    fn after_leaf_update(&mut self, context: &mut FitContext<'_>) -> Result<ControlFlow<StopReason>> {
        let iteration = self.progress.iteration;
        self.update_leaves(&context.threads);
        let mut verdict = context.report(FitEvent::LeafUpdate { iteration }, self);
        if !self.validation.is_empty() {
            let kl = self.validate(&context.threads)?;
            match self.progress.patience.measured(iteration, kl) {
                Verdict::Best => {
                    let (map, head) = (self.stepper.map(), self.stepper.head());
                    self.best = Some((map.weights().to_vec(), head.leaves().to_vec()));
                }
                Verdict::GoOn => {}
                Verdict::Stop => verdict = ControlFlow::Break(StopReason::EarlyStopping),
            }
            if let ControlFlow::Break(reason) = context.report(FitEvent::Validation { iteration, kl }, self) {
                verdict = ControlFlow::Break(reason);
            }
        }
        if self.progress.has_converged(self.parameters.tolerance) && verdict.is_continue() {
            verdict = ControlFlow::Break(StopReason::Converged);
        }
        Ok(verdict)
    }

    /// One step on one mini-batch; gives its loss.
    fn step(&mut self, iteration: usize, batch: &[usize], threads: &Threads) -> f64 {
        let p = self.parameters;
        let step = p.step_at(iteration, self.total);
        let share = p.dropout_share(self.data.features()?.cols()) as f32;
        let seed = self.seed.named("dropout").numbered(iteration as u64);
        let dropout = (share > 0.0).then_some(DropoutDraw { share, seed, first_row: None });
        self.stepper.step(self.data, batch, self.trees_of(iteration), &step, dropout, threads)
    }

    fn trees_of(&self, iteration: usize) -> Range<usize> {
        let trees = self.stepper.head().shape().trees;
        match self.ensemble {
            Ensemble::Joint => 0..trees,
            Ensemble::OneTree => {
                let mut generator = self.seed.named("tree").numbered(iteration as u64).generator();
                let tree = generator.random_range(0..trees as u64) as usize;
                tree..tree + 1
            }
        }
    }

    /// The rows of the leaf update that follows the iterations done so far.
    fn leaf_rows(&self) -> Vec<usize> {
        let done = self.progress.iteration;
        let last = |count: usize| {
            let mut order = Order::default();
            let mut rows = Vec::new();
            (done.saturating_sub(count)..done)
                .for_each(|iteration| self.add_batch(iteration, &mut order, &mut rows));
            rows
        };
        match self.parameters.leaf_rows {
            LeafRows::Auto if self.rows.len() > MANY_ROWS => last(self.parameters.leaf_every),
            LeafRows::All | LeafRows::Auto => self.rows.clone(),
            LeafRows::Batches => last(self.parameters.leaf_every),
            LeafRows::Epoch => last((self.rows.len() / self.batch_size()).max(1)),
        }
    }

    fn update_leaves(&mut self, threads: &Threads) {
        let rows = self.leaf_rows();
        let update = LeafUpdate { iterations: self.parameters.leaf_iterations, prior: self.prior.clone() };
        self.stepper.update_leaves(self.data, &rows, &update, threads);
    }

    /// The mean K-L divergence on the validation rows.
    fn validate(&self, threads: &Threads) -> Result<f64> {
        let rows = EncodedRows {
            encoder: self.stepper.encoder(),
            features: self.data.features()?,
            rows: Some(&self.validation),
        };
        let (map, head) = (self.stepper.map(), self.stepper.head());
        let predicted = predict_rows(&map, head, &rows, self.validation.len(), threads);
        let labels = self.data.labels();
        let (mut sum, mut weight) = (0.0, 0.0);
        for (&row, predicted) in self.validation.iter().zip(predicted.chunks_exact(labels)) {
            let w = f64::from(self.data.weight(row));
            sum += w * (KL.of_row)(self.data.targets().row(row), predicted);
            weight += w;
        }
        Ok(if weight > 0.0 { sum / weight } else { 0.0 })
    }

    fn finish(mut self, stopped: StopReason, threads: &Threads) -> Result<(ShallowForest, Summary)> {
        let best = self.best.take();
        // The last steps moved the splits; the leaves follow.
        if best.is_none() && !self.progress.iteration.is_multiple_of(self.parameters.leaf_every) {
            self.update_leaves(threads);
        }
        let best_iteration = best.is_some().then_some(self.progress.patience.best_iteration);
        let (encoder, mut map, mut head) = self.stepper.into_parts();
        if let Some((weights, leaves)) = best {
            map.weights_mut().copy_from_slice(&weights);
            head.leaves_mut().copy_from_slice(&leaves);
        }
        let summary = Summary {
            iterations: self.progress.iteration,
            stopped,
            best_iteration,
            loss: self.progress.loss,
            validation_kl: self.progress.patience.best,
        };
        Ok((ShallowForest { encoder, map, head }, summary))
    }

    fn restore(&mut self, checkpoint: &Parts) -> Result<()> {
        let kept: CheckpointDetails = checkpoint.detail("checkpoint")?;
        // More iterations may be asked for than before.
        kept.origin.check(&self.origin(), &["iterations"])?;
        let (map_shape, leaf_shape) = self.shapes();
        let leaves = checkpoint.f32s("leaves", &leaf_shape)?;
        crate::leaves::check_on_simplex(&leaves, self.data.labels())?;
        self.stepper.restore(
            &checkpoint.f32s("weights", &map_shape)?,
            checkpoint.f32s("first_moments", &map_shape)?,
            checkpoint.f32s("second_moments", &map_shape)?,
            &leaves,
        );
        if checkpoint.has("best_weights") {
            let leaves = checkpoint.f32s("best_leaves", &leaf_shape)?;
            crate::leaves::check_on_simplex(&leaves, self.data.labels())?;
            self.best = Some((checkpoint.f32s("best_weights", &map_shape)?, leaves));
        }
        self.progress = kept.progress;
        self.progress.patience.allowed = self.parameters.patience;
        Ok(())
    }

    /// Of the linear map and of the leaves.
    fn shapes(&self) -> ([usize; 2], [usize; 3]) {
        let shape = self.stepper.head().shape();
        ([self.stepper.encoder().inputs(), shape.units], [shape.trees, shape.leaves(), shape.labels])
    }

    fn origin(&self) -> Origin {
        Origin {
            learner: self.learner.to_string(),
            parameters: self.parameters.to_settings(),
            seed: self.seed.value(),
            data: self.fingerprint.get_or_init(|| self.data.fingerprint()).clone(),
        }
    }
}

/// The random order of an epoch, kept while batches are cut from it.
#[derive(Default)]
struct Order {
    epoch: Option<usize>,
    places: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
struct CheckpointDetails {
    #[serde(flatten)]
    origin: Origin,
    progress: Progress,
}

impl InProgress for Training<'_> {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        crate::shallow::predict(
            self.stepper.encoder(),
            &self.stepper.map(),
            self.stepper.head(),
            inputs,
            threads,
        )
    }

    fn checkpoint(&self) -> Option<Parts> {
        let (map_shape, leaf_shape) = self.shapes();
        let (map_shape, leaf_shape) = (map_shape.to_vec(), leaf_shape.to_vec());
        let (map, first, second) = self.stepper.settled();
        let leaves = self.stepper.head().leaves().to_vec();
        let mut parts = Parts::new();
        parts.put("weights", Array::F32(map_shape.clone(), map.weights().to_vec()));
        parts.put("first_moments", Array::F32(map_shape.clone(), first));
        parts.put("second_moments", Array::F32(map_shape.clone(), second));
        parts.put("leaves", Array::F32(leaf_shape.clone(), leaves));
        if let Some((weights, leaves)) = &self.best {
            parts.put("best_weights", Array::F32(map_shape, weights.clone()));
            parts.put("best_leaves", Array::F32(leaf_shape, leaves.clone()));
        }
        parts.put_detail(
            "checkpoint",
            CheckpointDetails { origin: self.origin(), progress: self.progress.clone() },
        );
        Some(parts)
    }
}
