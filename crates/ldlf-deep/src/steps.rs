//! Steps of the optimiser on the parameters of a network: the rules of the shallow learners, on the same plain slices.
//!
//! Parameters and gradients are copied to the host. On the CPU they are there already, and one pass over memory does what tensor
//! operations do in five; on another device it costs a copy of both.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Gradients, Tensor, TensorData};
use ldlf_core::Threads;
use ldlf_math::optimise::step::Step;
use ldlf_math::vectorise;

use crate::arrays::{Path, host, keeps_path};

/// Numbers per task.
const CHUNK: usize = 1 << 15;

/// First and second moments of one parameter; the second are empty where the rule has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// The mean of gradients, or the momentum.
    pub first: Vec<f32>,
    /// The mean of their squares.
    pub second: Vec<f32>,
}

/// What the optimiser keeps between steps, by the names of the parameters.
pub type State = BTreeMap<String, Moments>;

/// One step on every parameter that has a gradient. `step_of(name)` gives its settings; parameters of one dimension (biases, batch norms) do not decay.
///
/// Gradients whose joint norm exceeds `clip` are scaled down to it.
pub fn step<M: Module>(
    network: M,
    gradients: Gradients,
    state: &mut State,
    step_of: &dyn Fn(&str) -> Step,
    second_moments: bool,
    clip: Option<f64>,
    threads: &Threads,
) -> M {
    let mut gatherer = Gatherer { path: Path::default(), gradients, found: BTreeMap::new() };
    network.visit(&mut gatherer);
    let mut found = gatherer.found;
    if let Some(clip) = clip {
        shorten(&mut found, clip, threads);
    }
    network.map(&mut Mover { path: Path::default(), found, state, step_of, second_moments, threads })
}

/// Scales all gradients so that their joint norm is at most `longest`. Chunks are summed in their order, whatever the threads.
fn shorten(gradients: &mut BTreeMap<String, Vec<f32>>, longest: f64, threads: &Threads) {
    let chunks: Vec<&[f32]> = gradients.values().flat_map(|gradient| gradient.chunks(CHUNK)).collect();
    let squares =
        threads.map(chunks, |chunk| chunk.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>());
    let length = squares.iter().sum::<f64>().sqrt();
    if length > longest {
        let factor = (longest / length) as f32;
        for gradient in gradients.values_mut() {
            threads.for_each_chunk([gradient], CHUNK, |_, [part]| part.iter_mut().for_each(|g| *g *= factor));
        }
    }
}

struct Gatherer {
    path: Path,
    gradients: Gradients,
    found: BTreeMap<String, Vec<f32>>,
}

impl ModuleVisitor for Gatherer {
    keeps_path!();
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        if tensor.is_require_grad()
            && let Some(gradient) = tensor.grad_remove(&mut self.gradients)
        {
            self.found.insert(self.path.name(), host(gradient.into_data()));
        }
    }
}

struct Mover<'a> {
    path: Path,
    found: BTreeMap<String, Vec<f32>>,
    state: &'a mut State,
    step_of: &'a dyn Fn(&str) -> Step,
    second_moments: bool,
    threads: &'a Threads,
}

impl ModuleMapper for Mover<'_> {
    keeps_path!();
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.path.name();
        let Some(mut gradient) = self.found.remove(&name) else {
            return param;
        };
        let mut step = (self.step_of)(&name);
        if D == 1 {
            step = step.without_decay();
        }
        let (id, tensor, mapper) = param.consume();
        let (device, shape) = (tensor.device(), tensor.dims());
        let mut weights = host(tensor.inner().into_data());
        let moments = self.state.entry(name).or_default();
        moments.first.resize(weights.len(), 0.0);
        moments.second.resize(if self.second_moments { weights.len() } else { 0 }, 0.0);
        let slices = [&mut weights[..], &mut gradient, &mut moments.first, &mut moments.second];
        // An empty slice has any number of empty chunks.
        let mut tasks = vec![(); shape.iter().product::<usize>().div_ceil(CHUNK)];
        self.threads.for_each_part(&mut tasks, slices.map(|slice| (slice, CHUNK)), |_, (), parts| {
            let [weights, gradient, first, second] = parts;
            vectorise!(step.apply(weights, gradient, first, second));
        });
        let moved = Tensor::from_data(TensorData::new(weights, shape), &device).require_grad();
        Param::from_mapped_value(id, moved, mapper)
    }
}
