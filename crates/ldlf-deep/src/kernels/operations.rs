//! The kernels as operations of burn, with their gradients.

use std::sync::Arc;

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Backend, Dispatch, Flex, backend_extension};
use burn::nn::conv::Conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor, TensorData};

use super::geometry::Geometry;
use super::{columns, depthwise, normalise as norm, pool};

/// Whether the kernels can work on a tensor's device.
pub fn is_on_processor<const D: usize>(x: &Tensor<D>) -> bool {
    x.device() == Device::flex()
}

/// A convolution of `[rows, inputs, height, width]` with padding `(before, after)` down and across.
pub fn convolve(layer: &Conv2d, x: Tensor<4>, padding: [(usize, usize); 2]) -> Tensor<4> {
    let (weight, bias) = (layer.weight.val(), layer.bias.as_ref().map(|bias| bias.val()));
    if !is_on_processor(&x) || layer.dilation != [1, 1] {
        let options = ConvOptions::new_with_padding(layer.stride, padding, layer.dilation, layer.groups);
        return burn::tensor::module::conv2d(x, weight, bias, options);
    }
    let ([rows, channels, height, width], [outputs, _, down, right]) = (x.dims(), weight.dims());
    let side = |side: usize, axis: usize, kernel: usize| {
        (side + padding[axis].0 + padding[axis].1 + 1).saturating_sub(kernel).div_ceil(layer.stride[axis])
    };
    let geometry = Geometry {
        rows,
        input: [channels, height, width],
        output: [outputs, side(height, 0, down), side(width, 1, right)],
        kernel: [down, right],
        stride: layer.stride,
        padding: [padding[0].0, padding[1].0],
        groups: layer.groups,
    };
    let bias = bias.unwrap_or_else(|| Tensor::zeros([outputs], &x.device().without_autodiff()));
    let [x, weight, bias] = [x.into_dispatch(), weight.into_dispatch(), bias.into_dispatch()];
    Tensor::from_dispatch(Dispatch::convolution(x, weight, bias, geometry))
}

/// `[rows, channels, pixels]` normalised by the batch's own statistics, scaled, and clipped to `0..=ceiling` where there is one; with mean
/// and variance of every channel, which have no gradient. On the processor only.
pub fn normalise(
    x: Tensor<3>,
    weight: Tensor<1>,
    bias: Tensor<1>,
    epsilon: f64,
    ceiling: Option<f32>,
) -> (Tensor<3>, Tensor<1>, Tensor<1>) {
    let [rows, channels, pixels] = x.dims();
    let shape = norm::Shape { rows, channels, pixels, epsilon, ceiling };
    let [x, weight, bias] = [x.into_dispatch(), weight.into_dispatch(), bias.into_dispatch()];
    let (out, mean, variance) = Dispatch::normalisation(x, weight, bias, shape);
    (Tensor::from_dispatch(out), Tensor::from_dispatch(mean), Tensor::from_dispatch(variance))
}

/// The largest value of every square of `size`, `stride` apart, with padding `(before, after)` on both axes that is never the largest.
pub fn max_pool(x: Tensor<4>, size: usize, stride: usize, (before, after): (usize, usize)) -> Tensor<4> {
    let [rows, channels, height, width] = x.dims();
    let side = |side: usize| (side + before + after + 1).saturating_sub(size).div_ceil(stride);
    let geometry = Geometry {
        rows,
        input: [channels, height, width],
        output: [channels, side(height), side(width)],
        kernel: [size; 2],
        stride: [stride; 2],
        padding: [before; 2],
        groups: channels,
    };
    Tensor::from_dispatch(Dispatch::largest(x.into_dispatch(), geometry))
}

/// The operations; the sizes must be those of the tensors.
#[backend_extension(Flex, Autodiff)]
pub trait Layers: Backend {
    /// A convolution with a bias.
    fn convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        geometry: Geometry,
    ) -> FloatTensor<Self>;

    /// A batch normalisation: output, mean and variance.
    fn normalisation(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        shape: norm::Shape,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);

    /// The largest value under a window.
    fn largest(x: FloatTensor<Self>, geometry: Geometry) -> FloatTensor<Self>;
}

