//! `ldsvr`: support vector regression of all components of a distribution at once, through a sigmoid
//! (Geng and Hou 2015, "Pre-release prediction of crowd opinion on movies by label distribution learning").
//!
//! No crate fits several outputs in one such problem (linfa-svm and smartcore regress one output, with another
//! loss). Cost of `n` rows: two packed lower halves of an `n x n` matrix in single precision (`4 n^2` bytes; 196 MB
//! at 7,000 rows) and one Cholesky factorisation (`n^3 / 3` products) per step, for at most `iterations` steps. What is
//! `auto` (`scaling`, `target_clip`, `c`, `width`) is chosen on held-out rows from at most `search_rows` training rows.

use std::ops::ControlFlow;

use ldlf_core::graph::{Flow, Graph, Kind};
use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Facts, Features, FitContext, FitEvent, Fitted, InProgress, Inputs,
    Matrix, Model, Prediction, Preset, Result, Threads, Value,
};
use ldlf_math::memory;
use ldlf_math::numeric::{normalise, sigmoid};

use crate::irwls::{Coefficients, Limits, Problem, minimise};
use crate::kernel::{Kernel, KernelSystem};
use crate::kernel_search::{Axis, Candidate, Search, search_rows};
use crate::progress::mean_kl;
use crate::reference_rows::ReferenceRows;
use crate::scaling::{FeatureScaling, Scaling};

ldlf_core::parameters! {
    /// Parameters of `ldsvr`.
    pub struct LdsvrParameters, builder LdsvrParams for Ldsvr {
        /// Cost C of leaving the tube; auto chooses it on held-out rows, from 0.01 to 1e6.
        c: Auto<f64> = Auto::Auto, above 0, known_as "C";
        /// Half-width of the tube without loss, in units of probability.
        epsilon: f64 = 0.1, at_least 0, below 1;
        /// Width of the kernel, as a multiple of the mean distance between training rows; auto chooses it on held-out rows, from 0.0625 to 16.
        width: Auto<f64> = Auto::Auto, above 0;
        /// Distance that targets keep from 0 and 1 before their logit is taken; auto chooses it on held-out rows, from 1e-6 to 0.3.
        target_clip: Auto<f64> = Auto::Auto, above 0, below 0.5;
        /// How features are scaled; auto chooses it on held-out rows.
        scaling: Auto<FeatureScaling> = Auto::Auto;
        /// Maximum number of re-weighted least squares iterations.
        iterations: usize = 15, at_least 1, known_as "max_iter";
        /// Stops when an iteration lowers the objective by less than this fraction.
        tolerance: f64 = 0.001, at_least 0, known_as "tol";
        /// Maximum number of training rows used to choose what is auto.
        search_rows: usize = 1500, at_least 2;
    }
}

/// Multi-output support vector regression on logits: `z = -ln(1/d - 1)`, an RBF kernel, the loss
/// `max(u/4 - eps, 0)^2` of the distance `u` between `z` and its prediction (1/4 is the sigmoid's Lipschitz bound).
/// Predictions pass the sigmoid and are divided by their sum. A row's weight multiplies its cost.
pub struct Ldsvr;

/// What is chosen on held-out rows where it is not given.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Chosen {
    scaling: FeatureScaling,
    clip: f64,
    c: f64,
    width: f64,
}

/// Places of the axes in the walk.
const COST: usize = 0;
const CLIP: usize = 1;
const WIDTH: usize = 2;

impl Candidate for Chosen {
    const AXES: &'static [Axis<Self>] = &[
        Axis {
            first: [10.0, 1.0, 100.0],
            factor: 10.0,
            least: 0.01,
            most: 1e6,
            value: |chosen| &mut chosen.c,
        },
        Axis {
            first: [0.01, 0.03, 0.001],
            factor: 3.0,
            least: 1e-6,
            most: 0.3,
            value: |chosen| &mut chosen.clip,
        },
        Axis {
            first: [1.0, 0.5, 2.0],
            factor: 2.0,
            least: 0.0625,
            most: 16.0,
            value: |chosen| &mut chosen.width,
        },
    ];

    fn scaling(&mut self) -> &mut FeatureScaling {
        &mut self.scaling
    }

    fn kernel_system(&self, training: &Dataset, context: &FitContext<'_>) -> Result<KernelSystem> {
        let threads = &context.threads;
        KernelSystem::new(training, self.scaling, |rows| Kernel::rbf(self.width, rows, threads), threads)
    }

    fn shares_kernel(&self, other: &Self) -> bool {
        (self.scaling, self.width) == (other.scaling, other.width)
    }
}

impl LdsvrParameters {
    fn limits(&self) -> Limits {
        Limits { iterations: self.iterations, tolerance: self.tolerance }
    }

