//! Algorithm 1 on a deep network: steps on mini-batches through network and trees.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::vec;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use ldlf_core::checkpoint::Source;
use ldlf_core::early_stopping::HeldOutKl;
use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, Parts};
use ldlf_core::{Dataset, Error, FitContext, InProgress, Inputs, Matrix, Prediction, Result, Seed, Threads};
use ldlf_forest::algorithm1::{Steps, Training};
use ldlf_forest::head::{Examples, Head, LeafUpdate};
use ldlf_forest::leaves::LeafPrior;
use ldlf_forest::mini_batches::MiniBatches;
use ldlf_math::memory;
use ldlf_math::optimise::step::Step;

use crate::arrays::{self, Numbers, host};
use crate::backbones::{BackboneKind, Mode};
use crate::frozen::FrozenFeatures;
use crate::images::{Augmentation, Batch, PrefetchedBatches, prefetch};
use crate::model::DeepModel;
use crate::network::{self, Compute, Network, Preprocessing, READERS};
use crate::output_layer::OutputLayer;
use crate::plan::{Plan, Rule, WHOLE_BACKBONE, frozen, preprocessing, sides};
use crate::start;
use crate::steps::{self, State};
use crate::stored::{numbers_under, output_from, put_network};
use crate::weights::load_weights;

/// Trains a network with its trees on `data`.
pub fn train(plan: &Plan, data: &Dataset, context: &mut FitContext<'_>) -> Result<(DeepModel, Summary)> {
    let source = Source::new(plan.learner, plan.settings(), &[], context.seed, data);
    let mut steps = OnNetwork::new(plan, data, context)?;
    // A checkpoint holds what a start would find.
    let starts = plan.network.start_epochs() > 0 && context.resume.is_none();
    let is_frozen = frozen(&plan.network).iter().any(|prefix| prefix == WHOLE_BACKBONE);
    if starts || is_frozen {
        let features = steps.features(context)?;
        if let (true, Some(features)) = (starts, &features) {
            start::from_features(&mut steps, features, context)?;
        }
        steps.frozen = features.filter(|_| is_frozen);
    }
    let schedule = plan.schedule(steps.batches.per_epoch(), !steps.validation.is_empty());
    let (mut steps, mut summary) = Training::new(schedule, steps, source).run(context)?;
    steps.return_to_start(&mut summary)?;
    let network = steps.network().valid();
    let device = steps.device.without_autodiff();
    let OnNetwork { kind, preprocessing, weights, output, .. } = steps;
    Ok((DeepModel { kind, preprocessing, weights, network, output, device }, summary))
}

/// The network as the start left it.
#[derive(Clone)]
pub(crate) struct Started {
    /// The K-L divergence of the validation rows; infinite where there are none.
    pub kl: f64,
    /// The network's parameters.
    pub numbers: BTreeMap<String, Numbers>,
    /// The trees, or the softmax.
    pub output: OutputLayer,
}

/// A network in training with its output layer.
pub(crate) struct OnNetwork<'a> {
    plan: &'a Plan,
    kind: BackboneKind,
    data: &'a Dataset,
    batches: MiniBatches,
    validation: Vec<usize>,
    seed: Seed,
    preprocessing: Preprocessing,
    device: Device,
    compute: Compute,
    prior: LeafPrior,
    network: Option<Network>,
    /// The prefixes of the names of convolutions.
    convolutions: BTreeSet<String>,
    /// How the weight file matched the network.
    weights: Option<String>,
    output: OutputLayer,
    state: State,
    /// The activations and rows of the mini-batches since the last leaf update.
    noted: (Vec<f32>, Vec<usize>),
    /// The rest of the current epoch.
    epoch: Option<Epoch>,
    /// The mean absolute error on the validation rows at the last validation.
    mae: Option<f64>,
    best: Option<(BTreeMap<String, Numbers>, OutputLayer)>,
    /// What the start found, where there was one.
    started: Option<Started>,
    /// The features of all rows, where the backbone is frozen and they fit into memory.
    frozen: Option<FrozenFeatures>,
}

/// The input of a mini-batch.
enum Given {
    /// Of the backbone.
    Inputs(Vec<f32>),
    /// Of the projection.
    Features(Vec<f32>),
}

