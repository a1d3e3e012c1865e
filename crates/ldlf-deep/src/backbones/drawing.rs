//! The layers of a network as nodes of a graph of standard operators.
//!
//! Sides of maps are known while a graph is made, because its images have a fixed size: TensorFlow's padding and adaptive pooling depend on them.

use burn::nn::conv::Conv2d;
use burn::nn::{Linear, PaddingConfig2d};
use burn::tensor::Tensor;
use ldlf_core::graph::{Attribute, Flow, Graph};

use super::batch_norm::BatchNorm;
use super::layers::same_padding;
use crate::arrays::host;

/// A network's maps in a graph, `[rows, channels, side, side]`; the columns of a table, `[rows, columns]`, have the side 1.
#[derive(Clone, Debug)]
pub struct Maps {
    /// Their value in the graph.
    pub flow: Flow,
    /// Pixels along a side.
    pub side: usize,
}

/// A graph that layers are added to.
pub struct Drawing<'a>(pub &'a mut Graph);

fn ints<const N: usize>(numbers: [usize; N]) -> Attribute {
    Attribute::Ints(numbers.map(|number| number as i64).to_vec())
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> (Vec<usize>, Vec<f32>) {
    (tensor.dims().to_vec(), host(tensor.into_data()))
}

impl Drawing<'_> {
    fn array<const D: usize>(&mut self, name: &str, tensor: Tensor<D>) -> Flow {
        let (shape, numbers) = numbers(tensor);
        self.0.f32s(name, &shape, numbers)
    }

    /// A convolution with the layer's own padding.
    pub fn convolve(&mut self, layer: &Conv2d, x: &Maps) -> Maps {
        let padding = match layer.padding {
            PaddingConfig2d::Explicit(top, left, bottom, right) => [(top, bottom), (left, right)],
            _ => [(0, 0); 2],
        };
        self.convolve_with(layer, x, padding)
    }

    /// A convolution with TensorFlow's padding.
    pub fn convolve_same(&mut self, layer: &Conv2d, x: &Maps) -> Maps {
        self.convolve_with(layer, x, [same_padding(layer, x.side); 2])
    }

    fn convolve_with(&mut self, layer: &Conv2d, x: &Maps, padding: [(usize, usize); 2]) -> Maps {
        let weight = self.array("kernel", layer.weight.val());
        let bias = layer.bias.as_ref().map(|bias| self.array("bias", bias.val()));
        let inputs: Vec<&Flow> = [&x.flow, &weight].into_iter().chain(&bias).collect();
        let [(top, bottom), (left, right)] = padding;
        let attributes = [
            ("kernel_shape", ints(layer.kernel_size)),
            ("strides", ints(layer.stride)),
            ("pads", ints([top, left, bottom, right])),
            ("group", Attribute::Int(layer.groups as i64)),
        ];
        let flow = self.0.node_with("Conv", "convolution", &inputs, &attributes);
        Maps { flow, side: (x.side + top + bottom - layer.kernel_size[0]) / layer.stride[0] + 1 }
    }

    /// A batch norm by its running statistics.
    pub fn normalise(&mut self, norm: &BatchNorm, x: &Maps) -> Maps {
        let (scale, shift) = norm.scale_and_shift();
        let scale = self.array("scale", scale.reshape([-1, 1, 1]));
        let shift = self.array("shift", shift.reshape([-1, 1, 1]));
        let scaled = self.0.node("Mul", "scaled", &[&x.flow, &scale]);
        Maps { flow: self.0.node("Add", "normalised", &[&scaled, &shift]), side: x.side }
    }

    /// A rectifier.
    pub fn rectify(&mut self, x: &Maps) -> Maps {
        Maps { flow: self.0.node("Relu", "rectified", &[&x.flow]), side: x.side }
    }

    /// A rectifier that is clipped to 6.
    pub fn rectify_to_6(&mut self, x: &Maps) -> Maps {
        Maps { flow: self.0.clip(&x.flow, 0.0, 6.0), side: x.side }
    }

    /// The sum of two maps.
    pub fn add(&mut self, x: &Maps, y: &Maps) -> Maps {
        Maps { flow: self.0.node("Add", "sum", &[&x.flow, &y.flow]), side: x.side }
    }

    /// The largest value of every square, with padding on all sides.
    pub fn max_pool(&mut self, x: &Maps, size: usize, stride: usize, padding: usize) -> Maps {
        self.max_pool_with(x, size, stride, (padding, padding))
    }

    /// As [`Drawing::max_pool`] without padding, with a last square that may extend beyond the edge.
    pub fn max_pool_over_the_edge(&mut self, x: &Maps, size: usize, stride: usize) -> Maps {
        let reached = x.side.saturating_sub(size).div_ceil(stride) * stride + size;
        self.max_pool_with(x, size, stride, (0, reached.saturating_sub(x.side)))
    }

    fn max_pool_with(&mut self, x: &Maps, size: usize, stride: usize, (first, last): (usize, usize)) -> Maps {
        let attributes = [
            ("kernel_shape", ints([size; 2])),
            ("strides", ints([stride; 2])),
            ("pads", ints([first, first, last, last])),
        ];
        let flow = self.0.node_with("MaxPool", "pooled", &[&x.flow], &attributes);
        Maps { flow, side: (x.side + first + last - size) / stride + 1 }
    }

    /// The sum of squares around every channel, as Caffe normalises: operator `LRN` with its usual numbers.
    pub fn normalise_locally(&mut self, x: &Maps, neighbours: usize) -> Maps {
        let size = [("size", Attribute::Int(neighbours as i64))];
        Maps { flow: self.0.node_with("LRN", "normalised", &[&x.flow], &size), side: x.side }
    }

    /// Averages to maps of `side` pixels: a product with the shares of every pixel, from either side.
    pub fn average_to(&mut self, x: &Maps, side: usize) -> Maps {
        if x.side == side {
            return x.clone();
        }
        // PyTorch's ranges of adaptive pooling: from floor(i n / m) to ceil((i + 1) n / m).
        let mut shares = vec![0.0; side * x.side];
        for (target, row) in shares.chunks_exact_mut(x.side).enumerate() {
            let range = target * x.side / side..((target + 1) * x.side).div_ceil(side);
            let share = 1.0 / range.len() as f32;
            row[range].fill(share);
        }
        let across: Vec<f32> = (0..x.side)
            .flat_map(|from| (0..side).map(move |to| (from, to)))
            .map(|(from, to)| shares[to * x.side + from])
            .collect();
        let down = self.0.f32s("down", &[side, x.side], shares);
        let across = self.0.f32s("across", &[x.side, side], across);
        let lines = self.0.node("MatMul", "lines", &[&x.flow, &across]);
        Maps { flow: self.0.node("MatMul", "averaged", &[&down, &lines]), side }
    }

    /// The mean of every channel, `[rows, channels]`.
    pub fn mean_of_channels(&mut self, x: &Maps) -> Flow {
        let attributes = [("axes", ints([2, 3])), ("keepdims", Attribute::Int(0))];
        self.0.node_with("ReduceMean", "means", &[&x.flow], &attributes)
    }

    /// One row of numbers for each row.
    pub fn flat(&mut self, x: &Maps) -> Flow {
        self.0.node_with("Flatten", "flat", &[&x.flow], &[("axis", Attribute::Int(1))])
    }

    /// A fully connected layer with a rectifier.
    pub fn rectified_linear(&mut self, layer: &Linear, x: &Flow) -> Flow {
        let weight = self.array("weight", layer.weight.val());
        let bias = layer.bias.as_ref().map(|bias| self.array("bias", bias.val()));
        let inputs: Vec<&Flow> = [x, &weight].into_iter().chain(&bias).collect();
        let mapped = self.0.node("Gemm", "linear", &inputs);
        self.0.node("Relu", "rectified", &[&mapped])
    }
}