impl Layers for Flex {
    fn convolution(x: Numbers, weight: Numbers, bias: Numbers, geometry: Geometry) -> Numbers {
        let [x, weight, bias] = [x, weight, bias].map(|tensor| tensor.to_contiguous());
        let forward = if geometry.is_depthwise() { depthwise::forward } else { columns::forward };
        let out = forward(&geometry, x.storage(), weight.storage(), bias.storage());
        tensor(out, output_shape(&geometry))
    }

    fn normalisation(
        x: Numbers,
        weight: Numbers,
        bias: Numbers,
        shape: norm::Shape,
    ) -> (Numbers, Numbers, Numbers) {
        let [x, weight, bias] = [x, weight, bias].map(|tensor| tensor.to_contiguous());
        let (out, mean, variance) = norm::forward(&shape, x.storage(), weight.storage(), bias.storage());
        let channels = [shape.channels];
        (
            tensor(out, [shape.rows, shape.channels, shape.pixels]),
            tensor(mean, channels),
            tensor(variance, channels),
        )
    }

    fn largest(x: Numbers, geometry: Geometry) -> Numbers {
        tensor(pool::forward(&geometry, x.to_contiguous().storage()).0, output_shape(&geometry))
    }
}

type Numbers = FloatTensor<Flex>;

fn output_shape(geometry: &Geometry) -> [usize; 4] {
    let [channels, height, width] = geometry.output;
    [geometry.rows, channels, height, width]
}

fn input_shape(geometry: &Geometry) -> [usize; 4] {
    let [channels, height, width] = geometry.input;
    [geometry.rows, channels, height, width]
}

fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> Numbers {
    Flex::float_from_data(TensorData::new(values, shape), &Default::default())
}

impl<C: CheckpointStrategy> Layers for Autodiff<Flex, C> {
    fn convolution(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        geometry: Geometry,
    ) -> FloatTensor<Self> {
        match Convolution.prepare::<C>([x.node(), weight.node(), bias.node()]).compute_bound().stateful() {
            OpsKind::Tracked(mut prepared) => {
                let state = (prepared.checkpoint(&x), prepared.checkpoint(&weight), geometry);
                let out = Flex::convolution(
                    x.into_primitive(),
                    weight.into_primitive(),
                    bias.into_primitive(),
                    geometry,
                );
                prepared.finish(state, out)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::convolution(
                x.into_primitive(),
                weight.into_primitive(),
                bias.into_primitive(),
                geometry,
            )),
        }
    }

    fn normalisation(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        shape: norm::Shape,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        match Normalisation.prepare::<C>([x.node(), weight.node(), bias.node()]).compute_bound().stateful() {
            OpsKind::Tracked(mut prepared) => {
                let nodes =
                    [prepared.checkpoint(&x), prepared.checkpoint(&weight), prepared.checkpoint(&bias)];
                let (out, mean, variance) = Flex::normalisation(
                    x.into_primitive(),
                    weight.into_primitive(),
                    bias.into_primitive(),
                    shape,
                );
                let out = prepared.finish((nodes, [mean.clone(), variance.clone()], shape), out);
                (out, Self::from_inner(mean), Self::from_inner(variance))
            }
            OpsKind::UnTracked(prepared) => {
                let (out, mean, variance) = Flex::normalisation(
                    x.into_primitive(),
                    weight.into_primitive(),
                    bias.into_primitive(),
                    shape,
                );
                (prepared.finish(out), Self::from_inner(mean), Self::from_inner(variance))
            }
        }
    }

    fn largest(x: FloatTensor<Self>, geometry: Geometry) -> FloatTensor<Self> {
        match Largest.prepare::<C>([x.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let (out, places) = pool::forward(&geometry, x.into_primitive().to_contiguous().storage());
                prepared.finish((places.into(), geometry), tensor(out, output_shape(&geometry)))
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::largest(x.into_primitive(), geometry)),
        }
    }
}

#[derive(Debug)]
struct Largest;

impl Backward<Flex, 1> for Largest {
    type State = (Arc<[u32]>, Geometry);

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let (places, geometry) = ops.state;
        let gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        if let [Some(node)] = ops.parents {
            let value = pool::backward(&geometry, &places, gradient.storage());
            gradients.register::<Flex>(node.id, tensor(value, input_shape(&geometry)));
        }
    }
}

#[derive(Debug)]
struct Convolution;

impl Backward<Flex, 3> for Convolution {
    type State = (NodeId, NodeId, Geometry);

