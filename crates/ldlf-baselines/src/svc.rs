//! Support vector machines: a classifier of two classes, and the solver that it shares with regression. Sequential minimal
//! optimisation with second-order working sets (Fan, Chen and Lin 2005); kernel rows are computed when first needed and cached.
//!
//! Written here because the existing crates do not fit: linfa-svm needs the whole kernel of dense rows and has weights of
//! classes but not of rows, smartcore trains for a number of epochs on dense rows, without weights, and bindings to
//! LIBSVM would bring C++.

use std::collections::VecDeque;

use crate::kernel::Kernel;
use crate::reference_rows::ReferenceRows;

/// Cache size of kernel rows per problem, in bytes.
const BUDGET: usize = 256 << 20;

/// Maximum number of steps per row; a few are usual.
const STEPS_PER_ROW: usize = 200;

/// Rows of the kernel matrix, computed when asked for.
pub(crate) struct KernelRows<'a> {
    kernel: Kernel,
    rows: &'a ReferenceRows,
    kept: Vec<Option<Vec<f32>>>,
    order: VecDeque<usize>,
    most: usize,
}

impl<'a> KernelRows<'a> {
    pub(crate) fn new(kernel: Kernel, rows: &'a ReferenceRows) -> Self {
        let most = (BUDGET / (4 * rows.len().max(1))).max(2);
        KernelRows { kernel, rows, kept: vec![None; rows.len()], order: VecDeque::new(), most }
    }

    /// Makes sure that row `i` is cached, without evicting row `spare`.
    fn ensure(&mut self, i: usize, spare: usize) {
        if self.kept[i].is_some() {
            return;
        }
        let mut row = vec![0.0; self.rows.len()];
        if self.order.len() >= self.most
            && let Some(place) = self.order.iter().position(|&old| old != spare)
            && let Some(old) = self.order.remove(place)
            && let Some(buffer) = self.kept[old].take()
        {
            row = buffer;
        }
        self.kernel.block(self.rows, self.rows.features(), i..i + 1, self.rows.len(), &mut row);
        self.kept[i] = Some(row);
        self.order.push_back(i);
    }

    fn row(&self, i: usize) -> &[f32] {
        self.kept[i].as_deref().expect("a row is ensured before it is read")
    }
}

/// `f(x) = sum_i coefficients_i k(x_i, x) - rho` over the rows of the problem.
#[derive(Clone, Debug)]
pub(crate) struct Classifier {
    /// `y_i alpha_i`, one per row of the problem.
    pub coefficients: Vec<f64>,
    /// The threshold.
    pub rho: f64,
}

/// Minimises `1/2 a^T Q a - 1^T a` with `Q_ij = y_i y_j k(x_i, x_j)`, `0 <= a_i <= costs_i` and `y^T a = 0`, until the largest
/// violation is below `tolerance`, over the rows `members` (numbers of kernel rows); `signs` and `costs` go with them.
pub(crate) fn train(
    kernel: &mut KernelRows<'_>,
    members: &[usize],
    signs: &[f64],
    costs: &[f64],
    tolerance: f64,
) -> Classifier {
    minimise(kernel, members, signs, costs, &vec![-1.0; members.len()], tolerance)
}

/// The same with another linear term: `1/2 a^T Q a + linear^T a`.
pub(crate) fn minimise(
    kernel: &mut KernelRows<'_>,
    members: &[usize],
    signs: &[f64],
    costs: &[f64],
    linear: &[f64],
    tolerance: f64,
) -> Classifier {
    let count = members.len();
    let mut alpha = vec![0.0f64; count];
    let mut gradient = linear.to_vec();
    let diagonal: Vec<f64> = members.iter().map(|&row| kernel_diagonal(kernel, row)).collect();
    for _ in 0..STEPS_PER_ROW * count.max(100) {
        // i: the largest -y G among those that may increase.
        let mut first = None;
        let mut highest = f64::NEG_INFINITY;
        for t in 0..count {
            let may_rise = if signs[t] > 0.0 { alpha[t] < costs[t] } else { alpha[t] > 0.0 };
            if may_rise && -signs[t] * gradient[t] > highest {
                (first, highest) = (Some(t), -signs[t] * gradient[t]);
            }
        }
        let Some(i) = first else { break };
        kernel.ensure(members[i], members[i]);
        let row = kernel.row(members[i]);
        // j: the one with the largest predicted decrease of the objective together with i.
        let (mut second, mut best, mut lowest) = (None, 0.0, f64::INFINITY);
        for t in 0..count {
            let may_fall = if signs[t] > 0.0 { alpha[t] > 0.0 } else { alpha[t] < costs[t] };
            if !may_fall {
                continue;
            }
            let value = -signs[t] * gradient[t];
            lowest = lowest.min(value);
            let gap = highest - value;
            if gap > 0.0 {
                let curvature = (diagonal[i] + diagonal[t] - 2.0 * f64::from(row[members[t]])).max(1e-12);
                let promise = gap * gap / curvature;
                if promise > best {
                    (second, best) = (Some(t), promise);
                }
            }
        }
        let Some(j) = second.filter(|_| highest - lowest >= tolerance) else { break };
        kernel.ensure(members[j], members[i]);
        let (row_i, row_j) = (kernel.row(members[i]), kernel.row(members[j]));
        let curvature = (diagonal[i] + diagonal[j] - 2.0 * f64::from(row_i[members[j]])).max(1e-12);
        // Along y_i da_i = -y_j da_j = step.
        let mut step = (highest + signs[j] * gradient[j]) / curvature;
        step = step.min(if signs[i] > 0.0 { costs[i] - alpha[i] } else { alpha[i] });
        step = step.min(if signs[j] > 0.0 { alpha[j] } else { costs[j] - alpha[j] });
        move_within(&mut alpha[i], signs[i] * step, costs[i]);
        move_within(&mut alpha[j], -signs[j] * step, costs[j]);
        for t in 0..count {
            gradient[t] += signs[t] * step * f64::from(row_i[members[t]] - row_j[members[t]]);
        }
    }
    let rho = threshold(&alpha, &gradient, signs, costs);
    Classifier { coefficients: alpha.iter().zip(signs).map(|(a, y)| a * y).collect(), rho }
}

