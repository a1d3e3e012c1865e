//! What the deep learners can be told, in two parts: the network and its training, and the forest above it.

use ldlf_core::parameters::{Parameter, refuse_unknown};
use ldlf_core::{Result, Settings};
use ldlf_forest::loss::LossForm;
use ldlf_math::optimise::step::{LearningRate, Optimiser, Schedule, Step};

use crate::backbones::BackboneKind;

ldlf_core::parameters! {
    /// The network under the head and how it is trained.
    pub struct NetworkParameters {
        /// Network under the trees or the softmax.
        backbone: BackboneKind = BackboneKind::SmallCnn;
        /// File of trained weights (.safetensors, .pth) to start from; none starts from random ones.
        weights: Option<String> = None;
        /// Pixels of a side of the square that the network sees; none is the network's usual side.
        side: Option<usize> = None, at_least 8, at_most 4096;
        /// Channels of the pictures: 3 for colour, 1 for grey.
        channels: usize = 3, at_least 1, at_most 3;
        /// Where the network computes: cpu, or a device that was built in (wgpu, vulkan, metal, cuda, rocm).
        device: String = "cpu".to_string();
        /// Passes over the training rows.
        epochs: usize = 20, at_least 1, at_most 1_000_000;
        /// Rows of a mini-batch.
        batch_size: usize = 64, at_least 1;
        /// Rule that turns gradients into steps.
        optimiser: Optimiser = Optimiser::AdamW;
        /// Step length of the head; none is 0.005, but 0.0003 for adam and adamw on networks without batch norms (alexnet, vgg16).
        learning_rate: Option<f64> = None, above 0;
        /// Step length of the backbone as a factor of that of the head; none is 0.15 with trained weights and 1 without.
        backbone_rate: Option<f64> = None, at_least 0;
        /// Names of parameters, or beginnings of them, that do not learn, joined by +: features, layer1+layer2; all freezes the backbone.
        freeze: Option<String> = None;
        /// Momentum of sgd.
        momentum: f64 = 0.9, at_least 0, below 1;
        /// How the step length changes.
        schedule: Schedule = Schedule::Cosine;
        /// Share of the iterations over which the step length first rises.
        warm_up: f64 = 0.1, at_least 0, at_most 1;
        /// With the step schedule: epochs between two changes.
        step_every: f64 = 10.0, above 0;
        /// With the step schedule: factor of each change.
        step_factor: f64 = 0.1, above 0, at_most 1;
        /// Weight decay: decoupled with adamw, added to the gradient with sgd and adam; biases and batch norms do not decay.
        weight_decay: f64 = 0.05, at_least 0;
        /// Largest length of the gradient of all parameters together; longer ones are shortened; none leaves them.
        clip: Option<f64> = Some(5.0), above 0;
        /// Whether pictures are mirrored at random.
        flip: bool = true;
        /// Largest share by which the square that the network sees is moved and made larger or smaller at random.
        crop: f64 = 0.1, at_least 0, at_most 0.5;
        /// Largest relative change of brightness, contrast and saturation.
        jitter: f64 = 0.2, at_least 0, at_most 1;
        /// Whether to keep the epoch that is best on the validation rows, and stop when it gets no better.
        early_stopping: bool = true;
        /// Share of the training rows held back for that, unless the data marks rows valid itself.
        validation_share: f64 = 0.1, above 0, below 1;
        /// Epochs without improvement before training stops.
        patience: usize = 10, at_least 1;
    }
}

ldlf_core::parameters! {
    /// The forest on a network.
    pub struct ForestParameters {
        /// Number of trees.
        trees: usize = 10, at_least 1, at_most 1_000_000;
        /// Depth of the trees: 2^(depth-1) leaves each.
        depth: usize = 6, at_least 1, at_most 30;
        /// Output units of the layer under the trees, shared by the trees at random; none gives every split its own.
        units: Option<usize> = None, at_least 1;
        /// Deviation of what the first splits see over the first mini-batch: steeper ones part the rows more clearly from the start.
        steepness: f64 = 2.0, above 0;
        /// What the gradient steps lower.
        loss: LossForm = LossForm::Trees;
        /// Mini-batches between two leaf updates; none is an epoch's, at most 100.
        leaf_every: Option<usize> = None, at_least 1;
        /// Iterations of a leaf update.
        leaf_iterations: usize = 20, at_least 1;
        /// Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update.
        leaf_prior: f64 = 1.0, at_least 0;
        /// With ordered labels: standard deviation, in labels, by which leaves are smoothed along the labels after an update.
        leaf_smoothing: f64 = 0.0, at_least 0;
    }
}

/// The names of the second part go there, the others to the first; a name that is in neither is refused with the nearest of all.
pub fn split(settings: &Settings, forest: bool) -> Result<(NetworkParameters, ForestParameters)> {
    let of_forest = if forest { ForestParameters::declared() } else { Vec::new() };
    refuse_unknown(settings, &[NetworkParameters::declared(), of_forest.clone()].concat())?;
    let (mut network, mut trees) = (Settings::new(), Settings::new());
    for (name, value) in &settings.0 {
        let part = if of_forest.iter().any(|p| p.name == name) { &mut trees } else { &mut network };
        part.set(name, value.clone());
    }
    Ok((NetworkParameters::from_settings(&network)?, ForestParameters::from_settings(&trees)?))
}

/// What a forest on a network can be told.
pub fn of_forests() -> Vec<Parameter> {
    [NetworkParameters::declared(), ForestParameters::declared()].concat()
}

impl NetworkParameters {
    /// The step of an iteration, counted from 0, of so many with `per_epoch` an epoch, for the head.
    pub(crate) fn step_at(&self, iteration: usize, total: usize, per_epoch: usize, factor: f64) -> Step {
        let length = LearningRate {
            rate: self.learning_rate() * factor,
            schedule: self.schedule,
            warm_up: self.warm_up,
            step_every: ((self.step_every * per_epoch as f64).round() as usize).max(1),
            step_factor: self.step_factor,
        };
        Step::new(self.optimiser, iteration, length.at(iteration, total), self.momentum, self.weight_decay)
    }

    /// The step length of the head. Adam moves every weight by as much, and a layer of thousands of inputs so far at once that without
    /// batch norms the next layer's inputs grow out of bounds.
    pub(crate) fn learning_rate(&self) -> f64 {
        let plain = !self.backbone.is_normalised();
        let fixed = if plain && self.optimiser != Optimiser::Sgd { 0.0003 } else { 0.005 };
        self.learning_rate.unwrap_or(fixed)
    }

    /// The factor of the backbone's step length.
    pub(crate) fn backbone_factor(&self) -> f64 {
        self.backbone_rate.unwrap_or(if self.weights.is_some() { 0.15 } else { 1.0 })
    }

    /// The settings as results and model files tell them: a file of weights by its name, without the folder it lay in.
    pub fn to_portable_settings(&self) -> Settings {
        let mut settings = self.to_settings();
        if let Some(weights) = &self.weights {
            let name =
                std::path::Path::new(weights).file_name().map(|name| name.to_string_lossy().into_owned());
            settings.set("weights", name.unwrap_or_default());
        }
        settings
    }
}
