//! What `random-forest` and `extra-trees` share: trees grown independently, averaged.

use std::ops::ControlFlow;

use ldlf_core::explain::Contributions;
use ldlf_core::features::Row;
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::learner::Summary;
use ldlf_core::leave_out::RowGroups;
use ldlf_core::mixture::averaging_gain;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{
    Dataset, Features, FitContext, FitEvent, InProgress, Inputs, Matrix, Model, Prediction, Result, Seed,
    StopReason, Threads, Value,
};
use ldlf_math::numeric::{normalise, xlogy};
use ldlf_math::parallel::chunks;
use ldlf_math::random::Generator;
use rand::RngExt;

use crate::contributions;
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
    /// Which rows each tree sees.
    pub sampling: Sampling,
    /// Where a tree ends.
    pub limits: Limits,
}

/// Which rows each tree sees.
#[derive(Clone, Debug, Default)]
pub struct Sampling {
    /// Whether rows are drawn with replacement (else each is seen once).
    pub bootstrap: bool,
    /// The most draws per tree, with replacement; none draws as many as there are rows.
    pub most: Option<usize>,
    /// Groups of rows, of which tree `k` leaves out that of number `k mod groups`.
    pub leave_out: Option<RowGroups>,
}

impl Sampling {
    /// How often a tree sees each row: the first draws of its generator.
    fn copies(&self, tree: usize, data: &Dataset, generator: &mut Generator) -> Vec<u32> {
        let rows = data.rows();
        let mut copies = vec![u32::from(!self.bootstrap); rows];
        if self.bootstrap {
            let draws = self.most.unwrap_or(rows).min(rows);
            (0..draws).for_each(|_| copies[generator.random_range(0..rows as u64) as usize] += 1);
        }
        if let Some(groups) = &self.leave_out {
            let own = tree % groups.count();
            copies.iter_mut().enumerate().for_each(|(row, n)| *n *= u32::from(groups.of(row) != own));
        }
        // A sample in which every row has weight 0 is replaced by all rows.
        match copies.iter().enumerate().any(|(row, &n)| n > 0 && data.weight(row) > 0.0) {
            true => copies,
            false => vec![1; rows],
        }
    }