/// The remaining mini-batches of an epoch.
enum Epoch {
    /// Images, prefetched.
    Images(PrefetchedBatches),
    /// Rows of a table, or rows whose features are known.
    Rows(vec::IntoIter<Vec<usize>>),
}

impl<'a> OnNetwork<'a> {
    fn new(plan: &'a Plan, data: &'a Dataset, context: &FitContext<'_>) -> Result<Self> {
        let kind = plan.check()?;
        let parameters = &plan.network;
        let seed = context.seed;
        let (rows, validation) = sides(plan, data, seed);
        let device = network::device(&parameters.device)?.autodiff();
        let compute = Compute::new(&context.threads)?;
        // Sizes only: what the weights expect is known once they are loaded.
        let input = preprocessing(plan, kind, data, &rows, None)?.input();
        let output = match plan.rule {
            Rule::Softmax => OutputLayer::Softmax { labels: data.labels() },
            _ => {
                let shape = plan.shape(data.labels());
                // Every unit has weights, and drawing the splits' units needs memory for all of them.
                memory::check(
                    "the units of the last layer",
                    &[("units", shape.units)],
                    4 * size_of::<f32>(),
                )?;
                OutputLayer::Forest(Head::new(shape, seed)?)
            }
        };
        let mut network = Network::new(kind, input, output.units(), seed, &device)?;
        let mut report = None;
        if let Some(path) = &parameters.weights {
            let (backbone, found) = load_weights(network.backbone, Path::new(path))?;
            network.backbone = backbone;
            report = Some(found);
        }
        let preprocessing = preprocessing(plan, kind, data, &rows, report.as_ref())?;
        let weights = report.map(|report| report.to_string());
        let convolutions = arrays::convolutions(&network);
        let frozen = frozen(parameters);
        network =
            arrays::freeze(network, &|name| frozen.iter().any(|start| name.starts_with(start.as_str())));
        let mean = data.mean_target_of(rows.iter().copied());
        Ok(OnNetwork {
            plan,
            kind,
            data,
            batches: MiniBatches::new(rows, parameters.batch_size, seed),
            validation,
            seed,
            preprocessing,
            device,
            compute,
            prior: LeafPrior { strength: plan.forest.leaf_prior, base: mean },
            network: Some(network),
            convolutions,
            weights,
            output,
            state: State::new(),
            noted: Default::default(),
            epoch: None,
            mae: None,
            best: None,
            started: None,
            frozen: None,
        })
    }

