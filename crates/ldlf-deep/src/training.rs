//! Algorithm 1 on a deep network: steps on mini-batches through network and trees, and a leaf update after every so many of them.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use ldlf_core::checkpoint::Origin;
use ldlf_core::early_stopping::{Patience, Verdict};
use ldlf_core::learner::Summary;
use ldlf_core::measures::KL;
use ldlf_core::model_file::{Array, Parts};
use ldlf_core::optimise::step::{Optimiser, Step};
use ldlf_core::random::permutation;
use ldlf_core::{
    Dataset, Error, Features, FitContext, FitEvent, InProgress, Matrix, Prediction, Result, Seed, StopReason,
    Threads, memory,
};
use ldlf_forest::head::{Examples, Head, LeafUpdate};
use ldlf_forest::leaves::LeafPrior;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::arrays::{self, Numbers, host};
use crate::backbones::{Kind, Mode};
use crate::images::{Augmentation, batches_ahead};
use crate::model::DeepModel;
use crate::network::{self, Compute, Network, READERS, Ready, Rows};
use crate::plan::{Plan, Rule, frozen, ready, sides};
use crate::steps::{self, State};
use crate::stored::{numbers_under, put_network, top_from};
use crate::top::Top;
use crate::weights::load_weights;

/// Everything that changes while a network is trained.
struct Training<'a> {
    plan: &'a Plan,
    kind: Kind,
    data: &'a Dataset,
    rows: Vec<usize>,
    validation: Vec<usize>,
    seed: Seed,
    ready: Ready,
    device: Device,
    compute: Compute,
    prior: LeafPrior,
    network: Option<Network>,
    /// What a file of weights had for the network.
    weights: Option<String>,
    top: Top,
    state: State,
    /// The activations and rows of the mini-batches since the last leaf update.
    noted: (Vec<f32>, Vec<usize>),
    progress: Progress,
    best: Option<(BTreeMap<String, Numbers>, Top)>,
    fingerprint: OnceCell<String>,
}

/// The small state that a checkpoint keeps as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Progress {
    iteration: usize,
    patience: Patience,
    loss: Option<f64>,
    mae: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct CheckpointDetails {
    #[serde(flatten)]
    origin: Origin,
    progress: Progress,
}

/// Trains a network with its trees on `data`.
pub fn train(plan: &Plan, data: &Dataset, context: &mut FitContext<'_>) -> Result<(DeepModel, Summary)> {
    let mut training = Training::new(plan, data, context)?;
    let stopped = training.run(context)?;
    training.finish(stopped)
}

impl<'a> Training<'a> {
    fn new(plan: &'a Plan, data: &'a Dataset, context: &mut FitContext<'_>) -> Result<Self> {
        let kind = plan.check()?;
        let parameters = &plan.network;
        let seed = context.seed;
        let (rows, validation) = sides(plan, data, seed);
        let device = network::device(&parameters.device)?.autodiff();
        let compute = Compute::new(&context.threads)?;
        let ready = ready(plan, kind, data, &rows)?;
        let top = match plan.rule {
            Rule::Softmax => Top::Softmax { labels: data.labels() },
            _ => {
                let shape = plan.shape(data.labels());
                // Every unit has weights, and drawing the splits' units takes room for all of them.
                memory::check(
                    "the units of the last layer",
                    &[("units", shape.units)],
                    4 * size_of::<f32>(),
                )?;
                Top::Forest(Head::new(shape, seed)?)
            }
        };
        let mut network = Network::new(kind, ready.input(), top.units(), seed, &device)?;
        let mut weights = None;
        if let Some(path) = &parameters.weights {
            let (backbone, report) = load_weights(network.backbone, Path::new(path))?;
            network.backbone = backbone;
            weights = Some(report.to_string());
        }
        let frozen = frozen(parameters);
        network =
            arrays::freeze(network, &|name| frozen.iter().any(|start| name.starts_with(start.as_str())));
        let mean = data.mean_target_of(rows.iter().copied());
        let mut training = Training {
            plan,
            kind,
            data,
            rows,
            validation,
            seed,
            ready,
            device,
            compute,
            prior: LeafPrior { strength: plan.forest.leaf_prior, base: mean },
            network: Some(network),
            weights,
            top,
            state: State::new(),
            noted: Default::default(),
            progress: Progress {
                iteration: 0,
                patience: Patience::new(parameters.patience),
                loss: None,
                mae: None,
            },
            best: None,
            fingerprint: OnceCell::new(),
        };
        if let Some(checkpoint) = context.resume.take() {
            training.restore(&checkpoint)?;
        }
        Ok(training)
    }

    fn network(&self) -> &Network {
        self.network.as_ref().expect("the network is away only within a step")
    }

    fn batch_size(&self) -> usize {
        self.plan.network.batch_size.min(self.rows.len())
    }

