//! `bfgs-ldl` and `iis-ldl`: one model, two optimisers, one optimum.

use std::ops::ControlFlow;

use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{Csr, Dataset, Features, FitContext, FitEvent, InProgress, Matrix, StopReason, Threads};
use proptest::prelude::*;
use serde::Deserialize;

use crate::support::{
    changed, copied, dense, entry, fitted, largest_difference, learner, predicted, thin, waves,
};

#[derive(Deserialize)]
struct Oracle {
    features: Vec<[f32; 4]>,
    targets: Vec<[f32; 3]>,
    minima: Vec<OracleMinimum>,
}

#[derive(Deserialize)]
struct OracleMinimum {
    l2: f64,
    loss: f64,
}

/// `oracles/maximum_entropy.py`: SciPy's L-BFGS-B.
fn oracle() -> (Dataset, Vec<OracleMinimum>) {
    let oracle: Oracle = serde_json::from_str(include_str!("../oracles/maximum_entropy.json")).unwrap();
    let features = Features::Dense(Matrix::from_rows(&oracle.features));
    (Dataset::new(features, Matrix::from_rows(&oracle.targets)).unwrap(), oracle.minima)
}

#[test]
fn bfgs_reaches_the_optimum_of_scipy_with_and_without_a_penalty() {
    let (data, minima) = oracle();
    for OracleMinimum { l2, loss } in minima {
        let penalty = format!("l2={l2}");
        let fitted = fitted("bfgs-ldl", &[&penalty, "scaling=raw", "tolerance=0"], &data);
        let found = fitted.summary.loss.unwrap();
        assert!((found - loss).abs() < 1e-6, "l2 {l2}: {found} and {loss}");
    }
}

#[test]
fn a_weight_equals_that_many_copies() {
    let data = waves(30, 4, 3);
    let times: Vec<usize> = (0..30).map(|row| row % 4).collect();
    let weighted = data.clone().with_weights(times.iter().map(|&n| n as f32).collect()).unwrap();
    let learners = [("bfgs-ldl", ["l2=0.5", "tolerance=0"]), ("iis-ldl", ["patience=none", "iterations=20"])];
    for (name, settings) in learners {
        let one = predicted(&*fitted(name, &settings, &weighted).model, data.inputs());
        let other = predicted(&*fitted(name, &settings, &copied(&data, &times)).model, data.inputs());
        assert!(largest_difference(&one, &other) < 1e-5, "{name}");
    }
}

