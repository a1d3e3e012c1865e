//! `pt-bayes` against scikit-learn, and what its weights mean.

use ldlf_core::{Features, Threads};

use crate::support::*;

#[test]
fn predictions_are_those_of_scikit_learns_gaussian_naive_bayes() {
    // pt_bayes.py: GaussianNB with one weighted row per label.
    let case: serde_json::Value = serde_json::from_str(include_str!("../oracles/pt_bayes.json")).unwrap();
    let data = fixture_rows(&case);
    let queries = Features::Dense(matrix(&case["queries"]));
    for (rows, queries) in [
        (data.features().unwrap().clone(), queries.clone()),
        (sparse(data.features().unwrap()), sparse(&queries)),
    ] {
        let data = data.clone().with_inputs(rows).unwrap();
        let model = fit("pt-bayes", &[], &data, &Threads::one()).unwrap();
        let apart = largest_difference(&predict(&model, &queries.into()), &matrix(&case["predictions"]));
        assert!(apart < 1e-5, "{apart}");
    }
}

#[test]
fn a_weight_equals_that_many_copies() {
    let data = smooth_rows(60, 4);
    let weights: Vec<f32> = (0..60).map(|row| (row % 4) as f32).collect();
    let copies: Vec<usize> = (0..60).flat_map(|row| std::iter::repeat_n(row, row % 4)).collect();
    let weighted =
        fit("pt-bayes", &[], &data.clone().with_weights(weights).unwrap(), &Threads::one()).unwrap();
    let copied = fit("pt-bayes", &[], &data.select(&copies), &Threads::one()).unwrap();
    let apart = largest_difference(&predict(&weighted, data.inputs()), &predict(&copied, data.inputs()));
    assert!(apart < 1e-5, "{apart}");
}

#[test]
fn resampling_changes_the_model_but_not_much_on_many_rows() {
    let data = smooth_rows(3000, 1);
    let counted = fit("pt-bayes", &[], &data, &Threads::one()).unwrap();
    let drawn = fit("pt-bayes", &["resample=true"], &data, &Threads::one()).unwrap();
    let apart = largest_difference(&predict(&counted, data.inputs()), &predict(&drawn, data.inputs()));
    assert!(apart > 0.0 && apart < 0.2, "{apart}");
}

#[test]
fn features_that_say_nothing_leave_the_mean_distribution() {
    let data = smooth_rows(40, 2);
    let blank = data.clone().with_inputs(Features::Dense(ldlf_core::Matrix::zeros(40, 2))).unwrap();
    let predicted = predict(&fit("pt-bayes", &[], &blank, &Threads::one()).unwrap(), blank.inputs());
    assert!(predicted.row(0).iter().zip(data.mean_target()).all(|(p, m)| (f64::from(*p) - m).abs() < 1e-5));
}
