//! Batch normalisation (Ioffe and Szegedy 2015) with PyTorch's parameter names and its running statistics.
//!
//! burn's own layer chooses between the batch's and the running statistics by the device, names its parameters otherwise, shares the
//! statistics between clones and shows them one step late; here the [`Mode`] decides, and a clone is a copy.

use std::sync::{Mutex, PoisonError};

use burn::module::{
    Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, Param,
    ParamId,
};
use burn::tensor::module::batch_norm_train;
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

    fn by_batch(&self, x: Tensor<4>) -> Tensor<4> {
        let [rows, channels, height, width] = x.dims();
        let count = rows * height * width;
        let batch = batch_norm_train(x, self.weight.val(), self.bias.val(), self.epsilon);
        let unbiased = count as f64 / (count.max(2) - 1) as f64;
        debug_assert_eq!(batch.mean.dims(), [channels]);
        self.running_mean.move_towards(batch.mean, self.momentum);
        self.running_var.move_towards(batch.variance.mul_scalar(unbiased), self.momentum);
        batch.output
    }

    /// One product and one sum a value: the statistics are folded into weight and bias first.
    fn by_running(&self, x: Tensor<4>) -> Tensor<4> {
        let channels = x.dims()[1];
        let scale = self.weight.val() / self.running_var.value().add_scalar(self.epsilon).sqrt();
        let shift = self.bias.val() - self.running_mean.value() * scale.clone();
        x * scale.reshape([1, channels, 1, 1]) + shift.reshape([1, channels, 1, 1])
    }
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