    /// Two short sweeps (how rows and targets are prepared, then how smooth the functions are), and a walk past every edge that wins.
    fn choose(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<(Chosen, Option<f64>)> {
        let p = self;
        let first = Chosen {
            scaling: p.scaling.unwrap_or(FeatureScaling::Standard),
            clip: p.target_clip.unwrap_or(0.01),
            c: p.c.unwrap_or(10.0),
            width: p.width.unwrap_or(1.0),
        };
        if !(p.scaling.is_auto() || p.target_clip.is_auto() || p.c.is_auto() || p.width.is_auto()) {
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
            p.held_out_kl(training, validation, at, chosen, &context.threads)
        };
        let is_auto = vec![p.c.is_auto(), p.target_clip.is_auto(), p.width.is_auto()];
        let mut search = Search::new((&training, &validation), first, is_auto, &measure);
        search.grid(Some(p.scaling), &[CLIP], context)?;
        search.grid(None, &[WIDTH, COST], context)?;
        search.walk(context)?;
        Ok((search.best, Some(search.least)))
    }

    fn held_out_kl(
        &self,
        training: &Dataset,
        validation: &Dataset,
        at: &KernelSystem,
        chosen: Chosen,
        threads: &Threads,
    ) -> Result<f64> {
        let targets = logits(training.targets(), chosen.clip);
        let problem = self.problem(training, at, &targets, chosen);
        let outcome = minimise(&problem, self.limits(), threads, &mut |_, _, _| ControlFlow::Continue(()));
        // A setting whose system cannot be solved is not chosen.
        let Ok(outcome) = outcome else { return Ok(f64::INFINITY) };
        let model = LdsvrModel::without_idle_rows(at, outcome.coefficients, chosen);
        mean_kl(&model, validation, threads)
    }

    fn problem<'a>(
        &self,
        data: &'a Dataset,
        at: &'a KernelSystem,
        targets: &'a [f32],
        chosen: Chosen,
    ) -> Problem<'a> {
        Problem {
            kernel: &at.matrix,
            targets,
            labels: data.labels(),
            weights: data.weights(),
            penalty: chosen.c,
            epsilon: self.epsilon,
        }
    }
}

/// `-ln(1/d - 1)` of targets kept `clip` away from 0 and 1.
fn logits(targets: &Matrix<f32>, clip: f64) -> Vec<f32> {
    let logit = |d: &f32| {
        let d = f64::from(*d).clamp(clip, 1.0 - clip);
        (d / (1.0 - d)).ln() as f32
    };
    targets.as_slice().iter().map(logit).collect()
}

/// `sigmoid(f(x))`, divided by its sum, for scaled rows.
fn sigmoids(
    kernel: Kernel,
    kept: &ReferenceRows,
    coefficients: &Coefficients,
    scaled: &Features,
    threads: &Threads,
) -> Result<Matrix<f32>> {
    let labels = coefficients.bias.len();
    let mut values = kernel.weighted_sums(kept, scaled, &coefficients.beta, labels, threads);
    for row in values.chunks_exact_mut(labels) {
        for (f, &b) in row.iter_mut().zip(&coefficients.bias) {
            *f = sigmoid(f64::from(*f) + f64::from(b)) as f32;
        }
        normalise(row);
    }
    Ok(Matrix::new(scaled.rows(), labels, values)?)
}

impl Algorithm for Ldsvr {
    type Parameters = LdsvrParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        exports: true,
        ..Facts::new(
            "ldsvr",
            "support vector regression of all labels at once, through a sigmoid",
            "Geng and Hou 2015, Pre-release prediction of crowd opinion on movies by label distribution learning",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: raw features, a kernel as wide as the mean distance between rows; cost and tube are those of the authors' toolbox (its copies differ), the distance of targets from 0 and 1 is chosen as by default",
            ["c=1", "epsilon=0.1", "width=1", "scaling=raw"],
        )]
    }

    fn fit(parameters: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let rows = [("rows", data.rows()), ("rows", data.rows())];
        memory::check("the kernel matrix and its factor", &rows, size_of::<f32>())?;
        let (chosen, validation_kl) = parameters.choose(data, context)?;
        let at = chosen.kernel_system(data, context)?;
        let targets = logits(data.targets(), chosen.clip);
        let problem = parameters.problem(data, &at, &targets, chosen);
        let threads = context.threads.clone();
        let total = parameters.iterations;
        let outcome =
            minimise(&problem, parameters.limits(), &threads, &mut |iteration, objective, coefficients| {
                let state = Unfinished { at: &at, coefficients };
                context.report(FitEvent::Iteration { iteration, total, loss: Some(objective) }, &state)
            })?;
        let summary = Summary {
            iterations: outcome.iterations,
            stopped: outcome.stopped,
            best_iteration: None,
            loss: Some(outcome.objective),
            validation_kl,
            mean_kl: None,
        };
        let model = LdsvrModel::without_idle_rows(&at, outcome.coefficients, chosen);
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        let scaling = Scaling::load(parts, shape.features)?;
        let kept = ReferenceRows::load(parts, shape.features)?;
        let beta = parts.f32s("beta", &[kept.len(), shape.labels])?;
        let bias = parts.f32s("bias", &[shape.labels])?;
        let gamma: f32 = parts.detail("gamma")?;
        if !(gamma.is_finite() && gamma >= 0.0) {
            return Err(Error::model_file(format!(
                "the model file's \"gamma\" should be at least 0, found {gamma}"
            )));
        }
        let (c, target_clip) = (parts.detail("c")?, parts.detail("target_clip")?);
        Ok(Box::new(LdsvrModel {
            scaling,
            kept,
            gamma,
            coefficients: Coefficients { beta, bias },
            c,
            target_clip,
        }))
    }
}