    /// Whether a tree that did not see a row left it out on purpose: with groups, those that belong to the row may have been seen.
    fn left_out(&self, tree: usize, row: usize) -> bool {
        self.leave_out.as_ref().is_none_or(|groups| groups.of(row) == tree % groups.count())
    }
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
fn grow_tree(columns: &SplitColumns<'_>, plan: &Plan, data: &Dataset, tree: usize, seed: Seed) -> Tree {
    let mut generator = seed.numbered(tree as u64).generator();
    let copies = plan.sampling.copies(tree, data, &mut generator);
    let weights: Vec<f64> =
        copies.iter().enumerate().map(|(row, &n)| f64::from(data.weight(row)) * f64::from(n)).collect();
    let sample: Vec<u32> = (0..data.rows() as u32).filter(|&row| weights[row as usize] > 0.0).collect();
    let objective = SquaredError { targets: data.targets(), weights: &weights };
    grow(columns, &objective, &plan.limits, sample, &mut generator)
}

/// What trees predict for the rows that they did not see.
pub struct Unseen {
    /// `[rows, labels]`: the mean over the trees that did not see a row; the mean target where all of them saw it.
    pub predicted: Matrix<f32>,
    /// How far the loss of that mean is below the mean loss of single trees, on average.
    pub gap: f64,
    /// Trees that did not see a row, on average.
    pub trees: f64,
}

impl Unseen {
    /// How much lower the divergence of the mean over `trees` will be: averages over `m` trees err by about `a + c / m`, and single
    /// trees tell `c`.
    pub fn gain(&self, trees: usize) -> f64 {
        averaging_gain(self.gap, self.trees, trees as f64)
    }
}

/// Predicts every row by the trees that did not see it: as honest as predictions of new rows.
pub fn predict_unseen(
    forest: &ForestModel,
    sampling: &Sampling,
    data: &Dataset,
    seed: Seed,
    threads: &Threads,
) -> Result<Unseen> {
    let (features, rows, labels) = (data.features()?, data.rows(), data.labels());
    let seed = seed.named("trees");
    let (mut sums, mut counts) = (vec![0.0f64; rows * labels], vec![[0.0f64; 2]; rows]);
    for (batch, trees) in forest.trees.chunks(TREES_TOGETHER).enumerate() {
        let first = batch * TREES_TOGETHER;
        let unseen: Vec<Vec<bool>> = threads.map(first..first + trees.len(), |tree: usize| {
            let copies = sampling.copies(tree, data, &mut seed.numbered(tree as u64).generator());
            copies.iter().enumerate().map(|(row, &n)| n == 0 && sampling.left_out(tree, row)).collect()
        });
        let parts: Vec<(&mut [f64], &mut [[f64; 2]])> =
            sums.chunks_mut(UNSEEN_ROWS * labels).zip(counts.chunks_mut(UNSEEN_ROWS)).collect();
        threads.map(parts.into_iter().enumerate(), |(part, (sums, counts))| {
            for (tree, unseen) in trees.iter().zip(&unseen) {
                let rows = sums.chunks_exact_mut(labels).zip(&mut *counts).enumerate();
                for (place, (sums, [count, loss])) in rows {
                    let row = part * UNSEEN_ROWS + place;
                    if unseen[row] {
                        let leaf = tree.predict_row(features, row);
                        sums.iter_mut().zip(leaf).for_each(|(sum, &v)| *sum += f64::from(v));
                        *loss += cross_entropy(data.targets().row(row), leaf.iter().map(|&v| f64::from(v)));
                        *count += 1.0;
                    }
                }
            }
        });
    }
    let mean = data.mean_target();
    let mut out = vec![0.0f32; rows * labels];
    let (mut gap, mut trees, mut weight) = (0.0, 0.0, 0.0);
    for (row, out) in out.chunks_exact_mut(labels).enumerate() {
        let (sums, [count, loss]) = (&sums[row * labels..(row + 1) * labels], counts[row]);
        for (label, out) in out.iter_mut().enumerate() {
            *out = if count > 0.0 { sums[label] / count } else { mean[label] } as f32;
        }
        if count > 0.0 {
            let own = f64::from(data.weight(row));
            let of_mean = cross_entropy(data.targets().row(row), sums.iter().map(|sum| sum / count));
            gap += own * (loss / count - of_mean);
            trees += own * count;
            weight += own;
        }
        normalise(out);
    }
    let weight = if weight > 0.0 { weight } else { 1.0 };
    Ok(Unseen { predicted: Matrix::new(rows, labels, out)?, gap: gap / weight, trees: trees / weight })
}

/// The least share whose logarithm counts: leaves of grown trees may hold none of a label.
const LEAST_SHARE: f64 = 1e-3;

fn cross_entropy(target: &[f32], predicted: impl Iterator<Item = f64>) -> f64 {
    target.iter().zip(predicted).map(|(&d, p)| -xlogy(f64::from(d), p.max(LEAST_SHARE))).sum()
}

/// Rows whose unseen predictions one task adds up.
const UNSEEN_ROWS: usize = 256;

/// Grows all trees, in batches so that progress is seen and a stop is heard.
pub fn fit_forest(
    columns: &SplitColumns<'_>,
    plan: &Plan,
    data: &Dataset,
    context: &mut FitContext<'_>,
) -> (ForestModel, Summary) {
    let mut model = ForestModel { trees: Vec::new(), labels: data.labels() };
    let summary = grow_more(&mut model, columns, plan, data, context);
    (model, summary)
}

/// Grows the trees that a forest lacks: those of a plan with more trees, which all follow from their numbers.
pub fn grow_more(
    model: &mut ForestModel,
    columns: &SplitColumns<'_>,
    plan: &Plan,
    data: &Dataset,
    context: &mut FitContext<'_>,
) -> Summary {
    let seed = context.seed.named("trees");
    let mut stopped = StopReason::Finished;
    while model.trees.len() < plan.trees {
        let batch = model.trees.len()..(model.trees.len() + TREES_TOGETHER).min(plan.trees);
        let grown = context.threads.map(batch, |tree: usize| grow_tree(columns, plan, data, tree, seed));
        model.trees.extend(grown);
        let event = FitEvent::Iteration { iteration: model.trees.len(), total: plan.trees, loss: None };
        if let ControlFlow::Break(reason) = context.report(event, model) {
            stopped = reason;
            break;
        }
    }
    Summary { iterations: model.trees.len(), stopped, ..Summary::at_once() }
}

/// Trees whose leaves are distributions; the forest predicts their mean.
pub struct ForestModel {
    trees: Vec<Tree>,
    labels: usize,
}

impl ForestModel {
    /// Reads a forest and checks that its leaves are distributions.
    pub fn load(parts: &Parts, shape: &ModelShape) -> Result<Self> {
        let trees = regression_tree::load(parts, shape.features, shape.labels)?;
        if trees.is_empty() {
            return Err(ldlf_core::Error::model_file("the model file holds no trees; it may be damaged"));
        }
        regression_tree::refuse_leaves_off_the_simplex(&trees)?;
        Ok(ForestModel { trees, labels: shape.labels })
    }

    /// The number of labels.
    pub fn labels(&self) -> usize {
        self.labels
    }

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

    fn variance_between_trees(&self, inputs: &Inputs, threads: &Threads) -> Result<Option<Matrix<f32>>> {
        /// Rows that one task looks at.
        const TASK: usize = 256;
        let features = inputs.table()?;
        let count = self.trees.len() as f64;
        let tasks = threads.map(chunks(features.rows(), TASK), |rows| {
            let mut variances = Vec::with_capacity(rows.len() * self.labels);
            for row in rows {
                let mut sums = vec![(0.0f64, 0.0f64); self.labels];
                for tree in &self.trees {
                    let leaf = match features.row(row) {
                        Row::Dense(values) => tree.predict_dense(values),
                        Row::Sparse(columns, values) => tree.predict_sparse(columns, values),
                    };
                    for ((sum, squares), &share) in sums.iter_mut().zip(leaf) {
                        *sum += f64::from(share);
                        *squares += f64::from(share).powi(2);
                    }
                }
                let variance = |(sum, squares): (f64, f64)| squares / count - (sum / count).powi(2);
                variances.extend(sums.into_iter().map(|sums| variance(sums).max(0.0) as f32));
            }
            variances
        });
        Ok(Some(Matrix::new(features.rows(), self.labels, tasks.concat())?))
    }

    fn contributions(
        &self,
        background: &Features,
        rows: &Features,
        threads: &Threads,
    ) -> Option<Contributions> {
        Some(contributions::of_forest(&self.trees, background, rows, threads))
    }

    /// The sum over the trees, normalised, is their mean.
    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let sums = tree_graph::add_sum(graph, features, &self.trees, &vec![0.0; self.labels]);
        Some(graph.normalise(&sums))
    }
}

/// Reads a forest as a model.
pub fn load_forest(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
    Ok(Box::new(ForestModel::load(parts, shape)?))
}
