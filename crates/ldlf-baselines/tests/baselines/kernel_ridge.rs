//! `kernel-ridge` against a direct solution, and what must hold whatever the data.

use ldlf_core::{Features, Threads};

use crate::support::*;

const GIVEN: [&str; 4] = ["penalty=0.2", "target_clip=0.01", "width=0.7", "scaling=raw"];

#[test]
fn predictions_are_those_of_the_direct_solution() {
    // kernel_ridge.py: numpy.linalg.solve in double precision.
    let case: serde_json::Value = serde_json::from_str(include_str!("../oracles/kernel_ridge.json")).unwrap();
    let plain = fixture_rows(&case);
    let weights = case["weights"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap() as f32).collect();
    let weighted = plain.clone().with_weights(weights).unwrap();
    let queries = Features::Dense(matrix(&case["queries"])).into();
    for (name, data) in [("plain", plain), ("weighted", weighted)] {
        let model = fit("kernel-ridge", &GIVEN, &data, &Threads::one()).unwrap();
        let apart = largest_difference(&predict(&model, &queries), &matrix(&case[name]));
        assert!(apart < 2e-5, "{name}: {apart}");
    }
}

#[test]
fn rows_without_weight_count_for_nothing() {
    let data = smooth_rows(60, 4);
    let weights: Vec<f32> = (0..60).map(|row| if row < 40 { 1.0 } else { 0.0 }).collect();
    let weighted =
        fit("kernel-ridge", &[], &data.clone().with_weights(weights).unwrap(), &Threads::one()).unwrap();
    let first: Vec<usize> = (0..40).collect();
    let alone = fit("kernel-ridge", &[], &data.select(&first), &Threads::one()).unwrap();
    assert_eq!(predict(&weighted, data.inputs()), predict(&alone, data.inputs()));
}

#[test]
fn relabelling_commutes_with_fitting() {
    let (data, order) = (smooth_rows(80, 5), [2, 0, 1]);
    let plain = fit("kernel-ridge", &GIVEN, &data, &Threads::one()).unwrap();
    let other = fit("kernel-ridge", &GIVEN, &relabelled(&data, &order), &Threads::one()).unwrap();
    let (plain, other) = (predict(&plain, data.inputs()), predict(&other, data.inputs()));
    for (plain, other) in plain.iter_rows().zip(other.iter_rows()) {
        assert!((0..3).all(|label| (other[label] - plain[order[label]]).abs() < 1e-4));
    }
}

#[test]
fn a_large_penalty_gives_the_mean_log_ratio() {
    let data = smooth_rows(80, 5);
    let settings = ["penalty=1e9", "target_clip=0.01", "width=1", "scaling=raw"];
    let predicted = predict(&fit("kernel-ridge", &settings, &data, &Threads::one()).unwrap(), data.inputs());
    assert!(
        predicted.iter_rows().all(|row| row.iter().zip(predicted.row(0)).all(|(a, b)| (a - b).abs() < 1e-5))
    );
}

#[test]
fn the_search_leaves_the_first_grid_where_labels_follow_exactly() {
    let model = fit("kernel-ridge", &["scaling=raw"], &smooth_rows(150, 6), &Threads::one()).unwrap();
    let facts = model.model.inspect();
    let penalty = facts.iter().find(|(name, _)| name == "penalty").unwrap().1.as_f64().unwrap();
    assert!(penalty < 0.02, "{penalty}");
}
