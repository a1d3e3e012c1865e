//! The forest head against the equations of the paper, with the fixture of the Rust head and the PyTorch one
//! (`crates/ldlf-forest/tests/oracles/head.py`).

use burn::tensor::{Device, Tensor, TensorData};
use ldlf_core::{Seed, Threads};
use ldlf_deep::dense::by_pixel;
use ldlf_deep::head::{ForestHead, SoftmaxHead};
use ldlf_forest::head::{Head, LeafUpdate};
use ldlf_forest::leaves::LeafPrior;
use ldlf_forest::loss::LossForm;
use ldlf_forest::tree_shape::ForestShape;
use serde_json::Value;

use crate::support::{self, device, hashed, numbers};

fn fixture() -> Value {
    serde_json::from_str(include_str!("../../../ldlf-forest/tests/oracles/head.json")).unwrap()
}

/// All numbers of nested lists.
fn flat(value: &Value) -> Vec<f32> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        value => vec![value.as_f64().unwrap() as f32],
    }
}

fn tensor<const D: usize>(value: &Value, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(flat(value), shape), device)
}

struct Case {
    fixture: Value,
    head: ForestHead,
    activations: Tensor<2>,
    targets: Tensor<2>,
    weights: Tensor<1>,
    shape: ForestShape,
}

fn case() -> Case {
    let (fixture, device) = (fixture(), device().autodiff());
    let rows = fixture["activations"].as_array().unwrap().len();
    let shape = ForestShape {
        trees: fixture["trees"].as_u64().unwrap() as usize,
        depth: fixture["depth"].as_u64().unwrap() as usize,
        units: fixture["activations"][0].as_array().unwrap().len(),
        labels: fixture["targets"][0].as_array().unwrap().len(),
    };
    let units = flat(&fixture["units"]).into_iter().map(|unit| unit as u32).collect();
    let core = Head::from_parts(shape, units, flat(&fixture["leaves"]));
    let head = ForestHead::new(4, shape, Seed::new(0), &device).unwrap().from_core(core);
    Case {
        activations: tensor(&fixture["activations"], [rows, shape.units], &device).require_grad(),
        targets: tensor(&fixture["targets"], [rows, shape.labels], &device),
        weights: tensor(&fixture["weights"], [rows], &device),
        head,
        fixture,
        shape,
    }
}

fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 2e-6, "{found} {expected}");
    }
}

#[test]
fn the_routing_is_that_of_the_paper() {
    let case = case();
    let reach = case.head.route(case.activations, 0..case.shape.trees).swap_dims(0, 1);
    assert_near(&numbers(reach), &flat(&case.fixture["shares"]));
}

#[test]
fn predictions_are_those_of_the_paper() {
    let case = case();
    assert_near(&numbers(case.head.predict(case.activations.clone())), &flat(&case.fixture["predictions"]));
    let by_kernel = case.head.predict_on_cpu(case.activations, &Threads::one());
    assert_near(&by_kernel, &flat(&case.fixture["predictions"]));
}

#[test]
fn the_loss_by_tensor_operations_is_that_of_the_paper() {
    let case = case();
    let trees = 0..case.shape.trees;
    let loss =
        case.head.loss(case.activations.clone(), case.targets, Some(case.weights), LossForm::Trees, trees);
    let gradient = case.activations.grad(&loss.backward()).unwrap();
    assert_near(&numbers(loss), &flat(&case.fixture["loss"]));
    assert_near(&numbers(gradient), &flat(&case.fixture["loss_gradient"]));
}

