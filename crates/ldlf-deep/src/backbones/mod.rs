//! Networks that turn images or rows of a table into features: everything before their last layer.
//!
//! Parameters are named by their paths (`features.0.weight`, `layer1.0.bn1.running_mean`), which are torchvision's where it has the
//! network. [`Mode`] decides whether a network trains: batch normalisation then uses the batch's statistics and updates its running
//! ones, and dropout is active. Gradients depend on the tensors' device alone.

mod architecture;
mod batch_norm;
mod drawing;
mod kind;
mod layers;
mod list;
mod named;

use burn::module::{
    Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor,
};
use burn::tensor::{Device, Tensor};
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::{Error, Result, Seed};
use serde::{Deserialize, Serialize};

use crate::initial::Initial;
use architecture::{Architecture, BackboneFacts, Reads};
pub use architecture::{ChannelOrder, InputConvention};
use drawing::{Drawing, Maps};

// Every backbone, one per line: its file states the rest. `cargo fmt` does not follow modules into a macro, so `./test` checks the
// format of these files by name.
list::backbones! {
    small_cnn::SmallCnn,
    resnet18::ResNet18,
    efficientnet_lite0::EfficientNetLite0,
    mobilenet_v1::MobileNetV1,
    alexnet::AlexNet,
    alexnet_caffe::AlexNetCaffe,
    vgg16::Vgg16,
    mlp::Mlp,
}

/// The input of a network.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub enum Input {
    /// Square images, `[rows, channels, side, side]`.
    Images {
        /// Channels, 3 for colours.
        channels: usize,
        /// Pixels along a side.
        side: usize,
    },
    /// Rows of numbers, `[rows, features, 1, 1]`.
    Table {
        /// Numbers in a row.
        features: usize,
    },
}

/// What a forward pass is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To predict: running statistics, nothing dropped.
    Predict,
    /// To learn: the batch's statistics, dropout by masks of this seed.
    Train(Seed),
}

/// A network that turns images or rows of a table into features.
#[derive(Clone, Debug)]
pub struct Backbone {
    kind: BackboneKind,
    input: Input,
    network: AnyNetwork,
}

impl Backbone {
    /// A network with weights drawn from `seed`.
    pub fn new(kind: BackboneKind, input: Input, seed: Seed, device: &Device) -> Result<Self> {
        Self::thinner(kind, input, 1, seed, device)
    }

    /// As [`Backbone::new`] with all widths divided by a number: small enough for tests.
    #[doc(hidden)]
    pub fn thinner(kind: BackboneKind, input: Input, by: usize, seed: Seed, device: &Device) -> Result<Self> {
        let channels = kind.check(&input)?;
        let initial = Initial::new(seed.named("backbone"), device);
        let network = AnyNetwork::new(kind, &initial, channels, by);
        Ok(Backbone { kind, input, network })
    }

    /// Which network this is.
    pub fn kind(&self) -> BackboneKind {
        self.kind
    }

    /// Its input.
    pub fn input(&self) -> Input {
        self.input
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.network.width()
    }

    /// The features of some rows.
    ///
    /// # Shapes
    /// - `x`: `[rows, channels, side, side]`, tables `[rows, features, 1, 1]`; result: `[rows, width]`
    pub fn forward(&self, x: Tensor<4>, mode: &Mode) -> Tensor<2> {
        let last = self.kind.layers().last().copied().unwrap_or_default();
        self.network.run(x, mode, last)
    }

    /// Adds the network to a graph of standard operators, behind its prepared input, and gives the features, `[rows, width]`.
    pub fn add_to_graph(&self, graph: &mut Graph, prepared: &Flow) -> Flow {
        let side = match self.input {
            Input::Images { side, .. } => side,
            Input::Table { .. } => 1,
        };
        graph.within("backbone", |graph| {
            self.network.draw(&mut Drawing(graph), Maps { flow: prepared.clone(), side })
        })
    }

    /// The output of a layer, one row of numbers for each row of `x`; rectified where a rectifier follows the layer.
    pub fn forward_to(&self, layer: &str, x: Tensor<4>) -> Result<Tensor<2>> {
        let layers = self.kind.layers();
        if !layers.contains(&layer) {
            return Err(Error::usage(format!(
                "{} has no layer {layer:?}; there are {}",
                self.kind.name(),
                layers.join(", ")
            )));
        }
        Ok(self.network.run(x, &Mode::Predict, layer))
    }
}

impl Module for Backbone {
    fn collect_devices(&self, devices: Devices) -> Devices {
        self.network.collect_devices(devices)
    }

    fn fork(self, device: &Device) -> Self {
        Backbone { network: self.network.fork(device), ..self }
    }

    fn to_device(self, device: &Device) -> Self {
        Backbone { network: self.network.to_device(device), ..self }
    }

    fn train(self) -> Self {
        Backbone { network: self.network.train(), ..self }
    }

    fn valid(&self) -> Self {
        Backbone { network: self.network.valid(), ..*self }
    }

    fn materialize(self) -> Self {
        Backbone { network: self.network.materialize(), ..self }
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        self.network.visit(visitor);
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        Backbone { network: self.network.map(mapper), ..self }
    }
}

impl ModuleDisplayDefault for Backbone {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&self.kind.name()).optional()
    }
}

impl ModuleDisplay for Backbone {}
