//! `d2ldl`: label distributions that depend on the data, mixed from a row's own and those of the rows that rebuild it.

use ldlf_core::learner::Abilities;
use ldlf_core::model_file::Parts;
use ldlf_core::parallel::chunks;
use ldlf_core::{
    Dataset, Error, Features, FitContext, Fitted, Learner, LearnerEntry, Matrix, Result, Settings, Threads,
};

use crate::bfgs_ldl::{BfgsLdl, BfgsLdlParameters};
use crate::maximum_entropy::MaximumEntropy;
use crate::nearest::nearest;
use crate::reference_rows::ReferenceRows;
use crate::scaling::Scaling;
use crate::stages::{Stages, was_stopped};

ldlf_core::parameters! {
    /// What `d2ldl` can be told.
    pub struct D2ldlParameters {
        /// Share of a row's target that comes from its neighbours.
        mix: f64 = 0.3, at_least 0, at_most 1;
        /// Neighbours that may take part in rebuilding a row.
        neighbours: usize = 20, at_least 1;
        /// Penalty on the sum of a row's weights, as a share of the one at which all of them vanish.
        sparsity: f64 = 0.1, at_least 0, below 1;
        /// Penalty l2/2 |theta|^2 of the regression; none takes the one that bfgs-ldl chooses for the targets as they are.
        l2: Option<f64> = None, at_least 0;
        /// Largest number of iterations of one minimisation.
        iterations: usize = 500, at_least 1;
        /// Ends a minimisation when an iteration lowers the mean loss by less than this.
        tolerance: f64 = 1e-7, at_least 0;
        /// Share of the rows held back to choose the penalty.
        validation: f64 = 0.2, above 0, below 1;
        /// Bring the features to a common scale first.
        standardise: bool = true;
    }
}

/// For every row `x_i`, weights of its nearest rows `j` that rebuild it,
/// `w = argmin_{w >= 0} 1/2 |x_i - sum_j w_j x_j|^2 + lambda sum_j w_j`, brought to sum 1; then its target becomes
/// `(1 - mix) d_i + mix sum_j w_j d_j`, and the maximum entropy model of [`bfgs_ldl`](crate::bfgs_ldl) is fitted to these.
///
/// A row that its neighbours cannot rebuild keeps its target. Source: He et al.,
/// "Data-dependent label distribution learning for age estimation", TIP 2017.
pub struct D2ldl {
    parameters: D2ldlParameters,
}

impl D2ldl {
    /// The learner with the given parameters.
    pub fn new(parameters: D2ldlParameters) -> Self {
        D2ldl { parameters }
    }

    fn regression(&self, l2: Option<f64>) -> BfgsLdl {
        let D2ldlParameters { iterations, tolerance, validation, standardise, .. } = self.parameters.clone();
        BfgsLdl::new(BfgsLdlParameters {
            l2,
            iterations,
            tolerance,
            memory: 10,
            patience: None,
            validation,
            standardise,
        })
    }
}

impl Learner for D2ldl {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> Settings {
        self.parameters.to_settings()
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        context.refuse_resume(self.name())?;
        let mut l2 = self.parameters.l2;
        let mut stages = Stages::new(if l2.is_none() { 2 } else { 1 });
        if l2.is_none() {
            // Mixed targets share news between rows, held back or not: only the targets as they are can choose a penalty.
            let plain = stages.fit(&self.regression(None), data, context)?;
            if was_stopped(&plain.summary) {
                return Ok(plain);
            }
            let mut parts = Parts::new();
            plain.model.store(&mut parts);
            l2 = parts.detail("l2")?;
        }
        let mixed = Dataset { targets: self.mixed_targets(data, &context.threads)?, ..data.clone() };
        stages.fit(&self.regression(l2), &mixed, context)
    }
}

