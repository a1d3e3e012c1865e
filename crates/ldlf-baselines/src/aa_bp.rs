//! `aa-bp`: a network with one hidden layer, trained by back-propagation on mini-batches.

use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Dataset, Error, Facts, FitContext, Fitted, Model, Preset, Result, StopReason};
use ldlf_linear::softmax_loss::negative_entropy;
use ldlf_math::optimise::step::{Optimizer, Step};
use ldlf_math::random::permutation;

use crate::network::{Batch, Network, Output, Pass, check_memory};
use crate::network_model::{self, NetworkModel};
use crate::progress::{Progress, split};
use crate::scaling::{FeatureScaling, Scaling};

ldlf_core::parameters! {
    /// Parameters of `aa-bp`.
    pub struct AaBpParameters, builder AaBpParams for AaBp {
        /// Number of hidden units.
        hidden: usize = 64, at_least 1, at_most 65536;
        /// Maximum number of epochs.
        epochs: usize = 200, at_least 1, known_as "max_iter";
        /// Rows per mini-batch.
        batch_size: usize = 64, at_least 1;
        /// Optimizer.
        optimizer: Optimizer = Optimizer::AdamW, known_as "solver";
        /// Learning rate.
        learning_rate: f64 = 0.0005, above 0, known_as "learning_rate_init";
        /// Momentum of sgd.
        momentum: f64 = 0.9, at_least 0, below 1;
        /// Weight decay, not of biases: decoupled with adamw, added to the gradient with sgd and adam.
        weight_decay: f64 = 1.0, at_least 0;
        /// Epochs without improvement on the held-out rows before stopping; none runs every epoch.
        patience: Option<usize> = Some(10), at_least 1, known_as "n_iter_no_change";
        /// Fraction of the training rows held out for early stopping.
        validation_fraction: f64 = 0.1, above 0, below 1;
        /// How features are scaled.
        scaling: FeatureScaling = FeatureScaling::Standard;
    }
}

/// `p = softmax(V sigmoid(W x + b) + c)`, fitted to minimise `sum_i w_i K-L(d_i, p_i)` by steps on mini-batches.
///
/// Source: "AA-BP" of Geng, "Label distribution learning", TKDE 2016, which adapts back-propagation to distributions by a
/// softmax output.
pub struct AaBp;

impl Algorithm for AaBp {
    type Parameters = AaBpParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        exports: true,
        ..Facts::new(
            "aa-bp",
            "network with one hidden layer and a softmax, trained on mini-batches, stopped early",
            "Geng, Label distribution learning, IEEE TKDE 28(7), 2016",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: back-propagation by plain steps, nothing held out, no penalty; hidden units, epochs and the learning rate (0.1) are ours, the publication's are not known here",
            ["optimizer=sgd", "momentum=0", "learning_rate=0.1", "weight_decay=0", "patience=none"],
        )]
    }

    fn fit(p: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let features = data.features()?.cols();
        check_memory(p.hidden, features, data.labels())?;
        let scaling = Scaling::choose(p.scaling, data)?;
        let (training, held) = split(data, p.validation_fraction, p.patience, context);
        let training = training.as_ref().unwrap_or(data);
        let network = Network { inputs: features, hidden: p.hidden, output: Output::PerLabel(data.labels()) };
        let rows = scaling.apply(training.features()?);
        let batch = Batch { rows: &rows, data: training, pull: &[] };
        let seed = context.seed.named("aa-bp");
        let mut weights: Vec<f32> = network.initial(seed);
        let mut gradient = vec![0.0f32; weights.len()];
        let (mut first, mut second) = (gradient.clone(), gradient.clone());
        let mut pass = Pass::new();
        let mut progress = Progress::new(context, p.epochs, held, p.patience);
        let entropy = negative_entropy(training);
        let mut step_number = 0;
        for epoch in 0..p.epochs {
            let order =
                permutation(training.rows(), &mut seed.named("order").numbered(epoch as u64).generator());
            let (mut loss, mut total) = (entropy, 0.0);
            for ids in order.chunks(p.batch_size) {
                let weight: f32 = ids.iter().map(|&id| training.weight(id)).sum();
                if weight <= 0.0 {
                    continue;
                }
                gradient.fill(0.0);
                loss += network.learn(&weights, batch, ids, &mut pass, &mut gradient);
                total += f64::from(weight);
                gradient.iter_mut().for_each(|g| *g /= weight);
                let step = Step::new(p.optimizer, step_number, p.learning_rate, p.momentum, p.weight_decay);
                move_weights(step, &network, &mut weights, &gradient, &mut first, &mut second);
                step_number += 1;
            }
            if !loss.is_finite() {
                return Err(Error::training("aa-bp met a loss that is not finite")
                    .with_remedy("try a smaller learning_rate"));
            }
            let model = NetworkModel::new(&scaling, &network, &weights);
            if progress.advance(loss / f64::max(total, f64::MIN_POSITIVE), &model)?.is_break() {
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

/// One step of every weight; biases do not decay.
fn move_weights(
    step: Step,
    network: &Network,
    weights: &mut [f32],
    gradient: &[f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    let mut done = 0;
    let mut go = |end: usize, step: Step| {
        let part = done..end;
        step.apply(
            &mut weights[part.clone()],
            &gradient[part.clone()],
            &mut first[part.clone()],
            &mut second[part],
        );
        done = end;
    };
    for penalised in network.penalised() {
        go(penalised.start, step.without_decay());
        go(penalised.end, step);
    }
    go(network.size(), step.without_decay());
}
