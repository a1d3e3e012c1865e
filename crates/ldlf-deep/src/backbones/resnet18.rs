//! ResNet-18 (He et al. 2016) with torchvision's names.

use burn::module::Module;
use burn::nn::conv::Conv2d;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use ldlf_core::graph::Flow;

use super::Mode;
use super::architecture::{Architecture, BackboneFacts, InputConvention, Reads};
use super::batch_norm::BatchNorm;
use super::drawing::{Drawing, Maps};
use super::layers::{convolution, convolve, flat, max_pool, mean_of_channels};
use crate::initial::Initial;

/// A stem, four stages of two blocks, and the mean of every channel.
#[derive(Module, Debug)]
pub struct ResNet18 {
    conv1: Conv2d,
    bn1: BatchNorm,
    layer1: Vec<Block>,
    layer2: Vec<Block>,
    layer3: Vec<Block>,
    layer4: Vec<Block>,
}

/// Two convolutions beside a skip connection, which is itself a convolution where the size changes.
#[derive(Module, Debug)]
struct Block {
    conv1: Conv2d,
    bn1: BatchNorm,
    conv2: Conv2d,
    bn2: BatchNorm,
    downsample: Option<(Conv2d, BatchNorm)>,
}

impl Architecture for ResNet18 {
    const FACTS: BackboneFacts = BackboneFacts {
        name: "resnet18",
        summary: "ResNet-18",
        reads: Reads::Images { usual_side: 224, smallest_side: 32, convention: InputConvention::IMAGENET },
        is_normalised: true,
        layers: &["layer1", "layer2", "layer3", "layer4", "avgpool"],
    };

    fn new(initial: &Initial<'_>, channels: usize, thinner: usize) -> Self {
        let width = 64 / thinner;
        let stage = |name: &str, input: usize, output: usize, stride: usize| {
            let initial = initial.of(name);
            vec![
                Block::new(&initial.numbered(0), input, output, stride),
                Block::new(&initial.numbered(1), output, output, 1),
            ]
        };
        let stem = convolution([channels, width], 7, 2, 3).with_bias(false);
        ResNet18 {
            conv1: initial.of("conv1").convolution(&stem),
            bn1: BatchNorm::new(&initial.of("bn1"), width),
            layer1: stage("layer1", width, width, 1),
            layer2: stage("layer2", width, 2 * width, 2),
            layer3: stage("layer3", 2 * width, 4 * width, 2),
            layer4: stage("layer4", 4 * width, 8 * width, 2),
        }
    }

    fn width(&self) -> usize {
        8 * self.conv1.weight.lazy_shape()[0]
    }

    fn run(&self, x: Tensor<4>, mode: &Mode, until: &str) -> Tensor<2> {
        let mut x = max_pool(self.bn1.rectified(convolve(&self.conv1, x), mode), 3, 2, 1);
        let stages = [&self.layer1, &self.layer2, &self.layer3, &self.layer4];
        for (blocks, name) in stages.into_iter().zip(Self::FACTS.layers) {
            x = blocks.iter().fold(x, |x, block| block.forward(x, mode));
            if until == *name {
                return flat(x);
            }
        }
        mean_of_channels(x)
    }

    fn draw(&self, drawing: &mut Drawing<'_>, x: Maps) -> Flow {
        let x = drawing.convolve(&self.conv1, &x);
        let x = drawing.normalise(&self.bn1, &x);
        let x = drawing.rectify(&x);
        let x = drawing.max_pool(&x, 3, 2, 1);
        let blocks = [&self.layer1, &self.layer2, &self.layer3, &self.layer4].into_iter().flatten();
        let x = blocks.fold(x, |x, block| block.draw(drawing, &x));
        drawing.mean_of_channels(&x)
    }
}

impl Block {
    fn new(initial: &Initial<'_>, input: usize, output: usize, stride: usize) -> Self {
        let layer = |name: &str, input, kernel, stride, padding| {
            let config = convolution([input, output], kernel, stride, padding).with_bias(false);
            initial.of(name).convolution(&config)
        };
        let norm = |name: &str| BatchNorm::new(&initial.of(name), output);
        let changes = stride != 1 || input != output;
        Block {
            conv1: layer("conv1", input, 3, stride, 1),
            bn1: norm("bn1"),
            conv2: layer("conv2", output, 3, 1, 1),
            bn2: norm("bn2"),
            downsample: changes.then(|| (layer("downsample", input, 1, stride, 0), norm("downsample"))),
        }
    }

    fn forward(&self, x: Tensor<4>, mode: &Mode) -> Tensor<4> {
        let short = match &self.downsample {
            None => x.clone(),
            Some((conv, norm)) => norm.forward(convolve(conv, x.clone()), mode),
        };
        let x = self.bn1.rectified(convolve(&self.conv1, x), mode);
        relu(self.bn2.forward(convolve(&self.conv2, x), mode) + short)
    }

    fn draw(&self, drawing: &mut Drawing<'_>, x: &Maps) -> Maps {
        let short = match &self.downsample {
            None => x.clone(),
            Some((conv, norm)) => {
                let short = drawing.convolve(conv, x);
                drawing.normalise(norm, &short)
            }
        };
        let x = drawing.convolve(&self.conv1, x);
        let x = drawing.normalise(&self.bn1, &x);
        let x = drawing.rectify(&x);
        let x = drawing.convolve(&self.conv2, &x);
        let x = drawing.normalise(&self.bn2, &x);
        let sum = drawing.add(&x, &short);
        drawing.rectify(&sum)
    }
}
