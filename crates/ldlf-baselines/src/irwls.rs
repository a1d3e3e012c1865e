//! Multi-output support vector regression by iteratively re-weighted least squares, all outputs at once.
//!
//! Minimises, over `f_j(x) = sum_i beta_ij k(x_i, x) + b_j` with `u_i = |z_i - f(x_i)|`,
//! `1/2 sum_j beta_j^T K beta_j + C sum_i w_i max(u_i / 4 - eps, 0)^2`.
//!
//! At the current `u` the loss is majorised by a quadratic with row weights `a_i = C w_i (u_i - 4 eps) / (8 u_i)`; rows
//! with `u_i <= 4 eps` leave the system. Of `[K + diag(a)^-1, 1; a^T K, 1^T a] [beta_j; b_j] = [z_j; a^T z_j]` the
//! second row minus `a^T` times the first says `1^T beta_j = 0`, so that with `H = K + diag(a)^-1`, which is symmetric,
//! positive definite and the same for every label, one Cholesky factorisation per step solves for all labels at once:
//! `S = H^-1 [z, 1]`, `b_j = 1^T S_j / 1^T S_1`, `beta_j = S_j - b_j S_1`. The step towards it is halved until the
//! objective falls.

use std::ops::ControlFlow;

use ldlf_core::{Error, Result, StopReason, Threads};

use crate::cholesky::Symmetric;

/// What is minimised.
pub(crate) struct Problem<'a> {
    /// `K`, of the training rows.
    pub kernel: &'a Symmetric,
    /// `z`, `[rows, labels]` in row order.
    pub targets: &'a [f32],
    /// Columns of `z`.
    pub labels: usize,
    /// The row weights `w`; 1 where absent.
    pub weights: Option<&'a [f32]>,
    /// `C`.
    pub penalty: f64,
    /// `eps`.
    pub epsilon: f64,
}

/// When to stop.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum number of steps.
    pub iterations: usize,
    /// Stops when a step lowers the objective by less than this fraction.
    pub tolerance: f64,
}

/// The functions `f_j`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coefficients {
    /// `[rows, labels]` in row order.
    pub beta: Vec<f32>,
    /// One per label.
    pub bias: Vec<f32>,
}

/// How it ended.
pub(crate) struct Outcome {
    pub coefficients: Coefficients,
    pub iterations: usize,
    pub stopped: StopReason,
    pub objective: f64,
}

/// Called after every step with its number (from 1), the objective and the coefficients.
pub(crate) type AfterStep<'a> = dyn FnMut(usize, f64, &Coefficients) -> ControlFlow<StopReason> + 'a;

/// Minimises from `beta = 0` and the mean targets.
pub(crate) fn minimise(
    problem: &Problem<'_>,
    limits: Limits,
    threads: &Threads,
    after_step: &mut AfterStep<'_>,
) -> Result<Outcome> {
    let (rows, labels) = (problem.kernel.size(), problem.labels);
    let mut now = Point {
        coefficients: Coefficients { beta: vec![0.0; rows * labels], bias: problem.mean_target() },
        kernel_beta: vec![0.0; rows * labels],
    };
    let (mut objective, mut distances) = problem.objective(&now);
    let mut stopped = StopReason::Finished;
    let mut iterations = 0;
    while iterations < limits.iterations {
        let Some(towards) = problem.reweighted_solution(&distances, threads)? else {
            stopped = StopReason::Converged;
            break;
        };
        let mut step = 1.0f32;
        let taken = loop {
            let point = now.moved(&towards, step);
            let (value, u) = problem.objective(&point);
            if value < objective {
                break Some((point, value, u));
            }
            step *= 0.5;
            if step < 1e-4 {
                break None;
            }
        };
        let Some((point, value, u)) = taken else {
            stopped = StopReason::Converged;
            break;
        };
        let gained = objective - value;
        (now, objective, distances) = (point, value, u);
        iterations += 1;
        if let ControlFlow::Break(reason) = after_step(iterations, objective, &now.coefficients) {
            stopped = reason;
            break;
        }
        if gained <= limits.tolerance * objective {
            stopped = StopReason::Converged;
            break;
        }
    }
    Ok(Outcome { coefficients: now.coefficients, iterations, stopped, objective })
}

/// Coefficients with their `K beta`: a point between two of them needs no further product.
struct Point {
    coefficients: Coefficients,
    kernel_beta: Vec<f32>,
}

