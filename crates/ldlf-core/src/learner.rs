//! The interface of all learners: parameters make a learner, a learner's `fit` makes a model, a model
//! never changes.

use serde::{Deserialize, Serialize};

use crate::algorithm::declared;
use crate::parameters::Parameter;
use crate::stored::{ModelShape, Parts};
use crate::{
    Algorithm, Checked, Dataset, Error, Facts, FitContext, Matrix, Model, Result, Settings, StopReason,
};

/// Learns label distributions from rows. Built from checked parameters; holds nothing that `fit` changes.
pub trait Learner: Send + Sync {
    /// All facts about it.
    fn facts(&self) -> &'static Facts;

    /// The name in the registry, such as `sldlf`.
    fn name(&self) -> &'static str {
        self.facts().name
    }

    /// What tables call it: its name, or one that tells it from the same learner with other settings.
    fn title(&self) -> String {
        self.name().to_string()
    }

    /// Every parameter with its value.
    fn settings(&self) -> Settings;

    /// Learns from `data`. Whatever is chosen (an iteration, a penalty) is chosen inside these rows.
    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted>;
}

/// A summary of the training. Nothing in it depends on the clock, so that it may stand in a model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Iterations done.
    pub iterations: usize,
    /// Why it ended.
    pub stopped: StopReason,
    /// The iteration whose model was kept, when it is not the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_iteration: Option<usize>,
    /// The last training loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The K-L divergence of predicting the mean, on the rows of `validation_kl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_kl: Option<f64>,
    /// The K-L divergence of the kept model on the validation rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_kl: Option<f64>,
}

impl Summary {
    /// The summary of a fit that does not iterate.
    pub fn at_once() -> Self {
        Summary {
            iterations: 0,
            stopped: StopReason::Finished,
            best_iteration: None,
            loss: None,
            validation_kl: None,
            mean_kl: None,
        }
    }
}

/// The outcome of a fit.
pub struct Fitted {
    /// What was learnt.
    pub model: Box<dyn Model>,
    /// How it went.
    pub summary: Summary,
    /// What the model says about its training rows without having seen them, `[rows, labels]`, where the learner can tell.
    pub out_of_fold: Option<Matrix<f32>>,
}

impl Fitted {
    /// A model whose learner says nothing about rows that it did not see.
    pub fn new(model: Box<dyn Model>, summary: Summary) -> Self {
        Fitted { model, summary, out_of_fold: None }
    }
}

/// A named set of parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preset {
    /// Its name, such as `paper`.
    pub name: &'static str,
    /// What it is for, in a line.
    pub help: &'static str,
    /// What it sets.
    pub settings: Settings,
}

impl Preset {
    /// A preset of `name=value` pairs.
    ///
    /// # Panics
    /// Where a pair does not read `name=value`: presets are written in the source.
    pub fn new<const N: usize>(name: &'static str, help: &'static str, pairs: [&str; N]) -> Self {
        Preset { name, help, settings: Settings::parse(pairs).expect("presets are written as name=value") }
    }

    /// The preset of a name among those of a learner, or a sentence with those there are.
    pub fn named(presets: &[Preset], learner: &str, name: &str) -> Result<Preset> {
        presets.iter().find(|preset| preset.name == name).cloned().ok_or_else(|| {
            let names: Vec<&str> = presets.iter().map(|preset| preset.name).collect();
            let has = if names.is_empty() { "no presets".to_string() } else { names.join(", ") };
            Error::usage(format!("{learner} has no preset {name:?}")).with_remedy(format!("it has {has}"))
        })
    }
}

/// An entry of the registry: how to describe it, make it, and read its models.
#[derive(Clone)]
pub struct LearnerEntry {
    /// All facts about it.
    pub facts: Facts,
    /// Its parameters.
    pub parameters: fn() -> Vec<Parameter>,
    /// Its presets.
    pub presets: fn() -> Vec<Preset>,
    /// Checks settings and makes the learner.
    pub build: fn(&Settings) -> Result<Box<dyn Learner>>,
    /// Rebuilds a model from what [`Model::store`] kept.
    pub load: fn(&Parts, &ModelShape) -> Result<Box<dyn Model>>,
}

impl LearnerEntry {
    /// The entry of an algorithm.
    pub const fn of<A: Algorithm>() -> Self {
        LearnerEntry {
            facts: A::FACTS,
            parameters: declared::<A>,
            presets: A::presets,
            build: |settings| Ok(Box::new(Checked::<A>::from_settings(settings)?)),
            load: A::load,
        }
    }

    /// The name, such as `sldlf`.
    pub const fn name(&self) -> &'static str {
        self.facts.name
    }

    /// The description that `ldlf learners --json` prints and the Python estimators are written from.
    pub fn description(&self) -> serde_json::Value {
        let parameters: Vec<serde_json::Value> = (self.parameters)()
            .iter()
            .map(|parameter| {
                let mut object = serde_json::json!(parameter);
                object["allowed"] = parameter.allowed().into();
                object
            })
            .collect();
        let Facts { name, summary, source, .. } = self.facts;
        serde_json::json!({
            "name": name,
            "summary": summary,
            "source": source,
            "abilities": self.facts.abilities(),
            "parameters": parameters,
            "presets": (self.presets)(),
        })
    }
}
