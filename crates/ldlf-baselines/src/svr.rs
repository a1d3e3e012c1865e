//! Support vector regression: `f(x) = sum_i beta_i k(x_i, x) - rho` with no loss for errors below `epsilon`.

use crate::svc::{Classifier, KernelRows, minimise};

/// Minimises `1/2 beta^T K beta + epsilon sum_i |beta_i| - y^T beta` with `|beta_i| <= costs_i` and `1^T beta = 0` over the rows
/// `members`; `values` and `costs` go with them.
///
/// The dual of `1/2 |w|^2 + sum_i costs_i max(0, |y_i - f(x_i)| - epsilon)`, as a problem of the classifier's form: every row
/// occurs in it twice, once to be raised and once to be lowered.
pub(crate) fn regress(
    kernel: &mut KernelRows<'_>,
    members: &[usize],
    values: &[f64],
    costs: &[f64],
    epsilon: f64,
    tolerance: f64,
) -> Classifier {
    let count = members.len();
    let twice = [members, members].concat();
    let signs = [vec![1.0; count], vec![-1.0; count]].concat();
    let linear: Vec<f64> =
        values.iter().map(|y| epsilon - y).chain(values.iter().map(|y| epsilon + y)).collect();
    let solved = minimise(kernel, &twice, &signs, &[costs, costs].concat(), &linear, tolerance);
    let (raised, lowered) = solved.coefficients.split_at(count);
    Classifier { coefficients: raised.iter().zip(lowered).map(|(r, l)| r + l).collect(), rho: solved.rho }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::reference_rows::ReferenceRows;
    use crate::svc::decisions;
    use ldlf_core::{Features, Matrix};

    #[derive(serde::Deserialize)]
    struct Case {
        features: Vec<[f32; 2]>,
        values: Vec<f64>,
        weights: Vec<f64>,
        gamma: f32,
        rbf: Vec<f64>,
        linear: Vec<f64>,
    }

    #[test]
    fn predictions_are_those_of_scikit_learn() {
        // tests/oracles/svr.py: SVR(C=3, epsilon=0.2, tol=1e-8) with weights of rows.
        let case: Case = serde_json::from_str(include_str!("../tests/oracles/svr.json")).unwrap();
        let rows = ReferenceRows::new(Features::Dense(Matrix::from_rows(&case.features)));
        let members: Vec<usize> = (0..rows.len()).collect();
        let costs: Vec<f64> = case.weights.iter().map(|w| 3.0 * w).collect();
        for (kernel, expected) in
            [(Kernel::Rbf { gamma: case.gamma }, &case.rbf), (Kernel::Linear, &case.linear)]
        {
            let mut kernel_rows = KernelRows::new(kernel, &rows);
            let regressor = regress(&mut kernel_rows, &members, &case.values, &costs, 0.2, 1e-6);
            let found = decisions(&regressor, &mut kernel_rows, &members, &members);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 5e-4, "{kernel:?}: {found}, scikit-learn has {expected}");
            }
        }
    }
}
