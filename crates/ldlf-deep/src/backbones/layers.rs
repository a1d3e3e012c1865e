//! Layers and functions shared by several networks.

use burn::nn::PaddingConfig2d;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::module::adaptive_avg_pool2d;
use burn::tensor::ops::MaxPoolOptions;
use burn::tensor::{Tensor, module};

use crate::kernels;

/// A square convolution with padding on all sides and a bias.
pub fn convolution(channels: [usize; 2], kernel: usize, stride: usize, padding: usize) -> Conv2dConfig {
    Conv2dConfig::new(channels, [kernel, kernel])
        .with_stride([stride, stride])
        .with_padding(PaddingConfig2d::Explicit(padding, padding, padding, padding))
}

/// The largest value of every square of `size`, `stride` apart, with `padding` on all sides.
pub fn max_pool(x: Tensor<4>, size: usize, stride: usize, padding: usize) -> Tensor<4> {
    if kernels::is_on_processor(&x) {
        return kernels::max_pool(x, size, stride, (padding, padding));
    }
    let options =
        MaxPoolOptions::new([size, size]).with_stride([stride, stride]).with_padding([padding, padding]);
    module::max_pool2d(x, options)
}

/// As [`max_pool`] without padding, with a last square that may extend beyond the edge, as in Caffe.
pub fn max_pool_over_the_edge(x: Tensor<4>, size: usize, stride: usize) -> Tensor<4> {
    if kernels::is_on_processor(&x) {
        let side = x.dims()[2];
        let reached = side.saturating_sub(size).div_ceil(stride) * stride + size;
        return kernels::max_pool(x, size, stride, (0, reached.saturating_sub(side)));
    }
    let options = MaxPoolOptions::new([size, size]).with_stride([stride, stride]).with_ceil_mode(true);
    module::max_pool2d(x, options)
}

/// Averages to maps of `side` pixels; returns `x` where it has that side already.
pub fn average_to(x: Tensor<4>, side: usize) -> Tensor<4> {
    match x.dims() {
        [_, _, height, width] if height == side && width == side => x,
        _ => adaptive_avg_pool2d(x, [side, side]),
    }
}

/// The mean of every channel: `[rows, channels]`.
pub fn mean_of_channels(x: Tensor<4>) -> Tensor<2> {
    let [rows, channels, height, width] = x.dims();
    x.reshape([rows, channels, height * width]).mean_dim(2).reshape([rows, channels])
}

/// One row of numbers for each row of `x`.
pub fn flat(x: Tensor<4>) -> Tensor<2> {
    x.flatten(1, 3)
}

/// Convolves with the layer's own padding.
pub fn convolve(layer: &Conv2d, x: Tensor<4>) -> Tensor<4> {
    let padding = match layer.padding {
        PaddingConfig2d::Explicit(top, left, bottom, right) => [(top, bottom), (left, right)],
        _ => [(0, 0); 2],
    };
    kernels::convolve(layer, x, padding)
}

/// Convolves with padding such that the output is `ceil(side / stride)` wide, the odd pixel at the end (TensorFlow's `same`).
pub fn convolve_same(layer: &Conv2d, x: Tensor<4>) -> Tensor<4> {
    let [_, _, height, width] = x.dims();
    kernels::convolve(layer, x, [height, width].map(|side| same_padding(layer, side)))
}

/// The padding before and after so many pixels that gives `ceil(side / stride)` of them.
pub fn same_padding(layer: &Conv2d, side: usize) -> (usize, usize) {
    let (kernel, stride) = (layer.kernel_size[0], layer.stride[0]);
    let total = ((side.div_ceil(stride) - 1) * stride + kernel).saturating_sub(side);
    (total / 2, total - total / 2)
}
