//! Batch normalisation (Ioffe and Szegedy 2015) with PyTorch's parameter names and its running statistics.
//!
//! burn's own layer chooses between the batch's and the running statistics by the device, names its parameters otherwise, shares the
//! statistics between clones and shows them one step late; here the [`Mode`] decides, and a clone is a copy.

use std::sync::{Mutex, PoisonError};

use burn::module::{
    Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, Param,
    ParamId,
};
use burn::tensor::{Device, Tensor};

use super::Mode;
use crate::initial::Initial;

/// `y = (x - mean) / sqrt(variance + epsilon) * weight + bias`, channel by channel.
///
/// In training the statistics are the batch's, and the running ones move by the share `momentum` towards them (the variance
/// divided by `n - 1`, as in PyTorch). In prediction they are the running ones; likewise in training when the layer's weight asks
/// for no gradient: a frozen layer keeps its statistics.
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
        match mode {
            Mode::Train(_) if self.weight.is_require_grad() => self.by_batch(x),
            _ => self.by_running(x),
        }
    }

    /// The gradient flows through the sums `s = sum x` and `q = sum x^2` of every channel, so that a value is passed over few times,
    /// and never in another order than it lies in memory.
    fn by_batch(&self, x: Tensor<4>) -> Tensor<4> {
        let [rows, channels, height, width] = x.dims();
        let count = (rows * height * width) as f64;
        let x = x.reshape([rows, channels, height * width]);
        let mean = of_channels(x.clone()).div_scalar(count);
        // With x held fixed on one side the product has half the gradient of the square, at half its cost: twice the product
        // less its own value has the right one, and the right value.
        let half = of_channels(x.clone() * x.clone().detach());
        let squares = half.clone().mul_scalar(2.0) - half.detach();
        // Rounding must not make a channel that does not vary a negative variance.
        let variance = (squares.div_scalar(count) - mean.clone() * mean.clone()).clamp_min(0.0);
        let unbiased = count / (count.max(2.0) - 1.0);
        self.running_mean.move_towards(mean.clone().reshape([channels]), self.momentum);
        self.running_var
            .move_towards(variance.clone().mul_scalar(unbiased).reshape([channels]), self.momentum);
        self.scaled(x, mean, variance).reshape([rows, channels, height, width])
    }

    fn by_running(&self, x: Tensor<4>) -> Tensor<4> {
        let [rows, channels, height, width] = x.dims();
        let statistic = |statistic: &Statistic| statistic.value().reshape([1, channels, 1]);
        let (mean, variance) = (statistic(&self.running_mean), statistic(&self.running_var));
        let x = x.reshape([rows, channels, height * width]);
        self.scaled(x, mean, variance).reshape([rows, channels, height, width])
    }

    /// One product and one sum a value: the statistics are folded into weight and bias first.
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

/// A running statistic: visited, saved and loaded as the parameters are, but never given a gradient.
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

    fn move_towards(&self, batch: Tensor<1>, share: f64) {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        *value = value.clone() * (1.0 - share) + batch.without_autodiff() * share;
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