fn kernel_diagonal(kernel: &KernelRows<'_>, row: usize) -> f64 {
    match kernel.kernel {
        Kernel::Rbf { .. } | Kernel::Laplace { .. } => 1.0,
        Kernel::Linear => f64::from(kernel.rows.squared_norms()[row]),
    }
}

/// Adds, and snaps to a bound when within rounding of it.
fn move_within(alpha: &mut f64, by: f64, cost: f64) {
    *alpha += by;
    if *alpha < 1e-12 * cost {
        *alpha = 0.0;
    } else if *alpha > cost * (1.0 - 1e-12) {
        *alpha = cost;
    }
}

/// The mean of `y G` over the rows strictly between their bounds, or the middle of what the others allow.
fn threshold(alpha: &[f64], gradient: &[f64], signs: &[f64], costs: &[f64]) -> f64 {
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut sum, mut free) = (0.0, 0usize);
    for t in 0..alpha.len() {
        let value = signs[t] * gradient[t];
        let (at_zero, at_cost) = (alpha[t] <= 0.0, alpha[t] >= costs[t]);
        if !at_zero && !at_cost {
            sum += value;
            free += 1;
        } else if at_zero == (signs[t] > 0.0) {
            most = most.min(value);
        } else {
            least = least.max(value);
        }
    }
    match free {
        0 if least.is_finite() && most.is_finite() => 0.5 * (least + most),
        0 if least.is_finite() => least,
        0 if most.is_finite() => most,
        0 => 0.0,
        _ => sum / free as f64,
    }
}

/// The decision values of some rows of the problem's kernel.
pub(crate) fn decisions(
    classifier: &Classifier,
    kernel: &mut KernelRows<'_>,
    members: &[usize],
    rows: &[usize],
) -> Vec<f64> {
    let mut values = vec![-classifier.rho; rows.len()];
    for (&member, &coefficient) in members.iter().zip(&classifier.coefficients) {
        if coefficient != 0.0 {
            kernel.ensure(member, member);
            let row = kernel.row(member);
            values.iter_mut().zip(rows).for_each(|(v, &at)| *v += coefficient * f64::from(row[at]));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::{Features, Matrix};

    #[derive(serde::Deserialize)]
    struct Case {
        features: Vec<[f32; 2]>,
        signs: Vec<f64>,
        weights: Vec<f64>,
        gamma: f32,
        rbf: Vec<f64>,
        linear: Vec<f64>,
    }

    #[test]
    fn decision_values_are_those_of_scikit_learn() {
        // tests/oracles/svc.py: SVC(C=2, tol=1e-8) with weights of rows.
        let case: Case = serde_json::from_str(include_str!("../tests/oracles/svc.json")).unwrap();
        let rows = ReferenceRows::new(Features::Dense(Matrix::from_rows(&case.features)));
        let members: Vec<usize> = (0..rows.len()).collect();
        let costs: Vec<f64> = case.weights.iter().map(|w| 2.0 * w).collect();
        for (kernel, expected) in
            [(Kernel::Rbf { gamma: case.gamma }, &case.rbf), (Kernel::Linear, &case.linear)]
        {
            let mut kernel_rows = KernelRows::new(kernel, &rows);
            let classifier = train(&mut kernel_rows, &members, &case.signs, &costs, 1e-6);
            let found = decisions(&classifier, &mut kernel_rows, &members, &members);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 2e-4, "{kernel:?}: {found}, scikit-learn has {expected}");
            }
        }
    }

    #[test]
    fn a_budget_of_two_rows_gives_the_same_classifier() {
        let case: Case = serde_json::from_str(include_str!("../tests/oracles/svc.json")).unwrap();
        let rows = ReferenceRows::new(Features::Dense(Matrix::from_rows(&case.features)));
        let members: Vec<usize> = (0..rows.len()).collect();
        let train_with = |most: usize| {
            let mut kernel_rows = KernelRows::new(Kernel::Rbf { gamma: case.gamma }, &rows);
            kernel_rows.most = most;
            let classifier = train(&mut kernel_rows, &members, &case.signs, &case.weights, 1e-3);
            assert!(kernel_rows.order.len() <= most);
            classifier.coefficients
        };
        assert_eq!(train_with(2), train_with(1000));
    }
}
