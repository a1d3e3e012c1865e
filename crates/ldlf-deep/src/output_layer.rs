//! From the activations of a network to distributions: trees or a softmax. Both take activations and targets and give the loss and
//! its gradient, on the host: activations are few (one per split and row), and the kernels of the shallow forest can be used.

use std::ops::Range;

use ldlf_core::{Error, Result, Threads};
use ldlf_forest::head::{Block, Examples, Given, Head, LeafUpdate};
use ldlf_forest::leaves::check_on_simplex;
use ldlf_forest::loss::LossForm;
use ldlf_forest::tree_shape::ForestShape;
use ldlf_math::numeric::{log_sum_exp, softmax_in_place_f32};
use ldlf_math::product::View;
use ldlf_math::vectorise;

/// Rows per task.
const ROWS: usize = 64;

/// The last stage of a deep model: predicts distributions from activations.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputLayer {
    /// Soft trees on the activations.
    Forest(Head<f32>),
    /// `p = softmax(a)`, one activation per label.
    Softmax {
        /// The number of labels.
        labels: usize,
    },
}

impl OutputLayer {
    /// Activations per row.
    pub fn units(&self) -> usize {
        match self {
            OutputLayer::Forest(head) => head.shape().units,
            OutputLayer::Softmax { labels } => *labels,
        }
    }

    /// Labels per row.
    pub fn labels(&self) -> usize {
        match self {
            OutputLayer::Forest(head) => head.shape().labels,
            OutputLayer::Softmax { labels } => *labels,
        }
    }

    /// The distributions of some rows.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; result: `[rows, labels]`
    pub fn predict(&self, activations: &[f32], threads: &Threads) -> Vec<f32> {
        let units = self.units();
        let parts = threads.map(activations.chunks(ROWS * units), |activations| match self {
            OutputLayer::Forest(head) => {
                let rows = activations.len() / units;
                let mut out = vec![0.0; rows * head.shape().labels];
                head.predict(View::row_major(activations, rows, units), &mut out);
                out
            }
            OutputLayer::Softmax { labels } => {
                let mut out = activations.to_vec();
                out.chunks_exact_mut(*labels).for_each(softmax_in_place_f32);
                out
            }
        });
        parts.concat()
    }

    /// The loss of a mini-batch under some of the trees and its gradient with respect to the activations.
    ///
    /// Trees: Eqn. 3 and 13 of the paper; softmax: `-1/n sum_i w_i sum_c d_ic ln p_ic`, whose gradient is `w_i (p_i - d_i) / n`.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units]`; gradient: `[rows, units]`
    pub fn loss_and_gradient(
        &self,
        activations: &[f32],
        examples: &Examples<'_, f32>,
        (form, trees): (LossForm, Range<usize>),
        threads: &Threads,
    ) -> (f64, Vec<f32>) {
        let (units, labels) = (self.units(), self.labels());
        let scale = scale_of(examples.total_weight());
        let starts = (0..examples.len()).step_by(ROWS);
        let parts = threads.map(starts, |start| {
            let rows = ROWS.min(examples.len() - start);
            let part = &activations[start * units..(start + rows) * units];
            match self {
                OutputLayer::Forest(head) => {
                    let mut gradient = vec![0.0; rows * units];
                    let mut block = Block::new(head.shape());
                    let view = View::row_major(part, rows, units).transposed();
                    vectorise!({
                        block.load_activations(view, 0, rows);
                        block.load_examples(examples, start, rows);
                    });
                    let loss = head.learn_block(&mut block, form, trees.clone(), scale);
                    vectorise!(block.store_gradient(&mut gradient));
                    (loss, gradient)
                }
                OutputLayer::Softmax { .. } => {
                    let mut gradient = part.to_vec();
                    let mut loss = 0.0;
                    for (index, row) in gradient.chunks_exact_mut(labels).enumerate() {
                        let place = examples.rows.map_or(start + index, |rows| rows[start + index]);
                        let target = &examples.targets[place * labels..][..labels];
                        let weight =
                            f64::from(examples.weights.map_or(1.0, |weights| weights[place])) * scale;
                        loss += weight * softmax_loss(row, target, weight as f32);
                    }
                    (loss, gradient)
                }
            }
        });
        let loss = parts.iter().map(|(loss, _)| loss).sum();
        (loss, parts.into_iter().flat_map(|(_, gradient)| gradient).collect())
    }

    /// Updates the leaves by the collected activations of some rows (Eqn. 12), then smooths them along ordered labels by a Gaussian of
    /// `smoothing` labels. A softmax has none.
    pub fn update_leaves(
        &mut self,
        activations: &[f32],
        examples: &Examples<'_, f32>,
        update: &LeafUpdate,
        smoothing: f64,
        threads: &Threads,
    ) {
        if let OutputLayer::Forest(head) = self {
            let units = head.shape().units;
            let rows = activations.len() / units;
            head.update_leaves(&Given(View::row_major(activations, rows, units)), examples, update, threads);
            if smoothing > 0.0 {
                let labels = head.shape().labels;
                smooth(head.leaves_mut(), labels, smoothing);
            }
        }
    }

    /// A forest from its stored parts, checked.
    pub fn forest(shape: ForestShape, units: Vec<u32>, leaves: Vec<f32>) -> Result<Self> {
        shape.check()?;
        if units.iter().any(|&unit| unit as usize >= shape.units) {
            return Err(Error::model_file(
                "a split of the model file refers to a unit that does not exist; the file may be damaged",
            ));
        }
        check_on_simplex(&leaves, shape.labels)?;
        Ok(OutputLayer::Forest(Head::from_parts(shape, units, leaves)))
    }
}

/// `1 / total`, which turns a weighted sum over rows into a mean. Without rows, or where the weights sum to less than a single
/// precision number can hold, it is 0: loss and gradient are then 0 too.
pub(crate) fn scale_of(total: f64) -> f64 {
    if total >= f64::from(f32::MIN_POSITIVE) { 1.0 / total } else { 0.0 }
}

/// `-sum_c d_c ln p_c`; replaces the activations by `weight (p - d)`. A target may not sum to exactly 1.
fn softmax_loss(row: &mut [f32], target: &[f32], weight: f32) -> f64 {
    let logarithm = log_sum_exp(row);
    let mut loss = 0.0;
    for (a, &d) in row.iter_mut().zip(target) {
        let surprise = logarithm - f64::from(*a);
        loss += f64::from(d) * surprise;
        *a = weight * ((-surprise).exp() as f32 - d);
    }
    loss
}

/// Convolves every distribution with a Gaussian and normalises it.
fn smooth(leaves: &mut [f32], labels: usize, deviation: f64) {
    let reach = (3.0 * deviation).ceil() as usize;
    let kernel: Vec<f64> = (0..=reach).map(|step| (-0.5 * (step as f64 / deviation).powi(2)).exp()).collect();
    let mut smoothed = vec![0.0f64; labels];
    for leaf in leaves.chunks_exact_mut(labels) {
        for (label, out) in smoothed.iter_mut().enumerate() {
            let (first, last) = (label.saturating_sub(reach), (label + reach).min(labels - 1));
            *out = (first..=last).map(|other| kernel[label.abs_diff(other)] * f64::from(leaf[other])).sum();
        }
        let sum: f64 = smoothed.iter().sum();
        leaf.iter_mut().zip(&smoothed).for_each(|(q, &s)| *q = (s / sum) as f32);
    }
}
