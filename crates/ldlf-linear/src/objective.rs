//! The loss of the maximum entropy model, `p(y|x) = softmax(theta x + b)_y`, on some rows, with its gradient.
//!
//! Shapes: `theta` is `[features + 1, labels]`, one row per feature and the bias last.

use ldlf_core::dataset::Tabular;
use ldlf_core::{Dataset, Features, Threads};
use ldlf_math::parallel::chunks;
use ldlf_math::product::{Accumulate, View, ViewMut, product};

use crate::centring::Centring;
use crate::softmax_loss::{negative_entropy, soften};

/// Rows per matrix product: in double precision they stay in the cache.
pub const BLOCK: usize = 64;

/// Writes `theta x + b` of the rows from `start` on into `scores` `[rows, labels]`; `buffer` holds dense rows in double
/// precision when it returns.
pub fn linear_scores(
    rows: &Features,
    start: usize,
    theta: &[f64],
    buffer: &mut Vec<f64>,
    scores: &mut [f64],
) {
    let columns = rows.cols();
    let labels = theta.len() / (columns + 1);
    let count = scores.len() / labels;
    let bias = &theta[columns * labels..];
    for scores in scores.chunks_exact_mut(labels) {
        scores.copy_from_slice(bias);
    }
    match rows {
        Features::Dense(m) => {
            buffer.clear();
            buffer.extend(
                m.as_slice()[start * columns..(start + count) * columns].iter().map(|&x| f64::from(x)),
            );
            product(
                Accumulate::Add,
                ViewMut::row_major(scores, count, labels),
                View::row_major(buffer, count, columns),
                View::row_major(&theta[..columns * labels], columns, labels),
            );
        }
        Features::Sparse(m) => {
            for (row, scores) in scores.chunks_exact_mut(labels).enumerate() {
                let (columns, values) = m.row(start + row);
                for (&column, &x) in columns.iter().zip(values) {
                    let weights = &theta[column as usize * labels..][..labels];
                    scores.iter_mut().zip(weights).for_each(|(s, w)| *s += f64::from(x) * w);
                }
            }
        }
    }
}

/// The loss of a maximum entropy model on some rows, with its gradient:
/// `1/W (sum_i w_i K-L(d_i, p_i) + l2/2 |theta|^2)`, `W = sum_i w_i`; the bias carries no penalty.
pub struct Objective<'d> {
    data: Tabular<'d>,
    /// The weight of all rows.
    total: f64,
    /// `sum_i w_i sum_y d_iy ln d_iy`, which turns a cross-entropy into a K-L divergence.
    entropy: f64,
    l2: f64,
    chunks: Vec<RowChunk>,
    threads: Threads,
}

/// What one chunk of rows adds to the loss and the gradient, with its buffers.
struct RowChunk {
    rows: std::ops::Range<usize>,
    loss: f64,
    gradient: Vec<f64>,
    buffer: Vec<f64>,
    scores: Vec<f64>,
}

impl<'d> Objective<'d> {
    /// The loss on rows whose features are scaled.
    pub fn new(data: Tabular<'d>, l2: f64, threads: &Threads) -> Self {
        let rows = data.features;
        let (labels, size) = (data.labels(), (rows.cols() + 1) * data.labels());
        // At most 32 chunks, so that their gradients stay small beside the data.
        let chunks = chunks(rows.rows(), rows.rows().div_ceil(32).max(4 * BLOCK))
            .map(|rows| RowChunk {
                rows,
                loss: 0.0,
                gradient: vec![0.0; size],
                buffer: Vec::new(),
                scores: vec![0.0; BLOCK * labels],
            })
            .collect();
        let total = (0..data.rows()).map(|row| f64::from(data.weight(row))).sum();
        let entropy = negative_entropy(&data);
        Objective { data, total, entropy, l2, chunks, threads: threads.clone() }
    }

    /// Sets the penalty.
    pub fn penalise(&mut self, l2: f64) {
        self.l2 = l2;
    }

    /// Centred parameters, in which L-BFGS converges faster.
    pub fn centring(&self) -> Centring {
        Centring::new(self.data.features, &self.data)
    }

