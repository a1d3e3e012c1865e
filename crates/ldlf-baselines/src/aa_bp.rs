//! `aa-bp`: a network with one hidden layer, trained by back-propagation on mini-batches.

use ldlf_core::learner::Abilities;
use ldlf_core::optimise::step::{Optimiser, Step};
use ldlf_core::random::permutation;
use ldlf_core::{
    Dataset, Error, FitContext, Fitted, Learner, LearnerEntry, Result, Settings, StopReason, memory,
};

use crate::network::{Batch, Network, Output, Pass};
use crate::network_model::{self, NetworkModel};
use crate::progress::{Progress, split};
use crate::scaling::Scaling;
use crate::softmax_loss::negative_entropy;

ldlf_core::parameters! {
    /// What `aa-bp` can be told.
    pub struct AaBpParameters {
        /// Hidden units.
        hidden: usize = 64, at_least 1, at_most 65536;
        /// Largest number of passes over the rows.
        epochs: usize = 200, at_least 1;
        /// Rows of one step.
        batch: usize = 64, at_least 1;
        /// Which rule turns gradients into steps.
        optimiser: Optimiser = Optimiser::AdamW;
        /// Step length.
        rate: f64 = 0.0005, above 0;
        /// Momentum of SGD.
        momentum: f64 = 0.9, at_least 0, below 1;
        /// Weight decay (not of biases); AdamW shrinks weights by rate times this at every step.
        decay: f64 = 1.0, at_least 0;
        /// Epochs without improvement on rows held back before stopping; none does every epoch.
        patience: Option<usize> = Some(10), at_least 1;
        /// Share of the rows held back to stop early.
        validation: f64 = 0.1, above 0, below 1;
        /// Bring the features to a common scale first.
        standardise: bool = true;
    }
}

/// `p = softmax(V sigmoid(W x + b) + c)`, fitted to minimise `sum_i w_i K-L(d_i, p_i)` by steps on mini-batches.
///
/// Source: "AA-BP" of Geng, "Label distribution learning", TKDE 2016, which adapts back-propagation to distributions by a
/// softmax output.
pub struct AaBp {
    parameters: AaBpParameters,
}

impl AaBp {
    /// The learner with the given parameters.
    pub fn new(parameters: AaBpParameters) -> Self {
        AaBp { parameters }
    }
}

impl Learner for AaBp {
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
        let rows = scaling.apply(&training.features);
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
            for ids in order.chunks(p.batch) {
                let weight: f32 = ids.iter().map(|&id| training.weight(id)).sum();
                if weight <= 0.0 {
                    continue;
                }
                gradient.fill(0.0);
                loss += network.learn(&weights, batch, ids, &mut pass, &mut gradient);
                total += f64::from(weight);
                gradient.iter_mut().for_each(|g| *g /= weight);
                let step = Step::new(p.optimiser, step_number, p.rate, p.momentum, p.decay);
                move_weights(step, &network, &mut weights, &gradient, &mut first, &mut second);
                step_number += 1;
            }
            if !loss.is_finite() {
                return Err(
                    Error::training("aa-bp met a loss that is not finite").with_remedy("try a smaller rate")
                );
            }
            let model = NetworkModel::new(&scaling, &network, &weights);
            if progress.advance(loss / f64::max(total, f64::MIN_POSITIVE), &model)?.is_break() {
                break;
            }
        }
        let last = NetworkModel::new(&scaling, &network, &weights);
        let (model, summary) = progress.finish(last, StopReason::Finished);
        Ok(Fitted { model: Box::new(model), summary })
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

/// `aa-bp` for the registry.
pub const ENTRY: LearnerEntry = LearnerEntry {
    name: "aa-bp",
    summary: "network with one hidden layer and a softmax, trained on mini-batches, stopped early",
    source: "Geng, Label distribution learning, IEEE TKDE 28(7), 2016",
    abilities: Abilities { sparse: true, weights: true, iterates: true, ordered: false, images: false },
    parameters: AaBpParameters::declared,
    presets: Vec::new,
    build: |settings| Ok(Box::new(AaBp::new(AaBpParameters::from_settings(settings)?))),
    load: network_model::load,
};