    fn per_epoch(&self) -> usize {
        (self.rows.len() / self.batch_size()).max(1)
    }

    fn total(&self) -> usize {
        self.plan.network.epochs.saturating_mul(self.per_epoch())
    }

    fn leaf_every(&self) -> usize {
        self.plan.forest.leaf_every.unwrap_or(self.per_epoch().min(100))
    }

    /// Whether the leaves move after an iteration. Equal leaves give the network no gradient at all, so that at first they move sooner.
    fn leaves_are_due(&self, iteration: usize) -> bool {
        let every = self.leaf_every();
        iteration.is_multiple_of(every) || iteration < every && iteration >= 4 && iteration.is_power_of_two()
    }

    /// The mini-batches of an epoch. They follow from the seed and the epoch alone; rows left over wait for another epoch.
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>> {
        let mut generator = self.seed.named("shuffle").numbered(epoch as u64).generator();
        let order = permutation(self.rows.len(), &mut generator);
        let batches = order.chunks_exact(self.batch_size()).take(self.per_epoch());
        batches.map(|places| places.iter().map(|&place| self.rows[place]).collect()).collect()
    }

    fn run(&mut self, context: &mut FitContext<'_>) -> Result<StopReason> {
        let p = &self.plan.network;
        let augmentation = Augmentation { flip: p.flip, crop: p.crop, jitter: p.jitter };
        let data = self.data;
        while self.progress.iteration < self.total() {
            let (epoch, done) =
                (self.progress.iteration / self.per_epoch(), self.progress.iteration % self.per_epoch());
            let batches = self.batches(epoch).split_off(done);
            match (&data.images, self.ready.clone()) {
                (Some(images), Ready::Pictures(preparation)) => {
                    let seed = self.seed.named("augmentation").numbered(epoch as u64);
                    let ahead =
                        batches_ahead(images, &batches, &preparation, Some((&augmentation, seed)), READERS)?;
                    for batch in ahead {
                        let batch = batch?;
                        if let ControlFlow::Break(reason) =
                            self.iterate(&batch.rows, batch.pixels, context)?
                        {
                            return Ok(reason);
                        }
                    }
                }
                (_, ready) => {
                    for rows in batches {
                        let numbers = ready.scaled(&data.features, &rows);
                        if let ControlFlow::Break(reason) = self.iterate(&rows, numbers, context)? {
                            return Ok(reason);
                        }
                    }
                }
            }
        }
        Ok(StopReason::Finished)
    }

    /// A step, what is due after it (a leaf update, a validation), and the word of the observer.
    fn iterate(
        &mut self,
        rows: &[usize],
        numbers: Vec<f32>,
        context: &mut FitContext<'_>,
    ) -> Result<ControlFlow<StopReason>> {
        let loss = self.step(rows, numbers);
        if !loss.is_finite() {
            let iteration = self.progress.iteration + 1;
            return Err(Error::training(format!("the loss is not a finite number at iteration {iteration}"))
                .with_remedy(format!("try a learning_rate below {}", self.plan.network.learning_rate()))
                .of_learner(self.plan.learner));
        }
        self.progress.iteration += 1;
        self.progress.loss = Some(loss);
        let iteration = self.progress.iteration;
        let mut verdict = ControlFlow::Continue(());
        if matches!(self.top, Top::Forest(_)) && self.leaves_are_due(iteration) {
            self.update_leaves();
            verdict = context.report(FitEvent::LeafUpdate { iteration }, self);
        }
        if iteration.is_multiple_of(self.per_epoch()) && !self.validation.is_empty() && verdict.is_continue()
        {
            verdict = self.validate(context)?;
        }
        let event = FitEvent::Iteration { iteration, total: self.total(), loss: Some(loss) };
        match context.report(event, self) {
            ControlFlow::Break(reason) => Ok(ControlFlow::Break(reason)),
            ControlFlow::Continue(()) => Ok(verdict),
        }
    }

