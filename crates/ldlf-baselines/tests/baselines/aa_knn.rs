//! `aa-knn` against scikit-learn, and what must hold whatever the data.

use ldlf_core::{Features, Threads};

use crate::support::*;

#[test]
fn predictions_are_those_of_scikit_learns_neighbours_regressor() {
    // aa_knn.py: KNeighborsRegressor(n_neighbors=7).
    let case: serde_json::Value = serde_json::from_str(include_str!("../oracles/aa_knn.json")).unwrap();
    let data = fixture_rows(&case);
    let queries = Features::Dense(matrix(&case["queries"]));
    for (rows, queries) in [
        (data.features().unwrap().clone(), queries.clone()),
        (sparse(data.features().unwrap()), sparse(&queries)),
    ] {
        let data = data.clone().with_inputs(rows).unwrap();
        let model = fit("aa-knn", &["neighbors=7", "scaling=raw"], &data, &Threads::one()).unwrap();
        assert!(largest_difference(&predict(&model, &queries.into()), &matrix(&case["predictions"])) < 1e-6);
    }
}

#[test]
fn the_number_of_neighbours_is_chosen_inside_the_training_rows() {
    let (data, test) = (smooth_rows(400, 1), smooth_rows(100, 2));
    let kl = |settings: &[&str]| {
        let model = fit("aa-knn", settings, &data, &Threads::one()).unwrap();
        mean_kl(test.targets(), &predict(&model, test.inputs()))
    };
    let chosen = kl(&[]);
    assert!(chosen <= kl(&["neighbors=1"]) && chosen <= 0.5 * kl(&["neighbors=100"]), "{chosen}");
}

#[test]
fn a_row_counts_by_its_weight() {
    let data = smooth_rows(30, 3);
    let weights: Vec<f32> = (0..30).map(|row| (row % 3) as f32).collect();
    let weighted = data.clone().with_weights(weights.clone()).unwrap();
    let model = fit("aa-knn", &["neighbors=20"], &weighted, &Threads::one()).unwrap();
    let mean = weighted.mean_target();
    for row in predict(&model, data.inputs()).iter_rows() {
        assert!(
            row.iter().zip(&mean).all(|(p, m)| (f64::from(*p) - m).abs() < 1e-6),
            "all rows of weight above 0 vote"
        );
    }
}

#[test]
fn more_neighbours_than_rows_are_refused() {
    let refused = refusal(fit("aa-knn", &["neighbors=31"], &smooth_rows(30, 3), &Threads::one()));
    assert_eq!(refused, "neighbors must be at most the number of training rows, 30, got 31");
}

#[test]
fn relabelling_commutes_with_fitting() {
    let (data, order) = (smooth_rows(80, 5), [2, 0, 1]);
    let plain = predict(&fit("aa-knn", &[], &data, &Threads::one()).unwrap(), data.inputs());
    let other = fit("aa-knn", &[], &relabelled(&data, &order), &Threads::one()).unwrap();
    for (plain, other) in plain.iter_rows().zip(predict(&other, data.inputs()).iter_rows()) {
        assert!((0..3).all(|label| (other[label] - plain[order[label]]).abs() < 1e-6));
    }
}

#[test]
fn the_search_for_neighbours_goes_past_150_where_more_are_better() {
    // Features say nothing: the mean of all rows is best.
    let data = smooth_rows(900, 1);
    let shuffled: Vec<usize> = (0..900).map(|row| (row * 77 + 5) % 900).collect();
    let noise = data.clone().with_targets(data.targets().select(&shuffled)).unwrap();
    let model = fit("aa-knn", &[], &noise, &Threads::one()).unwrap();
    let (_, neighbours) = model.model.inspect().pop().unwrap();
    assert!(neighbours.as_u64().unwrap() > 150, "{neighbours:?}");
}
