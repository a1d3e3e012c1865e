//! `d2ldl`: data-dependent label distributions, mixed from a row's own and those of the neighbours that reconstruct it.

use std::ops::ControlFlow;

use ldlf_core::learner::Summary;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{
    Algorithm, Auto, Checked, Dataset, Error, Facts, Features, FitContext, Fitted, Matrix, Model, Preset,
    Result, StopReason, Threads,
};
use ldlf_math::parallel::chunks;

use crate::bfgs_ldl::{BfgsLdl, BfgsLdlParameters, splits};
use crate::maximum_entropy::MaximumEntropy;
use crate::nearest::nearest;
use crate::progress::mean_kl;
use crate::reference_rows::ReferenceRows;
use crate::scaling::{FeatureScaling, Scaling};
use crate::stages::{Stages, was_stopped};

ldlf_core::parameters! {
    /// Parameters of `d2ldl`.
    pub struct D2LdlParameters, builder D2LdlParams for D2Ldl {
        /// Fraction of a row's target that is rebuilt from its neighbors and the predictions; auto chooses 0, 0.1, 0.2, 0.3 or 0.5 on
        /// held-out rows.
        mix: Auto<f64> = Auto::Auto, at_least 0, at_most 1;
        /// Maximum number of rounds: new targets, then a fit to them.
        rounds: usize = 3, at_least 1;
        /// Number of neighbors that may take part in reconstructing a row.
        neighbors: usize = 20, at_least 1, known_as "n_neighbors";
        /// L1 penalty on the reconstruction weights of a row, as a fraction of the one at which all of them vanish.
        l1: f64 = 0.1, at_least 0, below 1;
        /// L2 penalty `l2/2 |theta|^2` of the regression; auto takes the one that `bfgs-ldl` chooses for the unmixed targets.
        l2: Auto<f64> = Auto::Auto, at_least 0;
        /// Maximum number of iterations of a minimisation.
        iterations: usize = 500, at_least 1, known_as "max_iter";
        /// Stops when an iteration lowers the mean loss by less than this.
        tolerance: f64 = 1e-7, at_least 0, known_as "tol";
        /// Fraction of the training rows held out to choose what is auto.
        validation_fraction: f64 = 0.2, above 0, below 1;
        /// How features are scaled.
        scaling: FeatureScaling = FeatureScaling::Standard;
    }
}

/// For every row `x_i`, weights of its nearest rows `j` that reconstruct it,
/// `w = argmin_{w >= 0} 1/2 |x_i - sum_j w_j x_j|^2 + lambda sum_j w_j`, normalised to sum 1. Then targets and predictor follow each
/// other: from targets `t = d` and the maximum entropy model of [`bfgs_ldl`](crate::bfgs_ldl) fitted to them, a round sets
/// `t_i = (1 - mix) d_i + mix/2 (sum_j w_j t_j + p_i)` with the predictions `p`, and fits the model to `t`, until the targets settle.
///
/// A row that its neighbours cannot reconstruct keeps its target. Held-out rows are measured against their own targets, and only rows
/// that learn are neighbours there; with `mix=0` the model is that of `bfgs-ldl`. Source: He et al., "Data-dependent label
/// distribution learning for age estimation", TIP 2017, which fits targets and predictor together, in alternation; the weights of its
/// terms are not known here.
///
/// On five folds of FG-Net with raw features every search chooses `mix=0`: K-L 0.6649 and an error of the mode of 4.44 years, as
/// `bfgs-ldl`; `mix=0.1` has 0.6688 and 4.55. A likely cause: mixing widens targets that are Gaussians already.
pub struct D2Ldl;

