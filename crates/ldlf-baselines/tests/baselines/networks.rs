//! `aa-bp`, `sce-ldl` and `cpnn`: one small network, three ways to train it.

use std::ops::ControlFlow;

use ldlf_core::measures::{self, KL, mean_over_rows};
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{Dataset, Features, FitContext, FitEvent, InProgress, StopReason, Threads};
use ldlf_math::numeric::on_simplex;

use crate::support::{changed, copied, entry, fitted, largest_difference, learner, predicted, thin, waves};

const NETWORKS: [&str; 3] = ["aa-bp", "cpnn", "sce-ldl"];

fn kl(name: &str, settings: &[&str], data: &Dataset) -> f64 {
    let p = predicted(&*fitted(name, settings, data).model, data.inputs());
    mean_over_rows(&KL, data.targets(), &p, None)
}

#[test]
fn every_network_explains_most_of_what_the_mean_leaves() {
    let data = waves(400, 4, 3);
    let mean: Vec<f32> = data.mean_target().iter().map(|&m| m as f32).collect();
    let of_mean = data.targets().iter_rows().map(|d| measures::kl(d, &mean)).sum::<f64>() / 400.0;
    for name in NETWORKS {
        let found = kl(name, &[], &data);
        assert!(found < 0.2 * of_mean, "{name}: {found}, the mean {of_mean}");
    }
}

#[test]
fn a_weight_equals_that_many_copies_in_full_batches() {
    let data = waves(30, 4, 3);
    let times: Vec<usize> = (0..30).map(|row| row % 4).collect();
    let weighted = data.clone().with_weights(times.iter().map(|&n| n as f32).collect()).unwrap();
    for (name, settings) in
        [("cpnn", ["patience=none", "epochs=15"]), ("sce-ldl", ["patience=none", "iterations=15"])]
    {
        let one = predicted(&*fitted(name, &settings, &weighted).model, data.inputs());
        let other = predicted(&*fitted(name, &settings, &copied(&data, &times)).model, data.inputs());
        assert!(largest_difference(&one, &other) < 1e-4, "{name} {}", largest_difference(&one, &other));
    }
}

#[test]
fn rows_without_weight_are_not_learnt_from() {
    let data = waves(80, 4, 3);
    let mut targets = data.targets().clone();
    for row in 40..80 {
        targets.row_mut(row).copy_from_slice(&[1.0, 0.0, 0.0]);
    }
    let spoilt = data.clone().with_targets(targets).unwrap();
    let weights: Vec<f32> = (0..80).map(|row| if row < 40 { 1.0 } else { 0.0 }).collect();
    let settings = ["patience=none", "epochs=5", "batch_size=16"];
    let one = fitted("aa-bp", &settings, &data.clone().with_weights(weights.clone()).unwrap());
    let other = fitted("aa-bp", &settings, &spoilt.with_weights(weights).unwrap());
    assert_eq!(predicted(&*one.model, data.inputs()), predicted(&*other.model, data.inputs()));
}

