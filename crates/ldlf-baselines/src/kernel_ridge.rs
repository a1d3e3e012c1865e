//! `kernel-ridge`: ridge regression of the log-ratios of a distribution, with a Laplace kernel.
//!
//! Different in kind from trees and from the maximum entropy model: smooth in the distance to every training row, and solved at once.
//! Cost of `n` rows: two packed lower halves of an `n x n` matrix in single precision (`4 n^2` bytes; 196 MB at 7,000 rows) and
//! one Cholesky factorisation (`n^3 / 3` products). What is `auto` is chosen on held-out rows from at most `search_rows` training rows.

use std::ops::ControlFlow;

use ldlf_core::graph::{Flow, Graph, Kind};
use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Facts, FitContext, FitEvent, Fitted, InProgress, Inputs, Matrix, Model,
    Prediction, Result, Threads, Value,
};
use ldlf_math::memory;
use ldlf_math::numeric::softmax_in_place_f32;

use crate::kernel::{Kernel, KernelSystem};
use crate::kernel_search::{Axis, Candidate, Search, search_rows};
use crate::progress::mean_kl;
use crate::reference_rows::ReferenceRows;
use crate::scaling::{FeatureScaling, Scaling};

ldlf_core::parameters! {
    /// Parameters of `kernel-ridge`.
    pub struct KernelRidgeParameters, builder KernelRidgeParams for KernelRidge {
        /// Ridge penalty; auto chooses it on held-out rows, from 1e-5 to 1000.
        penalty: Auto<f64> = Auto::Auto, above 0, known_as "alpha";
        /// Distance at which the kernel falls to 1/e, as a multiple of the mean distance between training rows; auto chooses it on held-out rows, from 0.0625 to 64.
        width: Auto<f64> = Auto::Auto, above 0;
        /// Least share of a label before its logarithm is taken; auto chooses it on held-out rows, from 1e-6 to 0.3.
        target_clip: Auto<f64> = Auto::Auto, above 0, below 0.5;
        /// How features are scaled; auto chooses it on held-out rows.
        scaling: Auto<FeatureScaling> = Auto::Auto;
        /// Maximum number of training rows used to choose what is auto.
        search_rows: usize = 1500, at_least 2;
    }
}

/// Centred log-ratios `z_j = ln d_j - mean_k ln d_k` of targets floored at `target_clip`; with `b` their mean over the rows,
/// `beta = (K + penalty W^-1)^-1 (z - b)` for the kernel `k(x, y) = exp(-|x - y| / s)` and the weights `W` of the rows;
/// `p(x) = softmax(sum_i k(x, x_i) beta_i + b)`.
pub struct KernelRidge;

/// What is chosen on held-out rows where it is not given.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Chosen {
    scaling: FeatureScaling,
    clip: f64,
    penalty: f64,
    width: f64,
}

/// Places of the axes in the walk.
const PENALTY: usize = 0;
const WIDTH: usize = 1;
const CLIP: usize = 2;

impl Candidate for Chosen {
    const AXES: &'static [Axis<Self>] = &[
        Axis { first: [0.3, 0.03, 3.0], factor: 3.0, least: 1e-5, most: 1e3, value: |c| &mut c.penalty },
        Axis { first: [2.0, 0.5, 8.0], factor: 2.0, least: 0.0625, most: 64.0, value: |c| &mut c.width },
        Axis { first: [0.01, 0.03, 0.001], factor: 3.0, least: 1e-6, most: 0.3, value: |c| &mut c.clip },
    ];

    fn scaling(&mut self) -> &mut FeatureScaling {
        &mut self.scaling
    }

    fn kernel_system(&self, training: &Dataset, context: &FitContext<'_>) -> Result<KernelSystem> {
        let threads = &context.threads;
        KernelSystem::new(training, self.scaling, |rows| Kernel::laplace(self.width, rows, threads), threads)
    }

    fn shares_kernel(&self, other: &Self) -> bool {
        (self.scaling, self.width) == (other.scaling, other.width)
    }
}