    /// One step on one mini-batch; gives its loss.
    fn step(&mut self, rows: &[usize], numbers: Vec<f32>) -> f64 {
        let iteration = self.progress.iteration;
        let p = &self.plan.network;
        let steps = [1.0, p.backbone_factor()]
            .map(|factor| p.step_at(iteration, self.total(), self.per_epoch(), factor));
        let mode = Mode::Train(self.seed.named("dropout").numbered(iteration as u64));
        let trees = self.trees_of(iteration);
        let mut network = self.network.take().expect("the network is away only within a step");
        let examples = Examples {
            targets: self.data.targets.as_slice(),
            labels: self.data.labels(),
            weights: self.data.weights.as_deref(),
            rows: Some(rows),
        };
        let (top, ready, device, state, threads) =
            (&self.top, &self.ready, &self.device, &mut self.state, self.compute.threads());
        let (forest, plan) = (&self.plan.forest, &self.plan.network);
        let (network, loss, seen) = self.compute.run(|| {
            let features = network.backbone.forward(ready.tensor(numbers, device), &mode);
            if iteration == 0 && matches!(top, Top::Forest(_)) {
                network = network.settle_head(features.clone(), forest.steepness);
            }
            let activations = network.head.forward(features);
            let shape = activations.dims();
            let seen = host(activations.clone().inner().into_data());
            let (loss, gradient) = top.loss_and_gradient(&seen, &examples, (forest.loss, trees), threads);
            // The gradient of `sum a g` with respect to `a` is `g`: the network's own gradients follow from it.
            let pull = Tensor::<2>::from_data(TensorData::new(gradient, shape), device);
            let gradients = (activations * pull).sum().backward();
            let step_of = |name: &str| -> Step { steps[usize::from(name.starts_with("backbone"))] };
            let second = plan.optimiser != Optimiser::Sgd;
            (steps::step(network, gradients, state, &step_of, second, plan.clip, threads), loss, seen)
        });
        self.network = Some(network);
        if matches!(self.top, Top::Forest(_)) {
            self.noted.0.extend(seen);
            self.noted.1.extend_from_slice(rows);
        }
        loss
    }

    fn trees_of(&self, iteration: usize) -> Range<usize> {
        let Top::Forest(head) = &self.top else {
            return 0..0;
        };
        let trees = head.shape().trees;
        match self.plan.rule {
            Rule::OneTree => {
                let mut generator = self.seed.named("tree").numbered(iteration as u64).generator();
                let tree = generator.random_range(0..trees as u64) as usize;
                tree..tree + 1
            }
            _ => 0..trees,
        }
    }

    /// Moves the leaves by the activations as they were seen since the last update, and forgets them.
    fn update_leaves(&mut self) {
        let (activations, rows) = std::mem::take(&mut self.noted);
        let examples = Examples {
            targets: self.data.targets.as_slice(),
            labels: self.data.labels(),
            weights: self.data.weights.as_deref(),
            rows: Some(&rows),
        };
        let update = LeafUpdate { iterations: self.plan.forest.leaf_iterations, prior: self.prior.clone() };
        let ordered = self.data.schema.label_values.is_some();
        let smoothing = if ordered { self.plan.forest.leaf_smoothing } else { 0.0 };
        self.top.update_leaves(&activations, &examples, &update, smoothing, self.compute.threads());
    }

    /// Measures the validation rows, keeps the best network, and says whether to stop.
    fn validate(&mut self, context: &mut FitContext<'_>) -> Result<ControlFlow<StopReason>> {
        let iteration = self.progress.iteration;
        let network = self.network().valid();
        let predicted = self.predict_with(&network, self.data, &self.validation)?;
        let (kl, mae) = measured(self.data, &self.validation, &predicted);
        self.progress.mae = mae;
        let mut verdict = ControlFlow::Continue(());
        match self.progress.patience.measured(iteration, kl) {
            Verdict::Best => self.best = Some((arrays::collect(&network), self.top.clone())),
            Verdict::GoOn => {}
            Verdict::Stop => verdict = ControlFlow::Break(StopReason::EarlyStopping),
        }
        if let ControlFlow::Break(reason) = context.report(FitEvent::Validation { iteration, kl }, self) {
            verdict = ControlFlow::Break(reason);
        }
        Ok(verdict)
    }

    fn predict_with(&self, network: &Network, data: &Dataset, chosen: &[usize]) -> Result<Matrix<f32>> {
        let rows = data.images.as_ref().map_or(Rows::Table(&data.features), Rows::Pictures);
        let device = self.device.clone().without_autodiff();
        network::predict(network, &self.top, rows, chosen, &self.ready, (&device, &self.compute))
    }

    fn finish(mut self, stopped: StopReason) -> Result<(DeepModel, Summary)> {
        let best = self.best.take();
        // The last steps moved the splits; the leaves follow.
        if best.is_none() && !self.noted.1.is_empty() {
            self.update_leaves();
        }
        let best_iteration = best.is_some().then_some(self.progress.patience.best_iteration);
        let mut network = self.network().valid();
        if let Some((numbers, top)) = best {
            network = arrays::restore(network, &numbers)?;
            self.top = top;
        }
        let summary = Summary {
            iterations: self.progress.iteration,
            stopped,
            best_iteration,
            loss: self.progress.loss,
            validation_kl: self.progress.patience.best,
        };
        let device = self.device.without_autodiff();
        let (kind, ready, weights, top) = (self.kind, self.ready, self.weights, self.top);
        Ok((DeepModel { kind, ready, weights, network, top, device }, summary))
    }

    fn origin(&self) -> Origin {
        Origin {
            learner: self.plan.learner.to_string(),
            parameters: self.plan.settings(),
            seed: self.seed.value(),
            data: self.fingerprint.get_or_init(|| self.data.fingerprint()).clone(),
        }
    }

