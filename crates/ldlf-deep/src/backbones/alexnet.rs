//! AlexNet as torchvision has it (Krizhevsky 2014, 'One weird trick'), without its last layer.

use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use ldlf_core::graph::Flow;

use super::Mode;
use super::architecture::{Architecture, BackboneFacts, InputConvention, Reads};
use super::drawing::{Drawing, Maps};
use super::layers::{average_to, convolution, convolve, flat, max_pool};
use super::named::Named;
use crate::dropout::dropout;
use crate::initial::Initial;

/// Number in torchvision's `features`, output channels, kernel, stride, padding.
const CONVOLUTIONS: [(usize, usize, usize, usize, usize); 5] =
    [(0, 64, 11, 4, 2), (3, 192, 5, 1, 2), (6, 384, 3, 1, 1), (8, 256, 3, 1, 1), (10, 256, 3, 1, 1)];

/// Side of the feature map before the first fully connected layer.
const SIDE: usize = 6;

/// Five convolutions (`features.0` to `features.10`) and two fully connected layers (`classifier.1` and `classifier.4`).
#[derive(Module, Debug)]
pub struct AlexNet {
    features: Named<Conv2d>,
    classifier: Named<Linear>,
}

impl Architecture for AlexNet {
    const FACTS: BackboneFacts = BackboneFacts {
        name: "alexnet",
        summary: "AlexNet as torchvision has it",
        reads: Reads::Images { usual_side: 224, smallest_side: 63, convention: InputConvention::IMAGENET },
        is_normalised: false,
        layers: &["conv5", "pool5", "fc6", "fc7"],
    };

    fn new(initial: &Initial<'_>, channels: usize, thinner: usize) -> Self {
        let mut input = channels;
        let features = CONVOLUTIONS.map(|(number, width, kernel, stride, padding)| {
            let config = convolution([input, width / thinner], kernel, stride, padding);
            input = width / thinner;
            (number.to_string(), initial.of("features").numbered(number).convolution(&config))
        });
        let width = 4096 / thinner;
        let linear = |number: usize, input| {
            (number.to_string(), initial.of("classifier").numbered(number).rectified_linear(input, width))
        };
        AlexNet {
            features: Named::new(features),
            classifier: Named::new([linear(1, input * SIDE * SIDE), linear(4, width)]),
        }
    }

    fn width(&self) -> usize {
        self.classifier.iter().last().map_or(0, |layer| layer.weight.lazy_shape()[1])
    }

    fn run(&self, mut x: Tensor<4>, mode: &Mode, until: &str) -> Tensor<2> {
        for (number, layer) in self.features.iter().enumerate() {
            x = relu(convolve(layer, x));
            if number < 2 {
                x = max_pool(x, 3, 2, 0);
            }
        }
        if until == "conv5" {
            return flat(x);
        }
        let mut x = flat(average_to(max_pool(x, 3, 2, 0), SIDE));
        if until == "pool5" {
            return x;
        }
        for (layer, name) in self.classifier.iter().zip(["fc6", "fc7"]) {
            x = relu(layer.forward(dropout(x, 0.5, mode, name)));
            if until == name {
                break;
            }
        }
        x
    }

    fn draw(&self, drawing: &mut Drawing<'_>, mut x: Maps) -> Flow {
        for (number, layer) in self.features.iter().enumerate() {
            x = drawing.convolve(layer, &x);
            x = drawing.rectify(&x);
            if number < 2 {
                x = drawing.max_pool(&x, 3, 2, 0);
            }
        }
        x = drawing.max_pool(&x, 3, 2, 0);
        x = drawing.average_to(&x, SIDE);
        let flat = drawing.flat(&x);
        self.classifier.iter().fold(flat, |x, layer| drawing.rectified_linear(layer, &x))
    }
}
