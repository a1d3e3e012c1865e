//! `cpnn`: the conditional probability neural network, which reads a row together with a label's value.

use ldlf_core::learner::Abilities;
use ldlf_core::optimise::Rprop;
use ldlf_core::{
    Dataset, Error, FitContext, Fitted, Learner, LearnerEntry, Result, Settings, StopReason, memory,
};

use crate::full_batch::FullBatch;
use crate::network::{Network, Output};
use crate::network_model::{self, NetworkModel};
use crate::progress::{Progress, split};
use crate::scaling::Scaling;

ldlf_core::parameters! {
    /// What `cpnn` can be told.
    pub struct CpnnParameters {
        /// Hidden units.
        hidden: usize = 64, at_least 1, at_most 65536;
        /// Largest number of passes over the rows.
        epochs: usize = 500, at_least 1;
        /// First step length of every weight.
        first_step: f64 = 0.0001, above 0;
        /// Penalty l2/2 |weights|^2 on the loss summed over rows (not on biases).
        l2: f64 = 0.3, at_least 0;
        /// Epochs without improvement on rows held back before stopping; none does every epoch.
        patience: Option<usize> = Some(50), at_least 1;
        /// Share of the rows held back to stop early.
        validation: f64 = 0.1, above 0, below 1;
        /// Bring the features to a common scale first.
        standardise: bool = true;
    }
}

/// `p(y|x) = exp f(x, y) / sum_y' exp f(x, y')`, `f(x, y) = v . sigmoid(W x + u y + b)`: labels that stand for near numbers get
/// near probabilities. Minimises `sum_i w_i K-L(d_i, p_i)` by resilient propagation.
///
/// `y` is the label's value (`label_values` of the data), or else its place, brought to -1 to 1. `W x` is computed once for all
/// labels. Source: Geng, Yin and Zhou, "Facial age estimation by learning from label distributions", TPAMI 2013.
pub struct Cpnn {
    parameters: CpnnParameters,
}

impl Cpnn {
    /// The learner with the given parameters.
    pub fn new(parameters: CpnnParameters) -> Self {
        Cpnn { parameters }
    }
}

impl Learner for Cpnn {
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
        let network =
            Network { inputs: data.features.cols(), hidden: p.hidden, output: Output::Ordered(places(data)) };
        let mut objective = FullBatch::new(&network, training, &scaling, p.l2, None, &context.threads);
        let mut weights: Vec<f64> = network.initial(context.seed.named("cpnn"));
        let mut gradient = vec![0.0; weights.len()];
        let mut rule = Rprop::new(weights.len(), p.first_step);
        let mut progress = Progress::new(context, p.epochs, held, p.patience);
        for _ in 0..p.epochs {
            let loss = objective.evaluate(&weights, &mut gradient);
            if !loss.is_finite() {
                return Err(Error::training("cpnn met a loss that is not finite")
                    .with_remedy("try a smaller first_step"));
            }
            rule.step(&mut weights, &gradient);
            if progress.advance(loss, &NetworkModel::new(&scaling, &network, &weights))?.is_break() {
                break;
            }
        }
        let last = NetworkModel::new(&scaling, &network, &weights);
        let (model, summary) = progress.finish(last, StopReason::Finished);
        Ok(Fitted { model: Box::new(model), summary })
    }
}

/// The labels' values, brought to -1 to 1.
fn places(data: &Dataset) -> Vec<f64> {
    let values = match &data.schema.label_values {
        Some(values) if values.len() == data.labels() => values.clone(),
        _ => (0..data.labels()).map(|label| label as f64).collect(),
    };
    let (low, high) = (values[0], values[values.len() - 1]);
    let width = if high > low { high - low } else { 1.0 };
    values.iter().map(|value| if high > low { 2.0 * (value - low) / width - 1.0 } else { 0.0 }).collect()
}

/// `cpnn` for the registry.
pub const ENTRY: LearnerEntry = LearnerEntry {
    name: "cpnn",
    summary: "conditional probability neural network: reads a row with a label's value; for ordered labels",
    source: "Geng, Yin and Zhou, Facial age estimation by learning from label distributions, IEEE TPAMI 35(10), 2013",
    abilities: Abilities { sparse: true, weights: true, iterates: true, ordered: false, images: false },
    parameters: CpnnParameters::declared,
    presets: Vec::new,
    build: |settings| Ok(Box::new(Cpnn::new(CpnnParameters::from_settings(settings)?))),
    load: network_model::load,
};