/// The model after a step.
struct Unfinished<'a> {
    at: &'a KernelSystem,
    coefficients: &'a Coefficients,
}

impl InProgress for Unfinished<'_> {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let scaled = self.at.scaling.apply(features);
        let predicted = sigmoids(self.at.kernel, &self.at.kept, self.coefficients, &scaled, threads)?;
        Ok(Prediction::Distributions(predicted))
    }
}

/// The support vectors and their coefficients.
struct LdsvrModel {
    scaling: Scaling,
    kept: ReferenceRows,
    gamma: f32,
    coefficients: Coefficients,
    /// The cost and the clip in use, for `inspect`.
    c: f64,
    target_clip: f64,
}

impl LdsvrModel {
    /// Keeps the rows whose coefficients are not all zero.
    fn without_idle_rows(at: &KernelSystem, coefficients: Coefficients, chosen: Chosen) -> Self {
        let Kernel::Rbf { gamma } = at.kernel else { unreachable!("ldsvr has an RBF kernel") };
        let labels = coefficients.bias.len();
        let beta_of = |row: usize| &coefficients.beta[row * labels..(row + 1) * labels];
        let mut busy: Vec<usize> =
            (0..at.kept.len()).filter(|&row| beta_of(row).iter().any(|b| *b != 0.0)).collect();
        if busy.is_empty() {
            busy.push(0);
        }
        let beta = busy.iter().flat_map(|&row| beta_of(row).iter().copied()).collect();
        LdsvrModel {
            scaling: at.scaling.clone(),
            kept: ReferenceRows::new(at.kept.features().select(&busy)),
            gamma,
            coefficients: Coefficients { beta, bias: coefficients.bias.clone() },
            c: chosen.c,
            target_clip: chosen.clip,
        }
    }
}

impl Model for LdsvrModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let scaled = self.scaling.apply(features);
        let kernel = Kernel::Rbf { gamma: self.gamma };
        Ok(Prediction::Distributions(sigmoids(kernel, &self.kept, &self.coefficients, &scaled, threads)?))
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let scaled = self.scaling.add_to_graph(graph, features);
        let (kernel, labels) = (Kernel::Rbf { gamma: self.gamma }, self.coefficients.bias.len());
        let sums = kernel.add_weighted_sums(graph, &self.kept, &scaled, &self.coefficients.beta, labels)?;
        let bias = self.coefficients.bias.iter().map(|&b| f64::from(b)).collect();
        let bias = graph.f64s("bias", &[labels], bias);
        let values = graph.node("Add", "values", &[&sums, &bias]);
        let sigmoids = graph.node("Sigmoid", "sigmoids", &[&values]);
        let sigmoids = graph.cast("sigmoids", &sigmoids, Kind::F32);
        Some(graph.normalise(&sigmoids))
    }

    fn store(&self, parts: &mut Parts) {
        self.scaling.store(parts);
        self.kept.store(parts);
        let labels = self.coefficients.bias.len();
        parts.put("beta", Array::F32(vec![self.kept.len(), labels], self.coefficients.beta.clone()));
        parts.put("bias", Array::F32(vec![labels], self.coefficients.bias.clone()));
        parts.put_detail("gamma", self.gamma);
        parts.put_detail("c", self.c);
        parts.put_detail("target_clip", self.target_clip);
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        vec![
            ("support vectors".into(), self.kept.len().into()),
            ("gamma".into(), self.gamma.into()),
            ("c".into(), self.c.into()),
            ("target_clip".into(), self.target_clip.into()),
        ]
    }
}
