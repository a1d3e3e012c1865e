//! The forest head as a module: a linear map, whose outputs are the activations of the splits, and the trees.
//!
//! Everything can be computed by tensor operations on any device; on the processor the kernels of `ldlf-forest` give the loss and its
//! gradient in one pass.

use std::ops::Range;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Int, Tensor, TensorData};
use ldlf_core::{Result, Seed, Threads};
use ldlf_forest::head::{Block, Examples, Given, Head, LeafUpdate};
use ldlf_forest::kernel::{ROWS, SimdFloat};
use ldlf_forest::loss::LossForm;
use ldlf_forest::tree_shape::ForestShape;
use ldlf_math::product::View;
use ldlf_math::vectorise;

use crate::initial::Initial;
use crate::output_layer::scale_of;
pub use crate::softmax_head::SoftmaxHead;

/// `K` trees over the outputs of a linear map, in place of a network's last softmax layer.
///
/// Tree `k` predicts `g_k = sum_l p(l|x) q_l` (Eqn. 1 and 2 of Shen et al. 2017), the head the mean over its trees. Only the linear
/// map is learnt by gradients and visited as a parameter (`linear.weight`, `linear.bias`); units and leaves are state, which
/// [`ForestHead::to_core`] returns and [`ForestHead::update_leaves`] updates.
#[derive(Module, Debug)]
pub struct ForestHead {
    linear: Linear,
    // The units and leaves of `core` as tensors, on the device of the linear map.
    units: Tensor<1, Int>,
    leaves: Tensor<3>,
    #[module(skip)]
    core: Head<f32>,
}

impl ForestHead {
    /// A head over some features, with random unit maps and uniform leaves.
    pub fn new(features: usize, shape: ForestShape, seed: Seed, device: &Device) -> Result<Self> {
        let core = Head::new(shape, seed)?;
        let linear = Initial::new(seed.named("head"), device).linear(features, shape.units);
        let plain = device.clone().without_autodiff();
        Ok(ForestHead { linear, units: units_of(&core, &plain), leaves: leaves_of(&core, &plain), core })
    }

    /// This head with other trees, which must have as many units.
    ///
    /// # Panics
    /// When the number of units differs; a caller that reads the trees from a file checks this first.
    pub fn from_core(self, core: Head<f32>) -> Self {
        assert_eq!(core.shape().units, self.core.shape().units, "the trees take the units of the linear map");
        let device = self.leaves.device();
        let (units, leaves) = (units_of(&core, &device), leaves_of(&core, &device));
        ForestHead { linear: self.linear, units, leaves, core }
    }

    /// The trees.
    pub fn to_core(&self) -> Head<f32> {
        self.core.clone()
    }

    /// The trees, without a copy.
    pub fn core(&self) -> &Head<f32> {
        &self.core
    }

    /// The sizes of the forest.
    pub fn shape(&self) -> &ForestShape {
        self.core.shape()
    }

    /// The activations of `[rows, features]`: `[rows, units]`.
    pub fn activations(&self, features: Tensor<2>) -> Tensor<2> {
        self.linear.forward(features)
    }

    /// The probability that a row reaches a leaf, for every row and leaf of some trees (Eqn. 1), by tensor operations.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; result: `[trees, rows, leaves]`
    pub fn route(&self, activations: Tensor<2>, trees: Range<usize>) -> Tensor<3> {
        let (rows, count, splits) = (activations.dims()[0], trees.len(), self.shape().splits());
        let device = activations.device().without_autodiff();
        let mut reach = Tensor::<3>::ones([count, rows, 1], &device);
        if splits == 0 {
            return reach;
        }
        let units = self.units.clone().slice(trees.start * splits..trees.end * splits);
        // Units along the first axis, so that selecting one copies a row: [trees, splits, rows].
        let passed = sigmoid(activations).transpose().select(0, units).reshape([count, splits, rows]);
        let mut width = 1;
        while width <= splits {
            let left = passed.clone().narrow(1, width - 1, width).swap_dims(1, 2);
            let right = reach.clone() * (1.0 - left.clone());
            reach = Tensor::stack::<4>(vec![reach * left, right], 3).reshape([count, rows, 2 * width]);
            width *= 2;
        }
        reach
    }

    /// The predictions of some trees, `[trees, rows, labels]` (Eqn. 2), by tensor operations.
    fn outputs(&self, activations: Tensor<2>, trees: Range<usize>) -> Tensor<3> {
        let leaves = self.leaves.clone().narrow(0, trees.start, trees.len());
        self.route(activations, trees).matmul(leaves)
    }

    /// The mean of the trees' outputs by tensor operations.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; result: `[rows, labels]`
    pub fn predict(&self, activations: Tensor<2>) -> Tensor<2> {
        self.outputs(activations, 0..self.shape().trees).mean_dim(0).squeeze_dim::<2>(0)
    }

