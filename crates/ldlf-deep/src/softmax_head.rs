//! The softmax head of DLDL (Gao et al. 2017), the baseline of the forest.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Device, Tensor};
use ldlf_core::{Error, Result, Seed};

use crate::head::weighted_mean;
use crate::initial::Initial;

/// A linear map to one activation per label, whose softmax is the predicted distribution.
#[derive(Module, Debug)]
pub struct SoftmaxHead {
    linear: Linear,
}

impl SoftmaxHead {
    /// A head over some features.
    pub fn new(features: usize, labels: usize, seed: Seed, device: &Device) -> Result<Self> {
        if labels < 1 {
            return Err(Error::usage("a network needs at least one label"));
        }
        Ok(SoftmaxHead { linear: Initial::new(seed.named("head"), device).linear(features, labels) })
    }

    /// The activations of `[rows, features]`: `[rows, labels]`.
    pub fn activations(&self, features: Tensor<2>) -> Tensor<2> {
        self.linear.forward(features)
    }

    /// The distributions of some activations, `[rows, labels]`.
    pub fn predict(&self, activations: Tensor<2>) -> Tensor<2> {
        softmax(activations, 1)
    }

    /// The mean over rows, by their weights, of `-sum_c d_c ln p_c`: the K-L divergence of the targets from the predictions without
    /// the targets' entropy, which has no gradient.
    ///
    /// # Shapes
    /// - `activations`, `targets`: `[rows, labels]`; `weights`: `[rows]`; result: `[1]`
    pub fn loss(&self, activations: Tensor<2>, targets: Tensor<2>, weights: Option<Tensor<1>>) -> Tensor<1> {
        let losses = -(targets * log_softmax(activations, 1)).sum_dim(1).squeeze_dim::<1>(1);
        weighted_mean(losses, weights)
    }
}
