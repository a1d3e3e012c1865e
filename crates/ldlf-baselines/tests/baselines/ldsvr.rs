//! `ldsvr` against direct solutions of its linear systems, and what must hold whatever the data.

use std::ops::ControlFlow;

use ldlf_core::{Features, FitContext, FitEvent, InProgress, Settings, StopReason, Threads, TrainedModel};

use crate::support::*;

const GIVEN: [&str; 5] = ["c=5", "epsilon=0.1", "target_clip=0.01", "width=0.7", "scaling=raw"];

#[test]
fn the_steps_are_those_of_the_direct_solution() {
    // ldsvr.py: numpy.linalg.solve of the full system of every label.
    let case: serde_json::Value = serde_json::from_str(include_str!("../oracles/ldsvr.json")).unwrap();
    let data = fixture_rows(&case);
    let queries = Features::Dense(matrix(&case["queries"])).into();
    for (moment, iterations) in [("first", 1), ("second", 2), ("converged", 60)] {
        let iterations = format!("iterations={iterations}");
        let settings = [&GIVEN[..], &[&iterations, "tolerance=0"]].concat();
        let model = fit("ldsvr", &settings, &data, &Threads::one()).unwrap();
        let objective = case[moment]["objective"].as_f64().unwrap();
        let reached = model.summary.loss.unwrap();
        assert!((reached / objective - 1.0).abs() < 1e-4, "{moment}: {reached}, the oracle has {objective}");
        let expected = matrix(&case[moment]["predictions"]);
        let apart = largest_difference(&predict(&model, &queries), &expected);
        assert!(apart < 2e-3, "{moment}: {apart}");
    }
}

#[test]
fn the_objective_falls_at_every_step() {
    let (objectives, _) = three_steps();
    assert!(objectives.windows(2).all(|w| w[1] < w[0]), "{objectives:?}");
}

#[test]
fn an_interrupted_fit_keeps_the_model_so_far() {
    let (_, model) = three_steps();
    assert_eq!((model.summary.iterations, model.summary.stopped), (3, StopReason::Interrupted));
    let data = smooth_rows(120, 1);
    assert_eq!(predict(&model, data.inputs()).rows(), 120);
}

/// The objectives and the model of a fit that is interrupted after three steps.
fn three_steps() -> (Vec<f64>, TrainedModel) {
    let data = smooth_rows(120, 1);
    let learner = (entry("ldsvr").build)(&Settings::parse(GIVEN).unwrap()).unwrap();
    let mut objectives = Vec::new();
    let mut stop_at_three = |event: &FitEvent, state: &dyn InProgress| {
        assert_eq!(state.predict(data.inputs(), &Threads::one()).unwrap().rows(), 120);
        if let FitEvent::Iteration { loss, .. } = event {
            objectives.push(loss.unwrap());
        }
        if objectives.len() == 3 {
            ControlFlow::Break(StopReason::Interrupted)
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut context = FitContext::new(0, Threads::one(), &mut stop_at_three);
    let model = TrainedModel::fit(&*learner, &data, &mut context).unwrap();
    (objectives, model)
}

#[test]
fn a_weight_equals_that_many_copies() {
    let data = smooth_rows(60, 4);
    let weights: Vec<f32> = (0..60).map(|row| (row % 4) as f32).collect();
    let copies: Vec<usize> = (0..60).flat_map(|row| std::iter::repeat_n(row, row % 4)).collect();
    // A linear width would differ: the mean distance is that of the rows, not of their weights.
    let settings = ["c=5", "target_clip=0.01", "width=1e6", "scaling=raw", "tolerance=0", "iterations=40"];
    let weighted =
        fit("ldsvr", &settings, &data.clone().with_weights(weights).unwrap(), &Threads::one()).unwrap();
    let copied = fit("ldsvr", &settings, &data.select(&copies), &Threads::one()).unwrap();
    let apart = largest_difference(&predict(&weighted, data.inputs()), &predict(&copied, data.inputs()));
    assert!(apart < 1e-3, "{apart}");
}

#[test]
fn relabelling_commutes_with_fitting() {
    let (data, order) = (smooth_rows(80, 5), [2, 0, 1]);
    let plain = fit("ldsvr", &GIVEN, &data, &Threads::one()).unwrap();
    let other = fit("ldsvr", &GIVEN, &relabelled(&data, &order), &Threads::one()).unwrap();
    let (plain, other) = (predict(&plain, data.inputs()), predict(&other, data.inputs()));
    for (plain, other) in plain.iter_rows().zip(other.iter_rows()) {
        assert!((0..3).all(|label| (other[label] - plain[order[label]]).abs() < 1e-4));
    }
}

#[test]
fn a_clip_of_a_half_is_refused() {
    assert_eq!(
        refusal(fit("ldsvr", &["target_clip=0.5"], &smooth_rows(10, 1), &Threads::one())),
        "target_clip must be below 0.5, got 0.5"
    );
}

#[test]
fn the_search_for_a_cost_goes_past_100_where_the_labels_follow_exactly() {
    let data = smooth_rows(150, 6);
    let settings = ["epsilon=0", "width=1", "target_clip=0.001", "scaling=raw"];
    let model = fit("ldsvr", &settings, &data, &Threads::one()).unwrap();
    let facts = model.model.inspect();
    let c = facts.iter().find(|(name, _)| name == "c").unwrap().1.as_f64().unwrap();
    assert!(c > 100.0, "{c}");
}
