//! Batch normalisation (Ioffe and Szegedy 2015) with PyTorch's parameter names and its running statistics.
//!
//! burn's layer chooses between the batch's and the running statistics by the device, names its parameters differently, shares the
//! statistics between clones and updates them one step late; here the [`Mode`] decides, and a clone is a copy.

use std::sync::{Mutex, PoisonError};

use burn::module::{
    Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, Param,
    ParamId,
};
use burn::tensor::{Device, Tensor};

use super::Mode;
use crate::initial::Initial;
use crate::kernels;

/// `y = (x - mean) / sqrt(variance + epsilon) * weight + bias`, channel by channel.
///
/// In training the statistics are the batch's, and the running ones move towards them by the fraction `momentum` (the variance
/// divided by `n - 1`, as in PyTorch). In prediction they are the running ones; likewise in training when the layer's weight
/// requires no gradient: a frozen layer keeps its statistics.
#[derive(Module, Debug)]
pub struct BatchNorm {
    weight: Param<Tensor<1>>,
    bias: Param<Tensor<1>>,
    running_mean: Statistic,
    running_var: Statistic,
    epsilon: f64,
    momentum: f64,
}

impl BatchNorm {
    /// A layer over some channels with PyTorch's settings.
    pub fn new(initial: &Initial<'_>, channels: usize) -> Self {
        Self::with(initial, channels, 1e-5, 0.1)
    }

    /// A layer over some channels.
    pub fn with(initial: &Initial<'_>, channels: usize, epsilon: f64, momentum: f64) -> Self {
        let device = initial.device().clone().without_autodiff();
        BatchNorm {
            weight: initial.constant([channels], 1.0),
            bias: initial.constant([channels], 0.0),
            running_mean: Statistic::new(Tensor::zeros([channels], &device)),
            running_var: Statistic::new(Tensor::ones([channels], &device)),
            epsilon,
            momentum,
        }
    }

    /// Normalises `[rows, channels, height, width]`.
    pub fn forward(&self, x: Tensor<4>, mode: &Mode) -> Tensor<4> {
        self.clipped(x, mode, None)
    }

    /// As [`BatchNorm::forward`], with a rectifier after it.
    pub fn rectified(&self, x: Tensor<4>, mode: &Mode) -> Tensor<4> {
        self.clipped(x, mode, Some(f32::INFINITY))
    }

    /// As [`BatchNorm::rectified`], with values clipped to 6.
    pub fn rectified_to_6(&self, x: Tensor<4>, mode: &Mode) -> Tensor<4> {
        self.clipped(x, mode, Some(6.0))
    }

    /// Normalises, and clips to `0..=ceiling` where there is one.
    fn clipped(&self, x: Tensor<4>, mode: &Mode, ceiling: Option<f32>) -> Tensor<4> {
        let [rows, channels, height, width] = x.dims();
        let x = x.reshape([rows, channels, height * width]);
        let by_batch = matches!(mode, Mode::Train(_)) && self.weight.is_require_grad();
        let y = match (by_batch, ceiling) {
            (true, _) if kernels::is_on_processor(&x) => self.by_kernel(x, ceiling),
            (true, None) => self.by_batch(x),
            (true, Some(most)) => self.by_batch(x).clamp(0.0, most),
            (false, None) => self.by_running(x),
            (false, Some(most)) => self.by_running(x).clamp(0.0, most),
        };
        y.reshape([rows, channels, height, width])
    }

    fn by_kernel(&self, x: Tensor<3>, ceiling: Option<f32>) -> Tensor<3> {
        let [rows, _, pixels] = x.dims();
        let (y, mean, variance) =
            kernels::normalise(x, self.weight.val(), self.bias.val(), self.epsilon, ceiling);
        self.update_statistics(mean, variance, rows * pixels);
        y
    }

    /// Moves the running statistics towards those of a batch with `count` values per channel.
    fn update_statistics(&self, mean: Tensor<1>, variance: Tensor<1>, count: usize) {
        let unbiased = count as f64 / (count.max(2) - 1) as f64;
        self.running_mean.move_towards(mean, self.momentum);
        self.running_var.move_towards(variance.mul_scalar(unbiased), self.momentum);
    }

    /// By tensor operations. The gradient flows through the sums `s = sum x` and `q = sum x^2` of every channel, so that values are
    /// read few times and sequentially.
    fn by_batch(&self, x: Tensor<3>) -> Tensor<3> {
        let [rows, channels, pixels] = x.dims();
        let count = (rows * pixels) as f64;
        let mean = of_channels(x.clone()).div_scalar(count);
        let squares = of_channels(x.clone() * x.clone());
        // Rounding must not give a constant channel a negative variance.
        let variance = (squares.div_scalar(count) - mean.clone() * mean.clone()).clamp_min(0.0);
        self.update_statistics(
            mean.clone().reshape([channels]),
            variance.clone().reshape([channels]),
            rows * pixels,
        );
        self.scaled(x, mean, variance)
    }

    fn by_running(&self, x: Tensor<3>) -> Tensor<3> {
        let channels = x.dims()[1];
        let statistic = |statistic: &Statistic| statistic.value().reshape([1, channels, 1]);
        self.scaled(x, statistic(&self.running_mean), statistic(&self.running_var))
    }

