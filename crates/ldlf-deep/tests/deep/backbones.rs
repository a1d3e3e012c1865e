//! Every backbone against torchvision or a few lines of torch (`oracles/networks.py`).

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use ldlf_core::Seed;
use ldlf_core::parameters::{Kind, ParameterType};
use ldlf_deep::backbones::{Backbone, BackboneKind, Input, InputConvention, Mode};
use serde_json::Value;

use crate::support::{device, input, numbers, with_hashed_weights};

fn oracle(kind: BackboneKind) -> Value {
    let all: Value = serde_json::from_str(include_str!("../oracles/networks.json")).unwrap();
    all[kind.name()].clone()
}

fn whole(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn input_of(kind: BackboneKind, channels: usize, side: usize) -> Input {
    match kind.reads_tables() {
        true => Input::Table { features: channels },
        false => Input::Images { channels, side },
    }
}

/// The thin network of the oracle with its weights, and its input.
fn case(kind: BackboneKind) -> (Backbone, Tensor<4>, Value) {
    let (device, oracle) = (device(), oracle(kind));
    let shape: Vec<usize> = oracle["input"].as_array().unwrap().iter().map(whole).collect();
    let shape: [usize; 4] = shape.try_into().unwrap();
    let taken = input_of(kind, shape[1], shape[2]);
    let backbone = Backbone::thinner(kind, taken, whole(&oracle["thinner"]), Seed::new(0), &device).unwrap();
    let x = input("input", shape, oracle["scale"].as_f64().unwrap(), &device);
    (with_hashed_weights(backbone), x, oracle)
}

fn output_equals_pytorch(kind: BackboneKind) {
    let (backbone, x, oracle) = case(kind);
    let rows = x.dims()[0];
    let found = numbers(backbone.forward(x, &Mode::Predict));
    let expected: Vec<Vec<f64>> = oracle["output"].as_array().unwrap().iter().map(floats).collect();
    let largest = expected.iter().flatten().fold(1.0f64, |a, b| a.max(b.abs()));
    assert!(expected.iter().flatten().any(|v| *v != 0.0), "an output of zeros would show nothing");
    for (found, expected) in found.chunks(found.len() / rows).zip(&expected) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-5 * largest, "{found} {expected}");
        }
    }
}

fn layers_equal_pytorch(kind: BackboneKind) {
    let (backbone, x, oracle) = case(kind);
    for layer in kind.layers() {
        let expected = &oracle["layers"][layer];
        let found = backbone.forward_to(layer, x.clone()).unwrap();
        assert_eq!(found.dims()[1], whole(&expected["width"]), "{layer}");
        let values = numbers(found);
        let mean = |map: fn(f64) -> f64| {
            values.iter().map(|v| map(f64::from(*v))).sum::<f64>() / values.len() as f64
        };
        for (found, name) in [(mean(|v| v), "mean"), (mean(|v| v * v), "square")] {
            let expected = expected[name].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-5 * expected.abs().max(1.0), "{layer}: {found} {expected}");
        }
    }
    let last = *kind.layers().last().unwrap();
    assert_eq!(backbone.width(), whole(&oracle["layers"][last]["width"]));
}

/// Names and shapes in PyTorch's layout.
#[derive(Default)]
struct Parameters {
    place: Vec<String>,
    found: Vec<(String, Vec<usize>)>,
}

impl ModuleVisitor for Parameters {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.place.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.place.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let mut shape = param.lazy_shape().to_vec();
        if D == 2 {
            shape.reverse();
        }
        self.found.push((self.place.join("."), shape));
    }
}

fn parameters_are_those_of_pytorch(kind: BackboneKind) {
    let (oracle, device) = (oracle(kind), device());
    let side = kind.usual_side();
    let channels = whole(&oracle["input"][1]);
    let backbone = Backbone::new(kind, input_of(kind, channels, side), Seed::new(0), &device).unwrap();
    let mut parameters = Parameters::default();
    backbone.visit(&mut parameters);
    parameters.found.sort();
    let expected = oracle["parameters"].as_object().unwrap();
    let mut expected: Vec<(String, Vec<usize>)> = expected
        .iter()
        .map(|(name, shape)| (name.clone(), shape.as_array().unwrap().iter().map(whole).collect()))
        .collect();
    expected.sort();
    assert_eq!(parameters.found, expected);
}

macro_rules! networks {
    ($($name:ident: $kind:expr),* $(,)?) => {
        #[test]
        fn every_backbone_is_compared_with_pytorch() {
            assert!(BackboneKind::ALL.iter().all(|kind| [$($kind),*].contains(kind)));
        }

        $(
        mod $name {
            use super::*;

            #[test]
            fn its_output_equals_pytorch() {
                output_equals_pytorch($kind);
            }

            #[test]
            fn its_layers_equal_pytorch() {
                layers_equal_pytorch($kind);
            }

            #[test]
            fn its_parameters_have_the_names_and_shapes_of_pytorch() {
                parameters_are_those_of_pytorch($kind);
            }
        }
    )* };
}

networks! {
    alexnet: BackboneKind::AlexNet,
    alexnet_caffe: BackboneKind::AlexNetCaffe,
    vgg16: BackboneKind::Vgg16,
    resnet18: BackboneKind::ResNet18,
    efficientnet_lite0: BackboneKind::EfficientNetLite0,
    mobilenet_v1: BackboneKind::MobileNetV1,
    small_cnn: BackboneKind::SmallCnn,
    mlp: BackboneKind::Mlp,
}

