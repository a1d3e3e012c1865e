//! Algorithm 1 on a deep network: steps on mini-batches through network and trees.

mod batches;
mod checkpoint;
mod mixing;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use ldlf_core::checkpoint::Source;
use ldlf_core::early_stopping::HeldOutKl;
use ldlf_core::learner::Summary;
use ldlf_core::stored::Parts;
use ldlf_core::{Dataset, FitContext, InProgress, Inputs, Matrix, Prediction, Result, Seed, Threads};
use ldlf_forest::algorithm1::{Steps, Training};
use ldlf_forest::head::{Examples, Head, LeafUpdate};
use ldlf_forest::leaves::LeafPrior;
use ldlf_forest::mini_batches::MiniBatches;
use ldlf_math::memory;
use ldlf_math::optimise::step::Step;

use crate::arrays::{self, Numbers, host};
use crate::backbones::{BackboneKind, Mode};
use crate::frozen::FrozenFeatures;
use crate::layers::{Layers, WHOLE_BACKBONE};
use crate::model::DeepModel;
use crate::network::{self, Compute, Network, Preprocessing};
use crate::output_layer::OutputLayer;
use crate::plan::{Plan, Rule, frozen, preprocessing, sides};
use crate::start;
use crate::steps::{self, State};
use crate::weights::load_weights;
use batches::{Epoch, Given};
use mixing::{Mixed, mix};

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
    let network = steps.averaged()?;
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
    /// The layers of the backbone, and the parameters that are not frozen for good.
    layers: Layers,
    learning: BTreeSet<String>,
    /// How the weight file matched the network.
    weights: Option<String>,
    output: OutputLayer,
    state: State,
    /// The running average of the network's parameters, where one is kept.
    average: Option<BTreeMap<String, Numbers>>,
    /// What the next leaf update sees.
    noted: Noted,
    /// The epoch of the layers that learn now.
    joined: Option<usize>,
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

/// The mini-batches since the last leaf update.
#[derive(Default)]
struct Noted {
    activations: Vec<f32>,
    rows: Vec<usize>,
    /// Targets and weights, where rows are mixed.
    mixed: Mixed,
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
        let (layers, learning) = (Layers::of(&network), arrays::learning(&network));
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
            layers,
            learning,
            weights,
            output,
            state: State::new(),
            average: None,
            noted: Noted::default(),
            joined: None,
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
            layers: Layers::default(),
            learning: BTreeSet::new(),
            weights: None,
            output: self.output.clone(),
            state: State::new(),
            average: None,
            noted: Noted::default(),
            joined: None,
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
            self.average = None;
            (summary.validation_kl, summary.best_iteration) = (Some(started.kl), Some(0));
        }
        Ok(())
    }

    pub(crate) fn network(&self) -> &Network {
        self.network.as_ref().expect("the network is away only within a step")
    }

    /// The network as it predicts: with the running average of its parameters, where one is kept.
    fn averaged(&self) -> Result<Network> {
        let network = self.network().valid();
        match &self.average {
            Some(average) => arrays::restore(network, average),
            None => Ok(network),
        }
    }

    /// Moves the running average towards the parameters as they are after an iteration. It weighs the first ones less, so that it does
    /// not remember where it began.
    fn update_average(&mut self, iteration: usize) {
        let Some(most) = self.plan.network.average else { return };
        let numbers = arrays::collect(&self.network().valid());
        let kept = most.min((1.0 + iteration as f64) / (10.0 + iteration as f64)) as f32;
        match &mut self.average {
            None => self.average = Some(numbers),
            Some(average) => {
                for (name, (_, now)) in numbers {
                    let values = average.get_mut(&name).into_iter().flat_map(|(_, values)| values);
                    values.zip(now).for_each(|(value, now)| *value = kept * *value + (1.0 - kept) * now);
                }
            }
        }
    }

    /// Lets the layers learn that have joined by an iteration, and no others.
    fn let_layers_join(&mut self, iteration: usize) {
        let epochs = self.plan.network.unfreeze_epochs;
        let epoch = (iteration / self.batches.per_epoch()).min(epochs);
        if epochs == 0 || self.joined == Some(epoch) {
            return;
        }
        let (layers, learning) = (&self.layers, &self.learning);
        let learns = |name: &str| layers.joins(name, epochs) <= epoch;
        let network = self.network.take().expect("the network is away only within a step");
        self.network =
            Some(arrays::let_learn(network, &|name| learning.contains(name).then(|| learns(name))));
        self.joined = Some(epoch);
    }

    fn predict_with(&self, network: &Network, inputs: &Inputs, chosen: &[usize]) -> Result<Matrix<f32>> {
        let device = self.device.clone().without_autodiff();
        network::predict(network, &self.output, inputs, chosen, &self.preprocessing, (&device, &self.compute))
    }
}