impl Algorithm for D2Ldl {
    type Parameters = D2LdlParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        exports: true,
        ..Facts::new(
            "d2ldl",
            "the maximum entropy model and targets rebuilt from neighbors and predictions, in alternation",
            "He et al., Data-dependent label distribution learning for age estimation, IEEE TIP 26(8), 2017",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: targets always rebuilt from the neighbors, in alternation with the fit, raw features; the fraction and the number of neighbors are ours, the publication's are not known here",
            ["mix=0.3", "scaling=raw"],
        )]
    }

    fn fit(p: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let splits = match p.mix {
            Auto::Auto => splits(p.validation_fraction, data, context.seed),
            Auto::Given(_) => Vec::new(),
        };
        let mut stages =
            Stages::new((1 + splits.len() * MIXES.len()).saturating_mul(p.rounds.saturating_add(1)));
        // The penalty is chosen for the unmixed targets.
        let plain = stages.fit(&p.regression(p.l2)?, data, context)?;
        if was_stopped(&plain.summary) {
            return Ok(plain);
        }
        let mut parts = Parts::new();
        plain.model.store(&mut parts);
        let l2 = parts.detail::<Option<f64>>("l2")?.map_or(Auto::Auto, Auto::Given);
        let regression = p.regression(l2)?;
        let mix = match p.mix {
            Auto::Given(mix) => mix,
            Auto::Auto => match p.choose_mix(&regression, &splits, &mut stages, context)? {
                ControlFlow::Continue(mix) => mix,
                ControlFlow::Break(reason) => {
                    return Ok(Fitted { summary: Summary { stopped: reason, ..plain.summary }, ..plain });
                }
            },
        };
        let predicted = plain.model.predict(data.inputs(), &context.threads)?.into_distributions()?;
        let before = plain.summary.iterations;
        let mut fitted =
            p.alternate(&regression, mix, data, predicted, &mut stages, context)?.unwrap_or(plain);
        fitted.summary.iterations += if mix > 0.0 { before } else { 0 };
        Ok(fitted)
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        MaximumEntropy::load(parts, shape)
    }
}

impl D2LdlParameters {
    fn regression(&self, l2: Auto<f64>) -> Result<Checked<BfgsLdl>> {
        Checked::new(BfgsLdlParameters {
            l2,
            iterations: self.iterations,
            tolerance: self.tolerance,
            memory: 10,
            patience: None,
            validation_fraction: self.validation_fraction,
            scaling: self.scaling,
        })
    }

    /// Rounds of new targets and a fit to them, from the predictions of a model of the unmixed ones; none where nothing is mixed.
    fn alternate(
        &self,
        regression: &Checked<BfgsLdl>,
        mix: f64,
        data: &Dataset,
        mut predicted: Matrix<f32>,
        stages: &mut Stages,
        context: &mut FitContext<'_>,
    ) -> Result<Option<Fitted>> {
        let Some(neighbourhood) = self.neighbourhood(mix, data, &context.threads)? else { return Ok(None) };
        let (mut last, mut targets): (Option<Fitted>, _) = (None, data.targets().clone());
        for _ in 0..self.rounds {
            let rebuilt = neighbourhood.rebuilt(mix, data.targets(), &targets, &predicted)?;
            let moved = rebuilt.as_slice().iter().zip(targets.as_slice());
            let moved: f64 = moved.map(|(a, b)| f64::from((a - b).abs())).sum();
            if moved <= SETTLED * data.rows() as f64 {
                break;
            }
            targets = rebuilt;
            let mut fitted = stages.fit(regression, &data.clone().with_targets(targets.clone())?, context)?;
            fitted.summary.iterations += last.map_or(0, |last| last.summary.iterations);
            let stopped = was_stopped(&fitted.summary);
            predicted = fitted.model.predict(data.inputs(), &context.threads)?.into_distributions()?;
            last = Some(fitted);
            if stopped {
                break;
            }
        }
        Ok(last)
    }

    /// The last of the rising fractions that lowers the held-out K-L, or why the search was stopped.
    fn choose_mix(
        &self,
        regression: &Checked<BfgsLdl>,
        splits: &[(Dataset, Dataset)],
        stages: &mut Stages,
        context: &mut FitContext<'_>,
    ) -> Result<ControlFlow<StopReason, f64>> {
        let (mut least, mut best) = (0.0, 0.0);
        let mut first = Vec::with_capacity(splits.len());
        for (training, held) in splits {
            let plain = stages.fit(regression, training, context)?;
            if was_stopped(&plain.summary) {
                return Ok(ControlFlow::Break(plain.summary.stopped));
            }
            least += mean_kl(&*plain.model, held, &context.threads)?;
            first.push(plain.model.predict(training.inputs(), &context.threads)?.into_distributions()?);
        }
        for mix in MIXES.into_iter().filter(|_| !splits.is_empty()) {
            let mut sum = 0.0;
            for ((training, held), first) in splits.iter().zip(&first) {
                let fitted = self.alternate(regression, mix, training, first.clone(), stages, context)?;
                // Too few rows to mix, or targets that settle at once: nothing to gain.
                let Some(fitted) = fitted else { return Ok(ControlFlow::Continue(best)) };
                if was_stopped(&fitted.summary) {
                    return Ok(ControlFlow::Break(fitted.summary.stopped));
                }
                sum += mean_kl(&*fitted.model, held, &context.threads)?;
            }
            if sum >= least {
                break;
            }
            (least, best) = (sum, mix);
        }
        Ok(ControlFlow::Continue(best))
    }

