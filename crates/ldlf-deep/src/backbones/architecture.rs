//! The interface of a backbone, and the facts that it states about itself.

use burn::module::Module;
use burn::tensor::Tensor;
use ldlf_core::graph::Flow;

use super::Mode;
use super::drawing::{Drawing, Maps};
use crate::images::Preparation;
use crate::initial::Initial;

/// A network without its last layer, whose inputs are the features.
///
/// A new backbone is a file with a type of this trait and its line in the list of [`backbones`](super): names, help, checks and the
/// loading of weights derive from here.
pub(super) trait Architecture: Module {
    /// The facts about it.
    const FACTS: BackboneFacts;

    /// A network with random weights for `channels` channels (columns of a table), with all widths divided by `thinner`.
    fn new(initial: &Initial<'_>, channels: usize, thinner: usize) -> Self;

    /// The number of features.
    fn width(&self) -> usize;

    /// The output of one of [`BackboneFacts::layers`], flattened.
    fn run(&self, x: Tensor<4>, mode: &Mode, until: &str) -> Tensor<2>;

    /// Adds the network to a graph, as [`Architecture::run`] predicts, and gives the features, `[rows, width]`.
    fn draw(&self, drawing: &mut Drawing<'_>, x: Maps) -> Flow;

    /// The parameter that an entry of a weight file belongs to, where published files use other names.
    fn parameter_name(entry: &str) -> String {
        entry.to_string()
    }
}

/// The facts about a backbone.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackboneFacts {
    /// Its name as a parameter and in model files.
    pub name: &'static str,
    /// A short description for help texts.
    pub summary: &'static str,
    /// Its input.
    pub reads: Reads,
    /// Whether its layers keep their outputs in bounds: by batch norms, or because there are only two.
    pub is_normalised: bool,
    /// The layers whose output can be computed, in order; the last one gives the features.
    pub layers: &'static [&'static str],
}

/// The input of a backbone.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reads {
    /// Square images.
    Images {
        /// The side that it was designed for, in pixels.
        usual_side: usize,
        /// The smallest side that leaves a pixel at the last layer.
        smallest_side: usize,
        /// What its published weights expect.
        convention: InputConvention,
    },
    /// Rows of a table.
    Table,
}

ldlf_core::choices! {
    /// The order of the channels of an image.
    #[derive(Default, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ChannelOrder {
        /// Red, green, blue.
        #[default]
        Rgb = "rgb",
        /// Blue, green, red, as Caffe reads images.
        Bgr = "bgr",
    }
}

/// How the pixels of an image become the numbers that a network's weights expect: every channel `c` in 0..`range` becomes
/// `(c - mean) / deviation`. It is stored in the model as a [`Preparation`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputConvention {
    /// The largest value of a channel.
    pub range: f32,
    /// The order of the channels.
    pub order: ChannelOrder,
    /// What is subtracted from red, green and blue.
    pub mean: [f32; 3],
    /// What they are divided by.
    pub deviation: [f32; 3],
}

impl InputConvention {
    /// Means and standard deviations of the channels of ImageNet: what the weights of torchvision expect.
    pub const IMAGENET: InputConvention = InputConvention {
        range: 1.0,
        order: ChannelOrder::Rgb,
        mean: [0.485, 0.456, 0.406],
        deviation: [0.229, 0.224, 0.225],
    };

    /// Blue, green and red in 0..255 without the mean of the faces: what the weights of VGG-Face expect.
    pub const VGG_FACE: InputConvention = InputConvention {
        range: 255.0,
        order: ChannelOrder::Bgr,
        mean: [129.1863, 104.7624, 93.594],
        deviation: [1.0; 3],
    };

    /// Blue, green and red in 0..255 without the mean of ImageNet: what the weights of Caffe's AlexNet expect.
    pub const CAFFE: InputConvention = InputConvention {
        range: 255.0,
        order: ChannelOrder::Bgr,
        mean: [122.679, 116.669, 104.007],
        deviation: [1.0; 3],
    };

    /// Blue, green and red in 0..255 without the mean of ImageNet as Caffe's VGG networks have it: what the weights of the MobileNet-v1
    /// that knows faces expect.
    pub const CAFFE_VGG: InputConvention = InputConvention {
        range: 255.0,
        order: ChannelOrder::Bgr,
        mean: [123.68, 116.779, 103.939],
        deviation: [1.0; 3],
    };

    /// Bytes minus 127, divided by 128: what the weights of the EfficientNet-Lites expect.
    pub const SIGNED_BYTES: InputConvention = InputConvention {
        range: 1.0,
        order: ChannelOrder::Rgb,
        mean: [127.0 / 255.0; 3],
        deviation: [128.0 / 255.0; 3],
    };

    /// The preparation of images by this convention; `channels` is 1 or 3.
    pub fn preparation(&self, side: usize, channels: usize) -> Preparation {
        let InputConvention { mean, deviation, range, order } = *self;
        Preparation {
            side,
            channels,
            mean: mean[..channels].to_vec(),
            deviation: deviation[..channels].to_vec(),
            range,
            order,
            margin: 0.0,
        }
    }
}