impl KernelRidgeParameters {
    /// Scaling and penalty first, then how far the kernel reaches and how far zeros are raised, then a walk past every edge that wins.
    fn choose(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<(Chosen, Option<f64>)> {
        let p = self;
        let first = Chosen {
            scaling: p.scaling.unwrap_or(FeatureScaling::Standard),
            clip: p.target_clip.unwrap_or(0.01),
            penalty: p.penalty.unwrap_or(0.3),
            width: p.width.unwrap_or(2.0),
        };
        let is_auto = vec![p.penalty.is_auto(), p.width.is_auto(), p.target_clip.is_auto()];
        if !p.scaling.is_auto() && !is_auto.contains(&true) {
            return Ok((first, None));
        }
        let Some((training, validation)) = search_rows(data, p.search_rows, context) else {
            return Ok((first, None));
        };
        let measure = |at: &KernelSystem,
                       chosen: Chosen,
                       training: &Dataset,
                       validation: &Dataset,
                       context: &FitContext<'_>| {
            // A setting whose system cannot be solved is not chosen.
            match KernelRidgeModel::solve(at, training, chosen, &context.threads) {
                Some(model) => mean_kl(&model, validation, &context.threads),
                None => Ok(f64::INFINITY),
            }
        };
        let mut search = Search::new((&training, &validation), first, is_auto, &measure);
        search.grid(Some(p.scaling), &[PENALTY], context)?;
        search.grid(None, &[WIDTH, CLIP], context)?;
        search.walk(context)?;
        Ok((search.best, Some(search.least)))
    }
}

impl Algorithm for KernelRidge {
    type Parameters = KernelRidgeParameters;

    const FACTS: Facts = Facts {
        exports: true,
        ..Facts::new(
            "kernel-ridge",
            "ridge regression of log-ratios with a Laplace kernel",
            "log-ratios: Aitchison 1982, The statistical analysis of compositional data; kernel ridge regression: Saunders, Gammerman and Vovk 1998",
        )
    };

    fn fit(parameters: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let present: Vec<usize> = (0..data.rows()).filter(|&row| data.weight(row) > 0.0).collect();
        let data = &data.select(&present);
        let rows = [("rows", data.rows()), ("rows", data.rows())];
        memory::check("the kernel matrix and its factor", &rows, size_of::<f32>())?;
        let (chosen, validation_kl) = parameters.choose(data, context)?;
        let at = chosen.kernel_system(data, context)?;
        let model = KernelRidgeModel::solve(&at, data, chosen, &context.threads).ok_or_else(|| {
            Error::training("the linear system is not positive definite in single precision")
                .with_remedy(format!("raise penalty (now {})", chosen.penalty))
                .of_learner("kernel-ridge")
        })?;
        let mut summary = Summary { validation_kl, ..Summary::at_once() };
        let event = FitEvent::Iteration { iteration: 1, total: 1, loss: validation_kl };
        if let ControlFlow::Break(reason) = context.report(event, &model) {
            summary.stopped = reason;
        }
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        let scaling = Scaling::load(parts, shape.features)?;
        let kept = ReferenceRows::load(parts, shape.features)?;
        let beta = parts.f32s("beta", &[kept.len(), shape.labels])?;
        let bias = parts.f32s("bias", &[shape.labels])?;
        let rate: f32 = parts.detail("rate")?;
        if !(rate.is_finite() && rate >= 0.0) {
            return Err(Error::model_file(format!(
                "the model file's \"rate\" should be at least 0, found {rate}"
            )));
        }
        let (penalty, target_clip) = (parts.detail("penalty")?, parts.detail("target_clip")?);
        Ok(Box::new(KernelRidgeModel { scaling, kept, rate, beta, bias, penalty, target_clip }))
    }
}

/// The training rows and their coefficients.
struct KernelRidgeModel {
    scaling: Scaling,
    kept: ReferenceRows,
    rate: f32,
    /// `[rows, labels]` in row order.
    beta: Vec<f32>,
    bias: Vec<f32>,
    /// The penalty and the clip in use, for `inspect`.
    penalty: f64,
    target_clip: f64,
}