#[test]
fn iis_reaches_the_optimum_of_bfgs() {
    let data = waves(40, 3, 3);
    let iis = fitted("iis-ldl", &["patience=none", "tolerance=0", "iterations=3000"], &data);
    let bfgs = fitted("bfgs-ldl", &["l2=0", "tolerance=0"], &data);
    let (iis_loss, bfgs_loss) = (iis.summary.loss.unwrap(), bfgs.summary.loss.unwrap());
    assert!((iis_loss - bfgs_loss).abs() < 1e-6, "{iis_loss} {bfgs_loss}");
    assert!(
        largest_difference(&predicted(&*iis.model, data.inputs()), &predicted(&*bfgs.model, data.inputs()))
            < 1e-3
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn iis_lowers_the_loss_at_every_iteration(
        rows in 2usize..30,
        features in 1usize..8,
        labels in 2usize..5,
        scale in -3i32..4,
        sparse in any::<bool>(),
    ) {
        let mut data = changed(&waves(rows, features, labels), |values| {
            values.as_mut_slice().iter_mut().for_each(|v| *v *= 10f32.powi(scale));
        });
        if sparse {
            data = thin(&data).1;
        }
        let mut watcher = ();
        let mut context = FitContext::new(0, Threads::one(), &mut watcher);
        let settings = ["patience=none", "tolerance=0", "iterations=40", "scaling=raw"];
        learner("iis-ldl", &settings).fit(&data, &mut context).unwrap();
        let losses: Vec<f64> = context
            .history
            .iter()
            .map(|event| match event {
                FitEvent::Iteration { loss, .. } => loss.unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        prop_assert!(losses.windows(2).all(|w| w[1] <= w[0] + 1e-12), "{losses:?}");
    }
}

#[test]
fn relabelling_commutes_with_bfgs() {
    let data = waves(50, 4, 3);
    let order = [2, 0, 1];
    let turned: Vec<[f32; 3]> =
        data.targets().iter_rows().map(|target| order.map(|label| target[label])).collect();
    let relabelled = data.clone().with_targets(Matrix::from_rows(&turned)).unwrap();
    let p = predicted(&*fitted("bfgs-ldl", &["l2=1"], &data).model, data.inputs());
    let q = predicted(&*fitted("bfgs-ldl", &["l2=1"], &relabelled).model, data.inputs());
    for (p, q) in p.iter_rows().zip(q.iter_rows()) {
        for (place, &label) in order.iter().enumerate() {
            assert!((p[label] - q[place]).abs() < 1e-5);
        }
    }
}

#[test]
fn sparse_rows_give_the_same_model_as_the_same_rows_dense() {
    let (dense, sparse) = thin(&waves(60, 9, 3));
    let settings = ["l2=1", "tolerance=0"];
    let (from_dense, from_sparse) =
        (fitted("bfgs-ldl", &settings, &dense), fitted("bfgs-ldl", &settings, &sparse));
    let expected = predicted(&*from_dense.model, dense.inputs());
    assert!(largest_difference(&expected, &predicted(&*from_sparse.model, sparse.inputs())) < 1e-5);
    assert!(
        largest_difference(&expected, &predicted(&*from_dense.model, sparse.inputs())) < 1e-6,
        "dense model, sparse rows"
    );
    assert!(
        largest_difference(&expected, &predicted(&*from_sparse.model, dense.inputs())) < 1e-5,
        "sparse model, dense rows"
    );
}

#[test]
fn sparse_rows_take_as_few_iterations_as_dense_ones() {
    // Columns far from zero: centred when dense, and as if centred when sparse.
    let data = changed(&waves(80, 6, 3), |values| values.as_mut_slice().iter_mut().for_each(|v| *v += 5.0));
    let mut rows = Csr::with_columns(6);
    dense(&data).iter_rows().for_each(|row| rows.push_row((0..).zip(row.iter().copied())));
    let sparse = data.clone().with_inputs(Features::Sparse(rows)).unwrap();
    let settings = ["l2=1", "tolerance=1e-8"];
    let [dense, sparse] = [&data, &sparse].map(|data| fitted("bfgs-ldl", &settings, data).summary.iterations);
    assert!(sparse <= dense + 2, "{sparse} and {dense} iterations");
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let data = waves(700, 5, 4);
    let predictions = [1, 2, 3].map(|count| {
        let threads = Threads::new(count).unwrap();
        let mut watcher = ();
        let mut context = FitContext::new(0, threads.clone(), &mut watcher);
        let fitted = learner("bfgs-ldl", &[]).fit(&data, &mut context).unwrap();
        fitted.model.predict(data.inputs(), &threads).unwrap().into_distributions().unwrap()
    });
    assert!(predictions[0] == predictions[1] && predictions[0] == predictions[2]);
}

#[test]
fn the_chosen_penalty_is_stronger_when_the_labels_are_noise() {
    let clear = waves(200, 6, 3);
    let shuffled: Vec<usize> = (0..200).map(|row| (row * 77 + 5) % 200).collect();
    let noise = clear.clone().with_targets(clear.targets().select(&shuffled)).unwrap();
    let (of_clear, of_noise) = (chosen_penalty(&clear, &[]), chosen_penalty(&noise, &[]));
    assert!(of_noise >= 10.0 * of_clear, "{of_clear} {of_noise}");
}

fn chosen_penalty(data: &Dataset, settings: &[&str]) -> f64 {
    let mut parts = Parts::new();
    fitted("bfgs-ldl", settings, data).model.store(&mut parts);
    parts.detail("l2").unwrap()
}

#[test]
fn the_grid_of_penalties_grows_past_its_weak_edge_where_the_labels_follow_exactly() {
    let mut data = waves(200, 4, 3);
    let exact = predicted(&*fitted("bfgs-ldl", &["l2=1"], &data).model, data.inputs());
    data = data.with_targets(exact).unwrap();
    let l2 = chosen_penalty(&data, &[]);
    assert!((1e-6 * 0.99..0.03).contains(&l2), "{l2}");
}

#[test]
fn the_grid_of_penalties_grows_past_its_strong_edge_where_large_features_say_nothing() {
    let clear = waves(200, 6, 3);
    let shuffled: Vec<usize> = (0..200).map(|row| (row * 77 + 5) % 200).collect();
    let noise = clear.clone().with_targets(clear.targets().select(&shuffled)).unwrap();
    let noise = changed(&noise, |x| x.as_mut_slice().iter_mut().for_each(|v| *v *= 1000.0));
    let l2 = chosen_penalty(&noise, &["scaling=raw"]);
    assert!((3e5..1e9 * 1.01).contains(&l2), "{l2}");
}

#[test]
fn patience_keeps_the_best_iteration_on_the_held_out_rows() {
    // Far more features than rows: without a penalty the minimum is an overfit.
    let data = waves(60, 80, 3);
    let fitted = fitted("bfgs-ldl", &["l2=0", "patience=5"], &data);
    assert_eq!(fitted.summary.stopped, StopReason::EarlyStopping);
    assert_eq!(fitted.summary.best_iteration, Some(fitted.summary.iterations - 5));
    assert!(fitted.summary.validation_kl.is_some());
}

#[test]
fn an_interrupted_fit_keeps_what_it_has() {
    let data = waves(100, 5, 3);
    for name in ["bfgs-ldl", "iis-ldl"] {
        for stop_at in [1, 4] {
            let mut seen = 0;
            let mut observer = |event: &FitEvent, _: &dyn InProgress| {
                seen += usize::from(matches!(event, FitEvent::Iteration { .. }));
                if seen == stop_at {
                    ControlFlow::Break(StopReason::Interrupted)
                } else {
                    ControlFlow::Continue(())
                }
            };
            let mut context = FitContext::new(0, Threads::one(), &mut observer);
            let fitted = learner(name, &[]).fit(&data, &mut context).unwrap();
            assert_eq!(
                (fitted.summary.stopped, fitted.summary.iterations),
                (StopReason::Interrupted, stop_at),
                "{name}"
            );
            let p = predicted(&*fitted.model, data.inputs());
            assert!(p.iter_rows().all(|row| ldlf_math::numeric::on_simplex(row, 1e-5)));
        }
    }
}

#[test]
fn a_stored_model_predicts_the_same() {
    let data = waves(40, 5, 3);
    for name in ["bfgs-ldl", "iis-ldl"] {
        let fitted = fitted(name, &[], &data);
        let mut parts = Parts::new();
        fitted.model.store(&mut parts);
        let read = Parts::from_bytes(&parts.to_bytes().unwrap()).unwrap();
        let again = (entry(name).load)(&read, &ModelShape { features: 5, labels: 3 }).unwrap();
        assert_eq!(predicted(&*again, data.inputs()), predicted(&*fitted.model, data.inputs()));
    }
}

#[test]
fn a_damaged_model_is_refused() {
    let data = waves(40, 5, 3);
    for name in ["bfgs-ldl", "iis-ldl"] {
        let mut parts = Parts::new();
        fitted(name, &[], &data).model.store(&mut parts);
        let shape = ModelShape { features: 5, labels: 3 };
        assert!((entry(name).load)(&parts, &ModelShape { features: 6, labels: 3 }).is_err());
        parts.put("theta", Array::F64(vec![6, 3], vec![f64::NAN; 18]));
        assert!((entry(name).load)(&parts, &shape).is_err());
    }
}

#[test]
fn degenerate_data_can_be_fitted() {
    for (rows, labels) in [(1, 3), (2, 1), (5, 2)] {
        let data = changed(&waves(rows, 2, labels), |values| {
            (0..rows).for_each(|row| values.row_mut(row)[1] = 7.0);
        });
        for name in ["bfgs-ldl", "iis-ldl"] {
            let p = predicted(&*fitted(name, &[], &data).model, data.inputs());
            assert!(p.iter_rows().all(|row| ldlf_math::numeric::on_simplex(row, 1e-5)), "{name} {rows}");
        }
    }
}
