//! Algorithm 1 on rows in memory.

use ldlf_core::checkpoint::Source;
use ldlf_core::dataset::Tabular;
use ldlf_core::early_stopping::{HeldOutKl, hold_out};
use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, Parts};
use ldlf_core::{Dataset, FitContext, InProgress, Inputs, Prediction, Result, Seed, Threads};

use crate::algorithm1::{Steps, Training};
use crate::encoder::{EncodedRows, Encoder};
use crate::greedy::soften;
use crate::head::{Head, LeafUpdate};
use crate::kernel::ROWS;
use crate::lazy_optimizer::DecayTargets;
use crate::leaves::{LeafPrior, check_on_simplex};
use crate::linear::LinearMap;
use crate::mini_batches::{MiniBatches, Order};
use crate::plan::{Encoding, Init, Plan};
use crate::predict::{predict, predict_rows};
use crate::shallow_forest::ShallowForest;
use crate::stepper::{DropoutDraw, Stepper};
use crate::tree_shape::check_memory;

/// Trains a forest on `data`.
pub fn train(plan: Plan, data: &Dataset, context: &mut FitContext<'_>) -> Result<(ShallowForest, Summary)> {
    let source = Source::new(plan.learner, plan.settings.clone(), plan.free, context.seed, data);
    let steps = InMemory::new(plan, data.tabular()?, context)?;
    let schedule = steps.plan.schedule(steps.total, !steps.validation.is_empty());
    let (steps, summary) = Training::new(schedule, steps, source).run(context)?;
    let (encoder, map, head) = steps.stepper.into_parts();
    Ok((ShallowForest { encoder, map, head }, summary))
}

/// A forest that learns from rows in memory.
struct InMemory<'a> {
    plan: Plan,
    data: Tabular<'a>,
    batches: MiniBatches,
    validation: Vec<usize>,
    seed: Seed,
    threads: Threads,
    total: usize,
    prior: LeafPrior,
    stepper: Stepper,
    /// The order of the present epoch and the rows of the present mini-batch, kept for their room.
    order: Order,
    batch: Vec<usize>,
    /// Weights and leaves.
    best: Option<(Vec<f32>, Vec<f32>)>,
}

impl<'a> InMemory<'a> {
    fn new(plan: Plan, data: Tabular<'a>, context: &FitContext<'_>) -> Result<Self> {
        let shape = plan.shape;
        shape.check()?;
        let seed = context.seed;
        let (rows, validation) = match plan.held_out {
            Some(share) => hold_out(&data, share, seed),
            None => ((0..data.rows()).collect(), Vec::new()),
        };
        let sizes = [("features", data.features.cols()), ("units", shape.units)];
        check_memory("the weights and the optimiser's state", &sizes, 4 * size_of::<f32>())?;
        let batches = MiniBatches::new(rows, plan.batch_size, seed);
        let sizes = [("units", shape.units), ("rows of a mini-batch", batches.size().next_multiple_of(ROWS))];
        check_memory("the activations and gradients of a mini-batch", &sizes, 4 * size_of::<f32>())?;
        let rows = batches.rows();
        let Encoding { scaling, clip, bins, bias } = plan.encoding;
        let encoder = Encoder::fit(data.features, rows, scaling, clip, bins, bias);
        let head = Head::new(shape, seed)?;
        let mut map = LinearMap::new(encoder.inputs() - usize::from(bias), bias, shape.units, seed);
        let decay_targets = match plan.init {
            Init::Random => DecayTargets::new(),
            Init::Greedy => soften(&mut map, &encoder, &shape, data, rows, seed, &context.threads)?,
        };
        let base = data.mean_target_of(rows.iter().copied());
        let stepper = Stepper::new(encoder, map, head, batches.size())
            .with_loss(plan.loss)
            .with_decay_targets(decay_targets);
        Ok(InMemory {
            total: plan.total_iterations(rows.len()),
            prior: LeafPrior { strength: plan.leaves.prior, base },
            plan,
            data,
            batches,
            validation,
            seed,
            threads: context.threads.clone(),
            stepper,
            order: Order::default(),
            batch: Vec::new(),
            best: None,
        })
    }

