//! `sce-ldl`: a hidden layer between the features and the maximum entropy output, with a sparsity penalty on its activations.

use std::ops::ControlFlow;

use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Dataset, Error, Facts, FitContext, Fitted, Model, Preset, Result, StopReason};
use ldlf_math::optimise::Lbfgs;

use crate::full_batch::{FullBatch, Sparsity};
use crate::network::{Network, Output, check_memory};
use crate::network_model::{self, NetworkModel};
use crate::progress::{Progress, split};
use crate::scaling::{FeatureScaling, Scaling};

ldlf_core::parameters! {
    /// Parameters of `sce-ldl`.
    pub struct SceLdlParameters, builder SceLdlParams for SceLdl {
        /// Number of hidden units.
        hidden: usize = 64, at_least 1, at_most 65536;
        /// Target mean activation of a hidden unit.
        activity: f64 = 0.1, above 0, below 1;
        /// Strength of the sparsity penalty, relative to the mean loss.
        sparsity: f64 = 0.01, at_least 0;
        /// L2 penalty `l2/2 |weights|^2` on the loss summed over rows; biases are not penalised.
        l2: f64 = 3.0, at_least 0;
        /// Maximum number of iterations.
        iterations: usize = 300, at_least 1, known_as "max_iter";
        /// Stops when an iteration lowers the mean loss by less than this.
        tolerance: f64 = 1e-7, at_least 0, known_as "tol";
        /// Iterations without improvement on the held-out rows before stopping; none runs to the minimum.
        patience: Option<usize> = Some(20), at_least 1, known_as "n_iter_no_change";
        /// Fraction of the training rows held out for early stopping.
        validation_fraction: f64 = 0.1, above 0, below 1;
        /// How features are scaled.
        scaling: FeatureScaling = FeatureScaling::Standard;
    }
}

/// Minimises `1/W (sum_i w_i K-L(d_i, p_i) + l2/2 |weights|^2) + sparsity sum_j K-L(activity || mean_i h_ij)`, where
/// `h = sigmoid(W x + b)`, `p = softmax(V h + c)` and the last sum runs over hidden units, by L-BFGS on all rows.
///
/// Source: Yang, Gao, Xing, Huo, Wei, Zhou, Wu and Geng, "Sparsity conditional energy label distribution learning for age
/// estimation", IJCAI 2016.
pub struct SceLdl;

impl Algorithm for SceLdl {
    type Parameters = SceLdlParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        exports: true,
        ..Facts::new(
            "sce-ldl",
            "maximum entropy model on a sparse hidden layer, stopped early",
            "Yang et al., Sparsity conditional energy label distribution learning for age estimation, IJCAI 2016",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: nothing held out, no penalty beside the sparsity; hidden units, activity and sparsity are ours, the publication's are not known here",
            ["l2=0", "patience=none"],
        )]
    }

    fn fit(p: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let features = data.features()?.cols();
        check_memory(p.hidden, features, data.labels())?;
        let scaling = Scaling::choose(p.scaling, data)?;
        let (training, held) = split(data, p.validation_fraction, p.patience, context);
        let training = training.as_ref().unwrap_or(data);
        let network = Network { inputs: features, hidden: p.hidden, output: Output::PerLabel(data.labels()) };
        let sparsity = (p.sparsity > 0.0).then_some(Sparsity { strength: p.sparsity, activity: p.activity });
        let mut objective = FullBatch::new(&network, training, &scaling, p.l2, sparsity, &context.threads)?;
        let start = network.initial(context.seed.named("sce-ldl"));
        let mut progress = Progress::new(context, p.iterations, held, p.patience);
        let mut failure = None;
        let method = Lbfgs {
            iterations: p.iterations,
            loss_tolerance: p.tolerance,
            gradient_tolerance: 1e-9,
            ..Lbfgs::default()
        };
        let minimum = method.minimise(
            start,
            |weights, gradient| objective.evaluate(weights, gradient),
            |iterate| {
                let model = NetworkModel::new(&scaling, &network, iterate.point);
                progress.advance(iterate.loss, &model).unwrap_or_else(|error| {
                    failure = Some(error);
                    ControlFlow::Break(StopReason::Interrupted)
                })
            },
        );
        if let Some(error) = failure {
            return Err(error);
        }
        if !minimum.loss.is_finite() {
            return Err(Error::training("sce-ldl met a loss that is not finite")
                .with_remedy("try scaling=standard or a larger l2"));
        }
        let last = NetworkModel::new(&scaling, &network, &minimum.point);
        let (model, summary) = progress.finish(last, minimum.ending.into());
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        network_model::load(parts, shape)
    }
}
