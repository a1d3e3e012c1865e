//! Fine-tuning: layers that learn slower or later than others, averages of weights, erased and mixed rows.

use ldlf_core::stored::Parts;
use ldlf_core::{FitContext, Threads, TrainedModel};

use crate::small_fits::*;

const FIRST: &str = "network.backbone.blocks.0.conv.weight";
const LAST: &str = "network.backbone.blocks.3.conv.weight";
const HEAD: &str = "network.projection.weight";

fn numbers(model: &TrainedModel, name: &str) -> Vec<f32> {
    let parts: Parts = model.to_parts();
    let shape = parts.shape(name).unwrap().to_vec();
    parts.f32s(name, &shape).unwrap()
}

/// How far the weights of a layer moved in a second epoch, at most.
fn moved(more: &[&str], name: &str) -> f32 {
    let data = squares();
    let constant = ["schedule=constant", "warm_up=0", "weight_decay=0", "early_stopping=false"];
    let after =
        |epochs: &'static str| numbers(&fit("dldl", &[&constant[..], more, &[epochs]].concat(), &data), name);
    let (one, two) = (after("epochs=1"), after("epochs=2"));
    one.iter().zip(&two).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn with_layer_decay_the_first_layers_learn_slowest() {
    let decayed = ["layer_decay=0.1"];
    // Adam moves every weight by about the learning rate: a thousandth of it three layers down.
    assert!(moved(&decayed, FIRST) < 0.01 * moved(&[], FIRST));
    assert!(moved(&decayed, LAST) > 0.2 * moved(&[], LAST));
    assert!(moved(&decayed, HEAD) > 0.2 * moved(&[], HEAD));
}

#[test]
fn layers_join_the_training_from_the_last_to_the_first() {
    // Four layers over four epochs: in the second epoch the head and the last layer learn.
    let joining = ["unfreeze_epochs=4"];
    assert_eq!(moved(&joining, FIRST), 0.0);
    assert!(moved(&joining, LAST) > 0.0 && moved(&joining, HEAD) > 0.0);
    assert!(moved(&["unfreeze_epochs=1"], FIRST) > 0.0, "one epoch later all learn");
}

#[test]
fn layers_that_join_late_and_are_frozen_stay_frozen() {
    assert_eq!(moved(&["unfreeze_epochs=1", "freeze=blocks.0"], FIRST), 0.0);
    assert!(moved(&["unfreeze_epochs=1", "freeze=blocks.0"], LAST) > 0.0);
}

#[test]
fn the_first_step_of_a_layer_that_joins_late_is_as_long_as_any_first_step() {
    // Six mini-batches of sixteen are an epoch. The first step of Adam is as long as the learning rate.
    let data = squares();
    let own = ["schedule=constant", "warm_up=0", "weight_decay=0", "unfreeze_epochs=1", "max_grad_norm=none"];
    let after = |iterations: &'static str| {
        numbers(&fit("dldl", &[&own[..], &["early_stopping=false", iterations]].concat(), &data), LAST)
    };
    let (before, joined) = (after("iterations=6"), after("iterations=7"));
    let step = before.iter().zip(&joined).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(step > 0.009 && step < 0.011, "{step}");
}

#[test]
fn an_average_follows_the_weights_and_is_what_predicts() {
    let data = squares();
    let with = |more: &[&str]| fit("dldlf", &[&["early_stopping=false"], more].concat(), &data);
    let (plain, short, long) = (with(&[]), with(&["average=1e-9"]), with(&["average=0.9"]));
    let distance = |a: &TrainedModel, b: &TrainedModel| {
        let (a, b) = (numbers(a, LAST), numbers(b, LAST));
        a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    assert!(distance(&plain, &short) < 1e-6, "an average without a past is the weights");
    assert!(distance(&plain, &long) > 1e-4);
    assert!(kl(&long, &data) < 0.5 * kl_of_mean(&data), "{}", kl(&long, &data));
}

#[test]
fn the_best_epoch_of_an_average_is_what_was_validated() {
    let split = (0..ROWS).map(|row| if row < 32 { "valid" } else { "train" }.to_string()).collect();
    let data = squares().with_split(split).unwrap();
    let model = fit("dldlf", &["average=0.9"], &data);
    let marked = kl(&model, &data.select(&(0..32).collect::<Vec<_>>()));
    assert!((model.summary.validation_kl.unwrap() - marked).abs() < 1e-6);
}

#[test]
fn a_training_on_erased_and_mixed_images_learns() {
    let data = squares();
    for learner in ["dldlf", "dndf-ldl", "dldl"] {
        let found = kl(&fit(learner, &["mixup=0.2", "erasing=0.3", "epochs=12"], &data), &data);
        assert!(found < 0.6 * kl_of_mean(&data), "{learner}: {found} against {}", kl_of_mean(&data));
    }
}

#[test]
fn rows_of_a_table_are_mixed_too() {
    let data = table();
    let plain = fit("dldlf", &["backbone=mlp"], &data);
    let mixed = fit("dldlf", &["backbone=mlp", "mixup=1"], &data);
    assert_ne!(numbers(&plain, HEAD), numbers(&mixed, HEAD));
    assert!(kl(&mixed, &data) < kl_of_mean(&data));
}

#[test]
fn a_resumed_fine_tuning_ends_with_the_same_bytes() {
    let all = ["mixup=0.4", "erasing=0.2", "average=0.8", "layer_decay=0.7", "unfreeze_epochs=2"];
    for learner in ["dldlf", "dldl"] {
        ends_with_the_same_bytes_when_resumed(learner, &all, &squares());
        ends_with_the_same_bytes_when_resumed(learner, &["average=0.8", "start_epochs=3"], &squares());
    }
}

#[test]
fn threads_do_not_change_a_fine_tuning() {
    let data = squares();
    let with = |threads| {
        let mut observer = ();
        let mut context = FitContext::new(0, threads, &mut observer);
        let more = ["epochs=2", "mixup=0.4", "erasing=0.2", "average=0.8", "unfreeze_epochs=1"];
        bytes(&fit_with("dldlf", &more, &data, &mut context).unwrap())
    };
    assert!(with(Threads::one()) == with(Threads::new(2).unwrap()));
}
