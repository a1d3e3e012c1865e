//! VGG-16 (Simonyan and Zisserman 2015), the network of VGG-Face (Parkhi et al. 2015), without its last layer.
//!
//! The names are torchvision's; [`load_weights`](crate::weights::load_weights) also takes those of VGG-Face (`conv1_1.weight`,
//! `fc6.weight`). The weights of VGG-Face expect BGR channels from 0 to 255 with their mean subtracted: images are prepared so when
//! a file has its names.

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

/// Output channels and convolutions of every stage, each of which ends in a pooling by two.
const STAGES: [(usize, usize); 5] = [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)];

/// Side of the feature map before the first fully connected layer.
const SIDE: usize = 7;

/// Thirteen convolutions (`features.0` to `features.28`) and two fully connected layers (`classifier.0` and `classifier.3`).
#[derive(Module, Debug)]
pub struct Vgg16 {
    features: Named<Conv2d>,
    classifier: Named<Linear>,
}

/// The names of the convolutions in VGG-Face with their numbers in torchvision's `features`.
fn numbers() -> Vec<(String, usize)> {
    let mut number = 0;
    let mut names = Vec::new();
    for (stage, (_, count)) in STAGES.into_iter().enumerate() {
        for layer in 0..count {
            names.push((format!("conv{}_{}", stage + 1, layer + 1), number));
            // A convolution and its rectifier.
            number += 2;
        }
        // The pooling.
        number += 1;
    }
    names
}

impl Architecture for Vgg16 {
    const FACTS: BackboneFacts = BackboneFacts {
        name: "vgg16",
        summary: "VGG-16, also of VGG-Face",
        reads: Reads::Images { usual_side: 224, smallest_side: 32, convention: InputConvention::IMAGENET },
        is_normalised: false,
        layers: &["conv5", "pool5", "fc6", "fc7"],
    };

    fn new(initial: &Initial<'_>, channels: usize, thinner: usize) -> Self {
        let widths = STAGES.into_iter().flat_map(|(width, count)| vec![width / thinner; count]);
        let mut input = channels;
        let features = widths.zip(numbers()).map(|(output, (_, number))| {
            let config = convolution([input, output], 3, 1, 1);
            input = output;
            (number.to_string(), initial.of("features").numbered(number).convolution(&config))
        });
        let features = Named::new(features);
        let width = 4096 / thinner;
        let linear = |number: usize, input| {
            (number.to_string(), initial.of("classifier").numbered(number).rectified_linear(input, width))
        };
        Vgg16 { features, classifier: Named::new([linear(0, input * SIDE * SIDE), linear(3, width)]) }
    }

    fn width(&self) -> usize {
        self.classifier.iter().last().map_or(0, |layer| layer.weight.lazy_shape()[1])
    }

    fn run(&self, mut x: Tensor<4>, mode: &Mode, until: &str) -> Tensor<2> {
        let mut layers = self.features.iter();
        for (stage, (_, count)) in STAGES.into_iter().enumerate() {
            if stage > 0 {
                x = max_pool(x, 2, 2, 0);
            }
            x = layers.by_ref().take(count).fold(x, |x, layer| relu(convolve(layer, x)));
        }
        if until == "conv5" {
            return flat(x);
        }
        let mut x = flat(average_to(max_pool(x, 2, 2, 0), SIDE));
        if until == "pool5" {
            return x;
        }
        for (layer, name) in self.classifier.iter().zip(["fc6", "fc7"]) {
            x = dropout(relu(layer.forward(x)), 0.5, mode, name);
            if until == name {
                break;
            }
        }
        x
    }

    fn draw(&self, drawing: &mut Drawing<'_>, mut x: Maps) -> Flow {
        let mut layers = self.features.iter();
        for (_, count) in STAGES {
            for layer in layers.by_ref().take(count) {
                x = drawing.convolve(layer, &x);
                x = drawing.rectify(&x);
            }
            x = drawing.max_pool(&x, 2, 2, 0);
        }
        x = drawing.average_to(&x, SIDE);
        let flat = drawing.flat(&x);
        self.classifier.iter().fold(flat, |x, layer| drawing.rectified_linear(layer, &x))
    }

    fn parameter_name(entry: &str) -> String {
        let Some((layer, parameter)) = entry.split_once('.') else { return entry.into() };
        match layer {
            "fc6" => format!("classifier.0.{parameter}"),
            "fc7" => format!("classifier.3.{parameter}"),
            _ => match numbers().into_iter().find(|(known, _)| known == layer) {
                Some((_, number)) => format!("features.{number}.{parameter}"),
                None => entry.into(),
            },
        }
    }
}
