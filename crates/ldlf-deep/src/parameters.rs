//! Parameters of the deep learners, in two parts: the network and its training, and the forest on it.

use ldlf_core::parameters::ParameterSet;
use ldlf_core::{Auto, Settings};
use ldlf_forest::loss::LossForm;
use ldlf_math::optimise::step::{LearningRate, Optimizer, Schedule, Step};

use crate::backbones::{BackboneKind, ChannelOrder};
use crate::learners::{DeepForest, DeepLdl, DeepNeuralDecisionForest};

ldlf_core::parameters! {
    /// Parameters of every deep learner: the network and its training.
    pub struct NetworkParameters, builder DeepParams for DeepLdl {
        /// Network under the trees or the softmax.
        backbone: BackboneKind = BackboneKind::SmallCnn;
        /// File of pretrained weights (.safetensors, .pth); none starts from random ones.
        weights: Option<String> = None;
        /// Side of the square input in pixels; auto is the default of the backbone.
        side: Auto<usize> = Auto::Auto, at_least 8, at_most 4096;
        /// Channels of the images: 3 for colour, 1 for grey.
        channels: usize = 3, at_least 1, at_most 3;
        /// Device: cpu, or one enabled in this build (wgpu, vulkan, metal, cuda, rocm).
        device: String = "cpu".to_string();
        /// Number of epochs.
        epochs: usize = 20, at_least 1, at_most 1_000_000, known_as "max_iter";
        /// Number of mini-batches, in place of `epochs`; none goes by epochs.
        iterations: Option<usize> = None, at_least 1;
        /// Rows per mini-batch.
        batch_size: usize = 64, at_least 1;
        /// Optimizer.
        optimizer: Optimizer = Optimizer::AdamW;
        /// Learning rate of the head; auto is 0.005, but 0.0003 for adam and adamw on backbones without batch norm (alexnet, vgg16).
        learning_rate: Auto<f64> = Auto::Auto, above 0;
        /// Factor of the backbone's learning rate relative to the head's; auto is 0.15 with pretrained weights and 1 without.
        backbone_factor: Auto<f64> = Auto::Auto, at_least 0;
        /// Further factor of the learning rate of the backbone's convolutions.
        convolution_factor: f64 = 1.0, at_least 0;
        /// Factor of the learning rate from each layer of the backbone to the one before it; 1 lets all layers learn alike.
        layer_decay: f64 = 1.0, above 0, at_most 1;
        /// Epochs over which the layers of the backbone join the training, the last one first; in epoch 1 the head learns alone. 0 trains all from the start.
        unfreeze_epochs: usize = 0, at_most 1_000_000;
        /// Prefixes of the names of frozen layers, joined by +, such as layer1+layer2; all freezes the backbone.
        freeze: Option<String> = None;
        /// Epochs in which the last layer and the leaves learn alone, on features that are computed once, before the rest joins; auto is 30 with pretrained weights and 0 without.
        start_epochs: Auto<usize> = Auto::Auto, at_most 1_000_000;
        /// Momentum of sgd.
        momentum: f64 = 0.9, at_least 0, below 1;
        /// Learning rate schedule.
        schedule: Schedule = Schedule::Cosine;
        /// Fraction of the iterations over which the learning rate warms up.
        warm_up: f64 = 0.1, at_least 0, at_most 1;
        /// With the step schedule: epochs between two changes.
        step_epochs: f64 = 10.0, above 0;
        /// With the step schedule: mini-batches between two changes, in place of `step_epochs`; none goes by epochs.
        step_iterations: Option<usize> = None, at_least 1;
        /// With the step schedule: factor of each change.
        step_factor: f64 = 0.1, above 0, at_most 1;
        /// Weight decay: decoupled with adamw, added to the gradient with sgd and adam; biases and batch norms do not decay.
        weight_decay: f64 = 0.05, at_least 0;
        /// Maximum norm of the gradient of all parameters; none does not clip.
        max_grad_norm: Option<f64> = Some(5.0), above 0;
        /// Share of the past in a running average of the network's weights, such as 0.99: validation and the model take the average; none takes the weights as they are.
        average: Option<f64> = None, above 0, below 1;
        /// Largest value of a channel, such as 1 or 255; auto is what the weights or the backbone expect.
        input_range: Auto<f64> = Auto::Auto, above 0;
        /// Value that is subtracted from every channel, or three for red, green and blue, joined by +; auto is what the weights or the backbone expect.
        input_mean: Auto<String> = Auto::Auto;
        /// Value that every channel is then divided by, or three, joined by +; auto is what the weights or the backbone expect.
        input_deviation: Auto<String> = Auto::Auto;
        /// Order of the channels; auto is what the weights or the backbone expect.
        channel_order: Auto<ChannelOrder> = Auto::Auto;
        /// Fraction cut off at each edge of an image before it is resized, such as 0.15 where faces should fill the square.
        input_crop: f64 = 0.0, at_least 0, below 0.5;
        /// Whether images are mirrored at random.
        flip: bool = true;
        /// Maximum fraction by which the crop of an image is moved and resized at random.
        crop: f64 = 0.1, at_least 0, at_most 0.5;
        /// Maximum relative change of brightness, contrast and saturation.
        jitter: f64 = 0.2, at_least 0, at_most 1;
        /// Maximum fraction of an image that is erased at random, in every second image.
        erasing: f64 = 0.0, at_least 0, at_most 0.9;
        /// Parameter of the beta distribution of the shares in which the rows of a mini-batch are mixed in pairs, inputs and targets alike; 0 mixes none.
        mixup: f64 = 0.0, at_least 0, at_most 1;
        /// Whether to keep the epoch that is best on the validation rows, and to stop when it does not improve.
        early_stopping: bool = true;
        /// Fraction of the training rows held out for early stopping, unless the data marks validation rows itself.
        validation_fraction: f64 = 0.1, above 0, below 1;
        /// Epochs without improvement before stopping.
        patience: usize = 10, at_least 1, known_as "n_iter_no_change";
    }
}

