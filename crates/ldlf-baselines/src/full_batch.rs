//! The loss of a network on all rows at once, for optimisers that need the full gradient.

use std::ops::Range;

use ldlf_core::{Dataset, Features, Result, Threads};
use ldlf_linear::softmax_loss::negative_entropy;
use ldlf_math::parallel::chunks;

use crate::network::{BLOCK, Batch, Network, Pass};
use crate::scaling::Scaling;

/// Penalty on the mean activation of hidden units: `strength sum_j K-L(activity || mean activation of unit j)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sparsity {
    pub(crate) strength: f64,
    pub(crate) activity: f64,
}

/// `1/W (sum_i w_i K-L(d_i, p_i) + l2/2 |weights|^2)` plus the sparsity penalty; `W = sum_i w_i`.
pub(crate) struct FullBatch<'d> {
    network: Network,
    rows: Features,
    data: &'d Dataset,
    l2: f64,
    sparsity: Option<Sparsity>,
    total: f64,
    /// `sum_i w_i sum_y d_iy ln d_iy`.
    entropy: f64,
    chunks: Vec<RowChunk>,
    threads: Threads,
}

/// What one chunk of rows adds, with its buffers.
struct RowChunk {
    rows: Range<usize>,
    loss: f64,
    gradient: Vec<f64>,
    activity: Vec<f64>,
    pass: Pass<f64>,
}

impl<'d> FullBatch<'d> {
    pub(crate) fn new(
        network: &Network,
        data: &'d Dataset,
        scaling: &Scaling,
        l2: f64,
        sparsity: Option<Sparsity>,
        threads: &Threads,
    ) -> Result<Self> {
        let rows = scaling.apply(data.features()?);
        // At most 16 chunks, so that their gradients stay small beside the data.
        let chunks = chunks(data.rows(), data.rows().div_ceil(16).max(2 * BLOCK))
            .map(|rows| RowChunk {
                rows,
                loss: 0.0,
                gradient: vec![0.0; network.size()],
                activity: vec![0.0; network.hidden],
                pass: Pass::new(),
            })
            .collect();
        let total = (0..data.rows()).map(|row| f64::from(data.weight(row))).sum();
        let entropy = negative_entropy(data);
        let (network, threads) = (network.clone(), threads.clone());
        Ok(FullBatch { network, rows, data, l2, sparsity, total, entropy, chunks, threads })
    }

    /// The loss at `weights`; writes its gradient.
    pub(crate) fn evaluate(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let (penalty, pull) = match self.sparsity {
            None => (0.0, Vec::new()),
            Some(sparsity) => self.sparsity_penalty(sparsity, weights),
        };
        let (network, batch) = (&self.network, Batch { rows: &self.rows, data: self.data, pull: &pull });
        self.threads.for_each_mut(&mut self.chunks, |_, chunk| chunk.learn(network, batch, weights));
        gradient.fill(0.0);
        let mut loss = self.entropy;
        for range in network.penalised() {
            for (g, w) in gradient[range.clone()].iter_mut().zip(&weights[range]) {
                *g = self.l2 * w;
                loss += 0.5 * self.l2 * w * w;
            }
        }
        for chunk in &self.chunks {
            loss += chunk.loss;
            gradient.iter_mut().zip(&chunk.gradient).for_each(|(g, p)| *g += p);
        }
        gradient.iter_mut().for_each(|g| *g /= self.total);
        loss / self.total + penalty
    }

    /// The sparsity penalty and its derivative by each unit's mean activation.
    fn sparsity_penalty(&mut self, sparsity: Sparsity, weights: &[f64]) -> (f64, Vec<f64>) {
        let (network, rows, data) = (&self.network, &self.rows, self.data);
        self.threads
            .for_each_mut(&mut self.chunks, |_, chunk| chunk.measure_activity(network, rows, data, weights));
        let Sparsity { strength, activity: rho } = sparsity;
        let mut penalty = 0.0;
        let pull = (0..network.hidden)
            .map(|unit| {
                let sum: f64 = self.chunks.iter().map(|chunk| chunk.activity[unit]).sum();
                // A unit that is always on or off would have an infinite gradient.
                let mean = (sum / self.total).clamp(1e-6, 1.0 - 1e-6);
                penalty +=
                    strength * (rho * (rho / mean).ln() + (1.0 - rho) * ((1.0 - rho) / (1.0 - mean)).ln());
                strength * ((1.0 - rho) / (1.0 - mean) - rho / mean)
            })
            .collect();
        (penalty, pull)
    }
}

impl RowChunk {
    fn blocks(&self) -> impl Iterator<Item = Vec<usize>> + use<> {
        let Range { start, end } = self.rows;
        (start..end).step_by(BLOCK).map(move |first| (first..end.min(first + BLOCK)).collect())
    }

    fn learn(&mut self, network: &Network, batch: Batch<'_>, weights: &[f64]) {
        self.loss = 0.0;
        self.gradient.fill(0.0);
        for ids in self.blocks() {
            self.loss += network.learn(weights, batch, &ids, &mut self.pass, &mut self.gradient);
        }
    }

    fn measure_activity(&mut self, network: &Network, rows: &Features, data: &Dataset, weights: &[f64]) {
        self.activity.fill(0.0);
        for ids in self.blocks() {
            network.forward(weights, rows, &ids, &mut self.pass);
            for (&id, hidden) in ids.iter().zip(self.pass.hidden.chunks_exact(network.hidden)) {
                let weight = f64::from(data.weight(id));
                self.activity.iter_mut().zip(hidden).for_each(|(sum, h)| *sum += weight * h);
            }
        }
    }
}
