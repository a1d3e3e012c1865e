//! What `random-forest` and `extra-trees` share: trees grown independently, averaged.

use std::ops::ControlFlow;

use ldlf_core::graph::{Flow, Graph};
use ldlf_core::learner::Summary;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{
    Dataset, FitContext, FitEvent, InProgress, Inputs, Matrix, Model, Prediction, Result, Seed, StopReason,
    Threads, Value,
};
use ldlf_math::numeric::normalise;
use rand::RngExt;

use crate::regression_tree::{self, Tree, sum_over_trees};
use crate::split_search::SplitColumns;
use crate::tree_builder::{Limits, Objective, grow};
use crate::tree_graph;

/// Trees between two reports: enough to keep every thread busy.
const TREES_TOGETHER: usize = 16;

/// How a forest is grown.
pub struct Plan {
    /// Number of trees.
    pub trees: usize,
    /// Whether each tree sees rows drawn with replacement (else all rows).
    pub bootstrap: bool,
    /// Limits of every tree.
    pub limits: Limits,
}

/// Lowers the squared error summed over the labels; leaves are weighted means.
struct SquaredError<'a> {
    targets: &'a Matrix<f32>,
    weights: &'a [f64],
}

impl Objective for SquaredError<'_> {
    type Focus = ();

    fn numerators(&self) -> usize {
        self.targets.cols()
    }

    fn outputs(&self) -> usize {
        self.targets.cols()
    }

    fn statistics(&self, rows: &[u32], width: usize, out: &mut [f32]) {
        for (&row, out) in rows.iter().zip(out.chunks_exact_mut(width)) {
            let weight = self.weights[row as usize] as f32;
            out[0] = weight;
            out[1] = weight;
            let target = self.targets.row(row as usize);
            out[2..].iter_mut().zip(target).for_each(|(o, &d)| *o = weight * d);
        }
    }

    fn leaf(&self, (): &(), sums: &[f64], out: &mut [f32]) {
        out.iter_mut().zip(&sums[2..]).for_each(|(o, s)| *o = (s / sums[0]) as f32);
        normalise(out);
    }
}

/// Grows one tree on the rows that its sample holds.
fn grow_tree(columns: &SplitColumns<'_>, plan: &Plan, data: &Dataset, seed: Seed) -> Tree {
    let mut generator = seed.generator();
    let rows = data.rows();
    let mut weights: Vec<f64> = (0..rows).map(|row| f64::from(data.weight(row))).collect();
    if plan.bootstrap {
        let mut copies = vec![0u32; rows];
        (0..rows).for_each(|_| copies[generator.random_range(0..rows as u64) as usize] += 1);
        let drawn: Vec<f64> = weights.iter().zip(&copies).map(|(w, &n)| w * f64::from(n)).collect();
        // A sample in which every row has weight 0 is replaced by all rows.
        if drawn.iter().any(|&w| w > 0.0) {
            weights = drawn;
        }
    }
    let sample: Vec<u32> = (0..rows as u32).filter(|&row| weights[row as usize] > 0.0).collect();
    let objective = SquaredError { targets: data.targets(), weights: &weights };
    grow(columns, &objective, &plan.limits, sample, &mut generator)
}

/// Grows all trees, in batches with a report after each, at which the fit can be interrupted.
pub fn fit_forest(
    columns: &SplitColumns<'_>,
    plan: Plan,
    data: &Dataset,
    context: &mut FitContext<'_>,
) -> (ForestModel, Summary) {
    let seed = context.seed.named("trees");
    let mut model = ForestModel { trees: Vec::new(), labels: data.labels() };
    let mut stopped = StopReason::Finished;
    while model.trees.len() < plan.trees {
        let batch = model.trees.len()..(model.trees.len() + TREES_TOGETHER).min(plan.trees);
        let grown = context
            .threads
            .map(batch, |tree: usize| grow_tree(columns, &plan, data, seed.numbered(tree as u64)));
        model.trees.extend(grown);
        let event = FitEvent::Iteration { iteration: model.trees.len(), total: plan.trees, loss: None };
        if let ControlFlow::Break(reason) = context.report(event, &model) {
            stopped = reason;
            break;
        }
    }
    let summary = Summary { iterations: model.trees.len(), stopped, ..Summary::at_once() };
    (model, summary)
}

/// Trees whose leaves are distributions; the forest predicts their mean.
pub struct ForestModel {
    trees: Vec<Tree>,
    labels: usize,
}

impl ForestModel {
    /// The trees, for learners that start from them.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }
}

impl InProgress for ForestModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let factor = 1.0 / self.trees.len() as f64;
        let sums = sum_over_trees(&self.trees, self.labels, features, threads);
        let mut mean: Vec<f32> = sums.into_iter().map(|s| (s * factor) as f32).collect();
        mean.chunks_exact_mut(self.labels).for_each(normalise);
        Ok(Prediction::Distributions(Matrix::new(features.rows(), self.labels, mean)?))
    }
}

impl Model for ForestModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        InProgress::predict(self, inputs, threads)
    }

    fn store(&self, parts: &mut Parts) {
        regression_tree::store(&self.trees, self.labels, parts);
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        regression_tree::inspect(&self.trees)
    }

    /// The sum over the trees, normalised, is their mean.
    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let sums = tree_graph::add_sum(graph, features, &self.trees, &vec![0.0; self.labels]);
        Some(graph.normalise(&sums))
    }
}

/// Reads a forest and checks that its leaves are distributions.
pub fn load_forest(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
    let trees = regression_tree::load(parts, shape.features, shape.labels)?;
    if trees.is_empty() {
        return Err(ldlf_core::Error::model_file("the model file holds no trees; it may be damaged"));
    }
    regression_tree::refuse_leaves_off_the_simplex(&trees)?;
    Ok(Box::new(ForestModel { trees, labels: shape.labels }))
}
