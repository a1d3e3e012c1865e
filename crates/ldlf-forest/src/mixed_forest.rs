//! The model of a forest that checks itself: soft trees, and beside them, where they help, grown trees and the mean.

use ldlf_core::explain::Contributions;
use ldlf_core::features::Row;
use ldlf_core::forest_view::ForestView;
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::mixture::{mix, mixed_variance};
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{Error, Features, Inputs, Matrix, Model, Prediction, Result, RowPredictor, Threads, Value};
use ldlf_math::numeric::{normalise, on_simplex};
use ldlf_trees::boosted_model::BoostedModel;
use ldlf_trees::tree_forest::ForestModel;
use serde::{Deserialize, Serialize};

use crate::choice::{Choice, Tried};
use crate::log_linear::LogLinear;
use crate::shallow_forest::ShallowForest;
use crate::single_row::SingleRow;

/// `p(x) = sum_m w_m p_m(x)` over soft forests, grown forests, a linear model and the mean training distribution.
pub struct MixedForest {
    /// Soft forests, each with its own settings.
    pub soft: Vec<Part>,
    /// Grown forests.
    pub grown: Vec<GrownPart>,
    /// A linear model and its weight.
    pub linear: Option<(LogLinear, f32)>,
    /// The mean training distribution and its weight.
    pub mean: Option<(Vec<f32>, f32)>,
    /// What was tried on the way, for whoever asks why.
    pub tried: Vec<Tried>,
}

/// A soft forest of the mixture.
pub struct Part {
    /// The forest.
    pub forest: ShallowForest,
    /// Its settings.
    pub choice: Choice,
    /// The pseudo-count of its leaves, where trees left out rows.
    pub prior: Option<f64>,
    /// Its weight.
    pub weight: f32,
}

/// A grown forest of the mixture.
pub struct GrownPart {
    /// What grows such trees.
    pub kind: String,
    /// The forest.
    pub forest: GrownForest,
    /// Its weight.
    pub weight: f32,
}

/// Grown trees, averaged or added up.
pub enum GrownForest {
    /// `p` is the mean over the trees.
    Averaged(ForestModel),
    /// `p` is the softmax of the sum of the trees.
    Boosted(BoostedModel),
}

/// The kind of grown trees that are added up.
pub const BOOSTED: &str = "boosted";

impl GrownForest {
    fn load(kind: &str, parts: &Parts, shape: &ModelShape) -> Result<Self> {
        match kind {
            BOOSTED => Ok(GrownForest::Boosted(BoostedModel::load(parts, shape, shape.labels)?)),
            _ => Ok(GrownForest::Averaged(ForestModel::load(parts, shape)?)),
        }
    }

    fn model(&self) -> &dyn Model {
        match self {
            GrownForest::Averaged(forest) => forest,
            GrownForest::Boosted(forest) => forest,
        }
    }

    /// How many trees there are.
    fn trees(&self) -> usize {
        match self {
            GrownForest::Averaged(forest) => forest.trees().len(),
            GrownForest::Boosted(forest) => forest.trees().len(),
        }
    }

    fn labels(&self) -> usize {
        match self {
            GrownForest::Averaged(forest) => forest.labels(),
            GrownForest::Boosted(forest) => forest.labels(),
        }
    }

    /// Adds the distribution of one row, times `weight`, to `output`.
    fn add_row(&self, row: Row<'_>, weight: f32, output: &mut [f32], room: &mut [f32]) {
        let mut add = |shares: &[f32], weight: f32| {
            output.iter_mut().zip(shares).for_each(|(out, share)| *out += weight * share);
        };
        match self {
            GrownForest::Averaged(forest) => {
                let weight = weight / forest.trees().len() as f32;
                forest.trees().iter().for_each(|tree| add(tree.leaf_of(row), weight));
            }
            GrownForest::Boosted(forest) => {
                forest.predict_one(row, room);
                add(room, weight);
            }
        }
    }
}

/// What a model file says of a [`Part`] beside its arrays.
#[derive(Serialize, Deserialize)]
struct StoredPart {
    choice: Choice,
    prior: Option<f64>,
}

/// The detail of a model file that only mixtures have.
const MIXTURE: &str = "mixture";

/// The detail of a model file that names the kinds of grown forests.
const GROWN: &str = "grown";

impl MixedForest {
    /// The same without members that weigh nothing.
    pub fn without_idle(mut self) -> Self {
        self.soft.retain(|part| part.weight > 0.0);
        self.grown.retain(|part| part.weight > 0.0);
        self.linear = self.linear.filter(|(_, weight)| *weight > 0.0);
        self.mean = self.mean.filter(|(_, weight)| *weight > 0.0);
        self
    }