    fn backward(self, ops: Ops<Self::State, 3>, gradients: &mut Gradients, checkpointer: &mut Checkpointer) {
        let [x_node, weight_node, bias_node] = ops.parents;
        let (x, weight, geometry) = ops.state;
        let gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let gradient = gradient.storage();
        let [x, weight] =
            [x, weight].map(|node| checkpointer.retrieve_node_output::<Numbers>(node).to_contiguous());
        let Geometry { input, output, kernel, groups, .. } = geometry;
        if let Some(node) = x_node {
            let of =
                if geometry.is_depthwise() { depthwise::input_gradient } else { columns::input_gradient };
            let value = of(&geometry, weight.storage(), gradient);
            gradients.register::<Flex>(node.id, tensor(value, input_shape(&geometry)));
        }
        if let Some(node) = weight_node {
            let of =
                if geometry.is_depthwise() { depthwise::weight_gradient } else { columns::weight_gradient };
            let value = of(&geometry, x.storage(), gradient);
            gradients.register::<Flex>(
                node.id,
                tensor(value, [output[0], input[0] / groups, kernel[0], kernel[1]]),
            );
        }
        if let Some(node) = bias_node {
            let value = norm::channel_sums(output[0], geometry.pixels(), gradient);
            gradients.register::<Flex>(node.id, tensor(value, [output[0]]));
        }
    }
}

#[derive(Debug)]
struct Normalisation;

impl Backward<Flex, 3> for Normalisation {
    type State = ([NodeId; 3], [Numbers; 2], norm::Shape);

