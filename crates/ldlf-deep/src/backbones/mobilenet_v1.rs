//! MobileNet-v1 (Howard et al. 2017) as TensorFlow computes it, with its batch norms folded into the convolutions.
//!
//! A folded network has a weight and a bias per convolution: published networks of faces come so, and fine-tuning on few images keeps
//! the statistics of the large set anyway. `experiments/weights` converts one that knows faces; its fully connected layer `feats`
//! belongs to the network.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use ldlf_core::graph::Flow;

use super::Mode;
use super::architecture::{Architecture, BackboneFacts, InputConvention, Reads};
use super::drawing::{Drawing, Maps};
use super::layers::{convolve_same, flat, mean_of_channels};
use crate::initial::Initial;

/// Stride and output channels of every block.
const BLOCKS: [(usize, usize); 13] = [
    (1, 64),
    (2, 128),
    (1, 128),
    (2, 256),
    (1, 256),
    (2, 512),
    (1, 512),
    (1, 512),
    (1, 512),
    (1, 512),
    (1, 512),
    (2, 1024),
    (1, 1024),
];

/// A convolution, thirteen blocks, the mean of every channel and a fully connected layer.
#[derive(Module, Debug)]
pub struct MobileNetV1 {
    conv1: Conv2d,
    blocks: Vec<Block>,
    feats: Linear,
}

/// A convolution channel by channel, then one across the channels; each ends in a rectifier that is clipped to 6.
#[derive(Module, Debug)]
struct Block {
    depthwise: Conv2d,
    pointwise: Conv2d,
}

fn layer(initial: &Initial<'_>, channels: [usize; 2], kernel: usize, stride: usize, groups: usize) -> Conv2d {
    let config = Conv2dConfig::new(channels, [kernel, kernel])
        .with_stride([stride, stride])
        .with_groups(groups)
        .with_bias(true);
    initial.convolution(&config)
}

/// A convolution with TensorFlow's padding and a rectifier that is clipped to 6.
fn rectified_to_6(layer: &Conv2d, x: Tensor<4>) -> Tensor<4> {
    convolve_same(layer, x).clamp(0.0, 6.0)
}

impl Architecture for MobileNetV1 {
    const FACTS: BackboneFacts = BackboneFacts {
        name: "mobilenet-v1",
        summary: "MobileNet-v1 with folded batch norms, for pretrained weights",
        reads: Reads::Images { usual_side: 224, smallest_side: 32, convention: InputConvention::CAFFE_VGG },
        is_normalised: false,
        layers: &["conv1", "block6", "block11", "block13", "avgpool", "feats"],
    };

    fn new(initial: &Initial<'_>, channels: usize, thinner: usize) -> Self {
        let stem = 32 / thinner;
        let mut input = stem;
        let blocks = BLOCKS.iter().enumerate().map(|(number, &(stride, output))| {
            let initial = initial.of("blocks").numbered(number);
            let (inputs, output) = (input, output / thinner);
            input = output;
            Block {
                depthwise: layer(&initial.of("depthwise"), [inputs, inputs], 3, stride, inputs),
                pointwise: layer(&initial.of("pointwise"), [inputs, output], 1, 1, 1),
            }
        });
        let blocks = blocks.collect();
        MobileNetV1 {
            conv1: layer(&initial.of("conv1"), [channels, stem], 3, 2, 1),
            blocks,
            feats: initial.of("feats").rectified_linear(input, 256 / thinner),
        }
    }

    fn width(&self) -> usize {
        self.feats.weight.lazy_shape()[1]
    }

    fn run(&self, x: Tensor<4>, _: &Mode, until: &str) -> Tensor<2> {
        let mut x = rectified_to_6(&self.conv1, x);
        if until == "conv1" {
            return flat(x);
        }
        for (number, block) in self.blocks.iter().enumerate() {
            x = rectified_to_6(&block.pointwise, rectified_to_6(&block.depthwise, x));
            if until.strip_prefix("block").is_some_and(|last| last == (number + 1).to_string()) {
                return flat(x);
            }
        }
        let x = mean_of_channels(x);
        if until == "avgpool" {
            return x;
        }
        relu(self.feats.forward(x))
    }

    fn draw(&self, drawing: &mut Drawing<'_>, x: Maps) -> Flow {
        let x = drawing.convolve_same(&self.conv1, &x);
        let mut x = drawing.rectify_to_6(&x);
        for layer in self.blocks.iter().flat_map(|block| [&block.depthwise, &block.pointwise]) {
            x = drawing.convolve_same(layer, &x);
            x = drawing.rectify_to_6(&x);
        }
        let means = drawing.mean_of_channels(&x);
        drawing.rectified_linear(&self.feats, &means)
    }
}