    /// Whether parts hold a mixture, not a lone forest.
    pub fn is_in(parts: &Parts) -> bool {
        parts.details.contains_key(MIXTURE)
    }

    /// Weights of all members: soft forests, grown ones, the linear model, the mean.
    fn weights(&self) -> Vec<f32> {
        let soft = self.soft.iter().map(|part| part.weight);
        let grown = self.grown.iter().map(|part| part.weight);
        let linear = self.linear.iter().map(|(_, weight)| *weight);
        soft.chain(grown).chain(linear).chain(self.mean.iter().map(|(_, weight)| *weight)).collect()
    }

    /// Rebuilds a mixture, checked, from what [`MixedForest::store`] added.
    pub fn load(parts: &Parts, shape: &ModelShape) -> Result<Self> {
        let stored: Vec<StoredPart> = parts.detail(MIXTURE)?;
        let kinds: Vec<String> = parts.detail(GROWN)?;
        let has_mean = parts.has("mean_distribution");
        let has_linear = parts.has("linear.theta");
        let count = stored.len() + kinds.len() + usize::from(has_linear) + usize::from(has_mean);
        let weights = parts.f32s("mixture_weights", &[count])?;
        if count == 0 || !on_simplex(&weights, 1e-4) {
            return Err(Error::model_file("the model file's \"mixture_weights\" are not shares of 1"));
        }
        let mut soft = Vec::new();
        for (number, StoredPart { choice, prior }) in stored.into_iter().enumerate() {
            let forest = ShallowForest::load(&parts.within(&format!("soft.{number}"))?, shape)?;
            soft.push(Part { forest, choice, prior, weight: weights[number] });
        }
        let mut grown = Vec::new();
        for (number, kind) in kinds.into_iter().enumerate() {
            let forest = GrownForest::load(&kind, &parts.within(&format!("grown.{number}"))?, shape)?;
            grown.push(GrownPart { kind, forest, weight: weights[soft.len() + number] });
        }
        let linear = match has_linear {
            true => {
                Some((LogLinear::load(&parts.within("linear")?, shape)?, weights[soft.len() + grown.len()]))
            }
            false => None,
        };
        let mean = match has_mean {
            true => Some((parts.f32s("mean_distribution", &[shape.labels])?, weights[count - 1])),
            false => None,
        };
        if mean.as_ref().is_some_and(|(mean, _)| !on_simplex(mean, 1e-4)) {
            return Err(Error::model_file("the model file's \"mean_distribution\" is not a distribution"));
        }
        Ok(MixedForest { soft, grown, linear, mean, tried: parts.detail("tried")? })
    }

    /// The weight and the predictions of every member.
    fn predict_apart(&self, inputs: &Inputs, threads: &Threads) -> Result<(Vec<f64>, Vec<Matrix<f32>>)> {
        let mut predictions = Vec::new();
        for part in &self.soft {
            predictions.push(part.forest.predict(inputs, threads)?.into_distributions()?);
        }
        for part in &self.grown {
            predictions.push(part.forest.model().predict(inputs, threads)?.into_distributions()?);
        }
        if let Some((model, _)) = &self.linear {
            predictions.push(model.predict(inputs, threads)?);
        }
        if let Some((mean, _)) = &self.mean {
            predictions.push(Matrix::new(inputs.rows(), mean.len(), mean.repeat(inputs.rows()))?);
        }
        Ok((self.weights().into_iter().map(f64::from).collect(), predictions))
    }

    /// The soft forest that weighs most.
    fn heaviest(&self) -> Option<&Part> {
        self.soft.iter().max_by(|a, b| a.weight.total_cmp(&b.weight))
    }
}