    /// The scaled features.
    pub fn rows(&self) -> &Features {
        self.data.features
    }

    /// The loss at `theta`, without penalty; writes `w_i p(y|x_i)` to `masses`, `[labels, rows]`.
    pub fn masses(&self, theta: &[f64], masses: &mut [f64]) -> f64 {
        let (count, labels) = (self.data.rows(), self.data.labels());
        let ranges = self.chunks.iter().map(|chunk| chunk.rows.clone());
        let losses = self.threads.map(ranges, |range: std::ops::Range<usize>| {
            let mut scores = vec![0.0; range.len() * labels];
            linear_scores(self.data.features, range.start, theta, &mut Vec::new(), &mut scores);
            let rows = range.zip(scores.chunks_exact_mut(labels));
            let loss: f64 = rows
                .map(|(row, scores)| {
                    soften(scores, self.data.targets().row(row), f64::from(self.data.weight(row)))
                })
                .sum();
            (loss, scores)
        });
        let mut loss = self.entropy;
        let mut row = 0;
        for (part, scores) in losses {
            loss += part;
            for scores in scores.chunks_exact(labels) {
                scores.iter().enumerate().for_each(|(label, &mass)| masses[label * count + row] = mass);
                row += 1;
            }
        }
        loss / self.total
    }

    /// The loss at `theta`; writes its gradient.
    pub fn evaluate(&mut self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let (rows, data) = (self.data.features, self.data);
        self.threads.for_each_mut(&mut self.chunks, |_, chunk| chunk.evaluate(rows, &data, theta));
        let penalised = rows.cols() * data.labels();
        let mut loss = self.entropy;
        for (index, g) in gradient.iter_mut().enumerate() {
            *g = if index < penalised { self.l2 * theta[index] } else { 0.0 };
        }
        loss += 0.5 * self.l2 * theta[..penalised].iter().map(|t| t * t).sum::<f64>();
        for chunk in &self.chunks {
            loss += chunk.loss;
            gradient.iter_mut().zip(&chunk.gradient).for_each(|(g, p)| *g += p);
        }
        gradient.iter_mut().for_each(|g| *g /= self.total);
        loss / self.total
    }
}

impl RowChunk {
    /// `-sum_i w_i sum_y d_iy ln p_iy` over the rows of this chunk, and its gradient `sum_i w_i (p_i - d_i) x_i`.
    fn evaluate(&mut self, rows: &Features, data: &Dataset, theta: &[f64]) {
        let labels = data.labels();
        let columns = rows.cols();
        self.loss = 0.0;
        self.gradient.fill(0.0);
        for start in self.rows.clone().step_by(BLOCK) {
            let count = BLOCK.min(self.rows.end - start);
            let scores = &mut self.scores[..count * labels];
            linear_scores(rows, start, theta, &mut self.buffer, scores);
            let (slopes, bias) = self.gradient.split_at_mut(columns * labels);
            for (row, scores) in (start..).zip(scores.chunks_exact_mut(labels)) {
                let (target, weight) = (data.targets().row(row), f64::from(data.weight(row)));
                self.loss += soften(scores, target, weight);
                for ((residual, bias), &d) in scores.iter_mut().zip(&mut *bias).zip(target) {
                    *residual -= weight * f64::from(d);
                    *bias += *residual;
                }
            }
            match rows {
                Features::Dense(_) => product(
                    Accumulate::Add,
                    ViewMut::row_major(slopes, columns, labels),
                    View::row_major(&self.buffer, count, columns).transposed(),
                    View::row_major(scores, count, labels),
                ),
                Features::Sparse(m) => {
                    for (row, residual) in (start..).zip(scores.chunks_exact(labels)) {
                        let (columns, values) = m.row(row);
                        for (&column, &x) in columns.iter().zip(values) {
                            let slopes = &mut slopes[column as usize * labels..][..labels];
                            slopes.iter_mut().zip(residual).for_each(|(g, r)| *g += f64::from(x) * r);
                        }
                    }
                }
            }
        }
    }
}