    /// Of the linear map and of the leaves.
    fn shapes(&self) -> ([usize; 2], [usize; 3]) {
        let shape = self.stepper.head().shape();
        ([self.stepper.encoder().inputs(), shape.units], [shape.trees, shape.leaves(), shape.labels])
    }
}

impl Steps for InMemory<'_> {
    fn step(&mut self, iteration: usize) -> Result<f64> {
        self.batch.clear();
        self.batches.add(iteration, &mut self.order, &mut self.batch);
        let Plan { ensemble, shape, steps, dropout, .. } = &self.plan;
        let (share, seed) = (*dropout as f32, self.seed.named("dropout").numbered(iteration as u64));
        let dropout = (share > 0.0).then_some(DropoutDraw { share, seed, first_row: None });
        let trees = ensemble.trees_of(iteration, shape.trees, self.seed);
        let step = steps.at(iteration, self.total);
        Ok(self.stepper.step(self.data, &self.batch, trees, &step, dropout, &self.threads))
    }

    fn update_leaves(&mut self, iteration: usize) {
        let batches = &self.batches;
        let rows = match self.plan.leaves.batches(batches.rows().len(), batches.per_epoch()) {
            Some(count) => &batches.last(count, iteration),
            None => batches.rows(),
        };
        let update = LeafUpdate { iterations: self.plan.leaves.iterations, prior: self.prior.clone() };
        self.stepper.update_leaves(self.data, rows, &update, &self.threads);
    }

    fn validate(&mut self) -> Result<f64> {
        let (rows, features) = (Some(&self.validation[..]), self.data.features);
        let rows = EncodedRows { encoder: self.stepper.encoder(), features, rows };
        let (map, head) = (self.stepper.map(), self.stepper.head());
        let predicted = predict_rows(&map, head, &rows, self.validation.len(), &self.threads);
        Ok(HeldOutKl::of(&self.data, self.validation.iter().copied(), &predicted).mean())
    }

    fn keep_best(&mut self) {
        let (map, head) = (self.stepper.map(), self.stepper.head());
        self.best = Some((map.weights().to_vec(), head.leaves().to_vec()));
    }

    fn restore_best(&mut self) -> Result<()> {
        if let Some((weights, leaves)) = self.best.take() {
            self.stepper.replace(&weights, &leaves);
        }
        Ok(())
    }

    fn store(&self, parts: &mut Parts) {
        let (map_shape, leaf_shape) = self.shapes();
        let (map_shape, leaf_shape) = (map_shape.to_vec(), leaf_shape.to_vec());
        let (map, first, second) = self.stepper.flushed();
        let leaves = self.stepper.head().leaves().to_vec();
        parts.put("weights", Array::F32(map_shape.clone(), map.weights().to_vec()));
        parts.put("first_moments", Array::F32(map_shape.clone(), first));
        parts.put("second_moments", Array::F32(map_shape.clone(), second));
        parts.put("leaves", Array::F32(leaf_shape.clone(), leaves));
        if let Some((weights, leaves)) = &self.best {
            parts.put("best_weights", Array::F32(map_shape, weights.clone()));
            parts.put("best_leaves", Array::F32(leaf_shape, leaves.clone()));
        }
    }

    fn restore(&mut self, parts: &Parts, best: bool) -> Result<()> {
        let (map_shape, leaf_shape) = self.shapes();
        let leaves = |name: &str| {
            let leaves = parts.f32s(name, &leaf_shape)?;
            check_on_simplex(&leaves, leaf_shape[2]).map(|()| leaves)
        };
        self.stepper.restore(
            &parts.f32s("weights", &map_shape)?,
            parts.f32s("first_moments", &map_shape)?,
            parts.f32s("second_moments", &map_shape)?,
            &leaves("leaves")?,
        );
        if best {
            self.best = Some((parts.f32s("best_weights", &map_shape)?, leaves("best_leaves")?));
        }
        Ok(())
    }
}

impl InProgress for InMemory<'_> {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        predict(self.stepper.encoder(), &self.stepper.map(), self.stepper.head(), inputs, threads)
    }
}