    /// The plan of the training.
    pub(crate) fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The data.
    pub(crate) fn data(&self) -> &'a Dataset {
        self.data
    }

    /// Mini-batches per epoch.
    pub(crate) fn per_epoch(&self) -> usize {
        self.batches.per_epoch()
    }

    /// Whether there are validation rows.
    pub(crate) fn validates(&self) -> bool {
        !self.validation.is_empty()
    }

    /// The features of training and validation rows; `None` where they are too many to keep.
    fn features(&self, context: &mut FitContext<'_>) -> Result<Option<FrozenFeatures>> {
        let rows: Vec<usize> = self.batches.rows().iter().chain(&self.validation).copied().collect();
        let device = self.device.clone().without_autodiff();
        let (backbone, mirrored) = (self.network().backbone.valid(), self.plan.network.flip);
        let on = (&device, &self.compute);
        FrozenFeatures::of(&backbone, (self.data, &rows), &self.preprocessing, mirrored, on, context)
    }

    /// A training of the projection and the output layer alone, on given features.
    pub(crate) fn head_alone<'b>(
        &self,
        plan: &'b Plan,
        features: FrozenFeatures,
        context: &FitContext<'_>,
    ) -> Result<OnNetwork<'b>>
    where
        'a: 'b,
    {
        Ok(OnNetwork {
            plan,
            kind: self.kind,
            data: self.data,
            batches: self.batches.clone(),
            validation: self.validation.clone(),
            seed: self.seed,
            preprocessing: self.preprocessing.clone(),
            device: self.device.clone(),
            compute: Compute::new(&context.threads)?,
            prior: self.prior.clone(),
            network: self.network.clone(),
            convolutions: BTreeSet::new(),
            weights: None,
            output: self.output.clone(),
            state: State::new(),
            noted: Default::default(),
            epoch: None,
            mae: None,
            best: None,
            started: None,
            frozen: Some(features),
        })
    }

    /// The network and its output layer.
    pub(crate) fn into_parts(self) -> (Network, OutputLayer) {
        (self.network.expect("the network is away only within a step"), self.output)
    }

    /// Goes on from what the start found.
    pub(crate) fn begin_with(&mut self, network: Network, output: OutputLayer, started: Started) {
        self.network = Some(network);
        self.output = output;
        self.started = Some(started);
    }

    /// Returns to the start where no epoch after it was better on the validation rows.
    fn return_to_start(&mut self, summary: &mut Summary) -> Result<()> {
        if let (Some(started), Some(kl)) = (&self.started, summary.validation_kl)
            && started.kl < kl
        {
            let network = self.network.take().expect("the network is away only within a step");
            self.network = Some(arrays::restore(network, &started.numbers)?);
            self.output = started.output.clone();
            (summary.validation_kl, summary.best_iteration) = (Some(started.kl), Some(0));
        }
        Ok(())
    }

    pub(crate) fn network(&self) -> &Network {
        self.network.as_ref().expect("the network is away only within a step")
    }

    /// The mini-batch of an iteration.
    fn next_batch(&mut self, iteration: usize) -> Result<(Vec<usize>, Given)> {
        if self.epoch.is_none() || iteration.is_multiple_of(self.batches.per_epoch()) {
            self.epoch = Some(self.rest_of_epoch(iteration)?);
        }
        let batch = match &mut self.epoch {
            Some(Epoch::Images(ahead)) => {
                ahead.next().transpose()?.map(|Batch { rows, pixels }| (rows, Given::Inputs(pixels)))
            }
            Some(Epoch::Rows(batches)) => match (batches.next(), &self.frozen) {
                (None, _) => None,
                (Some(rows), Some(frozen)) => {
                    let features = frozen.in_epoch(&rows, iteration / self.batches.per_epoch());
                    Some((rows, Given::Features(features)))
                }
                (Some(rows), None) => {
                    let scaled = self.preprocessing.scaled(self.data.features()?, &rows);
                    Some((rows, Given::Inputs(scaled)))
                }
            },
            None => None,
        };
        Ok(batch.expect("an epoch has a mini-batch for each of its iterations"))
    }

    fn rest_of_epoch(&self, iteration: usize) -> Result<Epoch> {
        let batches = self.batches.rest_of_epoch(iteration);
        match &self.preprocessing {
            _ if self.frozen.is_some() => Ok(Epoch::Rows(batches.into_iter())),
            Preprocessing::Images(preparation) => {
                let images = self.data.inputs().images()?;
                let p = &self.plan.network;
                let augmentation = Augmentation { flip: p.flip, crop: p.crop, jitter: p.jitter };
                let epoch = (iteration / self.batches.per_epoch()) as u64;
                let look = Some((&augmentation, self.seed.named("augmentation").numbered(epoch)));
                Ok(Epoch::Images(prefetch(images, &batches, preparation, look, READERS)?))
            }
            Preprocessing::Table { .. } => Ok(Epoch::Rows(batches.into_iter())),
        }
    }

    fn predict_with(&self, network: &Network, inputs: &Inputs, chosen: &[usize]) -> Result<Matrix<f32>> {
        let device = self.device.clone().without_autodiff();
        network::predict(network, &self.output, inputs, chosen, &self.preprocessing, (&device, &self.compute))
    }
}

