//! The networks that can stand in front of a head: everything up to the features that their own last layer would see.
//!
//! Parameters are reached by their paths (`features.0.weight`, `layer1.0.bn1.running_mean`), which are torchvision's where it has the
//! network. [`Mode`] decides whether a network trains: batch normalisation then takes the batch's statistics and moves its running
//! ones, and dropout drops. Gradients are a matter of the tensors' device alone.

mod alexnet;
mod alexnet_caffe;
mod batch_norm;
mod efficientnet_lite0;
mod kind;
mod layers;
mod mlp;
mod named;
mod resnet18;
mod small_cnn;
pub(crate) mod vgg16;

use burn::module::{
    Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor,
};
use burn::tensor::{Device, Tensor};
use ldlf_core::{Error, Result, Seed};
use serde::{Deserialize, Serialize};

pub use kind::Kind;

use crate::initial::Initial;

/// What a network takes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub enum Input {
    /// Square pictures, `[rows, channels, side, side]`.
    Pictures {
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

/// One network.
pub(crate) trait Network: Module {
    /// Numbers that the head sees.
    fn width(&self) -> usize;

    /// The output of a layer among the kind's [`Kind::layers`], flattened.
    fn run(&self, x: Tensor<4>, mode: &Mode, until: &str) -> Tensor<2>;
}

/// A network that turns pictures or rows of a table into features.
#[derive(Clone, Debug)]
pub struct Backbone {
    kind: Kind,
    input: Input,
    network: Networks,
}

#[allow(clippy::large_enum_variant, reason = "a program holds one or two")]
// By hand instead of by derive: a derived path would begin with the variant.
#[derive(Clone, Debug)]
enum Networks {
    AlexNet(alexnet::AlexNet),
    AlexNetCaffe(alexnet_caffe::AlexNetCaffe),
    Vgg16(vgg16::Vgg16),
    ResNet18(resnet18::ResNet18),
    EfficientNetLite0(efficientnet_lite0::EfficientNetLite0),
    SmallCnn(small_cnn::SmallCnn),
    Mlp(mlp::Mlp),
}

/// Evaluates an expression on whichever network there is.
macro_rules! on {
    ($networks:expr, $network:ident => $result:expr) => {
        match $networks {
            Networks::AlexNet($network) => $result,
            Networks::AlexNetCaffe($network) => $result,
            Networks::Vgg16($network) => $result,
            Networks::ResNet18($network) => $result,
            Networks::EfficientNetLite0($network) => $result,
            Networks::SmallCnn($network) => $result,
            Networks::Mlp($network) => $result,
        }
    };
}

/// Changes whichever network there is.
macro_rules! change {
    ($networks:expr, $network:ident => $result:expr) => {
        match $networks {
            Networks::AlexNet($network) => Networks::AlexNet($result),
            Networks::AlexNetCaffe($network) => Networks::AlexNetCaffe($result),
            Networks::Vgg16($network) => Networks::Vgg16($result),
            Networks::ResNet18($network) => Networks::ResNet18($result),
            Networks::EfficientNetLite0($network) => Networks::EfficientNetLite0($result),
            Networks::SmallCnn($network) => Networks::SmallCnn($result),
            Networks::Mlp($network) => Networks::Mlp($result),
        }
    };
}

impl Backbone {
    /// A network with weights drawn from `seed`.
    pub fn new(kind: Kind, input: Input, seed: Seed, device: &Device) -> Result<Self> {
        Self::thinner(kind, input, 1, seed, device)
    }

    /// As [`Backbone::new`] with all widths divided by a number: small enough for tests.
    #[doc(hidden)]
    pub fn thinner(kind: Kind, input: Input, by: usize, seed: Seed, device: &Device) -> Result<Self> {
        let initial = Initial::new(seed.named("backbone"), device);
        let size = kind.check(&input)?;
        let network = match kind {
            Kind::AlexNet => Networks::AlexNet(alexnet::AlexNet::new(&initial, size, by)),
            Kind::AlexNetCaffe => {
                Networks::AlexNetCaffe(alexnet_caffe::AlexNetCaffe::new(&initial, size, by))
            }
            Kind::Vgg16 => Networks::Vgg16(vgg16::Vgg16::new(&initial, size, by)),
            Kind::ResNet18 => Networks::ResNet18(resnet18::ResNet18::new(&initial, size, by)),
            Kind::EfficientNetLite0 => {
                Networks::EfficientNetLite0(efficientnet_lite0::EfficientNetLite0::new(&initial, size, by))
            }
            Kind::SmallCnn => Networks::SmallCnn(small_cnn::SmallCnn::new(&initial, size, by)),
            Kind::Mlp => Networks::Mlp(mlp::Mlp::new(&initial, size, by)),
        };
        Ok(Backbone { kind, input, network })
    }

    /// Which network this is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What it takes.
    pub fn input(&self) -> Input {
        self.input
    }

    /// The number of features for the head.
    pub fn width(&self) -> usize {
        on!(&self.network, network => network.width())
    }

    /// The features of some rows.
    ///
    /// # Shapes
    /// - `x`: `[rows, channels, side, side]`, tables `[rows, features, 1, 1]`; result: `[rows, width]`
    pub fn forward(&self, x: Tensor<4>, mode: &Mode) -> Tensor<2> {
        let last = self.kind.layers().last().copied().unwrap_or_default();
        on!(&self.network, network => network.run(x, mode, last))
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
        Ok(on!(&self.network, network => network.run(x, &Mode::Predict, layer)))
    }
}

impl Module for Backbone {
    fn collect_devices(&self, devices: Devices) -> Devices {
        on!(&self.network, network => network.collect_devices(devices))
    }

    fn fork(self, device: &Device) -> Self {
        Backbone { network: change!(self.network, network => network.fork(device)), ..self }
    }

    fn to_device(self, device: &Device) -> Self {
        Backbone { network: change!(self.network, network => network.to_device(device)), ..self }
    }

    fn train(self) -> Self {
        Backbone { network: change!(self.network, network => network.train()), ..self }
    }

    fn valid(&self) -> Self {
        Backbone { network: change!(&self.network, network => network.valid()), ..*self }
    }

    fn materialize(self) -> Self {
        Backbone { network: change!(self.network, network => network.materialize()), ..self }
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        on!(&self.network, network => network.visit(visitor));
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        Backbone { network: change!(self.network, network => network.map(mapper)), ..self }
    }
}

impl ModuleDisplayDefault for Backbone {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&self.kind.name()).optional()
    }
}

impl ModuleDisplay for Backbone {}