ldlf_core::parameters! {
    /// Parameters of the forest on a network.
    pub struct ForestParameters, after NetworkParameters in DeepParams for DeepForest, DeepNeuralDecisionForest {
        /// Number of trees.
        trees: usize = 10, at_least 1, at_most 1_000_000, known_as "n_estimators";
        /// Depth of every tree, which then has 2^(depth-1) leaves.
        depth: usize = 6, at_least 1, at_most 30;
        /// Output units of the layer under the trees, shared by the trees at random; auto gives every split its own.
        units: Auto<usize> = Auto::Auto, at_least 1;
        /// Standard deviation of the split activations over the first mini-batch: larger values separate the rows more clearly at the start; none keeps the random weights.
        steepness: Option<f64> = Some(2.0), above 0;
        /// Loss that the gradient steps minimise.
        loss: LossForm = LossForm::Trees;
        /// Mini-batches between two leaf updates; auto is one epoch, at most 100.
        leaf_every: Auto<usize> = Auto::Auto, at_least 1;
        /// Whether leaves are also updated after the first 4, 8, 16 ... mini-batches: equal leaves give the network no gradient.
        early_leaf_updates: bool = true;
        /// Iterations per leaf update.
        leaf_iterations: usize = 20, at_least 1;
        /// Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update.
        leaf_prior: f64 = 1.0, at_least 0;
        /// With ordered labels: standard deviation, in labels, by which leaves are smoothed along the labels after an update.
        leaf_smoothing: f64 = 0.0, at_least 0;
    }
}

/// Parameters of the forests on a network.
pub type DeepForestParameters = (NetworkParameters, ForestParameters);

impl NetworkParameters {
    /// The optimiser step of an iteration (from 0) of `total`, with `per_epoch` iterations per epoch, for parameters that learn from the
    /// iteration `first` on, at a factor of the head's learning rate.
    pub(crate) fn step_at(
        &self,
        (iteration, first): (usize, usize),
        total: usize,
        per_epoch: usize,
        factor: f64,
    ) -> Step {
        let rate = LearningRate {
            rate: self.learning_rate() * factor,
            schedule: self.schedule,
            warm_up: self.warm_up,
            step_every: self
                .step_iterations
                .unwrap_or((self.step_epochs * per_epoch as f64).round() as usize)
                .max(1),
            step_factor: self.step_factor,
        };
        let steps = iteration.saturating_sub(first);
        Step::new(self.optimizer, steps, rate.at(iteration, total), self.momentum, self.weight_decay)
    }

    /// The learning rate of the head. Adam moves every weight by about the same amount; with thousands of inputs and without batch
    /// norms, the activations of the next layer would then grow without bound.
    pub(crate) fn learning_rate(&self) -> f64 {
        let plain = !self.backbone.is_normalised();
        let fixed = if plain && self.optimizer != Optimizer::Sgd { 0.0003 } else { 0.005 };
        self.learning_rate.unwrap_or(fixed)
    }

    /// The epochs of the head alone.
    pub(crate) fn start_epochs(&self) -> usize {
        self.start_epochs.unwrap_or(if self.weights.is_some() { 30 } else { 0 })
    }

    /// The factor of the backbone's learning rate.
    pub(crate) fn backbone_factor(&self) -> f64 {
        self.backbone_factor.unwrap_or(if self.weights.is_some() { 0.15 } else { 1.0 })
    }

    /// The settings as results and model files record them: a weight file by its name, without its folder.
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
