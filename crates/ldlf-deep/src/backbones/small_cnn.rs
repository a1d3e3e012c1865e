//! A small convolutional network for images of about 64 pixels, fast on two cores.

use burn::module::Module;
use burn::nn::conv::Conv2d;
use burn::tensor::Tensor;
use ldlf_core::graph::Flow;

use super::Mode;
use super::architecture::{Architecture, BackboneFacts, InputConvention, Reads};
use super::batch_norm::BatchNorm;
use super::drawing::{Drawing, Maps};
use super::layers::{convolution, convolve, flat, max_pool, mean_of_channels};
use crate::initial::Initial;

/// Output channels of the blocks.
const WIDTHS: [usize; 4] = [32, 64, 128, 256];

/// Four blocks of a 3 x 3 convolution, batch normalisation and a rectifier, with pooling by two between them, and the mean of
/// every channel at the end.
#[derive(Module, Debug)]
pub struct SmallCnn {
    blocks: Vec<Block>,
}

#[derive(Module, Debug)]
struct Block {
    conv: Conv2d,
    norm: BatchNorm,
}

impl Architecture for SmallCnn {
    const FACTS: BackboneFacts = BackboneFacts {
        name: "small-cnn",
        summary: "four convolutions, for small images",
        reads: Reads::Images { usual_side: 64, smallest_side: 8, convention: InputConvention::IMAGENET },
        is_normalised: true,
        layers: &["block1", "block2", "block3", "block4", "avgpool"],
    };

    fn new(initial: &Initial<'_>, channels: usize, thinner: usize) -> Self {
        let mut input = channels;
        let blocks = WIDTHS.iter().enumerate().map(|(number, width)| {
            let (initial, output) = (initial.of("blocks").numbered(number), width / thinner);
            let config = convolution([input, output], 3, 1, 1).with_bias(false);
            input = output;
            Block {
                conv: initial.of("conv").convolution(&config),
                norm: BatchNorm::new(&initial.of("norm"), output),
            }
        });
        SmallCnn { blocks: blocks.collect() }
    }

    fn width(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.conv.weight.lazy_shape()[0])
    }

    fn run(&self, mut x: Tensor<4>, mode: &Mode, until: &str) -> Tensor<2> {
        for (number, block) in self.blocks.iter().enumerate() {
            if number > 0 {
                x = max_pool(x, 2, 2, 0);
            }
            x = block.norm.rectified(convolve(&block.conv, x), mode);
            if until == Self::FACTS.layers[number] {
                return flat(x);
            }
        }
        mean_of_channels(x)
    }

    fn draw(&self, drawing: &mut Drawing<'_>, mut x: Maps) -> Flow {
        for (number, block) in self.blocks.iter().enumerate() {
            if number > 0 {
                x = drawing.max_pool(&x, 2, 2, 0);
            }
            x = drawing.convolve(&block.conv, &x);
            x = drawing.normalise(&block.norm, &x);
            x = drawing.rectify(&x);
        }
        drawing.mean_of_channels(&x)
    }
}
