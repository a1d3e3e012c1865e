//! An additive model of grown trees, `p = softmax(start + sum of trees)`: what boosting leaves behind.

use ldlf_core::features::Row;
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{Error, InProgress, Inputs, Matrix, Model, Prediction, Result, Threads, Value};
use ldlf_math::numeric::{normalise, softmax_in_place};

use crate::regression_tree::{self, Tree, first_label, sum_over_trees};
use crate::tree_graph;

/// Rows whose scores become distributions together.
const ROWS_TOGETHER: usize = 512;

/// `softmax(start + sum of trees)`. Trees have an output for every label, or one output each and take turns at the labels.
#[derive(Clone, Debug)]
pub struct BoostedModel {
    start: Vec<f32>,
    trees: Vec<Tree>,
}

impl BoostedModel {
    /// A model that starts at these scores, one per label, and may have no trees yet.
    pub fn new(start: Vec<f32>, trees: Vec<Tree>) -> Self {
        BoostedModel { start, trees }
    }

    /// Reads a model whose trees have `outputs` outputs each.
    pub fn load(parts: &Parts, shape: &ModelShape, outputs: usize) -> Result<Self> {
        let start = parts.f32s("start", &[shape.labels])?;
        let trees = regression_tree::load(parts, shape.features, outputs)?;
        if trees.is_empty() || (outputs != shape.labels && trees.len() % shape.labels != 0) {
            return Err(Error::model_file(
                "the model file lacks the trees of a whole round; it may be damaged",
            ));
        }
        Ok(BoostedModel { start, trees })
    }

    /// The trees, round after round.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The number of labels.
    pub fn labels(&self) -> usize {
        self.start.len()
    }

    /// Adds the trees of further rounds.
    pub fn extend(&mut self, trees: Vec<Tree>) {
        self.trees.extend(trees);
    }

    /// Keeps the first trees.
    pub fn truncate(&mut self, trees: usize) {
        self.trees.truncate(trees);
    }

    /// Writes the distribution of one row.
    pub fn predict_one(&self, row: Row<'_>, out: &mut [f32]) {
        let mut scores: Vec<f64> = self.start.iter().map(|&start| f64::from(start)).collect();
        for (number, tree) in self.trees.iter().enumerate() {
            let first = first_label(tree, number, self.labels());
            scores[first..]
                .iter_mut()
                .zip(tree.leaf_of(row))
                .for_each(|(score, &step)| *score += f64::from(step));
        }
        softmax_in_place(&mut scores);
        out.iter_mut().zip(scores).for_each(|(out, p)| *out = p as f32);
        normalise(out);
    }
}

impl InProgress for BoostedModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let labels = self.labels();
        let mut scores = sum_over_trees(&self.trees, labels, features, threads);
        let size = ROWS_TOGETHER * labels;
        let parts = threads.map(scores.chunks_mut(size), |block: &mut [f64]| {
            let mut out = Vec::with_capacity(block.len());
            for row in block.chunks_exact_mut(labels) {
                row.iter_mut().zip(&self.start).for_each(|(f, &start)| *f += f64::from(start));
                softmax_in_place(row);
                let from = out.len();
                out.extend(row.iter().map(|&p| p as f32));
                normalise(&mut out[from..]);
            }
            out
        });
        Ok(Prediction::Distributions(Matrix::new(features.rows(), labels, parts.concat())?))
    }
}

impl Model for BoostedModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        InProgress::predict(self, inputs, threads)
    }

    fn store(&self, parts: &mut Parts) {
        let outputs = self.trees.first().map_or(self.labels(), Tree::outputs);
        regression_tree::store(&self.trees, outputs, parts);
        parts.put("start", Array::F32(vec![self.labels()], self.start.clone()));
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        regression_tree::inspect(&self.trees)
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let scores = tree_graph::add_sum(graph, features, &self.trees, &self.start);
        Some(graph.softmax(&scores))
    }
}
