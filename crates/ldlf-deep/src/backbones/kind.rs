//! Which networks there are and what they expect.

use ldlf_core::parameters::{self, ParameterType};
use ldlf_core::{Error, Result, Value, choices};

use super::{Input, alexnet, alexnet_caffe, efficientnet_lite0, mlp, resnet18, small_cnn, vgg16};

choices! {
    /// A network by its name.
    pub enum Kind {
        /// AlexNet as torchvision has it.
        AlexNet = "alexnet",
        /// AlexNet as Caffe distributes it.
        AlexNetCaffe = "alexnet-caffe",
        /// VGG-16, also of VGG-Face.
        Vgg16 = "vgg16",
        /// ResNet-18.
        ResNet18 = "resnet18",
        /// EfficientNet-Lite0.
        EfficientNetLite0 = "efficientnet-lite0",
        /// Four convolutions, for small pictures.
        SmallCnn = "small-cnn",
        /// Two fully connected layers, for tables.
        Mlp = "mlp",
    }
}

/// Channel means and deviations of ImageNet.
const IMAGENET: ([f32; 3], [f32; 3]) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 7] = [
        Kind::AlexNet,
        Kind::AlexNetCaffe,
        Kind::Vgg16,
        Kind::ResNet18,
        Kind::EfficientNetLite0,
        Kind::SmallCnn,
        Kind::Mlp,
    ];

    /// The network of that name.
    ///
    /// ```
    /// use ldlf_deep::backbones::Kind;
    /// assert_eq!(Kind::named("resnet18")?, Kind::ResNet18);
    /// let error = Kind::named("resnet-18").unwrap_err();
    /// assert_eq!(error.to_string(), "no backbone is called \"resnet-18\"; did you mean resnet18?");
    /// # Ok::<(), ldlf_core::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Kind> {
        if let Some(kind) = Kind::from_value(&Value::from(name)) {
            return Ok(kind);
        }
        Err(Error::unknown("backbone", name, &Kind::ALL.map(Kind::name)))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match Kind::kind() {
            parameters::Kind::Choice { choices } => choices[self as usize],
            _ => unreachable!("a list of choices declares choices"),
        }
    }

    /// The side of pictures that it was designed for; 1 for tables.
    pub fn usual_side(self) -> usize {
        match self {
            Kind::AlexNet | Kind::Vgg16 | Kind::ResNet18 | Kind::EfficientNetLite0 => 224,
            Kind::AlexNetCaffe => 227,
            Kind::SmallCnn => 64,
            Kind::Mlp => 1,
        }
    }

    /// The smallest side of pictures of which a pixel is left at the last layer.
    pub fn smallest_side(self) -> usize {
        match self {
            Kind::AlexNet => 63,
            Kind::AlexNetCaffe => 55,
            Kind::Vgg16 | Kind::ResNet18 | Kind::EfficientNetLite0 => 32,
            Kind::SmallCnn => 8,
            Kind::Mlp => 1,
        }
    }

    /// Whether its layers keep their outputs in bounds: by batch norms, or because there are but two.
    pub fn is_normalised(self) -> bool {
        !matches!(self, Kind::AlexNet | Kind::AlexNetCaffe | Kind::Vgg16)
    }

    /// The mean and the standard deviation of channels in 0..1 that its published weights expect.
    pub fn usual_scaling(self) -> ([f32; 3], [f32; 3]) {
        match self {
            Kind::EfficientNetLite0 => ([127.0 / 255.0; 3], [128.0 / 255.0; 3]),
            _ => IMAGENET,
        }
    }

    /// The layers whose output [`Backbone::forward_to`](super::Backbone::forward_to) gives, in their order; the last is what the
    /// head sees.
    pub fn layers(self) -> Vec<&'static str> {
        match self {
            Kind::AlexNet => alexnet::AlexNet::LAYERS,
            Kind::AlexNetCaffe => alexnet_caffe::AlexNetCaffe::LAYERS,
            Kind::Vgg16 => vgg16::Vgg16::LAYERS,
            Kind::ResNet18 => resnet18::ResNet18::LAYERS,
            Kind::EfficientNetLite0 => efficientnet_lite0::EfficientNetLite0::LAYERS,
            Kind::SmallCnn => small_cnn::SmallCnn::LAYERS,
            Kind::Mlp => mlp::Mlp::LAYERS,
        }
        .to_vec()
    }

    /// The channels or features of an input that this network can take.
    pub(super) fn check(self, input: &Input) -> Result<usize> {
        let refuse = |message: String| Err(Error::usage(message));
        match (*input, self) {
            (Input::Table { features: 0 }, Kind::Mlp) => refuse("mlp needs at least one feature".into()),
            (Input::Table { features }, Kind::Mlp) => Ok(features),
            (Input::Pictures { .. }, Kind::Mlp) => refuse(
                "mlp takes tables, not pictures; choose another backbone, for example small-cnn".into(),
            ),
            (Input::Table { .. }, _) => {
                refuse(format!("{} takes pictures, not tables; choose the backbone mlp", self.name()))
            }
            (Input::Pictures { channels: 0, .. }, _) => refuse("channels must be at least 1, got 0".into()),
            (Input::Pictures { channels, side }, _) => match self.smallest_side() {
                smallest if side < smallest => {
                    refuse(format!("side must be at least {smallest} for {}, got {side}", self.name()))
                }
                _ => Ok(channels),
            },
        }
    }
}
