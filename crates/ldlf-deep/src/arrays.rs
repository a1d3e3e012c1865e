//! A network's parameters by name, on the host: for model files, checkpoints and the best epoch.

use std::collections::{BTreeMap, BTreeSet};

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};
use ldlf_core::{Error, Result};

/// Tracks the `path` of a visitor or mapper.
macro_rules! keeps_path {
    () => {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.path.enter(name);
        }
        fn exit_module(&mut self, _: &str, _: &str) {
            self.path.leave();
        }
    };
}
pub(crate) use keeps_path;

/// Numbers with their shape.
pub type Numbers = (Vec<usize>, Vec<f32>);

/// Every parameter of a network by its name (`backbone.conv1.weight`), running statistics included.
pub fn collect<M: Module>(network: &M) -> BTreeMap<String, Numbers> {
    let mut collector = Collector::default();
    network.visit(&mut collector);
    collector.found
}

/// The network with the given parameters; every one must be present with its shape.
pub fn restore<M: Module>(network: M, numbers: &BTreeMap<String, Numbers>) -> Result<M> {
    let mut restorer = Restorer { path: Path::default(), numbers, failed: None };
    let network = network.map(&mut restorer);
    match restorer.failed {
        None => Ok(network),
        Some(error) => Err(error),
    }
}

/// The network with the parameters that `frozen` names frozen; their batch norms keep their statistics.
pub fn freeze<M: Module>(network: M, frozen: &dyn Fn(&str) -> bool) -> M {
    let_learn(network, &|name| frozen(name).then_some(false))
}

/// The names of the parameters that learn.
pub fn learning<M: Module>(network: &M) -> BTreeSet<String> {
    let mut finder = LearningFinder::default();
    network.visit(&mut finder);
    finder.found
}

/// The network with parameters that learn, or do not, as `learns` says; where it says nothing, they stay as they are.
pub fn let_learn<M: Module>(network: M, learns: &dyn Fn(&str) -> Option<bool>) -> M {
    network.map(&mut Switch { path: Path::default(), learns })
}

/// The names of a network's convolutions: layers whose weights have four dimensions.
pub fn convolutions<M: Module>(network: &M) -> BTreeSet<String> {
    let mut finder = ConvolutionFinder { path: Path::default(), found: BTreeSet::new() };
    network.visit(&mut finder);
    finder.found
}

#[derive(Default)]
struct LearningFinder {
    path: Path,
    found: BTreeSet<String>,
}

impl ModuleVisitor for LearningFinder {
    keeps_path!();
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.is_require_grad() {
            self.found.insert(self.path.name());
        }
    }
}

struct ConvolutionFinder {
    path: Path,
    found: BTreeSet<String>,
}

impl ModuleVisitor for ConvolutionFinder {
    keeps_path!();
    fn visit_float<const D: usize>(&mut self, _: &Param<Tensor<D>>) {
        if let (4, Some((layer, _))) = (D, self.path.name().rsplit_once('.')) {
            self.found.insert(layer.to_string());
        }
    }
}

/// The path of a visitor through modules, joined by dots.
#[derive(Default)]
pub(crate) struct Path(Vec<String>);

impl Path {
    pub fn enter(&mut self, name: &str) {
        self.0.push(name.to_string());
    }
    pub fn leave(&mut self) {
        self.0.pop();
    }
    pub fn name(&self) -> String {
        self.0.join(".")
    }
}

#[derive(Default)]
struct Collector {
    path: Path,
    found: BTreeMap<String, Numbers>,
}

impl ModuleVisitor for Collector {
    keeps_path!();
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        self.found.insert(self.path.name(), (shape, host(tensor.into_data())));
    }
}

struct Restorer<'a> {
    path: Path,
    numbers: &'a BTreeMap<String, Numbers>,
    failed: Option<Error>,
}

impl ModuleMapper for Restorer<'_> {
    keeps_path!();
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.path.name();
        let (id, tensor, mapper) = param.consume();
        let (device, learns) = (tensor.device(), tensor.is_require_grad());
        let tensor = match self.numbers.get(&name) {
            Some((shape, numbers)) if shape[..] == tensor.dims() => {
                let data = TensorData::new(numbers.clone(), shape.clone());
                Tensor::from_data(data, &device).set_require_grad(learns)
            }
            other => {
                let found =
                    other.map_or("is missing".to_string(), |(shape, _)| format!("has the shape {shape:?}"));
                self.failed.get_or_insert(Error::model_file(format!(
                    "the network's {name:?} should have the shape {:?} but {found}; the file may be damaged",
                    tensor.dims()
                )));
                tensor
            }
        };
        Param::from_mapped_value(id, tensor, mapper)
    }
}

struct Switch<'a> {
    path: Path,
    learns: &'a dyn Fn(&str) -> Option<bool>,
}

impl ModuleMapper for Switch<'_> {
    keeps_path!();
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match (self.learns)(&self.path.name()) {
            Some(learns) => param.set_require_grad(learns),
            None => param,
        }
    }
}

/// The numbers of a tensor.
pub fn host(data: TensorData) -> Vec<f32> {
    data.try_into_vec::<f32>().expect("networks are made of single-precision numbers")
}
