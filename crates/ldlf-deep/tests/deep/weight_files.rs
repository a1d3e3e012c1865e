//! Weight files of either format, whole, partial and wrong.

use std::fs;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use ldlf_core::Seed;
use ldlf_deep::backbones::{Backbone, BackboneKind, Input, InputConvention, Mode};
use ldlf_deep::weights::{WeightReport, load_weights};
use tempfile::TempDir;

use crate::support::{input, numbers, weights, with_hashed_weights};

/// Writes a safetensors file: the length of the header, the header, the numbers.
fn safetensors(tensors: &[(&str, Vec<usize>, Vec<f32>)], path: &Path) {
    let (mut header, mut body) = (serde_json::Map::new(), Vec::new());
    for (name, shape, values) in tensors {
        let start = body.len();
        body.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, body.len()]});
        header.insert(name.to_string(), entry);
    }
    let header = serde_json::to_vec(&header).unwrap();
    let length = (header.len() as u64).to_le_bytes();
    fs::write(path, [&length[..], &header, &body].concat()).unwrap();
}

fn hashed(name: &'static str, known_as: &str, shape: &[usize]) -> (&'static str, Vec<usize>, Vec<f32>) {
    (name, shape.to_vec(), weights(known_as, shape))
}

/// A folder with one file in it.
fn file(name: &str, write: impl FnOnce(&Path)) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path);
    (folder, path)
}

fn mlp() -> Backbone {
    Backbone::thinner(BackboneKind::Mlp, Input::Table { features: 3 }, 64, Seed::new(0), &Device::flex())
        .unwrap()
}

fn features(backbone: &Backbone) -> Vec<f32> {
    numbers(backbone.forward(input("input", [2, 3, 1, 1], 1.0, &Device::flex()), &Mode::Predict))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

const MLP: [&str; 4] = ["layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.2.bias"];

#[test]
fn a_pytorch_checkpoint_is_loaded_by_name_through_its_wrappers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles/mlp.pth");
    let (loaded, report) = load_weights(mlp(), &path).unwrap();
    let unused = names(&["state_dict.module.fc.weight"]);
    assert_eq!(report, WeightReport { matched: names(&MLP), missing: vec![], unused, renamed: false });
    assert_eq!(features(&loaded), features(&with_hashed_weights(mlp())));
}

#[test]
fn a_partial_safetensors_file_is_loaded_by_name() {
    let (_folder, path) = file("some.safetensors", |path| {
        safetensors(
            &[
                hashed("layers.0.weight", "layers.0.weight", &[4, 3]),
                hashed("layers.0.bias", "layers.0.bias", &[4]),
                ("fc.weight", vec![1], vec![0.0]),
            ],
            path,
        );
    });
    let (loaded, report) = load_weights(mlp(), &path).unwrap();
    assert_eq!(
        report.to_string(),
        "2 matched, 2 missing (layers.2.weight, layers.2.bias), 1 unused (fc.weight)"
    );
    let [matched, missing] = [names(&MLP[..2]), names(&MLP[2..])];
    assert_eq!(report, WeightReport { matched, missing, unused: names(&["fc.weight"]), renamed: false });
    let hidden = |backbone: Backbone| {
        let x = input("input", [2, 3, 1, 1], 1.0, &Device::flex());
        numbers(backbone.forward_to("hidden1", x).unwrap())
    };
    assert_eq!(hidden(loaded.clone()), hidden(with_hashed_weights(mlp())));
    assert_ne!(features(&loaded), features(&with_hashed_weights(mlp())));
}