    /// What a prediction multiplies every channel by, and what it then adds.
    pub fn scale_and_shift(&self) -> (Tensor<1>, Tensor<1>) {
        let scale = self.weight.val() / self.running_var.value().add_scalar(self.epsilon).sqrt();
        let shift = self.bias.val() - self.running_mean.value() * scale.clone();
        (scale, shift)
    }

    /// One product and one sum per value: the statistics are folded into weight and bias first.
    fn scaled(&self, x: Tensor<3>, mean: Tensor<3>, variance: Tensor<3>) -> Tensor<3> {
        let shape = mean.shape();
        let scale = self.weight.val().reshape(shape.clone()) / variance.add_scalar(self.epsilon).sqrt();
        let shift = self.bias.val().reshape(shape) - mean * scale.clone();
        x * scale + shift
    }
}

/// The sum of every channel: `[1, channels, 1]` of `[rows, channels, pixels]`.
fn of_channels(x: Tensor<3>) -> Tensor<3> {
    x.sum_dim(2).sum_dim(0)
}

/// A running statistic: visited, saved and loaded like a parameter, but without a gradient.
#[derive(Debug)]
pub struct Statistic {
    id: ParamId,
    // Never associated with gradients, so that no graph of a past step is kept alive.
    value: Mutex<Tensor<1>>,
}

impl Statistic {
    fn new(value: Tensor<1>) -> Self {
        Statistic { id: ParamId::new(), value: Mutex::new(value) }
    }

    fn value(&self) -> Tensor<1> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with(&self, value: Tensor<1>) -> Self {
        Statistic { id: self.id, value: Mutex::new(value.without_autodiff()) }
    }

    fn move_towards(&self, batch: Tensor<1>, fraction: f64) {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        *value = value.clone() * (1.0 - fraction) + batch.without_autodiff() * fraction;
    }
}

impl Clone for Statistic {
    fn clone(&self) -> Self {
        self.with(self.value())
    }
}

impl Module for Statistic {
    fn collect_devices(&self, mut devices: Devices) -> Devices {
        let device = self.value().device();
        if !devices.contains(&device) {
            devices.push(device);
        }
        devices
    }

    fn fork(self, device: &Device) -> Self {
        self.to_device(device)
    }

    fn to_device(self, device: &Device) -> Self {
        self.with(self.value().to_device(&device.clone().without_autodiff()))
    }

    fn train(self) -> Self {
        self
    }

    fn valid(&self) -> Self {
        self.clone()
    }

    fn materialize(self) -> Self {
        self
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_float(&Param::initialized(self.id, self.value()));
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let mapped = mapper.map_float(Param::initialized(self.id, self.value()));
        self.with(mapped.into_value())
    }
}

impl ModuleDisplayDefault for Statistic {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&"statistic").optional()
    }
}

impl ModuleDisplay for Statistic {}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;
    use ldlf_core::Seed;
    use rand::RngExt;

    use super::*;
    use crate::arrays::host;

    fn random<const D: usize>(name: &str, shape: [usize; D], scale: f32) -> Tensor<D> {
        let mut generator = Seed::new(3).named(name).generator();
        let values = (0..shape.iter().product())
            .map(|_| scale * (generator.random::<f32>() - 0.4))
            .collect::<Vec<_>>();
        Tensor::from_data(TensorData::new(values, shape), &Device::flex().autodiff()).require_grad()
    }

    #[test]
    fn the_kernel_equals_tensor_operations_with_all_gradients_and_statistics() {
        for ceiling in [None, Some(f32::INFINITY), Some(1.5)] {
            let results = [false, true].map(|by_kernel| {
                let mut norm = BatchNorm::new(&Initial::new(Seed::new(0), &Device::flex().autodiff()), 3);
                let (x, weight, bias) =
                    (random("x", [5, 3, 21], 4.0), random("weight", [3], 2.0), random("bias", [3], 1.0));
                norm.weight = Param::from_tensor(weight.clone());
                norm.bias = Param::from_tensor(bias.clone());
                let y = match (by_kernel, ceiling) {
                    (true, _) => norm.by_kernel(x.clone(), ceiling),
                    (false, None) => norm.by_batch(x.clone()),
                    (false, Some(most)) => norm.by_batch(x.clone()).clamp(0.0, most),
                };
                let upstream = random("pull", [5, 3, 21], 1.0).detach();
                let gradients = (y.clone() * upstream).sum().backward();
                [
                    host(y.into_data()),
                    host(x.grad(&gradients).unwrap().into_data()),
                    host(weight.grad(&gradients).unwrap().into_data()),
                    host(bias.grad(&gradients).unwrap().into_data()),
                    host(norm.running_mean.value().into_data()),
                    host(norm.running_var.value().into_data()),
                ]
            });
            for (number, (tensors, kernel)) in results[0].iter().zip(&results[1]).enumerate() {
                assert_eq!(tensors.len(), kernel.len());
                for (a, b) in tensors.iter().zip(kernel) {
                    assert!(
                        (a - b).abs() < 2e-5 * a.abs().max(1.0),
                        "{ceiling:?}, array {number}: {a} and {b}"
                    );
                }
            }
        }
    }
}
