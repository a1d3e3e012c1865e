//! `iis-ldl`: the maximum entropy model fitted by improved iterative scaling.

use std::ops::ControlFlow;

use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Dataset, Facts, Features, FitContext, Fitted, Model, Preset, Result, StopReason};
use ldlf_linear::objective::Objective;
use ldlf_math::memory;
use ldlf_math::parallel::chunks;

use crate::maximum_entropy::MaximumEntropy;
use crate::progress::{Progress, split};
use crate::scaling::{FeatureScaling, Scaling};

ldlf_core::parameters! {
    /// Parameters of `iis-ldl`.
    pub struct IisLdlParameters, builder IisParams for IisLdl {
        /// Maximum number of iterations.
        iterations: usize = 300, at_least 1, known_as "max_iter";
        /// Stops when an iteration lowers the mean loss by less than this.
        tolerance: f64 = 1e-6, at_least 0, known_as "tol";
        /// Iterations without improvement on the held-out rows before stopping; none runs to the tolerance.
        patience: Option<usize> = Some(10), at_least 1, known_as "n_iter_no_change";
        /// Fraction of the training rows held out for early stopping.
        validation_fraction: f64 = 0.1, above 0, below 1;
        /// How features are scaled.
        scaling: FeatureScaling = FeatureScaling::Standard;
    }
}

/// Improved iterative scaling: every iteration raises a lower bound of the likelihood that separates into one equation for
/// each label `y` and feature `k`,
/// `sum_i w_i p(y|x_i) x_ik exp(delta s_ik f#(x_i)) = sum_i w_i d_iy x_ik`, `s = sign(x_ik)`, `f#(x) = sum_k |x_k|`,
/// solved for `delta` by Newton's method; then `theta_ky += delta`. The loss falls at every iteration.
///
/// Source: Geng, Yin and Zhou, "Facial age estimation by learning from label distributions", TPAMI 2013; the bound:
/// Della Pietra et al., "Inducing features of random fields", TPAMI 1997. The bias is a feature that is always 1.
pub struct IisLdl;

impl Algorithm for IisLdl {
    type Parameters = IisLdlParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        exports: true,
        ..Facts::new(
            "iis-ldl",
            "maximum entropy model, fitted by improved iterative scaling, stopped early",
            "Geng, Yin and Zhou, Facial age estimation by learning from label distributions, IEEE TPAMI 35(10), 2013",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: raw features, nothing held out, to convergence",
            ["patience=none", "scaling=raw"],
        )]
    }

    fn fit(p: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let sizes = [("features", data.features()?.cols() + 1), ("labels", data.labels()), ("copies", 8)];
        memory::check("the weights and their gradients", &sizes, size_of::<f64>())?;
        let labels = data.labels();
        let scaling = Scaling::choose(p.scaling, data)?;
        let (training, held) = split(data, p.validation_fraction, p.patience, context);
        let training = training.as_ref().unwrap_or(data);
        let rows = scaling.apply(training.features()?);
        let objective = Objective::new(training.tabular()?.with_features(&rows), 0.0, &context.threads);
        let equations = Equations::new(objective.rows(), training);
        let mut theta = vec![0.0; equations.columns.len() * labels];
        let mut masses = vec![0.0; training.rows() * labels];
        let model = |theta: &[f64]| MaximumEntropy {
            scaling: scaling.clone(),
            theta: theta.to_vec(),
            labels,
            l2: None,
        };
        let threads = context.threads.clone();
        let mut progress = Progress::new(context, p.iterations, held, p.patience);
        let mut loss = objective.masses(&theta, &mut masses);
        let mut ended = StopReason::Finished;
        for _ in 0..p.iterations {
            let steps = threads.map(chunks(equations.columns.len(), COLUMNS), |columns| {
                columns.flat_map(|column| equations.solve(column, &masses)).collect::<Vec<f64>>()
            });
            theta.iter_mut().zip(steps.iter().flatten()).for_each(|(t, step)| *t += step);
            let lower = objective.masses(&theta, &mut masses);
            let fell = loss - lower;
            loss = lower;
            if let ControlFlow::Break(_) = progress.advance(loss, &model(&theta))? {
                break;
            }
            if fell < p.tolerance {
                ended = StopReason::Converged;
                break;
            }
        }
        let (model, summary) = progress.finish(model(&theta), ended);
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        MaximumEntropy::load(parts, shape)
    }
}