impl Steps for OnNetwork<'_> {
    fn step(&mut self, iteration: usize) -> Result<f64> {
        let (rows, given) = self.next_batch(iteration)?;
        let p = &self.plan.network;
        let per_epoch = self.batches.per_epoch();
        let total = self.plan.total_iterations(per_epoch);
        let backbone = p.backbone_factor();
        let [of_head, of_backbone, of_convolutions] = [1.0, backbone, backbone * p.convolution_factor]
            .map(|factor| p.step_at(iteration, total, per_epoch, factor));
        let mode = Mode::Train(self.seed.named("dropout").numbered(iteration as u64));
        let trees = match (self.plan.rule.ensemble(), &self.output) {
            (Some(ensemble), OutputLayer::Forest(head)) => {
                ensemble.trees_of(iteration, head.shape().trees, self.seed)
            }
            _ => 0..0,
        };
        let mut network = self.network.take().expect("the network is away only within a step");
        let examples = Examples {
            targets: self.data.targets().as_slice(),
            labels: self.data.labels(),
            weights: self.data.weights(),
            rows: Some(&rows),
            leave_out: None,
        };
        let (output, preprocessing, device, state, threads) =
            (&self.output, &self.preprocessing, &self.device, &mut self.state, self.compute.threads());
        let (forest, plan, convolutions) = (&self.plan.forest, &self.plan.network, &self.convolutions);
        let (frozen, has_started) = (&self.frozen, self.started.is_some());
        let (network, loss, seen) = self.compute.run(|| {
            let features = match (given, frozen) {
                (Given::Features(numbers), Some(frozen)) => frozen.tensor(numbers, device),
                (Given::Inputs(numbers) | Given::Features(numbers), _) => {
                    network.backbone.forward(preprocessing.tensor(numbers, device), &mode)
                }
            };
            if let (0, false, OutputLayer::Forest(_), Some(steepness)) =
                (iteration, has_started, output, forest.steepness)
            {
                network = network.standardise_activations(features.clone(), steepness);
            }
            let activations = network.projection.forward(features);
            let shape = activations.dims();
            let seen = host(activations.clone().inner().into_data());
            let (loss, gradient) = output.loss_and_gradient(&seen, &examples, (forest.loss, trees), threads);
            // The gradient of `sum a g` with respect to `a` is `g`: the network's own gradients follow from it.
            let pull = Tensor::<2>::from_data(TensorData::new(gradient, shape), device);
            let gradients = (activations * pull).sum().backward();
            let step_of = |name: &str| -> Step {
                let layer = name.rsplit_once('.').map_or(name, |(layer, _)| layer);
                match (name.starts_with("backbone"), convolutions.contains(layer)) {
                    (false, _) => of_head,
                    (true, false) => of_backbone,
                    (true, true) => of_convolutions,
                }
            };
            let second = Step::needs_second_moments(plan.optimizer);
            (
                steps::step(network, gradients, state, &step_of, second, plan.max_grad_norm, threads),
                loss,
                seen,
            )
        });
        self.network = Some(network);
        if matches!(self.output, OutputLayer::Forest(_)) {
            self.noted.0.extend(seen);
            self.noted.1.extend(rows);
        }
        Ok(loss)
    }

    /// Updates the leaves by the activations collected since the last update, and clears them.
    fn update_leaves(&mut self, _: usize) {
        let (activations, rows) = std::mem::take(&mut self.noted);
        let examples = Examples {
            targets: self.data.targets().as_slice(),
            labels: self.data.labels(),
            weights: self.data.weights(),
            rows: Some(&rows),
            leave_out: None,
        };
        let update = LeafUpdate { iterations: self.plan.forest.leaf_iterations, prior: self.prior.clone() };
        let ordered = self.data.schema().label_values.is_some();
        let smoothing = if ordered { self.plan.forest.leaf_smoothing } else { 0.0 };
        self.output.update_leaves(&activations, &examples, &update, smoothing, self.compute.threads());
    }

    fn validate(&mut self) -> Result<f64> {
        let network = self.network().valid();
        let predicted = match &self.frozen {
            None => self.predict_with(&network, self.data.inputs(), &self.validation)?,
            Some(frozen) => {
                let device = self.device.clone().without_autodiff();
                let features = frozen.plain(&self.validation);
                let activations = self
                    .compute
                    .run(|| host(network.projection.forward(frozen.tensor(features, &device)).into_data()));
                let predicted = self.output.predict(&activations, self.compute.threads());
                Matrix::new(self.validation.len(), self.output.labels(), predicted)?
            }
        };
        self.mae = mean_absolute_error(self.data, &self.validation, &predicted);
        Ok(HeldOutKl::of(self.data, self.validation.iter().copied(), predicted.as_slice()).mean())
    }

    fn keep_best(&mut self) {
        self.best = Some((arrays::collect(&self.network().valid()), self.output.clone()));
    }

    fn restore_best(&mut self) -> Result<()> {
        if let Some((numbers, output)) = self.best.take() {
            let network = self.network.take().expect("the network is away only within a step");
            self.network = Some(arrays::restore(network, &numbers)?);
            self.output = output;
        }
        Ok(())
    }

    fn store(&self, parts: &mut Parts) {
        put_network(parts, "", &arrays::collect(&self.network().valid()), &self.output);
        if let Some((numbers, output)) = &self.best {
            put_network(parts, "best.", numbers, output);
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
                Array::F32(vec![rows.len(), self.output.units()], activations.clone()),
            );
            parts.put(
                "noted_rows",
                Array::U32(vec![rows.len()], rows.iter().map(|&row| row as u32).collect()),
            );
        }
        parts.put_detail("validation_mae", self.mae);
        parts.put_detail("start_kl", self.started.as_ref().map(|started| started.kl.to_bits()));
        if let Some(started) = &self.started {
            put_network(parts, "start.", &started.numbers, &started.output);
        }
    }

    fn restore(&mut self, checkpoint: &Parts, best: bool) -> Result<()> {
        let network = self.network.take().expect("the network is away only within a step");
        self.network = Some(arrays::restore(network, &numbers_under(checkpoint, "network.")?)?);
        let firsts = numbers_under(checkpoint, "first.")?;
        let mut seconds = numbers_under(checkpoint, "second.")?;
        for (name, (_, first)) in firsts {
            let second = seconds.remove(&name).map(|(_, second)| second).unwrap_or_default();
            self.state.insert(name, steps::Moments { first, second });
        }
        self.output = output_from(checkpoint, "", &self.output)?;
        if checkpoint.has("noted_rows") {
            let rows = checkpoint.u32s("noted_rows", checkpoint.shape("noted_rows")?)?;
            let activations = checkpoint.f32s("noted_activations", &[rows.len(), self.output.units()])?;
            if rows.iter().any(|&row| row as usize >= self.data.rows()) {
                return Err(Error::model_file(
                    "the checkpoint names a row that is not there; it may be damaged",
                ));
            }
            self.noted = (activations, rows.into_iter().map(|row| row as usize).collect());
        }
        if best {
            let best = numbers_under(checkpoint, "best.network.")?;
            if best.is_empty() {
                return Err(Error::model_file("the checkpoint lacks its best network; it may be damaged"));
            }
            self.best = Some((best, output_from(checkpoint, "best.", &self.output)?));
        }
        self.mae = checkpoint.detail("validation_mae")?;
        let start_kl: Option<u64> = checkpoint.detail("start_kl")?;
        self.started = match start_kl.map(f64::from_bits) {
            None => None,
            Some(kl) => Some(Started {
                kl,
                numbers: numbers_under(checkpoint, "start.network.")?,
                output: output_from(checkpoint, "start.", &self.output)?,
            }),
        };
        Ok(())
    }
}

