//! `sce-ldl`: a hidden layer between the features and the maximum entropy output, wished to be active rarely.

use std::ops::ControlFlow;

use ldlf_core::learner::Abilities;
use ldlf_core::optimise::Lbfgs;
use ldlf_core::{
    Dataset, Error, FitContext, Fitted, Learner, LearnerEntry, Result, Settings, StopReason, memory,
};

use crate::full_batch::{FullBatch, Sparsity};
use crate::network::{Network, Output};
use crate::network_model::{self, NetworkModel};
use crate::progress::{Progress, split};
use crate::scaling::Scaling;

ldlf_core::parameters! {
    /// What `sce-ldl` can be told.
    pub struct SceLdlParameters {
        /// Hidden units.
        hidden: usize = 64, at_least 1, at_most 65536;
        /// Wished mean activation of a hidden unit.
        activity: f64 = 0.1, above 0, below 1;
        /// Strength of that wish against the mean loss.
        sparsity: f64 = 0.01, at_least 0;
        /// Penalty l2/2 |weights|^2 on the loss summed over rows (not on biases).
        l2: f64 = 3.0, at_least 0;
        /// Largest number of iterations.
        iterations: usize = 300, at_least 1;
        /// Ends when an iteration lowers the mean loss by less than this.
        tolerance: f64 = 1e-7, at_least 0;
        /// Iterations without improvement on rows held back before stopping; none goes on to the minimum.
        patience: Option<usize> = Some(20), at_least 1;
        /// Share of the rows held back to stop early.
        validation: f64 = 0.1, above 0, below 1;
        /// Bring the features to a common scale first.
        standardise: bool = true;
    }
}

/// Minimises `1/W (sum_i w_i K-L(d_i, p_i) + l2/2 |weights|^2) + sparsity sum_j K-L(activity || mean_i h_ij)`, where
/// `h = sigmoid(W x + b)`, `p = softmax(V h + c)` and the last sum runs over hidden units, by L-BFGS on all rows.
///
/// Source: Yang, Gao, Xing, Huo, Wei, Zhou, Wu and Geng, "Sparsity conditional energy label distribution learning for age
/// estimation", IJCAI 2016.
pub struct SceLdl {
    parameters: SceLdlParameters,
}

impl SceLdl {
    /// The learner with the given parameters.
    pub fn new(parameters: SceLdlParameters) -> Self {
        SceLdl { parameters }
    }
}

impl Learner for SceLdl {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> Settings {
        self.parameters.to_settings()
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        context.refuse_resume(self.name())?;
        let p = &self.parameters;
        let width = data.features.cols().saturating_add(data.labels()).saturating_add(2);
        let sizes = [("hidden units", p.hidden), ("features and labels", width), ("copies", 8)];
        memory::check("the weights and their gradients", &sizes, size_of::<f64>())?;
        let scaling = Scaling::choose(p.standardise, data);
        let (training, held) = split(data, p.validation, p.patience, context);
        let training = training.as_ref().unwrap_or(data);
        let network = Network {
            inputs: data.features.cols(),
            hidden: p.hidden,
            output: Output::PerLabel(data.labels()),
        };
        let sparsity = (p.sparsity > 0.0).then_some(Sparsity { strength: p.sparsity, activity: p.activity });
        let mut objective = FullBatch::new(&network, training, &scaling, p.l2, sparsity, &context.threads);
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
                .with_remedy("try standardise=true or a larger l2"));
        }
        let last = NetworkModel::new(&scaling, &network, &minimum.point);
        let (model, summary) = progress.finish(last, minimum.stopped);
        Ok(Fitted { model: Box::new(model), summary })
    }
}

/// `sce-ldl` for the registry.
pub const ENTRY: LearnerEntry = LearnerEntry {
    name: "sce-ldl",
    summary: "maximum entropy model on a sparse hidden layer, stopped early",
    source: "Yang et al., Sparsity conditional energy label distribution learning for age estimation, IJCAI 2016",
    abilities: Abilities { sparse: true, weights: true, iterates: true, ordered: false, images: false },
    parameters: SceLdlParameters::declared,
    presets: Vec::new,
    build: |settings| Ok(Box::new(SceLdl::new(SceLdlParameters::from_settings(settings)?))),
    load: network_model::load,
};