    fn backward(self, ops: Ops<Self::State, 3>, gradients: &mut Gradients, checkpointer: &mut Checkpointer) {
        let (nodes, [mean, variance], shape) = ops.state;
        let gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let [x, weight, bias] =
            nodes.map(|node| checkpointer.retrieve_node_output::<Numbers>(node).to_contiguous());
        let found = norm::backward(
            &shape,
            (x.storage(), weight.storage(), bias.storage()),
            (mean.storage(), variance.storage()),
            gradient.storage(),
        );
        let channels = [shape.channels];
        let values = [
            tensor(found.x, [shape.rows, shape.channels, shape.pixels]),
            tensor(found.weight, channels),
            tensor(found.bias, channels),
        ];
        for (node, value) in ops.parents.into_iter().zip(values) {
            if let Some(node) = node {
                gradients.register::<Flex>(node.id, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::nn::PaddingConfig2d;
    use burn::tensor::module::{conv2d, max_pool2d};
    use burn::tensor::ops::MaxPoolOptions;
    use ldlf_core::Seed;
    use rand::RngExt;

    use super::*;
    use crate::arrays::host;

    fn random<const D: usize>(name: &str, shape: [usize; D]) -> Tensor<D> {
        let mut generator = Seed::new(5).named(name).generator();
        let values = (0..shape.iter().product()).map(|_| generator.random::<f32>() - 0.5).collect::<Vec<_>>();
        Tensor::from_data(TensorData::new(values, shape), &Device::flex().autodiff()).require_grad()
    }

    fn layer(weight: Tensor<4>, bias: Option<Tensor<1>>, stride: usize, groups: usize) -> Conv2d {
        let kernel_size = [weight.dims()[2], weight.dims()[3]];
        let param = |tensor| burn::module::Param::from_tensor(tensor);
        Conv2d {
            weight: burn::module::Param::from_tensor(weight),
            bias: bias.map(param),
            stride: [stride; 2],
            kernel_size,
            dilation: [1; 2],
            groups,
            padding: PaddingConfig2d::Valid,
        }
    }

    /// The output and the gradients of some tensors, when the gradient of the output is random.
    fn run<const D: usize>(
        out: Tensor<D>,
        with_respect_to: [Option<&Tensor<4>>; 2],
        bias: Option<&Tensor<1>>,
    ) -> Vec<Vec<f32>> {
        let pull = random("pull", out.dims()).detach();
        let gradients = (out.clone() * pull).sum().backward();
        let found =
            with_respect_to.into_iter().flatten().map(|x| host(x.grad(&gradients).unwrap().into_data()));
        let bias = bias.map(|bias| host(bias.grad(&gradients).unwrap().into_data()));
        std::iter::once(host(out.into_data())).chain(found).chain(bias).collect()
    }

    fn assert_near(ours: &[Vec<f32>], theirs: &[Vec<f32>], what: &str) {
        assert_eq!(ours.len(), theirs.len());
        for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            assert_eq!(ours.len(), theirs.len(), "{what}, array {number}");
            for (ours, theirs) in ours.iter().zip(theirs) {
                let bound = 1e-4 * theirs.abs().max(1.0);
                assert!((ours - theirs).abs() <= bound, "{what}, array {number}: {ours} against {theirs}");
            }
        }
    }

    #[test]
    fn convolutions_equal_those_of_burn_with_all_gradients() {
        // Rows, inputs, outputs, groups, height, width, kernel, stride, padding down and across.
        let cases = [
            (3, 3, 8, 1, 9, 7, 3, 1, [(1, 1), (1, 1)]),
            (2, 4, 6, 2, 8, 8, 3, 2, [(0, 1), (1, 0)]),
            (11, 8, 4, 1, 5, 6, 1, 1, [(0, 0), (0, 0)]),
            (2, 8, 4, 2, 5, 6, 1, 2, [(0, 0), (0, 0)]),
            (2, 6, 6, 6, 9, 10, 3, 1, [(1, 1), (1, 1)]),
            (2, 6, 6, 6, 11, 9, 5, 2, [(1, 2), (2, 2)]),
            (1, 3, 4, 1, 23, 23, 11, 4, [(2, 2), (2, 2)]),
            // At some positions the kernel covers padding only.
            (1, 2, 2, 1, 1, 2, 3, 1, [(2, 2), (2, 2)]),
            // More numbers than a tile holds.
            (1, 40, 3, 1, 40, 40, 3, 1, [(1, 1), (1, 1)]),
        ];
        for (rows, inputs, outputs, groups, height, width, kernel, stride, padding) in cases {
            for with_bias in [false, true] {
                let x = random("x", [rows, inputs, height, width]);
                let weight = random("weight", [outputs, inputs / groups, kernel, kernel]);
                let bias = with_bias.then(|| random("bias", [outputs]));
                let options = ConvOptions::new_with_padding([stride; 2], padding, [1; 2], groups);
                let theirs = conv2d(x.clone(), weight.clone(), bias.clone(), options);
                let ours = convolve(&layer(weight.clone(), bias.clone(), stride, groups), x.clone(), padding);
                assert_eq!(ours.dims(), theirs.dims());
                let of = [Some(&x), Some(&weight)];
                let what = format!("{rows} {inputs} {outputs} {groups} {height} {width} {kernel} {stride}");
                assert_near(&run(ours, of, bias.as_ref()), &run(theirs, of, bias.as_ref()), &what);
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (x, weight, bias) =
                    (random("x", [13, 6, 12, 12]), random("weight", [5, 6, 3, 3]), random("bias", [5]));
                let y =
                    convolve(&layer(weight.clone(), Some(bias.clone()), 1, 1), x.clone(), [(1, 1), (1, 1)]);
                let y = max_pool(y, 2, 2, (0, 0)).flatten::<3>(2, 3);
                let (y, mean, variance) = super::normalise(y, bias.clone(), bias.clone(), 1e-5, Some(6.0));
                let mut all = run(y, [Some(&x), Some(&weight)], Some(&bias));
                all.extend([host(mean.into_data()), host(variance.into_data())]);
                all
            })
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn pooling_equals_that_of_burn_with_its_gradient() {
        for (side, size, stride, padding) in
            [(8, 2, 2, 0), (9, 3, 2, 1), (7, 3, 1, 0), (13, 3, 2, 0), (9, 2, 3, 0)]
        {
            let x = random("x", [2, 3, side, side + 1]);
            let options = MaxPoolOptions::new([size; 2]).with_stride([stride; 2]).with_padding([padding; 2]);
            let theirs = max_pool2d(x.clone(), options);
            let ours = max_pool(x.clone(), size, stride, (padding, padding));
            assert_eq!(ours.dims(), theirs.dims());
            let (ours, theirs) = (run(ours, [Some(&x), None], None), run(theirs, [Some(&x), None], None));
            assert_eq!(ours, theirs, "{side} {size} {stride} {padding}");
        }
    }

    #[test]
    fn pooling_keeps_what_is_not_a_number() {
        let values = vec![1.0, f32::NAN, 3.0, 2.0];
        let x: Tensor<4> = Tensor::from_data(TensorData::new(values, [1, 1, 2, 2]), &Device::flex());
        assert!(max_pool(x, 2, 2, (0, 0)).into_scalar::<f32>().is_nan());
    }
}