    fn restore(&mut self, checkpoint: &Parts) -> Result<()> {
        let kept: CheckpointDetails = checkpoint.detail("checkpoint")?;
        kept.origin.check(&self.origin(), &[])?;
        let network = self.network.take().expect("the network is away only within a step");
        self.network = Some(arrays::restore(network, &numbers_under(checkpoint, "network.")?)?);
        let firsts = numbers_under(checkpoint, "first.")?;
        let mut seconds = numbers_under(checkpoint, "second.")?;
        for (name, (_, first)) in firsts {
            let second = seconds.remove(&name).map(|(_, second)| second).unwrap_or_default();
            self.state.insert(name, steps::Moments { first, second });
        }
        self.top = top_from(checkpoint, "", &self.top)?;
        if checkpoint.has("noted_rows") {
            let rows = checkpoint.u32s("noted_rows", checkpoint.shape("noted_rows")?)?;
            let activations = checkpoint.f32s("noted_activations", &[rows.len(), self.top.units()])?;
            if rows.iter().any(|&row| row as usize >= self.data.rows()) {
                return Err(Error::model_file(
                    "the checkpoint names a row that is not there; it may be damaged",
                ));
            }
            self.noted = (activations, rows.into_iter().map(|row| row as usize).collect());
        }
        let best = numbers_under(checkpoint, "best.network.")?;
        if !best.is_empty() {
            self.best = Some((best, top_from(checkpoint, "best.", &self.top)?));
        }
        self.progress = kept.progress;
        self.progress.patience.allowed = self.plan.network.patience;
        Ok(())
    }
}

impl InProgress for Training<'_> {
    fn predict(&self, features: &Features, _: &Threads) -> Result<Prediction> {
        let chosen: Vec<usize> = (0..features.rows()).collect();
        let device = self.device.clone().without_autodiff();
        let predicted = network::predict(
            &self.network().valid(),
            &self.top,
            Rows::Table(features),
            &chosen,
            &self.ready,
            (&device, &self.compute),
        )?;
        Ok(Prediction::Distributions(predicted))
    }

    fn predict_rows(&self, data: &Dataset, _: &Threads) -> Result<Prediction> {
        let chosen: Vec<usize> = (0..data.rows()).collect();
        Ok(Prediction::Distributions(self.predict_with(&self.network().valid(), data, &chosen)?))
    }

    fn rows_an_iteration(&self) -> Option<usize> {
        Some(self.batch_size())
    }

    fn validation_mae(&self) -> Option<f64> {
        self.progress.mae
    }

    fn checkpoint(&self) -> Option<Parts> {
        let mut parts = Parts::new();
        put_network(&mut parts, "", &arrays::collect(&self.network().valid()), &self.top);
        if let Some((numbers, top)) = &self.best {
            put_network(&mut parts, "best.", numbers, top);
        }
        for (name, moments) in &self.state {
            parts.put(&format!("first.{name}"), Array::F32(vec![moments.first.len()], moments.first.clone()));
            parts.put(
                &format!("second.{name}"),
                Array::F32(vec![moments.second.len()], moments.second.clone()),
            );
        }
        let (activations, rows) = &self.noted;
        if !rows.is_empty() {
            parts.put(
                "noted_activations",
                Array::F32(vec![rows.len(), self.top.units()], activations.clone()),
            );
            parts.put(
                "noted_rows",
                Array::U32(vec![rows.len()], rows.iter().map(|&row| row as u32).collect()),
            );
        }
        parts.put_detail(
            "checkpoint",
            CheckpointDetails { origin: self.origin(), progress: self.progress.clone() },
        );
        Some(parts)
    }
}

/// The weighted mean K-L divergence of some rows, and for ordered labels the mean absolute error of the predicted means.
fn measured(data: &Dataset, rows: &[usize], predicted: &Matrix<f32>) -> (f64, Option<f64>) {
    let (mut kl, mut error, mut total) = (0.0, 0.0, 0.0);
    let mean = |values: &[f64], shares: &[f32]| {
        values.iter().zip(shares).map(|(v, &p)| v * f64::from(p)).sum::<f64>()
    };
    for (index, &row) in rows.iter().enumerate() {
        let weight = f64::from(data.weight(row));
        let (target, predicted) = (data.targets.row(row), predicted.row(index));
        kl += weight * (KL.of_row)(target, predicted);
        if let Some(values) = &data.schema.label_values {
            let truth = data.truth.as_ref().map_or_else(|| mean(values, target), |truth| truth[row]);
            error += weight * (mean(values, predicted) - truth).abs();
        }
        total += weight;
    }
    let total = if total > 0.0 { total } else { 1.0 };
    (kl / total, data.schema.label_values.as_ref().map(|_| error / total))
}
