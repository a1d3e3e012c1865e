//! The baselines of age estimation: `iis-aldl`, `d2ldl`, `aas` and `larr` on ages that follow from their features.

use std::ops::ControlFlow;

use ldlf_core::estimates::Rule;
use ldlf_core::targets::{Spread, from_single_label};
use ldlf_core::{
    Dataset, Features, FitContext, FitEvent, InProgress, Matrix, Prediction, Seed, Settings, Threads,
    TrainedModel,
};
use rand::RngExt;

use crate::support::*;

const BASELINES: [&str; 4] = ["iis-aldl", "d2ldl", "aas", "larr"];

/// People of 20 to 40 whose age can be read off three features, with an error of a year; targets of deviation 2.
fn people(rows: usize, seed: u64) -> Dataset {
    let mut generator = Seed::new(seed).named("people").generator();
    let ages: Vec<f64> = (20..=40).map(f64::from).collect();
    let (mut features, mut targets, mut truth) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let age = (20.0 + 20.0 * generator.random::<f64>()).round();
        let mut noise = || 2.0 * generator.random::<f64>() - 1.0;
        let seen = (age - 30.0 + noise()) / 10.0;
        features.extend([seen as f32, (seen * seen + 0.1 * noise()) as f32, noise() as f32]);
        targets.extend(from_single_label(age, &ages, &Spread::Gaussian { sigma: 2.0 }).unwrap());
        truth.push(age);
    }
    let features = Features::Dense(Matrix::new(rows, 3, features).unwrap());
    let targets = Matrix::new(rows, ages.len(), targets).unwrap();
    Dataset::new(features, targets).unwrap().with_label_values(ages).unwrap().with_truth(truth).unwrap()
}

/// The ages that a model predicts: its values, or the medians of its distributions.
fn ages_of(model: &TrainedModel, data: &Dataset) -> Vec<f64> {
    let values = data.schema().label_values.as_ref().unwrap();
    match model.predict_with(data.inputs(), &Threads::one()).unwrap() {
        Prediction::Values(ages) => ages,
        Prediction::Distributions(d) => d.iter_rows().map(|row| Rule::Median.estimate(row, values)).collect(),
    }
}

fn mean_error(model: &TrainedModel, data: &Dataset) -> f64 {
    let truth = data.truth().unwrap();
    let errors = ages_of(model, data).into_iter().zip(truth).map(|(age, truth)| (age - truth).abs());
    errors.sum::<f64>() / data.rows() as f64
}

#[test]
fn ages_are_read_off_the_features() {
    let (data, test) = (people(300, 1), people(200, 2));
    for baseline in BASELINES {
        let model = fit(baseline, &[], &data, &Threads::one()).unwrap();
        let error = mean_error(&model, &test);
        // The noise alone costs half a year; always predicting 30 costs five.
        assert!(error < 1.2, "{baseline}: {error}");
    }
}

