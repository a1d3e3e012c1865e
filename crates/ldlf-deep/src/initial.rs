//! Initial weights: drawn from the seed, each parameter by its own name, so that a network is the same whatever the device, the order of
//! its layers or the number of threads.

use burn::module::{Param, ParamId};
use burn::nn::Linear;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::{Device, Shape, Tensor, TensorData};
use ldlf_core::Seed;
use rand::RngExt;

/// Draws the parameters of one layer, or of the layers within it.
///
/// Values are drawn when they are first needed: a network loaded from a file draws nothing.
#[derive(Clone, Copy, Debug)]
pub struct Initial<'a> {
    seed: Seed,
    device: &'a Device,
}

impl<'a> Initial<'a> {
    /// Parameters on `device`, drawn from `seed`.
    pub fn new(seed: Seed, device: &'a Device) -> Self {
        Initial { seed: seed.named("initial weights"), device }
    }

    /// The parameters of a layer within this one.
    pub fn of(&self, name: &str) -> Self {
        Initial { seed: self.seed.named(name), device: self.device }
    }

    /// The parameters of one of several layers within this one.
    pub fn numbered(&self, number: usize) -> Self {
        Initial { seed: self.seed.numbered(number as u64), device: self.device }
    }

    /// The device of the parameters.
    pub fn device(&self) -> &'a Device {
        self.device
    }

    /// A parameter drawn uniformly from `-bound..bound`.
    pub fn uniform<const D: usize>(&self, name: &str, shape: [usize; D], bound: f64) -> Param<Tensor<D>> {
        let seed = self.seed.named(name);
        self.lazy(shape, move |count| {
            let mut generator = seed.generator();
            (0..count).map(|_| (bound * (2.0 * generator.random::<f64>() - 1.0)) as f32).collect()
        })
    }

    /// A parameter of equal values.
    pub fn constant<const D: usize>(&self, shape: [usize; D], value: f32) -> Param<Tensor<D>> {
        self.lazy(shape, move |count| vec![value; count])
    }

    fn lazy<const D: usize>(
        &self,
        shape: [usize; D],
        values: impl FnOnce(usize) -> Vec<f32> + Send + Sync + 'static,
    ) -> Param<Tensor<D>> {
        let make = move |device: &Device, gradient: bool| {
            let data = TensorData::new(values(shape.iter().product()), shape);
            Tensor::from_data(data, device).set_require_grad(gradient)
        };
        Param::uninitialized(ParamId::new(), make, self.device.clone(), true, Shape::new(shape))
    }

    /// A convolution before a rectifier, initialised to keep the variance of its inputs: `U(-b, b)` with `b = sqrt(6 / fan in)`
    /// (He et al. 2015, Eqn. 10), with biases of 0.
    pub fn convolution(&self, config: &Conv2dConfig) -> Conv2d {
        let [input, output] = config.channels;
        let [height, width] = config.kernel_size;
        let shape = [output, input / config.groups, height, width];
        let fan_in = (shape[1] * height * width) as f64;
        Conv2d {
            weight: self.uniform("weight", shape, (6.0 / fan_in).sqrt()),
            bias: config.bias.then(|| self.constant([output], 0.0)),
            stride: config.stride,
            kernel_size: config.kernel_size,
            dilation: config.dilation,
            groups: config.groups,
            padding: config.padding.clone(),
        }
    }

    /// A fully connected layer before a rectifier, as [`Initial::convolution`].
    pub fn rectified_linear(&self, input: usize, output: usize) -> Linear {
        Linear {
            weight: self.uniform("weight", [input, output], (6.0 / input as f64).sqrt()),
            bias: Some(self.constant([output], 0.0)),
        }
    }

    /// A fully connected layer without a rectifier: weights and bias from `U(-b, b)` with `b = 1 / sqrt(fan in)`.
    pub fn linear(&self, input: usize, output: usize) -> Linear {
        let bound = 1.0 / (input.max(1) as f64).sqrt();
        Linear {
            weight: self.uniform("weight", [input, output], bound),
            bias: Some(self.uniform("bias", [output], bound)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(seed: u64, layer: &str) -> Vec<f32> {
        let device = Device::flex();
        let linear = Initial::new(Seed::new(seed), &device).of(layer).linear(3, 4);
        linear.weight.val().into_data().try_into_vec().unwrap()
    }

    #[test]
    fn a_layer_follows_from_the_seed_and_its_name() {
        assert_eq!(values(0, "fc6"), values(0, "fc6"));
        assert_ne!(values(0, "fc6"), values(1, "fc6"));
        assert_ne!(values(0, "fc6"), values(0, "fc7"));
    }

    #[test]
    fn a_convolution_keeps_the_variance_through_a_rectifier() {
        let device = Device::flex();
        let config = Conv2dConfig::new([32, 64], [3, 3]);
        let weights: Vec<f32> = Initial::new(Seed::new(0), &device)
            .convolution(&config)
            .weight
            .val()
            .into_data()
            .try_into_vec()
            .unwrap();
        let variance = weights.iter().map(|w| f64::from(w * w)).sum::<f64>() / weights.len() as f64;
        assert!((variance * 32.0 * 9.0 - 2.0).abs() < 0.05, "{variance}");
    }
}