#[test]
fn sparse_rows_give_the_same_network_when_nothing_is_scaled() {
    let (dense, sparse) = thin(&waves(60, 9, 3));
    for name in NETWORKS {
        let limit = if name == "sce-ldl" { "iterations=8" } else { "epochs=8" };
        let settings = [limit, "scaling=raw", "patience=none"];
        let one = predicted(&*fitted(name, &settings, &dense).model, dense.inputs());
        let other = predicted(&*fitted(name, &settings, &sparse).model, sparse.inputs());
        assert!(largest_difference(&one, &other) < 1e-3, "{name} {}", largest_difference(&one, &other));
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let data = waves(500, 5, 4);
    for name in NETWORKS {
        let limit = if name == "sce-ldl" { "iterations=5" } else { "epochs=5" };
        let predictions = [1, 3].map(|count| {
            let threads = Threads::new(count).unwrap();
            let mut watcher = ();
            let mut context = FitContext::new(0, threads.clone(), &mut watcher);
            let fitted = learner(name, &[limit]).fit(&data, &mut context).unwrap();
            predicted(&*fitted.model, data.inputs())
        });
        assert_eq!(predictions[0], predictions[1], "{name}");
    }
}

#[test]
fn another_seed_gives_another_network() {
    let data = waves(50, 4, 3);
    for name in NETWORKS {
        let limit = if name == "sce-ldl" { "iterations=2" } else { "epochs=2" };
        let predictions = [0, 1].map(|seed| {
            let mut watcher = ();
            let mut context = FitContext::new(seed, Threads::one(), &mut watcher);
            predicted(&*learner(name, &[limit]).fit(&data, &mut context).unwrap().model, data.inputs())
        });
        assert_ne!(predictions[0], predictions[1], "{name}");
    }
}

#[test]
fn the_sparsity_penalty_makes_hidden_units_rarely_active() {
    let data = waves(150, 4, 3);
    let mean_activation = |sparsity: &str| {
        let settings = [sparsity, "activity=0.05", "patience=none", "hidden=8", "l2=0", "scaling=raw"];
        let mut parts = Parts::new();
        fitted("sce-ldl", &settings, &data).model.store(&mut parts);
        let weights = parts.f32s("weights", &[4 * 8 + 8 + 8 * 3 + 3]).unwrap();
        let Features::Dense(x) = data.features().unwrap() else { panic!("waves are dense") };
        let unit = |row: &[f32], unit: usize| {
            let before: f32 =
                (0..4).map(|k| row[k] * weights[k * 8 + unit]).sum::<f32>() + weights[32 + unit];
            1.0 / (1.0 + (-before).exp())
        };
        x.iter_rows().flat_map(|row| (0..8).map(move |j| unit(row, j))).sum::<f32>() / (150.0 * 8.0)
    };
    let (with, without) = (mean_activation("sparsity=1"), mean_activation("sparsity=0"));
    assert!(with < 0.1 && without > 0.2, "{with} {without}");
}

#[test]
fn cpnn_reads_the_values_of_the_labels() {
    let mut data = waves(60, 3, 3);
    let by_place = predicted(&*fitted("cpnn", &["epochs=20"], &data).model, data.inputs());
    data = data.with_label_values(vec![10.0, 20.0, 30.0]).unwrap();
    assert_eq!(
        by_place,
        predicted(&*fitted("cpnn", &["epochs=20"], &data).model, data.inputs()),
        "evenly spaced"
    );
    data = data.with_label_values(vec![1.0, 2.0, 30.0]).unwrap();
    assert_ne!(by_place, predicted(&*fitted("cpnn", &["epochs=20"], &data).model, data.inputs()));
}

#[test]
fn an_interrupted_fit_keeps_what_it_has() {
    let data = waves(100, 5, 3);
    for name in NETWORKS {
        let mut observer = |event: &FitEvent, state: &dyn InProgress| {
            assert!(state.predict(data.inputs(), &Threads::one()).is_ok());
            match event {
                FitEvent::Iteration { iteration: 3, .. } => ControlFlow::Break(StopReason::Interrupted),
                _ => ControlFlow::Continue(()),
            }
        };
        let mut context = FitContext::new(0, Threads::one(), &mut observer);
        let fitted = learner(name, &[]).fit(&data, &mut context).unwrap();
        assert_eq!(
            (fitted.summary.stopped, fitted.summary.iterations),
            (StopReason::Interrupted, 3),
            "{name}"
        );
        assert!(predicted(&*fitted.model, data.inputs()).iter_rows().all(|row| on_simplex(row, 1e-5)));
    }
}

#[test]
fn a_stored_network_predicts_the_same() {
    let data = waves(40, 5, 3);
    for name in NETWORKS {
        let fitted = fitted(name, &["hidden=6"], &data);
        let mut parts = Parts::new();
        fitted.model.store(&mut parts);
        let read = Parts::from_bytes(&parts.to_bytes().unwrap()).unwrap();
        let again = (entry(name).load)(&read, &ModelShape { features: 5, labels: 3 }).unwrap();
        assert_eq!(predicted(&*again, data.inputs()), predicted(&*fitted.model, data.inputs()), "{name}");
    }
}

#[test]
fn a_damaged_network_is_refused() {
    let data = waves(40, 5, 3);
    for name in NETWORKS {
        let mut read = Parts::new();
        fitted(name, &["hidden=6"], &data).model.store(&mut read);
        let shape = ModelShape { features: 5, labels: 3 };
        let refused = |change: &dyn Fn(&mut Parts)| {
            let mut damaged = read.clone();
            change(&mut damaged);
            (entry(name).load)(&damaged, &shape).is_err()
        };
        assert!((entry(name).load)(&read, &ModelShape { features: 5, labels: 4 }).is_err());
        assert!(refused(&|parts| parts.put_detail("hidden", 7)));
        assert!(refused(&|parts| parts.put_detail("hidden", u64::MAX)));
        assert!(refused(&|parts| parts.put_detail("label_values", [1.0])));
        assert!(refused(&|parts| parts.put("scaling_factor", Array::F32(vec![5], vec![f32::NAN; 5]))));
    }
}

#[test]
fn degenerate_data_can_be_fitted() {
    for (rows, labels) in [(1, 3), (2, 1), (5, 2)] {
        let data = changed(&waves(rows, 2, labels), |values| {
            (0..rows).for_each(|row| values.row_mut(row)[1] = 7.0);
        });
        for name in NETWORKS {
            let p = predicted(&*fitted(name, &[], &data).model, data.inputs());
            assert!(p.iter_rows().all(|row| on_simplex(row, 1e-5)), "{name} {rows}");
        }
    }
}
