//! Two fully connected layers for tables.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use ldlf_core::graph::Flow;

use super::Mode;
use super::architecture::{Architecture, BackboneFacts, Reads};
use super::drawing::{Drawing, Maps};
use super::layers::flat;
use super::named::Named;
use crate::initial::Initial;

/// Units of either layer.
const WIDTH: usize = 256;

/// Two rectified layers of 256 units; the parameters are `layers.0` and `layers.2`, as in a `torch.nn.Sequential` of two layers
/// and their rectifiers.
#[derive(Module, Debug)]
pub struct Mlp {
    layers: Named<Linear>,
}

impl Architecture for Mlp {
    const FACTS: BackboneFacts = BackboneFacts {
        name: "mlp",
        summary: "two fully connected layers, for tables",
        reads: Reads::Table,
        is_normalised: true,
        layers: &["hidden1", "hidden2"],
    };

    fn new(initial: &Initial<'_>, features: usize, thinner: usize) -> Self {
        let width = WIDTH / thinner;
        let layer = |number: usize, input| {
            (number.to_string(), initial.numbered(number).rectified_linear(input, width))
        };
        Mlp { layers: Named::new([layer(0, features), layer(2, width)]) }
    }

    fn width(&self) -> usize {
        self.layers.iter().last().map_or(0, |layer| layer.weight.lazy_shape()[1])
    }

    fn run(&self, x: Tensor<4>, _mode: &Mode, until: &str) -> Tensor<2> {
        let mut x = flat(x);
        for (layer, name) in self.layers.iter().zip(Self::FACTS.layers) {
            x = relu(layer.forward(x));
            if until == *name {
                break;
            }
        }
        x
    }

    fn draw(&self, drawing: &mut Drawing<'_>, x: Maps) -> Flow {
        self.layers.iter().fold(x.flow, |x, layer| drawing.rectified_linear(layer, &x))
    }
}
