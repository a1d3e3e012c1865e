//! A mixture of models: `p(x) = sum_m w_m p_m(x)`, and how its weights are found.

use ldlf_core::explain::Contributions;
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::mixture::{mix, mixed_variance};
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Algorithm, Error, Features, Inputs, Matrix, Model, Prediction, Result, Settings, Threads, Value,
    forest_view::ForestView,
};
use ldlf_math::numeric::on_simplex;
use serde::{Deserialize, Serialize};

use crate::auto::AutoForest;
use crate::registry;

/// One model of a blend.
pub struct Member {
    /// The learner's name.
    pub learner: String,
    /// Its settings.
    pub settings: Settings,
    /// Its weight in the mixture.
    pub weight: f64,
    /// What it learnt.
    pub model: Box<dyn Model>,
}

/// One candidate of the search, for inspection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The learner and its settings.
    pub candidate: String,
    /// K-L on rows it was not trained on; none where it failed.
    pub kl: Option<f64>,
    /// Its weight in the mixture, or why it has none.
    pub verdict: String,
}

/// Members, their weights, and the search behind them.
pub struct Blend {
    /// The models, each with its weight.
    pub members: Vec<Member>,
    /// Everything that was tried.
    pub trials: Vec<Trial>,
}

#[derive(Serialize, Deserialize)]
struct StoredMember {
    learner: String,
    settings: Settings,
    details: serde_json::Map<String, Value>,
}

impl Model for Blend {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let (weights, predictions) = self.predict_apart(inputs, threads)?;
        Ok(Prediction::Distributions(mix(&weights, &predictions.iter().collect::<Vec<_>>())?))
    }

    /// Of members without trees each counts as one.
    fn variance_between_trees(&self, inputs: &Inputs, threads: &Threads) -> Result<Option<Matrix<f32>>> {
        let (weights, predictions) = self.predict_apart(inputs, threads)?;
        let members = self.members.iter().map(|member| member.model.variance_between_trees(inputs, threads));
        let variances = members.collect::<Result<Vec<_>>>()?;
        mixed_variance(&weights, &predictions.iter().collect::<Vec<_>>(), &variances).map(Some)
    }

    fn store(&self, parts: &mut Parts) {
        let mut stored = Vec::new();
        for (number, member) in self.members.iter().enumerate() {
            let mut own = Parts::new();
            member.model.store(&mut own);
            for (name, array) in own.arrays() {
                parts.put(&format!("member.{number}.{name}"), array.clone());
            }
            stored.push(StoredMember {
                learner: member.learner.clone(),
                settings: member.settings.clone(),
                details: own.details,
            });
        }
        let weights: Vec<f32> = self.members.iter().map(|member| member.weight as f32).collect();
        parts.put("weights", Array::F32(vec![weights.len()], weights));
        parts.put_detail("members", stored);
        parts.put_detail("trials", &self.trials);
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        let members = self.members.iter().map(|member| {
            (format!("member {}", member.learner), Value::from(format!("weight {:.2}", member.weight)))
        });
        let trials = self.trials.iter().map(|trial| {
            let kl = trial.kl.map_or(String::new(), |kl| format!("K-L {kl:.4}, "));
            (format!("tried {}", trial.candidate), Value::from(format!("{kl}{}", trial.verdict)))
        });
        members.chain(trials).collect()
    }

    /// A mixture has a graph when all its members have one.
    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let mut members = Vec::new();
        for (number, member) in self.members.iter().enumerate() {
            let scope = format!("member_{number}");
            let flow = graph.within(&scope, |graph| member.model.add_to_graph(graph, features))?;
            members.push((member.weight as f32, flow));
        }
        let mixed = graph.mix(&members)?;
        Some(graph.normalise(&mixed))
    }

    /// The weighted sum of those of the members, where all have one.
    fn contributions(
        &self,
        background: &Features,
        rows: &Features,
        threads: &Threads,
    ) -> Option<Contributions> {
        let member =
            |member: &Member| Some((member.weight, member.model.contributions(background, rows, threads)?));
        Contributions::mixed(self.members.iter().map(member).collect::<Option<Vec<_>>>()?)
    }

    /// The trees of the member that weighs most among those with soft trees.
    fn look_inside(&self, features: &Features, chosen: &[usize], threads: &Threads) -> Option<ForestView> {
        let mut by_weight: Vec<&Member> = self.members.iter().collect();
        by_weight.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        by_weight.into_iter().find_map(|member| member.model.look_inside(features, chosen, threads))
    }
}

impl Blend {
    /// The weight and the predictions of every member.
    fn predict_apart(&self, inputs: &Inputs, threads: &Threads) -> Result<(Vec<f64>, Vec<Matrix<f32>>)> {
        let predict = |member: &Member| member.model.predict(inputs, threads)?.into_distributions();
        let predictions = self.members.iter().map(predict).collect::<Result<_>>()?;
        Ok((self.members.iter().map(|member| member.weight).collect(), predictions))
    }
}

/// Rebuilds a blend from what [`Blend`] stored.
pub fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
    let stored: Vec<StoredMember> = parts.detail("members")?;
    let weights = parts.f32s("weights", &[stored.len()])?;
    if !on_simplex(&weights, 1e-4) {
        return Err(Error::model_file("the model file's \"weights\" of its members are not shares of 1"));
    }
    let mut members = Vec::new();
    for (number, (StoredMember { learner, settings, details }, weight)) in
        stored.into_iter().zip(weights).enumerate()
    {
        let entry =
            registry::find(&learner).ok().filter(|entry| entry.name() != AutoForest::FACTS.name).ok_or_else(
                || Error::model_file(format!("{learner:?} cannot be a member of the model file's mixture")),
            )?;
        let prefix = format!("member.{number}.");
        let mut own = Parts::new();
        own.details = details;
        for (name, array) in parts.arrays() {
            if let Some(name) = name.strip_prefix(&prefix) {
                own.put(name, array.clone());
            }
        }
        let model = (entry.load)(&own, shape)?;
        members.push(Member { learner, settings, weight: f64::from(weight), model });
    }
    Ok(Box::new(Blend { members, trials: parts.detail("trials")? }))
}
