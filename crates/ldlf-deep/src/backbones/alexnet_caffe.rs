//! AlexNet as Caffe distributes it (Krizhevsky et al. 2012, `bvlc_alexnet`), the network of the paper: two groups in the second,
//! fourth and fifth convolution, local response normalisation before the first two poolings.
//!
//! The names are Caffe's (`conv1.weight` to `conv5.weight`, `fc6.weight`, `fc7.weight`), which conversions to `.pth` keep.
//! Published weights expect BGR channels from 0 to 255 with their mean subtracted: images are prepared so when weights are loaded.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use ldlf_core::graph::Flow;

use super::Mode;
use super::architecture::{Architecture, BackboneFacts, InputConvention, Reads};
use super::drawing::{Drawing, Maps};
use super::layers::{average_to, convolution, convolve, flat, max_pool_over_the_edge};
use crate::dropout::dropout;
use crate::initial::Initial;

/// Side of the feature map before the first fully connected layer.
const SIDE: usize = 6;

/// Channels whose squares are summed to normalise one.
const NEIGHBOURS: usize = 5;

/// Five convolutions and two fully connected layers.
#[derive(Module, Debug)]
pub struct AlexNetCaffe {
    conv1: Conv2d,
    conv2: Conv2d,
    conv3: Conv2d,
    conv4: Conv2d,
    conv5: Conv2d,
    fc6: Linear,
    fc7: Linear,
}

impl Architecture for AlexNetCaffe {
    const FACTS: BackboneFacts = BackboneFacts {
        name: "alexnet-caffe",
        summary: "AlexNet as Caffe distributes it",
        reads: Reads::Images { usual_side: 227, smallest_side: 55, convention: InputConvention::IMAGENET },
        is_normalised: false,
        layers: &["conv5", "pool5", "fc6", "fc7"],
    };

    fn new(initial: &Initial<'_>, channels: usize, thinner: usize) -> Self {
        let thin = |width: usize| width / thinner;
        let layer = |name: &str, channels, kernel, stride, padding, groups| {
            let config = convolution(channels, kernel, stride, padding).with_groups(groups);
            initial.of(name).convolution(&config)
        };
        let features = thin(256) * SIDE * SIDE;
        AlexNetCaffe {
            conv1: layer("conv1", [channels, thin(96)], 11, 4, 0, 1),
            conv2: layer("conv2", [thin(96), thin(256)], 5, 1, 2, 2),
            conv3: layer("conv3", [thin(256), thin(384)], 3, 1, 1, 1),
            conv4: layer("conv4", [thin(384), thin(384)], 3, 1, 1, 2),
            conv5: layer("conv5", [thin(384), thin(256)], 3, 1, 1, 2),
            fc6: initial.of("fc6").rectified_linear(features, thin(4096)),
            fc7: initial.of("fc7").rectified_linear(thin(4096), thin(4096)),
        }
    }

    fn width(&self) -> usize {
        self.fc7.weight.lazy_shape()[1]
    }

    fn run(&self, x: Tensor<4>, mode: &Mode, until: &str) -> Tensor<2> {
        let x = max_pool_over_the_edge(normalise_locally(relu(convolve(&self.conv1, x))), 3, 2);
        let x = max_pool_over_the_edge(normalise_locally(relu(convolve(&self.conv2, x))), 3, 2);
        let x = relu(convolve(&self.conv5, relu(convolve(&self.conv4, relu(convolve(&self.conv3, x))))));
        if until == "conv5" {
            return flat(x);
        }
        let mut x = flat(average_to(max_pool_over_the_edge(x, 3, 2), SIDE));
        if until == "pool5" {
            return x;
        }
        for (layer, name) in [(&self.fc6, "fc6"), (&self.fc7, "fc7")] {
            x = dropout(relu(layer.forward(x)), 0.5, mode, name);
            if until == name {
                break;
            }
        }
        x
    }

    fn draw(&self, drawing: &mut Drawing<'_>, mut x: Maps) -> Flow {
        for layer in [&self.conv1, &self.conv2] {
            x = drawing.convolve(layer, &x);
            x = drawing.rectify(&x);
            x = drawing.normalise_locally(&x, NEIGHBOURS);
            x = drawing.max_pool_over_the_edge(&x, 3, 2);
        }
        for layer in [&self.conv3, &self.conv4, &self.conv5] {
            x = drawing.convolve(layer, &x);
            x = drawing.rectify(&x);
        }
        x = drawing.max_pool_over_the_edge(&x, 3, 2);
        x = drawing.average_to(&x, SIDE);
        let flat = drawing.flat(&x);
        [&self.fc6, &self.fc7].into_iter().fold(flat, |x, layer| drawing.rectified_linear(layer, &x))
    }
}

/// `y_c = x_c / (1 + 0.0001 / 5 * s_c)^0.75`, where `s_c` is the sum of the squares of the five channels around `c`.
fn normalise_locally(x: Tensor<4>) -> Tensor<4> {
    let channels = x.dims()[1];
    let squares = x.clone().square();
    let reach = NEIGHBOURS / 2;
    let padded = squares.pad([(0, 0), (reach, reach), (0, 0), (0, 0)], 0.0);
    let mut sums = padded.clone().narrow(1, 0, channels);
    for first in 1..NEIGHBOURS {
        sums = sums + padded.clone().narrow(1, first, channels);
    }
    x * sums.mul_scalar(1e-4 / NEIGHBOURS as f64).add_scalar(1.0).powf_scalar(-0.75)
}