#[test]
fn vgg16_takes_the_names_of_vgg_face() {
    let taken = Input::Images { channels: 3, side: 32 };
    let vgg16 = || Backbone::thinner(BackboneKind::Vgg16, taken, 32, Seed::new(0), &Device::flex()).unwrap();
    let (_folder, path) = file("face.safetensors", |path| {
        safetensors(
            &[
                hashed("conv1_1.weight", "features.0.weight", &[2, 3, 3, 3]),
                hashed("conv5_3.bias", "features.28.bias", &[16]),
                hashed("fc6.bias", "classifier.0.bias", &[128]),
                hashed("fc7.weight", "classifier.3.weight", &[128, 128]),
                ("fc8.bias", vec![1], vec![0.0]),
            ],
            path,
        );
    });
    let (_, report) = load_weights(vgg16(), &path).unwrap();
    assert_eq!(BackboneKind::Vgg16.convention(Some(&report)), Some(InputConvention::VGG_FACE));
    assert_eq!(BackboneKind::Vgg16.convention(None), Some(InputConvention::IMAGENET));
    let matched = ["features.0.weight", "features.28.bias", "classifier.0.bias", "classifier.3.weight"];
    assert_eq!((report.matched, report.unused), (names(&matched), names(&["fc8.bias"])));
    assert_eq!(report.missing.len(), 2 * 15 - 4);
}

#[test]
fn efficientnet_takes_the_names_of_its_package() {
    let taken = Input::Images { channels: 3, side: 32 };
    let lite0 =
        Backbone::thinner(BackboneKind::EfficientNetLite0, taken, 8, Seed::new(0), &Device::flex()).unwrap();
    let (_folder, path) = file("lite0.safetensors", |path| {
        safetensors(
            &[
                hashed("_bn0.running_mean", "bn0.running_mean", &[4]),
                hashed("_blocks.1._expand_conv.weight", "blocks.1.expand_conv.weight", &[12, 2, 1, 1]),
                ("_bn0.num_batches_tracked", vec![1], vec![5.0]),
            ],
            path,
        );
    });
    let (_, report) = load_weights(lite0, &path).unwrap();
    assert_eq!(report.matched, names(&["bn0.running_mean", "blocks.1.expand_conv.weight"]));
    assert_eq!(report.unused, names(&[]), "PyTorch's count of batches is no weight");
}

fn refusal(path: &Path) -> String {
    let message = load_weights(mlp(), path).unwrap_err().to_string();
    message.replace(&path.display().to_string(), "FILE")
}

#[test]
fn a_file_that_is_no_weight_file_is_refused() {
    let (_folder, path) = file("notes.txt", |path| fs::write(path, "not a network").unwrap());
    assert_eq!(
        refusal(&path),
        "FILE is not a weight file: it begins as neither a safetensors nor a PyTorch file does"
    );
    let (_folder, path) = file("cut.pth", |path| fs::write(path, b"PK\x03\x04cut").unwrap());
    assert!(refusal(&path).starts_with("FILE is not a weight file: "), "{}", refusal(&path));
    let (_folder, path) = file("cut.safetensors", |path| {
        fs::write(path, b"\xff\0\0\0\0\0\0\0{\"a\":").unwrap();
    });
    assert!(refusal(&path).starts_with("FILE is not a weight file: "), "{}", refusal(&path));
}

#[test]
fn weights_of_another_shape_are_refused_with_both_shapes() {
    let (_folder, path) =
        file("wide.safetensors", |path| safetensors(&[("layers.0.weight", vec![4, 5], vec![0.0; 20])], path));
    assert_eq!(
        refusal(&path),
        "FILE: layers.0.weight has the shape [4, 5], and mlp needs [4, 3]; is it the file of another network?"
    );
}

#[test]
fn a_file_that_shares_no_name_with_the_network_is_refused() {
    let (_folder, path) = file("other.safetensors", |path| {
        let bias = |name| (name, vec![1], vec![0.0]);
        safetensors(&[bias("a"), bias("b"), bias("c"), bias("d")], path);
    });
    assert_eq!(
        refusal(&path),
        "FILE holds no weights of mlp: it has a, b and 2 more, and layers.0.weight, layers.0.bias and 2 more would be needed"
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let message = refusal(Path::new("nowhere.pth"));
    assert!(message.starts_with("FILE: "), "{message}");
}