#[test]
fn the_loss_by_the_kernel_is_that_of_the_paper() {
    let case = case();
    let (targets, weights) = (flat(&case.fixture["targets"]), flat(&case.fixture["weights"]));
    let (loss, gradient) = case.head.loss_on_cpu(
        case.activations.clone(),
        &targets,
        Some(&weights),
        LossForm::Trees,
        0..case.shape.trees,
        &Threads::one(),
    );
    assert_near(&[loss as f32], &flat(&case.fixture["loss"]));
    assert_near(&numbers(gradient.clone()), &flat(&case.fixture["loss_gradient"]));
    let gradients = (case.activations.clone() * gradient).sum().backward();
    let carried = case.activations.grad(&gradients).unwrap();
    assert_near(&numbers(carried), &flat(&case.fixture["loss_gradient"]));
}

#[test]
fn the_gradient_of_predictions_is_that_of_the_paper() {
    let case = case();
    let rows = case.activations.dims()[0];
    let above = tensor(&case.fixture["above"], [rows, case.shape.labels], &device());
    let sum = (case.head.predict(case.activations.clone()) * above).sum();
    let gradient = case.activations.grad(&sum.backward()).unwrap();
    assert_near(&numbers(gradient), &flat(&case.fixture["prediction_gradient"]));
}