#[test]
fn a_reloaded_model_predicts_the_same() {
    let data = people(80, 3);
    for baseline in BASELINES {
        let model = fit(baseline, &[], &data, &Threads::one()).unwrap();
        assert_eq!(ages_of(&reloaded(&model).unwrap(), &data), ages_of(&model, &data), "{baseline}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let data = people(80, 3);
    for baseline in BASELINES {
        let model = fit(baseline, &[], &data, &Threads::one()).unwrap();
        let two = fit(baseline, &[], &data, &Threads::new(2).unwrap()).unwrap();
        assert_eq!(bytes(&two), bytes(&model), "{baseline}");
    }
}

#[test]
fn labels_that_stand_for_no_numbers_are_refused() {
    let people = people(40, 4);
    let data = Dataset::new(people.inputs().clone(), people.targets().clone()).unwrap();
    for baseline in ["iis-aldl", "aas", "larr"] {
        let sentence = refusal(fit(baseline, &[], &data, &Threads::one()));
        assert!(
            sentence.starts_with(&format!("{baseline} needs labels that stand for numbers")),
            "{sentence}"
        );
    }
}

#[test]
fn sparse_rows_give_the_answers_of_dense_ones() {
    let data = people(80, 5);
    let thin = data.clone().with_inputs(sparse(data.features().unwrap())).unwrap();
    for baseline in BASELINES {
        // Sparse columns are scaled without a shift, which raw features make no difference to.
        let dense = ages_of(&fit(baseline, &["scaling=raw"], &data, &Threads::one()).unwrap(), &data);
        let sparse = ages_of(&fit(baseline, &["scaling=raw"], &thin, &Threads::one()).unwrap(), &thin);
        let far = dense.iter().zip(&sparse).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-2, "{baseline}: {far}");
    }
}

#[test]
fn a_weight_of_two_is_two_rows_for_the_functions_of_aas() {
    let data = people(60, 6);
    let weights: Vec<f32> = (0..60).map(|row| (row % 3) as f32).collect();
    let copies: Vec<usize> = (0..60).flat_map(|row| vec![row; row % 3]).collect();
    // One cluster and one range: k-means draws its start among rows, not weights.
    let given = ["clusters=1", "ranges=1", "l2=0.1", "special_l2=1"];
    let weighted = fit("aas", &given, &data.clone().with_weights(weights).unwrap(), &Threads::one()).unwrap();
    let copied = fit("aas", &given, &data.select(&copies), &Threads::one()).unwrap();
    for (a, b) in ages_of(&weighted, &data).iter().zip(ages_of(&copied, &data)) {
        assert!((a - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn without_a_window_larr_is_its_regression() {
    let data = people(120, 7);
    let model = fit("larr", &["window=0", "c=10"], &data, &Threads::one()).unwrap();
    assert!(ages_of(&model, &data).iter().any(|age| age.fract() != 0.0));
}

#[test]
fn with_a_window_larr_predicts_ages_that_occur() {
    let data = people(120, 7);
    let model = fit("larr", &["window=3", "c=10"], &data, &Threads::one()).unwrap();
    assert!(ages_of(&model, &data).iter().all(|age| age.fract() == 0.0 && (20.0..=40.0).contains(age)));
}

#[test]
fn larr_with_two_ages_is_one_classifier() {
    // By hand: rows at -1 are 10 years old, rows at 1 are 20, and the regression stays between them.
    let features = Features::Dense(Matrix::from_rows(&[[-1.0], [-1.0], [1.0], [1.0]]));
    let targets = Matrix::from_rows(&[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]);
    let data = Dataset::new(features, targets).unwrap().with_label_values(vec![10.0, 20.0]).unwrap();
    let model = fit("larr", &["window=10", "c=1", "scaling=raw"], &data, &Threads::one()).unwrap();
    let queries = Features::Dense(Matrix::from_rows(&[[-0.9], [-0.1], [0.1], [3.0]])).into();
    assert_eq!(
        model.predict_with(&queries, &Threads::one()).unwrap(),
        Prediction::Values(vec![10.0, 10.0, 20.0, 20.0])
    );
}

#[test]
fn the_tournament_of_larr_survives_its_file() {
    let (data, test) = (people(120, 7), people(80, 11));
    let settings = ["window=4", "c=10", "decision=tournament"];
    let model = fit("larr", &settings, &data, &Threads::one()).unwrap();
    let again = reloaded(&model).unwrap();
    assert_eq!(ages_of(&again, &test), ages_of(&model, &test));
    assert_eq!(bytes(&again), bytes(&model), "the decision is stored");
}

#[test]
fn separate_functions_of_aas_are_fitted_apart_from_the_global_one() {
    let data = people(120, 6);
    let one_cell = ["clusters=1", "ranges=1", "l2=100", "special_l2=0.1"];
    // With one cell the published rule is a single function with the cell's penalty, whatever the global one is.
    let separate =
        fit("aas", &[&one_cell[..], &["functions=separate"]].concat(), &data, &Threads::one()).unwrap();
    let plain =
        fit("aas", &["clusters=1", "ranges=1", "l2=0.1", "special_l2=1e9"], &data, &Threads::one()).unwrap();
    let added = fit("aas", &one_cell, &data, &Threads::one()).unwrap();
    let far = |a: &TrainedModel, b: &TrainedModel| {
        let pairs = ages_of(a, &data).into_iter().zip(ages_of(b, &data));
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    assert!(far(&separate, &plain) < 1e-3, "{}", far(&separate, &plain));
    assert!(far(&separate, &added) > 1e-2, "what is added to a penalised function is another function");
}

#[test]
fn d2ldl_mixes_only_where_held_out_rows_gain() {
    let data = people(100, 9);
    let (plain, chosen) = (
        fit("bfgs-ldl", &[], &data, &Threads::one()).unwrap(),
        fit("d2ldl", &[], &data, &Threads::one()).unwrap(),
    );
    let test = people(400, 12);
    let kl = |model: &TrainedModel| mean_kl(test.targets(), &predict(model, test.inputs()));
    assert!(kl(&chosen) < 1.02 * kl(&plain), "{} {}", kl(&chosen), kl(&plain));
    let mixed = fit("d2ldl", &["mix=0.5", "l2=1"], &data, &Threads::one()).unwrap();
    let unmixed = fit("bfgs-ldl", &["l2=1"], &data, &Threads::one()).unwrap();
    assert_ne!(predict(&mixed, data.inputs()), predict(&unmixed, data.inputs()));
}

#[test]
fn the_first_round_of_iis_aldl_is_iis_ldl() {
    let data = people(100, 8);
    let adaptive = fit("iis-aldl", &["rounds=1"], &data, &Threads::one()).unwrap();
    // The targets are Gaussians of deviation 2: with the widths measured on them they are the same.
    let plain = fit("iis-ldl", &[], &data, &Threads::one()).unwrap();
    let (a, b) = (predict(&adaptive, data.inputs()), predict(&plain, data.inputs()));
    assert!(largest_difference(&a, &b) < 1e-4);
}

#[test]
fn widths_follow_the_spread_of_the_targets() {
    let data = people(100, 8);
    let adaptive = fit("iis-aldl", &["rounds=1"], &data, &Threads::one()).unwrap();
    let widths = adaptive.model.inspect().into_iter().find(|(name, _)| name == "widths").unwrap().1;
    assert!(widths.as_array().unwrap().iter().all(|width| (width.as_f64().unwrap() - 2.0).abs() < 0.01));
}

#[test]
fn several_fits_report_as_one() {
    let data = people(60, 10);
    for baseline in ["iis-aldl", "d2ldl"] {
        let mut seen = Vec::new();
        let mut watch = |event: &FitEvent, _: &dyn InProgress| {
            if let FitEvent::Iteration { iteration, total, .. } = event {
                assert!(iteration <= total, "{baseline}: {iteration} of {total}");
                seen.push(*iteration);
            }
            ControlFlow::Continue(())
        };
        let learner = (entry(baseline).build)(&Settings::parse(["iterations=20"]).unwrap()).unwrap();
        learner.fit(&data, &mut FitContext::new(0, Threads::one(), &mut watch)).unwrap();
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{baseline}: {seen:?}");
    }
}

#[test]
fn without_mixing_d2ldl_is_bfgs_ldl() {
    let data = people(100, 9);
    let mixed = fit("d2ldl", &["mix=0", "l2=1"], &data, &Threads::one()).unwrap();
    let plain = fit("bfgs-ldl", &["l2=1"], &data, &Threads::one()).unwrap();
    assert_eq!(predict(&mixed, data.inputs()), predict(&plain, data.inputs()));
}

/// The widths that a model was fitted with.
fn widths(model: &TrainedModel) -> Vec<f64> {
    let (_, widths) = model.model.inspect().into_iter().find(|(name, _)| name == "widths").unwrap();
    widths.as_array().unwrap().iter().map(|width| width.as_f64().unwrap()).collect()
}

#[test]
fn the_widths_of_iis_aldl_adapt_to_the_predictions() {
    // Targets of deviation 2 say little of people whose ages can be read off to a year.
    let data = people(300, 1);
    let model = fit("iis-aldl", &["init_sigma=6"], &data, &Threads::one()).unwrap();
    let moved = widths(&model).into_iter().filter(|width| (width - 6.0).abs() > 0.05).count();
    assert!(moved > 10, "{:?}", widths(&model));
}

#[test]
fn a_weight_counts_as_that_many_copies_in_the_widths_of_iis_aldl() {
    let data = people(80, 3);
    let times: Vec<usize> = (0..80).map(|row| row % 3).collect();
    let weighted = data.clone().with_weights(times.iter().map(|&n| n as f32).collect()).unwrap();
    let settings = ["patience=none", "iterations=15", "rounds=2", "init_sigma=3"];
    let [one, other] = [&weighted, &copied(&data, &times)]
        .map(|data| fit("iis-aldl", &settings, data, &Threads::one()).unwrap());
    for (one, other) in widths(&one).iter().zip(widths(&other)) {
        assert!((one - other).abs() < 0.01, "{one} {other}");
    }
}
