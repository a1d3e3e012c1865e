//! The side of `ldlf` in `benches/versus/deep.py`: reads one request a line (JSON) and answers with the seconds of every training step
//! and with the most memory that the process has held.
//!
//! `{"backbone": "small-cnn", "rows": 64, "width": 64, "labels": 70, "trees": 5, "depth": 7, "units": 64, "threads": 2, "calls": 5}`.
//! Without a backbone the step is that of the head alone on features of that width. The threads of the network itself are
//! `RAYON_NUM_THREADS`.

use std::io::{BufRead, Write};
use std::time::Instant;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use ldlf_core::optimise::step::{Optimizer, Step};
use ldlf_core::{Error, Result, Seed, Threads};
use ldlf_deep::backbones::{Backbone, Input, Kind, Mode};
use ldlf_deep::head::ForestHead;
use ldlf_deep::steps;
use ldlf_forest::loss::LossForm;
use ldlf_forest::tree_shape::ForestShape;
use rand::RngExt;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Request {
    backbone: Option<String>,
    /// Rows of a mini-batch.
    rows: usize,
    /// Pixels along a side of the pictures; features, where there is no backbone.
    width: usize,
    labels: usize,
    trees: usize,
    depth: usize,
    units: usize,
    threads: usize,
    calls: usize,
    /// Whether the head's loss is computed by tensor operations instead of by the kernel.
    #[serde(default)]
    by_tensors: bool,
    /// Whether what is cheap to compute is computed again instead of kept for the backward pass.
    #[serde(default)]
    recompute: bool,
}

#[derive(Serialize)]
struct Answer {
    seconds: Vec<f64>,
    peak_bytes: Option<u64>,
}

fn main() -> Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| Error::usage(format!("cannot read a request: {e}")))?;
        let request: Request = serde_json::from_str(&line)
            .map_err(|e| Error::usage(format!("a request that cannot be read: {e}")))?;
        let answer = Answer { seconds: seconds(&request)?, peak_bytes: peak_bytes() };
        let text = serde_json::to_string(&answer).expect("numbers can be written");
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}")
            .and_then(|()| out.flush())
            .map_err(|e| Error::usage(format!("cannot answer: {e}")))?;
    }
    Ok(())
}

#[derive(Module, Debug)]
struct Network {
    backbone: Option<Backbone>,
    head: ForestHead,
}

fn seconds(request: &Request) -> Result<Vec<f64>> {
    let mut device = Device::flex().autodiff();
    if request.recompute {
        device = device.gradient_checkpointing();
    }
    let (seed, side) = (Seed::new(0), request.width);
    let backbone = match &request.backbone {
        None => None,
        Some(name) => {
            let input = Input::Pictures { channels: 3, side };
            Some(Backbone::new(Kind::named(name)?, input, seed, &device)?)
        }
    };
    let &Request { rows, labels, trees, depth, units, .. } = request;
    let width = backbone.as_ref().map_or(request.width, Backbone::width);
    let head = ForestHead::new(width, ForestShape { trees, depth, units, labels }, seed, &device)?;
    let shape = if backbone.is_some() { [rows, 3, side, side] } else { [rows, width, 1, 1] };
    let mut bench = Bench {
        network: Some(Network { backbone, head }),
        moments: steps::State::new(),
        inputs: Tensor::from_data(TensorData::new(uniform(shape.iter().product(), -0.5), shape), &device),
        targets: distributions(rows, labels),
        threads: Threads::new(request.threads)?,
        by_tensors: request.by_tensors,
    };
    bench.step();
    let timed = (0..request.calls).map(|_| {
        let started = Instant::now();
        bench.step();
        started.elapsed().as_secs_f64()
    });
    Ok(timed.collect())
}

struct Bench {
    /// Taken out only during a step.
    network: Option<Network>,
    moments: steps::State,
    inputs: Tensor<4>,
    targets: Vec<f32>,
    threads: Threads,
    by_tensors: bool,
}

impl Bench {
    /// Forward, backward and optimiser on the same rows.
    fn step(&mut self) {
        let network = self.network.take().expect("every step puts it back");
        let inputs = self.inputs.clone();
        let features = match &network.backbone {
            None => inputs.flatten(1, 3),
            Some(backbone) => backbone.forward(inputs, &Mode::Train(Seed::new(1))),
        };
        let (head, form) = (&network.head, LossForm::Trees);
        let trees = 0..head.shape().trees;
        let activations = head.activations(features);
        let gradients = if self.by_tensors {
            let shape = [activations.dims()[0], head.shape().labels];
            let targets =
                Tensor::from_data(TensorData::new(self.targets.clone(), shape), &activations.device());
            head.loss(activations, targets, None, form, trees).backward()
        } else {
            let (_, gradient) =
                head.loss_on_cpu(activations.clone(), &self.targets, None, form, trees, &self.threads);
            (activations * gradient).sum().backward()
        };
        let step = |_: &str| Step::new(Optimizer::Sgd, 0, 1e-3, 0.9, 0.0);
        let moments = &mut self.moments;
        self.network = Some(steps::step(network, gradients, moments, &step, false, None, &self.threads));
    }
}

fn uniform(count: usize, least: f32) -> Vec<f32> {
    let mut generator = Seed::new(1).named("bench").generator();
    (0..count).map(|_| generator.random::<f32>() + least).collect()
}

fn distributions(rows: usize, labels: usize) -> Vec<f32> {
    let mut targets = uniform(rows * labels, 0.01);
    for row in targets.chunks_mut(labels) {
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= sum);
    }
    targets
}

/// The most memory this process has held, where the system says so.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}