impl Steps for OnNetwork<'_> {
    fn step(&mut self, iteration: usize) -> Result<f64> {
        self.let_layers_join(iteration);
        let (rows, mut given) = self.next_batch(iteration)?;
        let p = &self.plan.network;
        let per_epoch = self.batches.per_epoch();
        let total = self.plan.total_iterations(per_epoch);
        let mixed = match &mut given {
            Given::Inputs(inputs) if p.mixup > 0.0 => {
                let seed = self.seed.named("mixup").numbered(iteration as u64);
                Some(mix(self.data, &rows, inputs, p.mixup, seed))
            }
            _ => None,
        };
        let mode = Mode::Train(self.seed.named("dropout").numbered(iteration as u64));
        let trees = match (self.plan.rule.ensemble(), &self.output) {
            (Some(ensemble), OutputLayer::Forest(head)) => {
                ensemble.trees_of(iteration, head.shape().trees, self.seed)
            }
            _ => 0..0,
        };
        let mut network = self.network.take().expect("the network is away only within a step");
        let examples = examples(self.data, &rows, mixed.as_ref());
        let (output, preprocessing, device, state, threads) =
            (&self.output, &self.preprocessing, &self.device, &mut self.state, self.compute.threads());
        let (forest, plan, convolutions) = (&self.plan.forest, &self.plan.network, &self.convolutions);
        let (layers, epochs) = (&self.layers, self.plan.network.unfreeze_epochs);
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
                let factor = match (name.starts_with(WHOLE_BACKBONE), convolutions.contains(layer)) {
                    (false, _) => 1.0,
                    (true, false) => plan.backbone_factor(),
                    (true, true) => plan.backbone_factor() * plan.convolution_factor,
                };
                let first = layers.joins(name, epochs) * per_epoch;
                let factor = factor * layers.factor(name, plan.layer_decay);
                plan.step_at((iteration, first), total, per_epoch, factor)
            };
            let second = Step::needs_second_moments(plan.optimizer);
            (
                steps::step(network, gradients, state, &step_of, second, plan.max_grad_norm, threads),
                loss,
                seen,
            )
        });
        self.network = Some(network);
        self.update_average(iteration);
        if matches!(self.output, OutputLayer::Forest(_)) {
            self.noted.activations.extend(seen);
            self.noted.rows.extend(rows);
            if let Some(Mixed { targets, weights }) = mixed {
                self.noted.mixed.targets.extend(targets);
                self.noted.mixed.weights.extend(weights);
            }
        }
        Ok(loss)
    }

    /// Updates the leaves by the activations collected since the last update, and clears them.
    fn update_leaves(&mut self, _: usize) {
        let Noted { activations, rows, mixed } = std::mem::take(&mut self.noted);
        let mixed = Some(&mixed).filter(|mixed| !mixed.weights.is_empty());
        let examples = examples(self.data, &rows, mixed);
        let update = LeafUpdate { iterations: self.plan.forest.leaf_iterations, prior: self.prior.clone() };
        let ordered = self.data.schema().label_values.is_some();
        let smoothing = if ordered { self.plan.forest.leaf_smoothing } else { 0.0 };
        self.output.update_leaves(&activations, &examples, &update, smoothing, self.compute.threads());
    }

    fn validate(&mut self) -> Result<f64> {
        let network = self.averaged()?;
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
        let numbers = self.average.clone().unwrap_or_else(|| arrays::collect(&self.network().valid()));
        self.best = Some((numbers, self.output.clone()));
    }

    fn restore_best(&mut self) -> Result<()> {
        if let Some((numbers, output)) = self.best.take() {
            let network = self.network.take().expect("the network is away only within a step");
            self.network = Some(arrays::restore(network, &numbers)?);
            self.output = output;
            self.average = None;
        }
        Ok(())
    }

    fn store(&self, parts: &mut Parts) {
        self.put(parts);
    }

    fn restore(&mut self, checkpoint: &Parts, best: bool) -> Result<()> {
        self.take_over(checkpoint, best)
    }
}

impl InProgress for OnNetwork<'_> {
    fn predict(&self, inputs: &Inputs, _: &Threads) -> Result<Prediction> {
        let chosen: Vec<usize> = (0..inputs.rows()).collect();
        Ok(Prediction::Distributions(self.predict_with(&self.averaged()?, inputs, &chosen)?))
    }

    fn rows_per_iteration(&self) -> Option<usize> {
        Some(self.batches.size())
    }

    fn validation_mae(&self) -> Option<f64> {
        self.mae
    }
}

/// Rows with their targets and weights: those of the data, or those of mixtures of rows.
fn examples<'a>(data: &'a Dataset, rows: &'a [usize], mixed: Option<&'a Mixed>) -> Examples<'a, f32> {
    let (targets, weights, rows) = match mixed {
        Some(mixed) => (mixed.targets.as_slice(), Some(mixed.weights.as_slice()), None),
        None => (data.targets().as_slice(), data.weights(), Some(rows)),
    };
    Examples { targets, labels: data.labels(), weights, rows, leave_out: None }
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