/// Columns per task.
const COLUMNS: usize = 16;
/// Newton's method ends when a step changes no exponent by more than this (its error is then about the square of it) ...
const EXPONENT_TOLERANCE: f64 = 0.02;
/// ... or after this many steps.
const NEWTON_STEPS: usize = 30;

/// What does not change between iterations: the features by column, and the right sides.
struct Equations {
    /// The entries of every feature, the bias last.
    columns: Vec<Column>,
    /// `f#` of every row, the bias included.
    sums: Vec<f64>,
    /// `sum_i w_i d_iy x_ik`, `[features + 1, labels]`.
    wanted: Vec<f64>,
    labels: usize,
}

/// The entries of one feature that differ from 0.
#[derive(Default)]
struct Column {
    rows: Vec<u32>,
    values: Vec<f32>,
    /// The largest `f#` among these rows.
    largest_sum: f64,
}

impl Equations {
    fn new(features: &Features, data: &Dataset) -> Self {
        let labels = data.labels();
        let mut columns: Vec<Column> = (0..=features.cols()).map(|_| Column::default()).collect();
        let mut wanted = vec![0.0; columns.len() * labels];
        let mut sums = Vec::with_capacity(features.rows());
        for row in 0..features.rows() {
            let mut sum = 1.0;
            let weight = f64::from(data.weight(row));
            let mut entry = |column: usize, x: f32| {
                if x != 0.0 {
                    columns[column].rows.push(row as u32);
                    columns[column].values.push(x);
                    let wanted = &mut wanted[column * labels..][..labels];
                    for (wanted, &d) in wanted.iter_mut().zip(data.targets().row(row)) {
                        *wanted += weight * f64::from(d) * f64::from(x);
                    }
                }
            };
            features.for_each_in_row(row, |column, x| {
                sum += f64::from(x.abs());
                entry(column, x);
            });
            entry(features.cols(), 1.0);
            sums.push(sum);
        }
        for column in &mut columns {
            column.largest_sum = column.rows.iter().map(|&row| sums[row as usize]).fold(0.0, f64::max);
        }
        Equations { columns, sums, wanted, labels }
    }

    /// The steps of one feature, one per label. `masses` holds `w_i p(y|x_i)`, `[labels, rows]`.
    fn solve(&self, column: usize, masses: &[f64]) -> Vec<f64> {
        let wanted = &self.wanted[column * self.labels..][..self.labels];
        let column = &self.columns[column];
        let masses = masses.chunks_exact(self.sums.len());
        masses.zip(wanted).map(|(masses, &wanted)| self.newton(column, wanted, masses)).collect()
    }

    /// The root of `wanted - sum_i a_i x_i exp(delta s_i f_i)`, which falls in `delta`.
    fn newton(&self, column: &Column, wanted: f64, masses: &[f64]) -> f64 {
        // An exponent changes by at most 2 per step: far from the root the exponential is far from Newton's tangent.
        let longest = 2.0 / column.largest_sum;
        let mut delta = 0.0;
        for _ in 0..NEWTON_STEPS {
            let (mut value, mut slope) = (wanted, 0.0);
            for (&row, &x) in column.rows.iter().zip(&column.values) {
                let (x, sum) = (f64::from(x), self.sums[row as usize]);
                let mass = masses[row as usize];
                // No exponential is needed for the first step.
                let grown = if delta == 0.0 { mass } else { mass * (delta * x.signum() * sum).exp() };
                value -= grown * x;
                slope += grown * x.abs() * sum;
            }
            // The weight of a label or feature that is 0 in every row does not change.
            if slope.is_nan() || slope <= f64::MIN_POSITIVE {
                return delta;
            }
            let step = (value / slope).clamp(-longest, longest);
            delta += step;
            if step.abs() * column.largest_sum <= EXPONENT_TOLERANCE {
                break;
            }
        }
        delta
    }
}