    /// The neighbours of every row with a weight; none where nothing is mixed.
    fn neighbourhood(&self, mix: f64, data: &Dataset, threads: &Threads) -> Result<Option<Neighbourhood>> {
        let present: Vec<usize> = (0..data.rows()).filter(|&row| data.weight(row) > 0.0).collect();
        if mix == 0.0 || present.len() < 2 {
            return Ok(None);
        }
        let scaled = Scaling::choose(self.scaling, data)?.apply(data.features()?);
        let kept = ReferenceRows::new(scaled.select(&present));
        let queries: Vec<usize> = (0..present.len()).collect();
        let itself = |query: usize, row: usize| query == row;
        let neighbours = nearest(&kept, kept.features(), &queries, self.neighbors, threads, Some(&itself));
        let weights = threads.map(chunks(present.len(), 16), |rows| {
            rows.map(|row| rebuilding_weights(kept.features(), row, &neighbours[row], self.l1))
                .collect::<Vec<_>>()
        });
        let of_row = |(neighbours, weights): (Vec<u32>, Vec<f64>)| {
            let total: f64 = weights.iter().sum();
            neighbours
                .iter()
                .zip(weights)
                .filter(|(_, weight)| *weight > 0.0)
                .map(|(&neighbour, weight)| (present[neighbour as usize], weight / total))
                .collect::<Vec<_>>()
        };
        let weights = neighbours.into_iter().zip(weights.into_iter().flatten()).map(of_row);
        let rows: Vec<_> = present.iter().copied().zip(weights).collect();
        Ok(Some(Neighbourhood { rows }))
    }
}

/// Fractions tried with `auto`, beside 0.
const MIXES: [f64; 4] = [0.1, 0.2, 0.3, 0.5];

/// Targets that move by less than this per row, summed over labels, have settled.
const SETTLED: f64 = 1e-3;

/// Rows with their neighbours and the weights of these, which sum to 1.
struct Neighbourhood {
    rows: Vec<(usize, Vec<(usize, f64)>)>,
}

impl Neighbourhood {
    /// `(1 - mix) d_i + mix/2 (sum_j w_j t_j + p_i)` for rows with neighbours, `d_i` for the others.
    fn rebuilt(
        &self,
        mix: f64,
        given: &Matrix<f32>,
        targets: &Matrix<f32>,
        predicted: &Matrix<f32>,
    ) -> Result<Matrix<f32>> {
        let mut rebuilt = given.clone();
        for (row, neighbours) in self.rows.iter().filter(|(_, neighbours)| !neighbours.is_empty()) {
            let out = rebuilt.row_mut(*row);
            out.iter_mut().for_each(|d| *d *= (1.0 - mix) as f32);
            let mut add = |factor: f64, other: &[f32]| {
                out.iter_mut().zip(other).for_each(|(d, &o)| *d += (factor * f64::from(o)) as f32);
            };
            add(0.5 * mix, predicted.row(*row));
            neighbours.iter().for_each(|&(other, weight)| add(0.5 * mix * weight, targets.row(other)));
        }
        if rebuilt.as_slice().iter().any(|d| !d.is_finite()) {
            return Err(
                Error::training("d2ldl met features too large to compare").with_remedy("scale them down")
            );
        }
        Ok(rebuilt)
    }
}

/// Maximum number of sweeps over the weights; a few dozen suffice.
const SWEEPS: usize = 1000;

/// The weights of `neighbours` that reconstruct a row, by coordinate descent: each is set to its best value in turn.
fn rebuilding_weights(rows: &Features, row: usize, neighbours: &[u32], l1: f64) -> Vec<f64> {
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
    let penalty = l1 * wanted.iter().copied().fold(0.0, f64::max);
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

    #[test]
    fn a_target_is_rebuilt_from_its_own_its_neighbours_and_its_prediction() {
        let neighbourhood = Neighbourhood { rows: vec![(0, vec![(1, 0.25), (2, 0.75)]), (2, vec![])] };
        let given = Matrix::from_rows(&[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]);
        let targets = Matrix::from_rows(&[[1.0, 0.0], [0.6, 0.4], [0.2, 0.8]]);
        let predicted = Matrix::from_rows(&[[0.9, 0.1], [0.5, 0.5], [0.5, 0.5]]);
        let rebuilt = neighbourhood.rebuilt(0.4, &given, &targets, &predicted).unwrap();
        // 0.6 * 1 + 0.2 (0.25 * 0.6 + 0.75 * 0.2) + 0.2 * 0.9
        assert!((rebuilt.row(0)[0] - 0.84).abs() < 1e-6 && (rebuilt.row(0)[1] - 0.16).abs() < 1e-6);
        assert_eq!((rebuilt.row(1), rebuilt.row(2)), (given.row(1), given.row(2)));
    }
}
