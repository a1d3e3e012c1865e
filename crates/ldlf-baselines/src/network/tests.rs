//! The network against numpy and against finite differences.

use std::collections::BTreeMap;

use ldlf_core::{Csr, Dataset, Features, Matrix, Threads};

use super::*;
use crate::full_batch::{FullBatch, Sparsity};
use crate::scaling::Scaling;

fn wave(count: usize, phase: f64) -> Vec<f64> {
    (0..count).map(|i| (0.7 * i as f64 + phase).sin()).collect()
}

fn networks() -> [Network; 2] {
    let outputs = [Output::PerLabel(3), Output::Ordered(vec![-1.0, 0.25, 1.0])];
    outputs.map(|output| Network { inputs: 3, hidden: 4, output })
}

/// Five rows, dense or sparse, with distributions and weights.
fn data(sparse: bool) -> Dataset {
    let x: Vec<f32> = wave(15, 0.3).iter().map(|&v| v as f32).collect();
    let features = if sparse {
        let mut rows = Csr::with_columns(3);
        x.chunks(3).for_each(|row| rows.push_row((0..3).zip(row.iter().copied())));
        Features::Sparse(rows)
    } else {
        Features::Dense(Matrix::new(5, 3, x).unwrap())
    };
    let targets = Matrix::from_rows(&[
        [0.2, 0.3, 0.5],
        [1.0, 0.0, 0.0],
        [0.25, 0.25, 0.5],
        [0.0, 0.6, 0.4],
        [0.1, 0.8, 0.1],
    ]);
    let weights = vec![1.0, 0.5, 2.0, 1.0, 0.0];
    Dataset::new(features, targets).unwrap().with_weights(weights).unwrap()
}

#[test]
fn outputs_are_those_of_numpy() {
    // tests/oracles/network.py
    let oracle: BTreeMap<String, Vec<Vec<f64>>> =
        serde_json::from_str(include_str!("../../tests/oracles/network.json")).unwrap();
    for (network, expected) in
        networks().iter().zip([oracle["per_label"].concat(), oracle["ordered"].concat()])
    {
        for sparse in [false, true] {
            let mut pass = Pass::new();
            let weights = wave(network.size(), 1.1);
            network.predict(&weights, data(sparse).features().unwrap(), &[0, 1, 2, 3, 4], &mut pass);
            for (found, expected) in pass.distributions.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        }
    }
}

#[test]
fn every_gradient_meets_its_finite_difference() {
    let penalties = [None, Some(Sparsity { strength: 0.3, activity: 0.1 })];
    for (network, sparsity) in networks().iter().flat_map(|n| penalties.map(|sparsity| (n, sparsity))) {
        // The sparsity penalty belongs to the output that has one activation per row.
        if sparsity.is_some() && matches!(network.output, Output::Ordered(_)) {
            continue;
        }
        for sparse in [false, true] {
            let data = data(sparse);
            let mut batch =
                FullBatch::new(network, &data, &Scaling::none(3), 0.7, sparsity, &Threads::one()).unwrap();
            let mut weights = wave(network.size(), 1.1);
            let mut gradient = vec![0.0; weights.len()];
            batch.evaluate(&weights, &mut gradient);
            let mut ignored = gradient.clone();
            for index in 0..weights.len() {
                let (kept, step) = (weights[index], 1e-3);
                let mut at = |offset: f64| {
                    weights[index] = kept + offset * step;
                    batch.evaluate(&weights, &mut ignored)
                };
                // Fourth order.
                let slope = (at(-2.0) - 8.0 * at(-1.0) + 8.0 * at(1.0) - at(2.0)) / (12.0 * step);
                weights[index] = kept;
                let error = (slope - gradient[index]).abs();
                assert!(error < 5e-6 * slope.abs().max(1e-3), "weight {index}: {slope} {}", gradient[index]);
            }
        }
    }
}

#[test]
fn single_precision_follows_double_precision() {
    for network in networks() {
        let data = data(false);
        let weights = wave(network.size(), 1.1);
        let single: Vec<f32> = weights.iter().map(|&w| w as f32).collect();
        let batch = Batch { rows: data.features().unwrap(), data: &data, pull: &[] };
        let (mut exact, mut rough) = (vec![0.0f64; weights.len()], vec![0.0f32; weights.len()]);
        let loss = network.learn(&weights, batch, &[3, 0, 1], &mut Pass::new(), &mut exact);
        let other = network.learn(&single, batch, &[3, 0, 1], &mut Pass::new(), &mut rough);
        assert!((loss - other).abs() < 1e-5);
        assert!(exact.iter().zip(&rough).all(|(e, r)| (e - f64::from(*r)).abs() < 1e-5));
    }
}