impl InProgress for OnNetwork<'_> {
    fn predict(&self, inputs: &Inputs, _: &Threads) -> Result<Prediction> {
        let chosen: Vec<usize> = (0..inputs.rows()).collect();
        Ok(Prediction::Distributions(self.predict_with(&self.network().valid(), inputs, &chosen)?))
    }

    fn rows_per_iteration(&self) -> Option<usize> {
        Some(self.batches.size())
    }

    fn validation_mae(&self) -> Option<f64> {
        self.mae
    }
}

/// The weighted mean absolute error of the predicted means of some rows, where labels are ordered.
fn mean_absolute_error(data: &Dataset, rows: &[usize], predicted: &Matrix<f32>) -> Option<f64> {
    let values = data.schema().label_values.as_ref()?;
    let mean = |p: &[f32]| values.iter().zip(p).map(|(v, &p)| v * f64::from(p)).sum::<f64>();
    let (mut error, mut total) = (0.0, 0.0);
    for (index, &row) in rows.iter().enumerate() {
        let weight = f64::from(data.weight(row));
        let truth = data.truth().map_or_else(|| mean(data.targets().row(row)), |truth| truth[row]);
        error += weight * (mean(predicted.row(index)) - truth).abs();
        total += weight;
    }
    Some(error / if total > 0.0 { total } else { 1.0 })
}
