//! Starting from features: the layer under the trees (or the softmax) and the leaves first learn alone, by Algorithm 1, on the features of
//! the pretrained network, and the rest of the network joins afterwards.
//!
//! A head with random weights would send the network gradients that destroy what it knows. On features that are computed once this takes
//! seconds, so that several weight decays can be tried and the one with the best K-L on the validation rows is kept.

use burn::module::Module;
use ldlf_core::checkpoint::Source;
use ldlf_core::{Auto, FitContext, Result};
use ldlf_forest::algorithm1::Training;
use ldlf_math::optimise::step::{Optimizer, Schedule};

use crate::arrays;
use crate::frozen::FrozenFeatures;
use crate::network::Network;
use crate::parameters::NetworkParameters;
use crate::plan::Plan;
use crate::training::{OnNetwork, Started};

/// Weight decays that are tried; without validation rows only the first is.
const DECAYS: [f64; 3] = [0.5, 0.05, 2.0];

/// The learning rate of AdamW on standardised features.
const RATE: f64 = 0.005;

/// Trains the head of `steps` on the features of its network; it then starts from there.
pub fn from_features(
    steps: &mut OnNetwork<'_>,
    features: &FrozenFeatures,
    context: &mut FitContext<'_>,
) -> Result<()> {
    let (scaled, scales) = features.standardised();
    let decays = if steps.validates() { &DECAYS[..] } else { &DECAYS[..1] };
    let mut best: Option<(f64, _, _)> = None;
    for &decay in decays {
        context.check_interrupted()?;
        let plan = head_plan(steps.plan(), decay);
        let head = steps.head_alone(&plan, scaled.clone(), context)?;
        let source = Source::new(plan.learner, plan.settings(), &[], context.seed, steps.data());
        let schedule = plan.schedule(head.per_epoch(), head.validates());
        let mut unwatched = ();
        let mut within = FitContext::within(context.seed, context.threads.clone(), &mut unwatched);
        let (head, summary) = Training::new(schedule, head, source).run(&mut within)?;
        let kl = summary.validation_kl.unwrap_or(f64::INFINITY);
        if best.as_ref().is_none_or(|(least, ..)| kl < *least) {
            let (network, output) = head.into_parts();
            best = Some((kl, network.projection, output));
        }
    }
    if let Some((kl, projection, output)) = best {
        let network = steps.network().clone();
        let network = Network { projection, ..network }.on_unscaled_features(&scales);
        let numbers = arrays::collect(&network.valid());
        steps.begin_with(network, output.clone(), Started { kl, numbers, output });
    }
    Ok(())
}

/// The plan of a training of the head alone.
fn head_plan(plan: &Plan, decay: f64) -> Plan {
    let network = NetworkParameters {
        epochs: plan.network.start_epochs(),
        iterations: None,
        optimizer: Optimizer::AdamW,
        learning_rate: Auto::Given(RATE),
        schedule: Schedule::Cosine,
        warm_up: 0.1,
        weight_decay: decay,
        average: None,
        unfreeze_epochs: 0,
        // Its epochs are cheap: the schedule ends by itself, and the best of them is kept.
        patience: usize::MAX,
        ..plan.network.clone()
    };
    Plan { network, ..plan.clone() }
}
