//! Weights from PyTorch and safetensors files, matched by name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use burn::module::{Module, ModuleMapper, Param};
use burn::store::{ModuleStore, PytorchStore, SafetensorsStore, bridge};
use burn::tensor::{Shape, Tensor, TensorData};
use ldlf_core::{Error, Result};

use crate::backbones::{Backbone, BackboneKind};

/// How a weight file matched a network. Names are those of the network, except in `unused`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeightReport {
    /// Parameters that the file held.
    pub matched: Vec<String>,
    /// Parameters that the file did not hold; they keep their values.
    pub missing: Vec<String>,
    /// Entries of the file that the network does not use, usually the last layer.
    pub unused: Vec<String>,
    /// Whether the file has the names of another publication of the same network, such as VGG-Face's.
    pub renamed: bool,
}

impl std::fmt::Display for WeightReport {
    /// `260 matched, none missing, 2 unused (classifier.weight, classifier.bias)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = |names: &[String], what: &str| match names {
            [] => format!("none {what}"),
            [.., _] if names.len() <= 4 => format!("{} {what} ({})", names.len(), names.join(", ")),
            _ => format!("{} {what} ({}, ...)", names.len(), names[..4].join(", ")),
        };
        let (missing, unused) = (named(&self.missing, "missing"), named(&self.unused, "unused"));
        write!(f, "{} matched, {missing}, {unused}", self.matched.len())
    }
}

/// Prefixes of names in checkpoints.
const WRAPPERS: [&str; 6] = ["state_dict", "model_state_dict", "model", "module", "net", "backbone"];

/// Loads the weights of a network from a `.safetensors` file or from what `torch.save` writes (`.pth`, `.pt`), by name.
///
/// Names are the network's own (torchvision's); prefixes such as `model.` and `module.` are skipped, and a backbone may also accept
/// the names of other published files. A file that holds nothing for this network, or a parameter of
/// another shape, is refused.
pub fn load_weights(backbone: Backbone, path: &Path) -> Result<(Backbone, WeightReport)> {
    match format_of(path)? {
        Format::Safetensors => load(backbone, path, SafetensorsStore::from_file(path)),
        Format::Pytorch => load(backbone, path, PytorchStore::from_file(path).map_indices_contiguous(false)),
    }
}

enum Format {
    Safetensors,
    Pytorch,
}

/// The format, by the first bytes.
fn format_of(path: &Path) -> Result<Format> {
    let mut start = Vec::new();
    let mut file = File::open(path).map_err(|error| Error::io(path, error))?;
    file.by_ref().take(9).read_to_end(&mut start).map_err(|error| Error::io(path, error))?;
    match start[..] {
        // An archive, or a bare pickle.
        [b'P', b'K', ..] | [0x80, ..] => Ok(Format::Pytorch),
        // The length of the header, then the header.
        [_, _, _, _, _, _, _, _, b'{'] => Ok(Format::Safetensors),
        _ => Err(not_weights(path, "it begins as neither a safetensors nor a PyTorch file does")),
    }
}

fn not_weights(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::model_file(format!("{} is not a weight file: {why}", path.display()))
}

fn load<S: ModuleStore>(backbone: Backbone, path: &Path, mut store: S) -> Result<(Backbone, WeightReport)> {
    let kind = backbone.kind();
    let tensors = store.get_all_tensors().map_err(|error| not_weights(path, error))?;
    let mut entries = BTreeMap::new();
    for (name, tensor) in tensors.iter().filter(|(name, _)| !name.ends_with("num_batches_tracked")) {
        entries.insert(own_name(name, kind), (name.clone(), tensor.shape.clone()));
    }
    let read = |name: &str| {
        bridge::to_data(&tensors[name])
            .map_err(|error| Error::model_file(format!("{name} cannot be read: {error}")).in_file(path))
    };
    let renamed = entries.iter().any(|(own, (stored, _))| !stored.ends_with(own.as_str()));
    let mut loader =
        Loader { entries, read, place: Vec::new(), report: WeightReport::default(), failure: None };
    let backbone = backbone.map(&mut loader);
    let Loader { entries, mut report, failure, .. } = loader;
    match failure {
        Some(Failure::Unreadable(error)) => return Err(error),
        Some(Failure::Shape { name, found, expected }) => {
            let kind = kind.name();
            return Err(Error::model_file(format!(
                "{name} has the shape {found:?}, and {kind} needs {expected:?}"
            ))
            .with_remedy("is it the file of another network?")
            .in_file(path));
        }
        None => {}
    }
    report.unused = entries.into_values().map(|(name, _)| name).collect();
    report.unused.sort();
    report.renamed = renamed;
    if report.matched.is_empty() {
        return Err(Error::model_file(format!(
            "{} holds no weights of {}: it has {}, and {} would be needed",
            path.display(),
            kind.name(),
            some_of(&report.unused),
            some_of(&report.missing),
        )));
    }
    Ok((backbone, report))
}

/// The first few of many names.
fn some_of(names: &[String]) -> String {
    match names {
        [] => "nothing".into(),
        [.., _] if names.len() <= 3 => names.join(", "),
        _ => format!("{} and {} more", names[..2].join(", "), names.len() - 2),
    }
}

/// The parameter that an entry of a file belongs to.
fn own_name(name: &str, kind: BackboneKind) -> String {
    let mut name = name;
    while let Some((first, rest)) = name.split_once('.') {
        if !WRAPPERS.contains(&first) {
            break;
        }
        name = rest;
    }
    kind.parameter_name(name)
}

enum Failure {
    Unreadable(Error),
    Shape { name: String, found: Vec<usize>, expected: Vec<usize> },
}

/// Loads the entries of a file into the parameters of the same name.
struct Loader<R> {
    /// Name in the network, to name and shape in the file; used entries are removed.
    entries: BTreeMap<String, (String, Shape)>,
    read: R,
    place: Vec<String>,
    report: WeightReport,
    failure: Option<Failure>,
}

impl<R: Fn(&str) -> Result<TensorData>> Loader<R> {
    /// The values for a parameter, where the file has them.
    fn find<const D: usize>(&mut self, name: &str, shape: &Shape) -> Option<TensorData> {
        let Some((stored, found)) = self.entries.remove(name) else {
            self.report.missing.push(name.to_string());
            return None;
        };
        // A fully connected layer is stored as [outputs, inputs] and held as [inputs, outputs].
        let mut expected = shape.to_vec();
        if D == 2 {
            expected.reverse();
        }
        if found.to_vec() != expected {
            self.failure = Some(Failure::Shape { name: stored, found: found.to_vec(), expected });
            return None;
        }
        match (self.read)(&stored) {
            Ok(data) => {
                self.report.matched.push(name.to_string());
                Some(data)
            }
            Err(error) => {
                self.failure = Some(Failure::Unreadable(error));
                None
            }
        }
    }
}

impl<R: Fn(&str) -> Result<TensorData>> ModuleMapper for Loader<R> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.place.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.place.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if self.failure.is_some() {
            return param;
        }
        let name = self.place.join(".");
        match self.find::<D>(&name, &param.lazy_shape()) {
            None => param,
            Some(data) => {
                let tensor = Tensor::<D>::from_data(data.convert::<f32>(), &param.lazy_device());
                // Read back and written again, so that it is contiguous in memory.
                let tensor = match D {
                    2 => Tensor::from_data(tensor.transpose().into_data(), &param.lazy_device()),
                    _ => tensor,
                };
                let id = param.id;
                param.transform_for_load(tensor, id)
            }
        }
    }
}