impl KernelRidgeModel {
    /// The coefficients of all labels from one factorisation; none where the matrix is not positive definite.
    fn solve(at: &KernelSystem, data: &Dataset, chosen: Chosen, threads: &Threads) -> Option<Self> {
        let Kernel::Laplace { rate } = at.kernel else { unreachable!("kernel-ridge has a Laplace kernel") };
        let labels = data.labels();
        let mut beta = log_ratios(data.targets(), chosen.clip);
        let bias = weighted_mean(&beta, data);
        for row in beta.chunks_exact_mut(labels) {
            row.iter_mut().zip(&bias).for_each(|(z, b)| *z -= b);
        }
        let rows: Vec<usize> = (0..data.rows()).collect();
        let diagonal: Vec<f32> =
            rows.iter().map(|&row| (chosen.penalty / f64::from(data.weight(row))) as f32).collect();
        let factor = at.matrix.restricted(&rows, &diagonal, threads).factorise(threads)?;
        factor.solve(&mut beta, labels);
        Some(KernelRidgeModel {
            scaling: at.scaling.clone(),
            kept: ReferenceRows::new(at.kept.features().clone()),
            rate,
            beta,
            bias,
            penalty: chosen.penalty,
            target_clip: chosen.clip,
        })
    }
}

/// `ln d_j - mean_k ln d_k` of every row, with `d` at least `clip`.
fn log_ratios(targets: &Matrix<f32>, clip: f64) -> Vec<f32> {
    let mut out = Vec::with_capacity(targets.as_slice().len());
    for row in targets.iter_rows() {
        let logs: Vec<f64> = row.iter().map(|&d| f64::from(d).max(clip).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        out.extend(logs.iter().map(|log| (log - mean) as f32));
    }
    out
}

/// The mean over the rows, each counting by its weight.
fn weighted_mean(values: &[f32], data: &Dataset) -> Vec<f32> {
    let mut sums = vec![0.0f64; data.labels()];
    let mut total = 0.0;
    for (row, values) in values.chunks_exact(data.labels()).enumerate() {
        let weight = f64::from(data.weight(row));
        total += weight;
        sums.iter_mut().zip(values).for_each(|(sum, &v)| *sum += weight * f64::from(v));
    }
    sums.iter().map(|sum| (sum / total) as f32).collect()
}

impl InProgress for KernelRidgeModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        Model::predict(self, inputs, threads)
    }
}

impl Model for KernelRidgeModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let scaled = self.scaling.apply(inputs.table()?);
        let labels = self.bias.len();
        let kernel = Kernel::Laplace { rate: self.rate };
        let mut scores = kernel.weighted_sums(&self.kept, &scaled, &self.beta, labels, threads);
        for row in scores.chunks_exact_mut(labels) {
            row.iter_mut().zip(&self.bias).for_each(|(score, b)| *score += b);
            softmax_in_place_f32(row);
        }
        Ok(Prediction::Distributions(Matrix::new(scaled.rows(), labels, scores)?))
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let scaled = self.scaling.add_to_graph(graph, features);
        let kernel = Kernel::Laplace { rate: self.rate };
        let sums = kernel.add_weighted_sums(graph, &self.kept, &scaled, &self.beta, self.bias.len())?;
        let sums = graph.cast("sums", &sums, Kind::F32);
        let bias = graph.f32s("bias", &[self.bias.len()], self.bias.clone());
        let scores = graph.node("Add", "scores", &[&sums, &bias]);
        Some(graph.softmax(&scores))
    }

    fn store(&self, parts: &mut Parts) {
        self.scaling.store(parts);
        self.kept.store(parts);
        let labels = self.bias.len();
        parts.put("beta", Array::F32(vec![self.kept.len(), labels], self.beta.clone()));
        parts.put("bias", Array::F32(vec![labels], self.bias.clone()));
        parts.put_detail("rate", self.rate);
        parts.put_detail("penalty", self.penalty);
        parts.put_detail("target_clip", self.target_clip);
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        vec![
            ("rows kept".into(), self.kept.len().into()),
            ("rate".into(), self.rate.into()),
            ("penalty".into(), self.penalty.into()),
            ("target_clip".into(), self.target_clip.into()),
        ]
    }
}
