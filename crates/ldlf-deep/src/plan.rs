//! What a deep learner will do, before it does it: settings, and what follows from them and the data.

use std::path::Path;

use ldlf_core::early_stopping::hold_out;
use ldlf_core::error::Subject;
use ldlf_core::{Dataset, Error, Result, Seed, Settings, message};
use ldlf_forest::tree_shape::{ForestShape, LARGEST_DEPTH};

use crate::backbones::Kind;
use crate::images::Preparation;
use crate::network::{self, Ready};
use crate::parameters::{ForestParameters, NetworkParameters};

/// What learns above the network, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All trees at once: the paper's rule.
    Joint,
    /// One tree a mini-batch, drawn at random: the rule of deep neural decision forests.
    OneTree,
    /// No trees: a softmax.
    Softmax,
}

/// A deep learner with its settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What messages call it.
    pub learner: &'static str,
    /// What learns above the network.
    pub rule: Rule,
    /// The network and its training.
    pub network: NetworkParameters,
    /// The forest; without meaning for a softmax.
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

    /// Checks what can be checked before there are data.
    pub fn check(&self) -> Result<Kind> {
        let kind = Kind::named(&self.network.backbone)?;
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
        let side = self.network.side.unwrap_or(kind.usual_side());
        if kind != Kind::Mlp && side < kind.smallest_side() {
            return Err(Error::usage(format!(
                "side must be at least {} for {}, got {side}: a smaller picture has no pixels left after its last layer",
                kind.smallest_side(),
                kind.name()
            )));
        }
        Ok(kind)
    }
}

/// Rows to learn from and rows to validate on: those that the data marks `valid`, or a share that is held back.
pub(crate) fn sides(plan: &Plan, data: &Dataset, seed: Seed) -> (Vec<usize>, Vec<usize>) {
    if !plan.network.early_stopping {
        return ((0..data.rows()).collect(), Vec::new());
    }
    let is_valid = |part: &String| part.trim().to_ascii_lowercase().starts_with("val");
    if let Some(parts) = &data.split {
        let (valid, rest): (Vec<usize>, Vec<usize>) =
            (0..data.rows()).partition(|&row| is_valid(&parts[row]));
        if !valid.is_empty() && !rest.is_empty() {
            return (rest, valid);
        }
    }
    hold_out(data, plan.network.validation_share, seed)
}

pub(crate) fn ready(plan: &Plan, kind: Kind, data: &Dataset, rows: &[usize]) -> Result<Ready> {
    match (&data.images, kind) {
        (Some(_), Kind::Mlp) => Err(Error::usage("backbone=mlp reads tables, not pictures")
            .with_remedy("choose small-cnn, resnet18, efficientnet-lite0, alexnet or vgg16")),
        (None, Kind::Mlp) => Ok(Ready::table(&data.features, rows)),
        (None, _) => Err(Error::usage(format!("backbone={} reads pictures, not a table", kind.name()))
            .with_remedy(message![
                "give a folder or zip file of pictures with ",
                Subject::Table,
                ", or choose backbone=mlp"
            ])),
        (Some(_), _) => {
            let (mean, deviation) = kind.usual_scaling();
            let channels = plan.network.channels;
            if channels == 2 {
                return Err(Error::parameter("channels", "1 or 3", 2));
            }
            Ok(Ready::Pictures(Preparation {
                side: plan.network.side.unwrap_or(kind.usual_side()),
                channels,
                mean: mean[..channels].to_vec(),
                deviation: deviation[..channels].to_vec(),
            }))
        }
    }
}

/// The beginnings of the names of parameters that do not learn.
pub(crate) fn frozen(parameters: &NetworkParameters) -> Vec<String> {
    let given = parameters.freeze.as_deref().unwrap_or_default();
    let starts = given.split('+').map(str::trim).filter(|start| !start.is_empty());
    starts
        .map(|start| if start == "all" { "backbone".to_string() } else { format!("backbone.{start}") })
        .collect()
}