#[test]
fn the_leaf_update_is_that_of_the_paper() {
    for (name, iterations, strength) in [("updated_once", 1, 0.0), ("updated_with_prior", 3, 0.5)] {
        let mut case = case();
        let base = case.fixture["base"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let update = LeafUpdate { iterations, prior: LeafPrior { strength, base } };
        let (targets, weights) = (flat(&case.fixture["targets"]), flat(&case.fixture["weights"]));
        let activations = flat(&case.fixture["activations"]);
        case.head.update_leaves(&activations, &targets, Some(&weights), &update, &Threads::one());
        assert_near(case.head.core().leaves(), &flat(&case.fixture[name]));
        let by_kernel = case.head.predict_on_cpu(case.activations.clone(), &Threads::one());
        assert_near(&numbers(case.head.predict(case.activations)), &by_kernel);
    }
}

#[test]
fn the_kernel_gives_the_loss_of_tensor_operations() {
    let device = device().autodiff();
    let (rows, features) = (150, 6);
    let shape = ForestShape { trees: 4, depth: 5, units: 20, labels: 7 };
    let mut head = ForestHead::new(features, shape, Seed::new(3), &device).unwrap();
    let leaves = support::distributions("leaves", shape.trees * shape.leaves(), shape.labels);
    head = {
        let core = Head::from_parts(shape, head.core().units().to_vec(), leaves);
        head.from_core(core)
    };
    let targets = support::distributions("targets", rows, shape.labels);
    let weights: Vec<f32> = hashed("weights", rows).iter().map(|u| 1.0 + 0.5 * *u as f32).collect();
    let x = support::input("features", [rows, features], 3.0, &device);
    for form in [LossForm::Trees, LossForm::Forest] {
        let activations = head.activations(x.clone()).detach().require_grad();
        let loss = head.loss(
            activations.clone(),
            Tensor::from_data(TensorData::new(targets.clone(), [rows, shape.labels]), &device),
            Some(Tensor::from_data(TensorData::new(weights.clone(), [rows]), &device)),
            form,
            1..3,
        );
        let expected = numbers(activations.grad(&loss.backward()).unwrap());
        let by_kernel = |threads: usize| {
            let threads = Threads::new(threads).unwrap();
            let (loss, gradient) =
                head.loss_on_cpu(activations.clone(), &targets, Some(&weights), form, 1..3, &threads);
            (loss, numbers(gradient))
        };
        let (found, gradient) = by_kernel(1);
        assert!((found - f64::from(numbers(loss)[0])).abs() < 1e-5);
        assert_near(&gradient, &expected);
        assert_eq!((found, gradient), by_kernel(3), "threads do not change a bit");
    }
}

#[test]
fn a_forest_of_single_leaves_predicts_their_mean() {
    let shape = ForestShape { trees: 2, depth: 1, units: 1, labels: 2 };
    let head = ForestHead::new(3, shape, Seed::new(0), &device()).unwrap();
    let core = Head::from_parts(shape, vec![], vec![0.2, 0.8, 0.6, 0.4]);
    let x = Tensor::<2>::ones([2, 3], &device());
    let head = head.from_core(core);
    assert_near(&numbers(head.predict(head.activations(x))), &[0.4, 0.6, 0.4, 0.6]);
}

/// The rows of a fixture as the pixels of one image, `[1, channels, rows, 1]`.
fn as_pixels(rows: Tensor<2>) -> Tensor<4> {
    let [count, channels] = rows.dims();
    rows.transpose().reshape([1, channels, count, 1])
}

#[test]
fn every_pixel_of_a_map_is_a_row() {
    let case = case();
    let rows = case.activations.dims()[0];
    let predicted = case.head.predict_maps(as_pixels(case.activations.clone()));
    assert_eq!(predicted.dims(), [1, case.shape.labels, rows, 1]);
    assert_near(&numbers(by_pixel(predicted)), &flat(&case.fixture["predictions"]));
    let loss = case.head.loss_of_maps(
        as_pixels(case.activations.clone()),
        as_pixels(case.targets),
        Some(case.weights.reshape([1, rows, 1])),
        LossForm::Trees,
        0..case.shape.trees,
    );
    let gradient = case.activations.grad(&loss.backward()).unwrap();
    assert_near(&numbers(loss), &flat(&case.fixture["loss"]));
    assert_near(&numbers(gradient), &flat(&case.fixture["loss_gradient"]));
}

#[test]
fn the_pixels_of_several_images_stay_where_they_are() {
    let device = device();
    let shape = ForestShape { trees: 2, depth: 3, units: 6, labels: 4 };
    let head = ForestHead::new(5, shape, Seed::new(1), &device).unwrap();
    let leaves = support::distributions("leaves", shape.trees * shape.leaves(), shape.labels);
    let core = Head::from_parts(shape, head.core().units().to_vec(), leaves);
    let head = head.from_core(core);
    let maps: Tensor<4> = support::input("maps", [2, 5, 3, 4], 3.0, &device);
    let predicted = head.predict_maps(head.activations_of_maps(maps.clone()));
    for (image, y, x) in [(0, 0, 0), (0, 2, 1), (1, 1, 3)] {
        let pixel = maps.clone().slice([image..image + 1, 0..5, y..y + 1, x..x + 1]).reshape([1, 5]);
        let alone = head.predict(head.activations(pixel));
        let there = predicted.clone().slice([image..image + 1, 0..4, y..y + 1, x..x + 1]);
        assert_near(&numbers(there.reshape([1, 4])), &numbers(alone));
    }
}

#[test]
fn the_loss_of_the_softmax_head_is_the_weighted_cross_entropy() {
    let device = device();
    let head = SoftmaxHead::new(3, 4, Seed::new(0), &device).unwrap();
    let activations = head.activations(support::input("features", [2, 3], 1.0, &device));
    let predicted = numbers(head.predict(activations.clone()));
    let targets = support::distributions("targets", 2, 4);
    let losses: Vec<f32> =
        (0..2).map(|row| (0..4).map(|c| -targets[4 * row + c] * predicted[4 * row + c].ln()).sum()).collect();
    let loss = |weights: Option<[f32; 2]>| {
        let targets = Tensor::from_data(TensorData::new(targets.clone(), [2, 4]), &device);
        let weights = weights.map(|weights| Tensor::from_floats(weights, &device));
        numbers(head.loss(activations.clone(), targets, weights))
    };
    assert_near(&[predicted[..4].iter().sum(), predicted[4..].iter().sum()], &[1.0, 1.0]);
    assert_near(&loss(None), &[(losses[0] + losses[1]) / 2.0]);
    assert_near(&loss(Some([1.0, 3.0])), &[(losses[0] + 3.0 * losses[1]) / 4.0]);
    assert_near(&loss(Some([0.0, 0.0])), &[0.0]);
}
