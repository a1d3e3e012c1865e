//! `pt-svm`: what must hold whatever the data. Its classifier, its sigmoids and their coupling are pinned to oracles where they
//! are written (`svc`, `pairwise_probabilities`).

use std::ops::ControlFlow;

use ldlf_core::{FitContext, FitEvent, InProgress, Matrix, Settings, StopReason, Threads, TrainedModel};

use crate::support::*;

#[test]
fn probabilities_follow_the_whole_distribution() {
    // Two kinds of rows: 0.7/0.2/0.1 on the left, 0.1/0.3/0.6 on the right.
    let kinds = Matrix::from_rows(&[[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]);
    let sides: Vec<usize> = (0..600).map(|row| row % 2).collect();
    let places = (0..600).map(|row| (row % 2) as f32 * 4.0 + (row / 2 % 10) as f32 * 0.1).collect();
    let features = ldlf_core::Features::Dense(Matrix::new(600, 1, places).unwrap());
    let data = ldlf_core::Dataset::new(features, kinds.select(&sides)).unwrap();
    for kernel in ["kernel=rbf", "kernel=linear"] {
        let model = fit("pt-svm", &[kernel], &data, &Threads::one()).unwrap();
        let apart = largest_difference(&predict(&model, data.inputs()), data.targets());
        assert!(apart < 0.12, "{kernel}: {apart}");
    }
}

#[test]
fn a_label_that_is_never_drawn_gets_its_mean_probability() {
    let data = smooth_rows(40, 1);
    let targets = data.targets().iter_rows().flat_map(|d| [d[0], d[1] + d[2], 0.0]).collect();
    let data = data.with_targets(Matrix::new(40, 3, targets).unwrap()).unwrap();
    let predicted = predict(&fit("pt-svm", &[], &data, &Threads::one()).unwrap(), data.inputs());
    assert!(predicted.iter_rows().all(|row| row[2] == 0.0 && row[0] > 0.0));
}

#[test]
fn rows_of_weight_0_do_not_count() {
    let data = smooth_rows(80, 1);
    let mut targets = data.targets().clone();
    for row in 40..80 {
        targets.row_mut(row).copy_from_slice(&[0.0, 0.0, 1.0]);
    }
    let noise = data.clone().with_targets(targets).unwrap();
    let weights: Vec<f32> = (0..80).map(|row| if row < 40 { 1.0 } else { 0.0 }).collect();
    let [one, other] = [data, noise].map(|data| {
        let data = data.with_weights(weights.clone()).unwrap();
        let mut model = fit("pt-svm", &[], &data, &Threads::one()).unwrap();
        // The files name the data, which differs.
        model.provenance = None;
        bytes(&model)
    });
    assert!(one == other);
}

#[test]
fn an_interrupted_fit_keeps_the_pairs_trained_so_far() {
    let rows = smooth_rows(300, 1);
    let targets =
        rows.targets().iter_rows().flat_map(|d| [0, 1, 2, 0, 1, 2].map(|label| d[label] / 2.0)).collect();
    let data = rows.with_targets(Matrix::new(300, 6, targets).unwrap()).unwrap();
    let mut stop = |_: &FitEvent, state: &dyn InProgress| {
        assert_eq!(state.predict(data.inputs(), &Threads::one()).unwrap().rows(), 300);
        ControlFlow::Break(StopReason::Interrupted)
    };
    let learner = (entry("pt-svm").build)(&Settings::new()).unwrap();
    let model =
        TrainedModel::fit(&*learner, &data, &mut FitContext::new(0, Threads::one(), &mut stop)).unwrap();
    assert_eq!(model.summary.stopped, StopReason::Interrupted);
    assert!(model.summary.iterations < 15, "of 15 pairs");
}