impl D2ldl {
    fn mixed_targets(&self, data: &Dataset, threads: &Threads) -> Result<Matrix<f32>> {
        let p = &self.parameters;
        let present: Vec<usize> = (0..data.rows()).filter(|&row| data.weight(row) > 0.0).collect();
        if p.mix == 0.0 || present.len() < 2 {
            return Ok(data.targets.clone());
        }
        let scaled = Scaling::choose(p.standardise, data).apply(&data.features);
        let kept = ReferenceRows::new(scaled.select(&present));
        let queries: Vec<usize> = (0..present.len()).collect();
        let itself = |query: usize, row: usize| query == row;
        let neighbours = nearest(&kept, kept.features(), &queries, p.neighbours, threads, Some(&itself));
        let weights = threads.map(chunks(present.len(), 16), |rows| {
            rows.map(|row| rebuilding_weights(kept.features(), row, &neighbours[row], p.sparsity))
                .collect::<Vec<_>>()
        });
        let mut targets = data.targets.clone();
        for ((place, &row), weights) in present.iter().enumerate().zip(weights.iter().flatten()) {
            let total: f64 = weights.iter().sum();
            if total <= 0.0 {
                continue;
            }
            let out = targets.row_mut(row);
            out.iter_mut().for_each(|d| *d *= (1.0 - p.mix) as f32);
            for (&neighbour, weight) in neighbours[place].iter().zip(weights) {
                let share = (p.mix * weight / total) as f32;
                let other = data.targets.row(present[neighbour as usize]);
                out.iter_mut().zip(other).for_each(|(d, &o)| *d += share * o);
            }
        }
        if targets.as_slice().iter().any(|d| !d.is_finite()) {
            return Err(
                Error::training("d2ldl met features too large to compare").with_remedy("scale them down")
            );
        }
        Ok(targets)
    }
}

/// Sweeps over the weights before giving up; a few dozen suffice.
const SWEEPS: usize = 1000;

/// The weights of `neighbours` that rebuild a row, by coordinate descent: each is moved to its best value in turn.
fn rebuilding_weights(rows: &Features, row: usize, neighbours: &[u32], sparsity: f64) -> Vec<f64> {
    let width = rows.cols();
    let mut block = vec![0.0f32; (neighbours.len() + 1) * width];
    for (out, from) in block
        .chunks_exact_mut(width.max(1))
        .zip(std::iter::once(row).chain(neighbours.iter().map(|&neighbour| neighbour as usize)))
    {
        rows.copy_row_into(from, out);
    }
    let (own, others) = block.split_at(width);
    let others: Vec<&[f32]> = others.chunks_exact(width.max(1)).collect();
    let wanted: Vec<f64> = others.iter().map(|other| dot(own, other)).collect();
    let gram: Vec<Vec<f64>> = others.iter().map(|a| others.iter().map(|b| dot(a, b)).collect()).collect();
    let penalty = sparsity * wanted.iter().copied().fold(0.0, f64::max);
    let mut weights = vec![0.0f64; others.len()];
    for _ in 0..SWEEPS {
        let mut moved = 0.0f64;
        for j in 0..weights.len() {
            let length = gram[j][j];
            if length <= 0.0 {
                continue;
            }
            let explained: f64 = gram[j].iter().zip(&weights).map(|(g, w)| g * w).sum();
            let best = (weights[j] + (wanted[j] - explained - penalty) / length).max(0.0);
            moved = moved.max((best - weights[j]).abs());
            weights[j] = best;
        }
        if moved < 1e-9 {
            break;
        }
    }
    weights
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
}

/// `d2ldl` for the registry.
pub const ENTRY: LearnerEntry = LearnerEntry {
    name: "d2ldl",
    summary: "targets mixed with those of the rows that rebuild a row, then the maximum entropy model",
    source: "He et al., Data-dependent label distribution learning for age estimation, IEEE TIP 26(8), 2017",
    abilities: Abilities { sparse: true, weights: true, iterates: true, ordered: false, images: false },
    parameters: D2ldlParameters::declared,
    presets: Vec::new,
    build: |settings| Ok(Box::new(D2ldl::new(D2ldlParameters::from_settings(settings)?))),
    load: MaximumEntropy::load,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Case {
        rows: Vec<[f32; 6]>,
        sparsity: f64,
        weights: Vec<f64>,
    }

    #[test]
    fn weights_are_those_of_scipys_non_negative_least_squares() {
        // tests/oracles/d2ldl.py: the penalised problem as a least squares problem for scipy.optimize.nnls.
        let case: Case = serde_json::from_str(include_str!("../tests/oracles/d2ldl.json")).unwrap();
        let rows = Features::Dense(Matrix::from_rows(&case.rows));
        let neighbours: Vec<u32> = (1..case.rows.len() as u32).collect();
        let weights = rebuilding_weights(&rows, 0, &neighbours, case.sparsity);
        for (found, expected) in weights.iter().zip(&case.weights) {
            assert!((found - expected).abs() < 1e-6, "{weights:?}, SciPy has {:?}", case.weights);
        }
        assert!(weights.contains(&0.0), "some neighbours take no part");
    }
}