    /// As [`ForestHead::predict`] by the kernels of `ldlf-forest`, block by block on some threads.
    pub fn predict_on_cpu(&self, activations: Tensor<2>, threads: &Threads) -> Vec<f32> {
        let (units, labels) = (self.shape().units, self.shape().labels);
        let activations = values(activations);
        let mut predicted = vec![0.0; activations.len() / units * labels];
        let parts: Vec<_> =
            activations.chunks(ROWS * units).zip(predicted.chunks_mut(ROWS * labels)).collect();
        threads.for_each(parts, |(activations, out)| {
            self.core.predict(View::row_major(activations, activations.len() / units, units), out);
        });
        predicted
    }

    /// The loss of some trees, averaged over rows by their weights: the mean of the trees' losses (Eqn. 3 and 13) or the loss of
    /// their mean, by tensor operations.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; `targets`: `[rows, labels]`; `weights`: `[rows]`; result: `[1]`
    pub fn loss(
        &self,
        activations: Tensor<2>,
        targets: Tensor<2>,
        weights: Option<Tensor<1>>,
        form: LossForm,
        trees: Range<usize>,
    ) -> Tensor<1> {
        let outputs = self.outputs(activations, trees);
        let outputs = match form {
            LossForm::Trees => outputs,
            LossForm::Forest => outputs.mean_dim(0),
        };
        let logarithms = outputs.clamp_min(f32::FLOOR).log().mean_dim(0).squeeze_dim::<2>(0);
        weighted_mean(-(targets * logarithms).sum_dim(1).squeeze_dim::<1>(1), weights)
    }

    /// As [`ForestHead::loss`], with its gradient with respect to the activations, by the kernels of `ldlf-forest`, block by
    /// block on some threads.
    ///
    /// The gradient has no history: `(activations * gradient).sum().backward()` carries it into the network.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; `targets`: `[rows, labels]`; `weights`: `[rows]`; gradient: `[rows, units]`
    pub fn loss_on_cpu(
        &self,
        activations: Tensor<2>,
        targets: &[f32],
        weights: Option<&[f32]>,
        form: LossForm,
        trees: Range<usize>,
        threads: &Threads,
    ) -> (f64, Tensor<2>) {
        let (shape, units) = (*self.shape(), self.shape().units);
        let device = activations.device().without_autodiff();
        let activations = values(activations);
        let examples = Examples { targets, labels: shape.labels, weights, rows: None, leave_out: None };
        let scale = scale_of(examples.total_weight());
        let rows = activations.len() / units;
        let parts = threads.map(ldlf_math::parallel::chunks(rows, ROWS), |part| {
            let mut block = Block::new(&shape);
            let mut gradient = vec![0.0; part.len() * units];
            let own = &activations[part.start * units..part.end * units];
            let own = View::row_major(own, part.len(), units).transposed();
            vectorise!({
                block.load_activations(own, 0, part.len());
                block.load_examples(&examples, part.start, part.len());
            });
            let loss = self.core.learn_block(&mut block, form, trees.clone(), scale);
            vectorise!(block.store_gradient(&mut gradient));
            (loss, gradient)
        });
        let loss = parts.iter().map(|(loss, _)| loss).sum();
        let gradient: Vec<f32> = parts.into_iter().flat_map(|(_, gradient)| gradient).collect();
        (loss, Tensor::from_data(TensorData::new(gradient, [rows, units]), &device))
    }

    /// Updates the leaves (Eqn. 12) by the activations and targets of collected mini-batches, with the linear map fixed.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; `targets`: `[rows, labels]`; `weights`: `[rows]`
    pub fn update_leaves(
        &mut self,
        activations: &[f32],
        targets: &[f32],
        weights: Option<&[f32]>,
        update: &LeafUpdate,
        threads: &Threads,
    ) {
        let (units, labels) = (self.shape().units, self.shape().labels);
        let view = View::row_major(activations, activations.len() / units, units);
        let examples = Examples { targets, labels, weights, rows: None, leave_out: None };
        self.core.update_leaves(&Given(view), &examples, update, threads);
        self.leaves = leaves_of(&self.core, &self.leaves.device());
    }
}

/// The numbers of a tensor, row after row.
pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().convert::<f32>().try_into_vec().expect("the data was just converted to f32")
}

fn units_of(core: &Head<f32>, device: &Device) -> Tensor<1, Int> {
    let units: Vec<i32> = core.units().iter().map(|&unit| unit as i32).collect();
    let count = units.len();
    Tensor::from_data(TensorData::new(units, [count]), device)
}

fn leaves_of(core: &Head<f32>, device: &Device) -> Tensor<3> {
    let shape = core.shape();
    let sizes = [shape.trees, shape.leaves(), shape.labels];
    Tensor::from_data(TensorData::new(core.leaves().to_vec(), sizes), device)
}

/// The mean of the rows' losses by their weights; 0 where all weights are 0.
pub(crate) fn weighted_mean(losses: Tensor<1>, weights: Option<Tensor<1>>) -> Tensor<1> {
    match weights {
        None => losses.mean(),
        Some(weights) => {
            let total = weights.clone().sum().clamp_min(f32::MIN_POSITIVE);
            (losses * weights).sum() / total
        }
    }
}