#[test]
fn every_backbone_is_found_by_its_name() {
    let Kind::Choice { choices } = BackboneKind::kind() else { panic!("a backbone is a choice") };
    assert_eq!(choices, BackboneKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>());
    for &kind in BackboneKind::ALL {
        assert_eq!(BackboneKind::named(kind.name()).unwrap(), kind);
        assert_eq!(BackboneKind::from_value(&kind.to_value()), Some(kind));
        assert!(!kind.summary().is_empty() && !kind.layers().is_empty(), "{}", kind.name());
    }
}

#[test]
fn the_preparation_is_that_of_the_published_weights() {
    let lite = BackboneKind::EfficientNetLite0.preparation(None, 1).unwrap();
    assert_eq!((lite.side, &lite.mean[..]), (224, &[127.0 / 255.0][..]));
    let small = BackboneKind::SmallCnn.preparation(Some(16), 3).unwrap();
    assert_eq!((small.side, &small.deviation[..]), (16, &InputConvention::IMAGENET.deviation[..]));
    assert_eq!(BackboneKind::Mlp.preparation(None, 3), None);
}

fn refusal(kind: BackboneKind, input: Input) -> String {
    Backbone::new(kind, input, Seed::new(0), &device()).unwrap_err().to_string()
}

#[test]
fn an_image_too_small_for_the_network_is_refused() {
    let small = Input::Images { channels: 3, side: 31 };
    assert_eq!(refusal(BackboneKind::Vgg16, small), "side must be at least 32 for vgg16, got 31");
    assert_eq!(refusal(BackboneKind::AlexNet, small), "side must be at least 63 for alexnet, got 31");
}

#[test]
fn images_of_the_smallest_side_leave_a_pixel() {
    for &kind in BackboneKind::ALL {
        let side = kind.smallest_side();
        let taken = input_of(kind, 1, side);
        let backbone = Backbone::thinner(kind, taken, 8, Seed::new(0), &device()).unwrap();
        let features = backbone.forward(Tensor::ones([1, 1, side, side], &device()), &Mode::Predict);
        assert_eq!(features.dims(), [1, backbone.width()], "{}", kind.name());
    }
}

#[test]
fn a_table_for_a_network_of_images_is_refused() {
    assert_eq!(
        refusal(BackboneKind::ResNet18, Input::Table { features: 4 }),
        "backbone=resnet18 reads images, not tables; give a folder or zip file of images with `images::join`, or choose mlp"
    );
}

#[test]
fn images_for_a_network_of_tables_are_refused() {
    assert_eq!(
        refusal(BackboneKind::Mlp, Input::Images { channels: 3, side: 64 }),
        "backbone=mlp reads tables, not images; choose small-cnn, resnet18, efficientnet-lite0, \
         mobilenet-v1, alexnet, alexnet-caffe or vgg16"
    );
}

#[test]
fn a_layer_that_is_not_there_is_refused_with_those_that_are() {
    let (backbone, x, _) = case(BackboneKind::Mlp);
    assert_eq!(
        backbone.forward_to("fc8", x).unwrap_err().to_string(),
        "mlp has no layer \"fc8\"; there are hidden1, hidden2"
    );
}

#[test]
fn weights_follow_from_the_seed() {
    let features = |seed| {
        let taken = Input::Images { channels: 3, side: 16 };
        let backbone =
            Backbone::thinner(BackboneKind::SmallCnn, taken, 8, Seed::new(seed), &device()).unwrap();
        numbers(backbone.forward(input("input", [2, 3, 16, 16], 1.0, &device()), &Mode::Predict))
    };
    assert_eq!(features(0), features(0));
    assert_ne!(features(0), features(1));
}

/// The running mean of the first normalisation.
fn statistics(backbone: &Backbone) -> Vec<f32> {
    #[derive(Default)]
    struct Find {
        inside: bool,
        found: Vec<f32>,
    }
    impl ModuleVisitor for Find {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.inside = name == "running_mean";
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if self.inside && self.found.is_empty() {
                self.found = numbers(param.val());
            }
        }
    }
    let mut find = Find::default();
    backbone.visit(&mut find);
    find.found
}

fn small_cnn_in_training() -> (Backbone, Tensor<4>) {
    let device = device().autodiff();
    let taken = Input::Images { channels: 3, side: 16 };
    let backbone = Backbone::thinner(BackboneKind::SmallCnn, taken, 8, Seed::new(0), &device).unwrap();
    (backbone, input("input", [4, 3, 16, 16], 1.0, &device))
}

#[test]
fn only_training_updates_running_statistics() {
    let (backbone, x) = small_cnn_in_training();
    let before = statistics(&backbone);
    backbone.forward(x.clone(), &Mode::Predict);
    assert_eq!(statistics(&backbone), before);
    backbone.forward(x, &Mode::Train(Seed::new(0)));
    assert_ne!(statistics(&backbone), before);
}

#[test]
fn a_clone_keeps_its_own_running_statistics() {
    let (backbone, x) = small_cnn_in_training();
    let clone = backbone.clone();
    backbone.forward(x, &Mode::Train(Seed::new(0)));
    assert!(statistics(&clone).iter().all(|&mean| mean == 0.0));
}

#[test]
fn a_frozen_network_keeps_its_statistics_in_training() {
    let (backbone, x) = small_cnn_in_training();
    let backbone = backbone.no_grad();
    let trained = numbers(backbone.forward(x.clone(), &Mode::Train(Seed::new(0))));
    assert!(statistics(&backbone).iter().all(|&mean| mean == 0.0));
    assert_eq!(trained, numbers(backbone.forward(x, &Mode::Predict)));
}