impl Model for MixedForest {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let (weights, predictions) = self.predict_apart(inputs, threads)?;
        Ok(Prediction::Distributions(mix(&weights, &predictions.iter().collect::<Vec<_>>())?))
    }

    fn variance_between_trees(&self, inputs: &Inputs, threads: &Threads) -> Result<Option<Matrix<f32>>> {
        let (weights, predictions) = self.predict_apart(inputs, threads)?;
        let soft = self.soft.iter().map(|part| part.forest.variance_between_trees(inputs, threads));
        let grown = self.grown.iter().map(|part| part.forest.model().variance_between_trees(inputs, threads));
        let others = self.weights().len() - self.soft.len() - self.grown.len();
        let variances = soft.chain(grown).chain((0..others).map(|_| Ok(None))).collect::<Result<Vec<_>>>()?;
        mixed_variance(&weights, &predictions.iter().collect::<Vec<_>>(), &variances).map(Some)
    }

    fn store(&self, parts: &mut Parts) {
        let mut stored = Vec::new();
        for (number, part) in self.soft.iter().enumerate() {
            let mut own = Parts::new();
            part.forest.store(&mut own);
            parts.put_within(&format!("soft.{number}"), own);
            stored.push(StoredPart { choice: part.choice, prior: part.prior });
        }
        for (number, part) in self.grown.iter().enumerate() {
            let mut own = Parts::new();
            part.forest.model().store(&mut own);
            parts.put_within(&format!("grown.{number}"), own);
        }
        parts.put_detail(GROWN, self.grown.iter().map(|part| &part.kind).collect::<Vec<_>>());
        if let Some((model, _)) = &self.linear {
            let mut own = Parts::new();
            model.store(&mut own);
            parts.put_within("linear", own);
        }
        if let Some((mean, _)) = &self.mean {
            parts.put("mean_distribution", Array::F32(vec![mean.len()], mean.clone()));
        }
        let weights = self.weights();
        parts.put("mixture_weights", Array::F32(vec![weights.len()], weights));
        parts.put_detail(MIXTURE, stored);
        parts.put_detail("tried", &self.tried);
    }

    fn row_predictor(&self) -> Option<Box<dyn RowPredictor + '_>> {
        let soft = self.soft.iter().map(|part| (SingleRow::new(&part.forest), part.weight)).collect();
        let labels = self.labels();
        Some(Box::new(MixedRow { model: self, soft, output: vec![0.0; labels], room: vec![0.0; labels] }))
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        let mut lines = Vec::new();
        for part in &self.soft {
            let shape = part.forest.head.shape();
            let prior = part.prior.map_or(String::new(), |prior| format!(" leaf_prior={prior}"));
            let text =
                format!("weight {:.2}, {} trees, {}{prior}", part.weight, shape.trees, part.choice.text());
            lines.push(("soft trees".to_string(), Value::from(text)));
        }
        for GrownPart { kind, forest, weight } in &self.grown {
            let text = format!("weight {weight:.2}, {} trees, {kind}", forest.trees());
            lines.push(("grown trees".to_string(), Value::from(text)));
        }
        if let Some((_, weight)) = &self.linear {
            lines.push(("linear".to_string(), Value::from(format!("weight {weight:.2}"))));
        }
        if let Some((_, weight)) = &self.mean {
            lines.push(("mean".to_string(), Value::from(format!("weight {weight:.2}"))));
        }
        for Tried { choice, score, .. } in &self.tried {
            lines.push((format!("tried {}", choice.text()), Value::from(format!("K-L {score:.4}"))));
        }
        lines
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let mut members = Vec::new();
        for (number, part) in self.soft.iter().enumerate() {
            let scope = format!("soft_{number}");
            let flow = graph.within(&scope, |graph| part.forest.add_to_graph(graph, features))?;
            members.push((part.weight, flow));
        }
        for (number, part) in self.grown.iter().enumerate() {
            let scope = format!("grown_{number}");
            let flow = graph.within(&scope, |graph| part.forest.model().add_to_graph(graph, features))?;
            members.push((part.weight, flow));
        }
        if let Some((model, weight)) = &self.linear {
            members.push((*weight, graph.within("linear", |graph| model.add_to_graph(graph, features))));
        }
        if let Some((mean, weight)) = &self.mean {
            members.push((*weight, graph.f32s("mean_distribution", &[1, mean.len()], mean.clone())));
        }
        let mixed = graph.mix(&members)?;
        Some(graph.normalise(&mixed))
    }

    /// The weighted sum of those of the members.
    fn contributions(
        &self,
        background: &Features,
        rows: &Features,
        threads: &Threads,
    ) -> Option<Contributions> {
        let mut members = Vec::new();
        for part in &self.soft {
            members.push((f64::from(part.weight), part.forest.contributions(background, rows, threads)?));
        }
        for part in &self.grown {
            let own = part.forest.model().contributions(background, rows, threads)?;
            members.push((f64::from(part.weight), own));
        }
        if let Some((model, weight)) = &self.linear {
            members.push((f64::from(*weight), model.contributions(background, rows, threads)?));
        }
        if let Some((mean, weight)) = &self.mean {
            members.push((f64::from(*weight), Contributions::of_constant(mean, rows.rows(), rows.cols())));
        }
        Contributions::mixed(members)
    }

    /// The trees of the soft forest that weighs most.
    fn look_inside(&self, features: &Features, chosen: &[usize], threads: &Threads) -> Option<ForestView> {
        self.heaviest()?.forest.look_inside(features, chosen, threads)
    }
}

