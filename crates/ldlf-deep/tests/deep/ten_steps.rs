//! Ten steps of a small network with the forest head against PyTorch's gradients (`oracles/ten_steps.py`).

use burn::module::Module;
use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::{Device, Tensor, TensorData};
use ldlf_core::{Seed, Threads};
use ldlf_deep::backbones::{Backbone, BackboneKind, Input, Mode};
use ldlf_deep::head::ForestHead;
use ldlf_forest::head::{Head, LeafUpdate};
use ldlf_forest::leaves::LeafPrior;
use ldlf_forest::loss::LossForm;
use ldlf_forest::tree_shape::ForestShape;
use serde_json::Value;

use crate::support::{device, distributions, input, numbers, with_hashed_weights};

const SIDE: usize = 16;
const ROWS: usize = 8;
const SHAPE: ForestShape = ForestShape { trees: 3, depth: 4, units: 9, labels: 5 };

#[derive(Module, Debug)]
struct Network {
    backbone: Backbone,
    head: ForestHead,
}

fn oracle() -> Value {
    serde_json::from_str(include_str!("../oracles/ten_steps.json")).unwrap()
}

fn network(oracle: &Value, device: &Device) -> Network {
    let taken = Input::Images { channels: 3, side: SIDE };
    let backbone = Backbone::thinner(BackboneKind::SmallCnn, taken, 4, Seed::new(0), device).unwrap();
    let units = oracle["units"].as_array().unwrap().iter().flat_map(|tree| tree.as_array().unwrap());
    let units = units.map(|unit| unit.as_u64().unwrap() as u32).collect();
    let leaves = distributions("leaves", SHAPE.trees * SHAPE.leaves(), SHAPE.labels);
    let head = ForestHead::new(backbone.width(), SHAPE, Seed::new(0), device).unwrap();
    let head = with_hashed_weights(head).from_core(Head::from_parts(SHAPE, units, leaves));
    Network { backbone: with_hashed_weights(backbone), head }
}

/// Trains as the oracle does; `on_cpu` chooses the kernel for the loss. Gives the losses and predictions of the first images.
fn train(on_cpu: bool) -> (Vec<f64>, Vec<f32>) {
    let device = device().autodiff();
    let mut network = network(&oracle(), &device);
    let mut optimiser = SgdConfig::new().init();
    let (mut losses, mut noted) = (Vec::new(), (Vec::new(), Vec::new()));
    for step in 0..10 {
        let x = input(&format!("pictures {step}"), [ROWS, 3, SIDE, SIDE], 1.0, &device);
        let targets = distributions(&format!("targets {step}"), ROWS, SHAPE.labels);
        let features = network.backbone.forward(x, &Mode::Train(Seed::new(step)));
        let activations = network.head.activations(features);
        noted.0.extend(numbers(activations.clone()));
        noted.1.extend_from_slice(&targets);
        let (trees, form) = (0..SHAPE.trees, LossForm::Trees);
        let gradients = if on_cpu {
            let (loss, gradient) =
                network.head.loss_on_cpu(activations.clone(), &targets, None, form, trees, &Threads::one());
            losses.push(loss);
            (activations * gradient).sum().backward()
        } else {
            let targets = Tensor::from_data(TensorData::new(targets, [ROWS, SHAPE.labels]), &device);
            let loss = network.head.loss(activations, targets, None, form, trees);
            losses.push(f64::from(numbers(loss.clone())[0]));
            loss.backward()
        };
        let gradients = GradientsParams::from_grads(gradients, &network);
        network = optimiser.step(0.5, network, gradients);
        if step % 2 == 1 {
            let base = (0..SHAPE.labels)
                .map(|label| {
                    let column = noted.1.iter().skip(label).step_by(SHAPE.labels);
                    column.map(|d| f64::from(*d)).sum::<f64>() / (2 * ROWS) as f64
                })
                .collect();
            let update = LeafUpdate { iterations: 5, prior: LeafPrior { strength: 0.5, base } };
            network.head.update_leaves(&noted.0, &noted.1, None, &update, &Threads::one());
            noted = (Vec::new(), Vec::new());
        }
    }
    let network = network.valid();
    let x = input("pictures 0", [ROWS, 3, SIDE, SIDE], 1.0, &device.clone().without_autodiff());
    let features = network.backbone.forward(x, &Mode::Predict);
    (losses, numbers(network.head.predict(network.head.activations(features))))
}

fn ten_steps_equal_pytorch(on_cpu: bool) {
    let oracle = oracle();
    let (losses, predictions) = train(on_cpu);
    for (found, expected) in losses.iter().zip(oracle["losses"].as_array().unwrap()) {
        let expected = expected.as_f64().unwrap();
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
    let expected = oracle["predictions"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap());
    for (found, expected) in predictions.iter().zip(expected) {
        let expected = expected.as_f64().unwrap();
        assert!((f64::from(*found) - expected).abs() < 1e-4, "{found} {expected}");
    }
}

#[test]
fn ten_steps_with_the_loss_by_tensor_operations_equal_pytorch() {
    ten_steps_equal_pytorch(false);
}

#[test]
fn ten_steps_with_the_loss_by_the_kernel_equal_pytorch() {
    ten_steps_equal_pytorch(true);
}

#[test]
fn the_same_steps_give_the_same_bits() {
    assert_eq!(train(true), train(true));
}