impl Point {
    fn moved(&self, towards: &Point, step: f32) -> Point {
        let between = |from: &[f32], to: &[f32]| -> Vec<f32> {
            from.iter().zip(to).map(|(from, to)| (1.0 - step) * from + step * to).collect()
        };
        Point {
            coefficients: Coefficients {
                beta: between(&self.coefficients.beta, &towards.coefficients.beta),
                bias: between(&self.coefficients.bias, &towards.coefficients.bias),
            },
            kernel_beta: between(&self.kernel_beta, &towards.kernel_beta),
        }
    }
}

impl Problem<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| f64::from(weights[row]))
    }

    fn mean_target(&self) -> Vec<f32> {
        let mut mean = vec![0.0f64; self.labels];
        let mut total = 0.0;
        for (row, z) in self.targets.chunks_exact(self.labels).enumerate() {
            let weight = self.weight(row);
            total += weight;
            mean.iter_mut().zip(z).for_each(|(m, &z)| *m += weight * f64::from(z));
        }
        mean.iter().map(|m| (m / total) as f32).collect()
    }

    /// The objective, and `u` of every row.
    fn objective(&self, at: &Point) -> (f64, Vec<f64>) {
        let products = at.coefficients.beta.iter().zip(&at.kernel_beta);
        let mut objective = 0.5 * products.map(|(&b, &k)| f64::from(b) * f64::from(k)).sum::<f64>();
        let mut distances = Vec::with_capacity(self.kernel.size());
        let rows = self.targets.chunks_exact(self.labels).zip(at.kernel_beta.chunks_exact(self.labels));
        for (row, (z, f)) in rows.enumerate() {
            let differences = z.iter().zip(f).zip(&at.coefficients.bias);
            let square: f64 =
                differences.map(|((&z, &f), &b)| (f64::from(z) - f64::from(f) - f64::from(b)).powi(2)).sum();
            let u = square.sqrt();
            let beyond = (u / 4.0 - self.epsilon).max(0.0);
            objective += self.penalty * self.weight(row) * beyond * beyond;
            distances.push(u);
        }
        (objective, distances)
    }

    /// The solution of the linear system at the current distances, or none where no row is outside the tube.
    fn reweighted_solution(&self, distances: &[f64], threads: &Threads) -> Result<Option<Point>> {
        let labels = self.labels;
        let a = |row: usize| {
            let u = distances[row];
            self.penalty * self.weight(row) * (u - 4.0 * self.epsilon) / (8.0 * u)
        };
        // A weight that is negligible beside the others would put a number near infinity on the diagonal.
        let inside: Vec<usize> = (0..distances.len())
            .filter(|&row| distances[row] > 0.0 && a(row) > 1e-9 * self.penalty)
            .collect();
        if inside.is_empty() {
            return Ok(None);
        }
        let diagonal: Vec<f32> = inside.iter().map(|&row| (1.0 / a(row)) as f32).collect();
        let system = self.kernel.restricted(&inside, &diagonal, threads);
        let factor = system.factorise(threads).ok_or_else(|| {
            Error::training("the linear system is not positive definite in single precision")
                .with_remedy(format!("lower c (now {})", self.penalty))
                .of_learner("ldsvr")
        })?;
        let columns = labels + 1;
        let mut solved = Vec::with_capacity(inside.len() * columns);
        for &row in &inside {
            solved.extend_from_slice(&self.targets[row * labels..(row + 1) * labels]);
            solved.push(1.0);
        }
        factor.solve(&mut solved, columns);
        let mut sums = vec![0.0f64; columns];
        for row in solved.chunks_exact(columns) {
            sums.iter_mut().zip(row).for_each(|(sum, &s)| *sum += f64::from(s));
        }
        let bias: Vec<f32> = sums[..labels].iter().map(|sum| (sum / sums[labels]) as f32).collect();
        let mut beta = vec![0.0f32; distances.len() * labels];
        for (&row, s) in inside.iter().zip(solved.chunks_exact(columns)) {
            let beta = &mut beta[row * labels..(row + 1) * labels];
            for (label, beta) in beta.iter_mut().enumerate() {
                *beta = s[label] - bias[label] * s[labels];
            }
        }
        let kernel_beta = self.kernel.times(&beta, labels, threads);
        Ok(Some(Point { coefficients: Coefficients { beta, bias }, kernel_beta }))
    }
}