impl MixedForest {
    /// The number of labels.
    fn labels(&self) -> usize {
        let soft = self.soft.first().map(|part| part.forest.head.shape().labels);
        let grown = self.grown.first().map(|part| part.forest.labels());
        let linear = self.linear.as_ref().map(|(model, _)| model.labels());
        soft.or(grown).or(linear).or(self.mean.as_ref().map(|(mean, _)| mean.len())).unwrap_or(0)
    }
}

/// A mixture with the work buffers of a single row.
struct MixedRow<'a> {
    model: &'a MixedForest,
    soft: Vec<(SingleRow<'a>, f32)>,
    output: Vec<f32>,
    /// What one member says.
    room: Vec<f32>,
}

impl RowPredictor for MixedRow<'_> {
    fn predict(&mut self, row: Row<'_>) -> Result<&[f32]> {
        self.output.fill(0.0);
        for (single, weight) in &mut self.soft {
            let shares = single.predict(row)?;
            self.output.iter_mut().zip(shares).for_each(|(out, share)| *out += *weight * share);
        }
        for part in &self.model.grown {
            part.forest.add_row(row, part.weight, &mut self.output, &mut self.room);
        }
        if let Some((model, weight)) = &self.model.linear {
            model.predict_one(row, &mut self.room);
            self.output.iter_mut().zip(&self.room).for_each(|(out, share)| *out += weight * share);
        }
        if let Some((mean, weight)) = &self.model.mean {
            self.output.iter_mut().zip(mean).for_each(|(out, share)| *out += weight * share);
        }
        normalise(&mut self.output);
        Ok(&self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::{Encoder, Scaling};
    use crate::linear::LinearMap;
    use ldlf_trees::regression_tree::Sketch;

    /// Boosted trees of one split and a linear model beside the mean.
    fn model() -> MixedForest {
        let tree = |threshold: f32| {
            let mut sketch = Sketch::new(3);
            let left = sketch.split(0, 1, threshold);
            sketch.leaf(left).copy_from_slice(&[0.5, -0.2, 0.1]);
            sketch.leaf(left + 1).copy_from_slice(&[-0.4, 0.3, 0.0]);
            sketch.finish()
        };
        let boosted = BoostedModel::new(vec![-1.0, -1.2, -1.1], vec![tree(0.5), tree(-0.5)]);
        let forest = GrownForest::Boosted(boosted);
        let encoder = Encoder::fit(&rows(), &[0, 1, 2], None, Scaling::Standard, 5.0, 0, true);
        let theta = vec![0.3, -0.2, 0.1, 0.8, -0.5, 0.0, 0.1, 0.2, -0.3];
        let linear = LogLinear { encoder, map: LinearMap::from_weights(3, 3, theta) };
        MixedForest {
            soft: Vec::new(),
            grown: vec![GrownPart { kind: BOOSTED.into(), forest, weight: 0.4 }],
            linear: Some((linear, 0.3)),
            mean: Some((vec![0.2, 0.3, 0.5], 0.3)),
            tried: Vec::new(),
        }
    }

    fn rows() -> Features {
        Features::Dense(Matrix::from_rows(&[[0.0, -1.0], [0.0, 0.0], [0.0, 1.0]]))
    }

    fn predicted(model: &MixedForest) -> Matrix<f32> {
        model.predict(&rows().into(), &Threads::one()).unwrap().into_distributions().unwrap()
    }

    #[test]
    fn members_come_back_from_a_model_file() {
        let (model, mut parts) = (model(), Parts::new());
        model.store(&mut parts);
        let again = MixedForest::load(&parts, &ModelShape { features: 2, labels: 3 }).unwrap();
        assert_eq!(predicted(&model), predicted(&again));
    }

    #[test]
    fn single_rows_meet_every_member() {
        let model = model();
        let all = predicted(&model);
        let mut single = model.row_predictor().unwrap();
        for row in 0..3 {
            let shares = single.predict(rows().row(row)).unwrap().to_vec();
            let near = shares.iter().zip(all.row(row)).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(near, "{shares:?} {:?}", all.row(row));
        }
    }
}
