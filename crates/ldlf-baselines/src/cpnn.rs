//! `cpnn`: the conditional probability neural network, which reads a row together with a label's value.

use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Dataset, Error, Facts, FitContext, Fitted, Model, Preset, Result, StopReason};
use ldlf_math::optimise::Rprop;

use crate::full_batch::FullBatch;
use crate::network::{Network, Output, check_memory};
use crate::network_model::{self, NetworkModel};
use crate::progress::{Progress, split};
use crate::scaling::{FeatureScaling, Scaling};

ldlf_core::parameters! {
    /// Parameters of `cpnn`.
    pub struct CpnnParameters, builder CpnnParams for Cpnn {
        /// Number of hidden units.
        hidden: usize = 64, at_least 1, at_most 65536;
        /// Maximum number of epochs.
        epochs: usize = 500, at_least 1, known_as "max_iter";
        /// Initial step size of every weight (resilient propagation adapts it).
        learning_rate: f64 = 0.0001, above 0;
        /// L2 penalty `l2/2 |weights|^2` on the loss summed over rows; biases are not penalised.
        l2: f64 = 0.3, at_least 0;
        /// Epochs without improvement on the held-out rows before stopping; none runs every epoch.
        patience: Option<usize> = Some(50), at_least 1, known_as "n_iter_no_change";
        /// Fraction of the training rows held out for early stopping.
        validation_fraction: f64 = 0.1, above 0, below 1;
        /// How features are scaled.
        scaling: FeatureScaling = FeatureScaling::Standard;
    }
}

/// `p(y|x) = exp f(x, y) / sum_y' exp f(x, y')`, `f(x, y) = v . sigmoid(W x + u y + b)`: labels with
/// similar values get similar probabilities. Minimises `sum_i w_i K-L(d_i, p_i)` by resilient propagation.
///
/// `y` is the label's value (`label_values` of the data), or else its index, scaled to [-1, 1]. `W x` is computed once for all
/// labels. Source: Geng, Yin and Zhou, "Facial age estimation by learning from label distributions", TPAMI 2013.
pub struct Cpnn;

impl Algorithm for Cpnn {
    type Parameters = CpnnParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        exports: true,
        ..Facts::new(
            "cpnn",
            "conditional probability neural network: reads a row with a label's value; for ordered labels",
            "Geng, Yin and Zhou, Facial age estimation by learning from label distributions, IEEE TPAMI 35(10), 2013",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: resilient propagation on all rows, nothing held out, no penalty; hidden units and epochs are ours, the publication's are not known here",
            ["l2=0", "patience=none"],
        )]
    }

    fn fit(p: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let features = data.features()?.cols();
        check_memory(p.hidden, features, data.labels())?;
        let scaling = Scaling::choose(p.scaling, data)?;
        let (training, held) = split(data, p.validation_fraction, p.patience, context);
        let training = training.as_ref().unwrap_or(data);
        let network = Network { inputs: features, hidden: p.hidden, output: Output::Ordered(places(data)) };
        let mut objective = FullBatch::new(&network, training, &scaling, p.l2, None, &context.threads)?;
        let mut weights: Vec<f64> = network.initial(context.seed.named("cpnn"));
        let mut gradient = vec![0.0; weights.len()];
        let mut rule = Rprop::new(weights.len(), p.learning_rate);
        let mut progress = Progress::new(context, p.epochs, held, p.patience);
        for _ in 0..p.epochs {
            let loss = objective.evaluate(&weights, &mut gradient);
            if !loss.is_finite() {
                return Err(Error::training("cpnn met a loss that is not finite")
                    .with_remedy("try a smaller learning_rate"));
            }
            rule.step(&mut weights, &gradient);
            if progress.advance(loss, &NetworkModel::new(&scaling, &network, &weights))?.is_break() {
                break;
            }
        }
        let last = NetworkModel::new(&scaling, &network, &weights);
        let (model, summary) = progress.finish(last, StopReason::Finished);
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        network_model::load(parts, shape)
    }
}

/// The labels' values, scaled to [-1, 1].
fn places(data: &Dataset) -> Vec<f64> {
    let values = match &data.schema().label_values {
        Some(values) if values.len() == data.labels() => values.clone(),
        _ => (0..data.labels()).map(|label| label as f64).collect(),
    };
    let (low, high) = (values[0], values[values.len() - 1]);
    let width = if high > low { high - low } else { 1.0 };
    values.iter().map(|value| if high > low { 2.0 * (value - low) / width - 1.0 } else { 0.0 }).collect()
}
