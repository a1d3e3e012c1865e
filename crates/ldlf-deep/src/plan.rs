//! The plan of a training: settings, and what follows from them and the data.

use std::path::Path;

use ldlf_core::early_stopping::hold_out;
use ldlf_core::parameters::{ParameterSet, ParameterType};
use ldlf_core::{Auto, Dataset, Error, Inputs, Result, Seed, Settings};
use ldlf_forest::algorithm1::{Ensemble, LeafSchedule, Schedule};
use ldlf_forest::tree_shape::{ForestShape, LARGEST_DEPTH};

use crate::backbones::{BackboneKind, InputConvention};
use crate::images::Preparation;
use crate::layers::WHOLE_BACKBONE;
use crate::network::{self, Preprocessing};
use crate::parameters::{ForestParameters, NetworkParameters};
use crate::weights::WeightReport;

/// The output layer of a network, and its training rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All trees at once: the paper's rule.
    Joint,
    /// One tree per mini-batch, drawn at random: the rule of deep neural decision forests.
    OneTree,
    /// No trees: a softmax.
    Softmax,
}

impl Rule {
    /// The training rule of the trees, if there are any.
    pub fn ensemble(self) -> Option<Ensemble> {
        match self {
            Rule::Joint => Some(Ensemble::Joint),
            Rule::OneTree => Some(Ensemble::OneTree),
            Rule::Softmax => None,
        }
    }
}

/// A deep learner with its settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name in messages.
    pub learner: &'static str,
    /// The output layer and its training rule.
    pub rule: Rule,
    /// The network and its training.
    pub network: NetworkParameters,
    /// The forest; unused for a softmax.
    pub forest: ForestParameters,
}

impl Plan {
    /// Every setting with its value.
    pub fn settings(&self) -> Settings {
        let settings = self.network.to_portable_settings();
        match self.rule {
            Rule::Softmax => settings,
            _ => settings.overridden_by(&self.forest.to_settings()),
        }
    }

    pub(crate) fn shape(&self, labels: usize) -> ForestShape {
        let ForestParameters { trees, depth, units, .. } = self.forest;
        let mut shape = ForestShape { trees, depth: depth.min(LARGEST_DEPTH), units: 0, labels };
        let own = shape.trees.saturating_mul(shape.splits()).max(1);
        shape.units = match self.rule {
            Rule::OneTree => own,
            _ => units.unwrap_or(own),
        };
        shape
    }

    /// The schedule for a number of mini-batches per epoch. Validation follows every epoch.
    pub(crate) fn schedule(&self, per_epoch: usize, validates: bool) -> Schedule {
        let every = self.forest.leaf_every.unwrap_or(per_epoch.min(100));
        Schedule {
            learner: self.learner,
            remedy: format!("try a learning_rate below {}", self.network.learning_rate()),
            total: self.total_iterations(per_epoch),
            leaves: self
                .rule
                .ensemble()
                .map(|_| LeafSchedule { every, early: self.forest.early_leaf_updates }),
            validate_every: validates.then_some(per_epoch),
            patience: self.network.patience,
            tolerance: None,
        }
    }

    /// Iterations for a number of mini-batches per epoch.
    pub(crate) fn total_iterations(&self, per_epoch: usize) -> usize {
        self.network.iterations.unwrap_or(self.network.epochs.saturating_mul(per_epoch))
    }

    /// Checks what can be checked without data.
    pub fn check(&self) -> Result<BackboneKind> {
        let kind = self.network.backbone;
        network::device(&self.network.device)?;
        if self.rule != Rule::Softmax {
            self.shape(1).check()?;
        }
        if let Some(weights) = &self.network.weights
            && !Path::new(weights).is_file()
        {
            return Err(Error::usage(format!("weights={weights}: there is no such file"))
                .with_remedy("name a .safetensors or .pth file"));
        }
        self.network.convention(InputConvention::IMAGENET)?;
        let side = self.network.side.unwrap_or(kind.usual_side());
        if side < kind.smallest_side() {
            return Err(Error::usage(format!(
                "side must be at least {} for {}, got {side}: a smaller image has no pixels left after its last layer",
                kind.smallest_side(),
                kind.name()
            )));
        }
        Ok(kind)
    }
}

/// Training rows and validation rows: those that the data marks `valid`, or a held-out fraction.
pub(crate) fn sides(plan: &Plan, data: &Dataset, seed: Seed) -> (Vec<usize>, Vec<usize>) {
    if !plan.network.early_stopping {
        return ((0..data.rows()).collect(), Vec::new());
    }
    hold_out(data, plan.network.validation_fraction, seed)
}

pub(crate) fn preprocessing(
    plan: &Plan,
    kind: BackboneKind,
    data: &Dataset,
    rows: &[usize],
    weights: Option<&WeightReport>,
) -> Result<Preprocessing> {
    let channels = plan.network.channels;
    match (data.inputs(), kind.preparation(plan.network.side.given(), channels)) {
        (Inputs::Images(_), None) | (Inputs::Table(_), Some(_)) => Err(kind.refusal()),
        (Inputs::Table(features), None) => Ok(Preprocessing::table(features, rows)),
        (Inputs::Images(_), Some(_)) if channels == 2 => Err(Error::parameter("channels", "1 or 3", 2)),
        (Inputs::Images(_), Some(preparation)) => {
            let convention =
                plan.network.convention(kind.convention(weights).unwrap_or(InputConvention::IMAGENET))?;
            let preparation = convention.preparation(preparation.side, channels);
            Ok(Preprocessing::Images(Preparation { margin: plan.network.input_crop, ..preparation }))
        }
    }
}

/// The name prefixes of frozen parameters.
pub(crate) fn frozen(parameters: &NetworkParameters) -> Vec<String> {
    let given = parameters.freeze.as_deref().unwrap_or_default();
    let starts = given.split('+').map(str::trim).filter(|start| !start.is_empty());
    starts
        .map(
            |start| {
                if start == "all" { WHOLE_BACKBONE.to_string() } else { format!("{WHOLE_BACKBONE}.{start}") }
            },
        )
        .collect()
}

impl NetworkParameters {
    /// The convention of the input: what is given, and what the weights or the backbone expect for the rest. A given range alone
    /// scales the expected mean and deviation with it.
    fn convention(&self, expected: InputConvention) -> Result<InputConvention> {
        let range = self.input_range.given().map_or(expected.range, |range| range as f32);
        let ratio = range / expected.range;
        let of = |name: &'static str, given: &Auto<String>, expected: [f32; 3]| match given {
            Auto::Auto => Ok(expected.map(|value| value * ratio)),
            Auto::Given(text) => {
                let numbers: Vec<f32> = text.split('+').filter_map(|part| part.trim().parse().ok()).collect();
                match numbers[..] {
                    [all] if !text.contains('+') && all.is_finite() => Ok([all; 3]),
                    [r, g, b] if text.matches('+').count() == 2 => Ok([r, g, b]),
                    _ => Err(Error::parameter(name, "a number, or three joined by +", text)),
                }
            }
        };
        let deviation = of("input_deviation", &self.input_deviation, expected.deviation)?;
        if !deviation.iter().all(|d| d.is_finite() && *d > 0.0) {
            let got = self.input_deviation.to_value();
            return Err(Error::parameter("input_deviation", "above 0", got));
        }
        Ok(InputConvention {
            range,
            mean: of("input_mean", &self.input_mean, expected.mean)?,
            deviation,
            order: self.channel_order.unwrap_or(expected.order),
        })
    }
}
