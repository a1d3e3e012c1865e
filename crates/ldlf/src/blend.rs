//! A mixture of models: `p(x) = sum_m w_m p_m(x)`, and how its weights are found.

use ldlf_core::graph::{Flow, Graph};
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Algorithm, Dataset, Error, Features, Inputs, Matrix, Model, Prediction, Result, Settings, Threads, Value,
    forest_view::ForestView,
};
use ldlf_math::numeric::{normalise, on_simplex};
use serde::{Deserialize, Serialize};

use crate::auto::AutoForest;
use crate::registry;

/// The divergence of a mixture is at most this far above the smallest when [`mixture_weights`] ends before its last round.
const GAP: f64 = 1e-5;

/// Rounds of [`mixture_weights`] at most.
const ROUNDS: usize = 10_000;

/// The weights that bring a mixture of predictions nearest to the targets in K-L, by the rule that also moves the leaves of a
/// forest: `w_m <- w_m g_m` with `g_m = 1/N sum_i sum_c d_ic p_mic / sum_k w_k p_kic`, which never raises the divergence. The problem is
/// convex, and `max_m g_m - 1` bounds the distance to its end.
///
/// # Shapes
/// - `predictions`: one `[rows, labels]` per member, of rows that the member was not trained on
pub fn mixture_weights(data: &Dataset, predictions: &[&Matrix<f32>]) -> Vec<f64> {
    let mut weights = vec![1.0 / predictions.len().max(1) as f64; predictions.len()];
    for _ in 0..ROUNDS {
        let mut sums = vec![0.0f64; predictions.len()];
        for row in 0..data.rows() {
            let weight = f64::from(data.weight(row));
            for (label, &target) in data.targets().row(row).iter().enumerate() {
                let mixed: f64 =
                    weights.iter().zip(predictions).map(|(w, p)| w * f64::from(p.row(row)[label])).sum();
                let pull = weight * f64::from(target) / mixed.max(f64::from(f32::MIN_POSITIVE));
                for (sum, p) in sums.iter_mut().zip(predictions) {
                    *sum += pull * f64::from(p.row(row)[label]);
                }
            }
        }
        let rows: f64 = weights.iter().zip(&sums).map(|(w, sum)| w * sum).sum();
        let largest = sums.iter().copied().fold(0.0, f64::max);
        weights.iter_mut().zip(&sums).for_each(|(w, sum)| *w *= sum);
        let total: f64 = weights.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return vec![1.0 / predictions.len() as f64; predictions.len()];
        }
        weights.iter_mut().for_each(|w| *w /= total);
        if largest <= rows * (1.0 + GAP) {
            break;
        }
    }
    weights
}

/// The mixture of some predictions.
pub fn mix(weights: &[f64], predictions: &[&Matrix<f32>]) -> Result<Matrix<f32>> {
    let (rows, labels) = (predictions[0].rows(), predictions[0].cols());
    let mut mixed = vec![0.0f32; rows * labels];
    for (weight, prediction) in weights.iter().zip(predictions) {
        mixed.iter_mut().zip(prediction.as_slice()).for_each(|(sum, p)| *sum += *weight as f32 * p);
    }
    mixed.chunks_exact_mut(labels.max(1)).for_each(normalise);
    Ok(Matrix::new(rows, labels, mixed)?)
}

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
        let predictions: Vec<Matrix<f32>> = self
            .members
            .iter()
            .map(|member| member.model.predict(inputs, threads)?.into_distributions())
            .collect::<Result<_>>()?;
        let weights: Vec<f64> = self.members.iter().map(|member| member.weight).collect();
        Ok(Prediction::Distributions(mix(&weights, &predictions.iter().collect::<Vec<_>>())?))
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

    /// The trees of the member that weighs most among those with soft trees.
    fn look_inside(&self, features: &Features, chosen: &[usize], threads: &Threads) -> Option<ForestView> {
        let mut by_weight: Vec<&Member> = self.members.iter().collect();
        by_weight.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        by_weight.into_iter().find_map(|member| member.model.look_inside(features, chosen, threads))
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

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::FitContext;
    use ldlf_core::measures::{KL, mean_over_rows};

    fn data() -> Dataset {
        let targets = Matrix::from_rows(&[[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]);
        Dataset::new(Features::Dense(Matrix::from_rows(&[[0.0], [1.0], [2.0]])), targets).unwrap()
    }

    #[test]
    fn a_perfect_member_gets_all_the_weight() {
        let (right, uniform) = (data().targets().clone(), Matrix::from_rows(&[[0.5, 0.5]; 3]));
        let weights = mixture_weights(&data(), &[&uniform, &right]);
        assert!(weights[1] > 0.95 && (weights[0] + weights[1] - 1.0).abs() < 1e-12, "{weights:?}");
    }

    #[test]
    fn two_members_that_err_apart_are_better_together() {
        let over = Matrix::from_rows(&[[0.99, 0.01], [0.3, 0.7], [0.7, 0.3]]);
        let under = Matrix::from_rows(&[[0.8, 0.2], [0.1, 0.9], [0.5, 0.5]]);
        let members = [&over, &under];
        let weights = mixture_weights(&data(), &members);
        let of = |p: &Matrix<f32>| mean_over_rows(&KL, data().targets(), p, None);
        let together = of(&mix(&weights, &members).unwrap());
        assert!(together < of(members[0]) && together < of(members[1]), "{weights:?} {together}");
    }

    fn member(learner: &str, settings: &[&str]) -> Member {
        let settings = Settings::parse(settings).unwrap();
        let built = registry::build(learner, None, &settings).unwrap();
        let model = built.fit(&data(), &mut FitContext::new(0, Threads::one(), &mut ())).unwrap().model;
        Member { learner: learner.into(), settings, weight: 0.5, model }
    }

    #[test]
    fn a_mixture_with_grown_trees_is_a_graph() {
        let forest = &["trees=2", "min_leaf_weight=1", "bootstrap=false", "max_features=1"];
        let members = vec![member("random-forest", forest), member("extra-trees", forest)];
        let mut graph = Graph::new(1);
        let features = graph.features();
        let mixed = Blend { members, trials: Vec::new() }.add_to_graph(&mut graph, &features);
        assert!(mixed.is_some());
        let trees = graph.nodes().iter().filter(|node| node.operator == "TreeEnsembleRegressor");
        let names: Vec<&str> = trees.map(|node| &*node.outputs[0]).collect();
        assert_eq!(names, ["member_0/trees", "member_1/trees"]);
    }

    #[test]
    fn a_mixture_with_a_member_that_is_no_graph_is_none() {
        let members = vec![member("random-forest", &["trees=2"]), member("aa-knn", &["neighbors=1"])];
        let mut graph = Graph::new(1);
        let features = graph.features();
        assert_eq!(Blend { members, trials: Vec::new() }.add_to_graph(&mut graph, &features), None);
    }
}
