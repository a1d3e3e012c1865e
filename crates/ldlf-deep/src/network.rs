//! Backbone and projection as one network, and passing rows through it.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use ldlf_core::error::Subject;
use ldlf_core::{Error, Features, Inputs, Matrix, Result, Seed, Threads, message};
use ldlf_math::memory;
use rayon::ThreadPool;
use serde::{Deserialize, Serialize};

use crate::arrays::host;
use crate::backbones::{Backbone, BackboneKind, Input, Mode};
use crate::images::{Preparation, prefetch};
use crate::initial::Initial;
use crate::output_layer::OutputLayer;

/// A backbone and a linear layer, whose outputs are the input of the trees (or the softmax).
#[derive(Module, Debug)]
pub struct Network {
    /// Turns an image, or a row of a table, into features.
    pub backbone: Backbone,
    /// Turns features into activations.
    pub projection: Linear,
}

impl Network {
    /// A network with random weights.
    pub fn new(kind: BackboneKind, input: Input, units: usize, seed: Seed, device: &Device) -> Result<Self> {
        let backbone = Backbone::new(kind, input, seed.named("backbone"), device)?;
        let width = backbone.width();
        memory::check("the last layer", &[("features", width), ("units", units)], 4 * size_of::<f32>())?;
        // The random weights depend on this name.
        let projection = Initial::new(seed, device).of("head").linear(width, units);
        Ok(Network { backbone, projection })
    }

    /// The network whose projection gives every unit mean 0 and this standard deviation over some rows, whatever the scale of the
    /// features: splits with too small activations are all near 0.5, and those with too large ones are saturated. A unit that does not vary over
    /// the rows is only shifted.
    ///
    /// # Shapes
    /// - `features`: `[rows, features]`, as the backbone gives them
    pub fn standardise_activations(mut self, features: Tensor<2>, deviation: f64) -> Self {
        let activations = self.projection.forward(features);
        let [rows, units] = activations.dims();
        let activations = host(activations.inner().into_data());
        let (mut shifts, mut factors) = (vec![0.0; units], vec![1.0; units]);
        for (unit, (shift, factor)) in shifts.iter_mut().zip(&mut factors).enumerate() {
            let over_rows = || activations[unit..].iter().step_by(units).map(|&a| f64::from(a));
            let mean = over_rows().sum::<f64>() / rows as f64;
            let spread = (over_rows().map(|a| (a - mean).powi(2)).sum::<f64>() / rows as f64).sqrt();
            // Below that, the variation is rounding.
            if spread > 1e-5 * (1.0 + mean.abs()) {
                *factor = deviation / spread;
            }
            *shift = -mean;
        }
        self.projection.weight = rewritten(self.projection.weight, |at, w| w * factors[at % units]);
        self.projection.bias =
            self.projection.bias.map(|bias| rewritten(bias, |unit, b| (b + shifts[unit]) * factors[unit]));
        self
    }

    /// The network whose projection was learnt on features that were shifted and scaled to mean 0 and deviation 1, made to take them as the
    /// backbone gives them: `W z + b` with `z = (f - mean) / deviation` is `(W / deviation) f + (b - W mean / deviation)`.
    pub fn on_unscaled_features(mut self, scales: &[(f64, f64)]) -> Self {
        let units = self.projection.weight.dims()[1];
        let weights = host(self.projection.weight.val().inner().into_data());
        let factor = |feature: usize| match scales[feature].1 {
            0.0 => 0.0,
            deviation => 1.0 / deviation,
        };
        let mut shifts = vec![0.0f64; units];
        for (feature, row) in weights.chunks_exact(units.max(1)).enumerate() {
            let moved = scales[feature].0 * factor(feature);
            shifts.iter_mut().zip(row).for_each(|(shift, &weight)| *shift -= f64::from(weight) * moved);
        }
        self.projection.weight = rewritten(self.projection.weight, |at, w| w * factor(at / units));
        self.projection.bias = self.projection.bias.map(|bias| rewritten(bias, |unit, b| b + shifts[unit]));
        self
    }

    /// The activations of some rows.
    ///
    /// # Shapes
    /// - `rows`: `[rows, channels, side, side]`, or `[rows, features, 1, 1]` of a table; result: `[rows, units]`
    pub fn activations(&self, rows: Tensor<4>, mode: &Mode) -> Tensor<2> {
        self.projection.forward(self.backbone.forward(rows, mode))
    }
}

/// The parameter with new values: `value(index, old)`.
fn rewritten<const D: usize>(
    parameter: Param<Tensor<D>>,
    value: impl Fn(usize, f64) -> f64,
) -> Param<Tensor<D>> {
    parameter.map(|tensor| {
        let (device, shape, learns) = (tensor.device(), tensor.dims(), tensor.is_require_grad());
        let mut numbers = host(tensor.inner().into_data());
        numbers.iter_mut().enumerate().for_each(|(place, n)| *n = value(place, f64::from(*n)) as f32);
        Tensor::from_data(TensorData::new(numbers, shape), &device).set_require_grad(learns)
    })
}

/// How rows become the input of a network; stored with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preprocessing {
    /// Images are resized, cropped and scaled.
    Images(Preparation),
    /// The columns of a table are shifted and scaled to mean 0 and deviation 1 on the training rows.
    Table {
        /// The mean of every column.
        mean: Vec<f32>,
        /// The deviation of every column; 1 where it does not vary.
        deviation: Vec<f32>,
    },
}

impl Preprocessing {
    /// The input of the network.
    pub fn input(&self) -> Input {
        match self {
            Preprocessing::Images(preparation) => {
                Input::Images { channels: preparation.channels, side: preparation.side }
            }
            Preprocessing::Table { mean, .. } => Input::Table { features: mean.len() },
        }
    }

    /// Means and deviations of the columns over some rows.
    pub fn table(features: &Features, rows: &[usize]) -> Self {
        let columns = features.cols();
        let count = rows.len().max(1) as f64;
        let (mut means, mut present) = (vec![0.0f64; columns], vec![0usize; columns]);
        for &row in rows {
            features.for_each_in_row(row, |column, value| means[column] += f64::from(value) / count);
        }
        let mut squares = vec![0.0f64; columns];
        for &row in rows {
            features.for_each_in_row(row, |column, value| {
                squares[column] += (f64::from(value) - means[column]).powi(2);
                present[column] += 1;
            });
        }
        let deviation = (0..columns)
            .map(|column| {
                let absent = (rows.len() - present[column]) as f64;
                let deviation = ((squares[column] + absent * means[column].powi(2)) / count).sqrt();
                // Below that, the variation is rounding.
                let varies = deviation > 1e-6 * means[column].abs();
                if varies && deviation > f64::from(f32::MIN_POSITIVE) { deviation as f32 } else { 1.0 }
            })
            .collect();
        let mean = means.iter().map(|&mean| mean as f32).collect();
        Preprocessing::Table { mean, deviation }
    }

    /// Some rows of a table, scaled.
    pub fn scaled(&self, features: &Features, rows: &[usize]) -> Vec<f32> {
        let Preprocessing::Table { mean, deviation } = self else {
            unreachable!("tables are read by networks that were made for tables")
        };
        let mut all = vec![0.0; rows.len() * mean.len()];
        for (out, &row) in all.chunks_exact_mut(mean.len().max(1)).zip(rows) {
            features.copy_row_into(row, out);
            out.iter_mut().zip(mean.iter().zip(deviation)).for_each(|(x, (m, d))| *x = (*x - m) / d);
        }
        all
    }

    /// Preprocessed numbers as a tensor.
    pub fn tensor(&self, numbers: Vec<f32>, device: &Device) -> Tensor<4> {
        let shape = match self.input() {
            Input::Images { channels, side } => {
                [numbers.len() / (channels * side * side), channels, side, side]
            }
            Input::Table { features } => [numbers.len() / features.max(1), features, 1, 1],
        };
        Tensor::from_data(TensorData::new(numbers, shape), device)
    }
}

/// Threads that prefetch images for a network.
pub(crate) const READERS: usize = 2;

/// Rows per batch of a prediction.
const AT_ONCE: usize = 32;

/// Passes some rows through a network in batches and joins the outputs of `through`.
///
/// # Shapes
/// - `through`: `[rows, channels, side, side]` to `[rows, outputs]`; result: `[rows, outputs]`, row after row
pub fn pass(
    inputs: &Inputs,
    chosen: &[usize],
    preprocessing: &Preprocessing,
    device: &Device,
    compute: &Compute,
    through: impl Fn(Tensor<4>) -> Tensor<2> + Sync,
) -> Result<Vec<f32>> {
    let batches: Vec<Vec<usize>> = chosen.chunks(AT_ONCE).map(<[usize]>::to_vec).collect();
    let mut all = Vec::new();
    let mut add = |numbers: Vec<f32>| {
        all.extend(compute.run(|| host(through(preprocessing.tensor(numbers, device)).into_data())));
    };
    match preprocessing {
        Preprocessing::Table { .. } => {
            let features = inputs.table()?;
            batches.iter().for_each(|batch| add(preprocessing.scaled(features, batch)));
        }
        Preprocessing::Images(preparation) => {
            for batch in prefetch(inputs.images()?, &batches, preparation, None, READERS)? {
                add(batch?.pixels);
            }
        }
    }
    Ok(all)
}

/// The distributions of some rows, `[rows, labels]`.
pub fn predict(
    network: &Network,
    output: &OutputLayer,
    inputs: &Inputs,
    chosen: &[usize],
    preprocessing: &Preprocessing,
    (device, compute): (&Device, &Compute),
) -> Result<Matrix<f32>> {
    let activations =
        pass(inputs, chosen, preprocessing, device, compute, |x| network.activations(x, &Mode::Predict))?;
    Ok(Matrix::new(chosen.len(), output.labels(), output.predict(&activations, compute.threads()))?)
}

/// The threads of a fit or a prediction. `burn` works on the `rayon` pool that it is called from; one thread needs
/// a pool of one, or all cores would be used.
pub struct Compute {
    threads: Threads,
    alone: Option<ThreadPool>,
}

impl Compute {
    /// Computes with these threads.
    pub fn new(threads: &Threads) -> Result<Self> {
        let alone = match threads.count() {
            1 => Some(rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|e| {
                Error::usage(format!("cannot start a thread: {e}")).with_remedy("close other programs")
            })?),
            _ => None,
        };
        Ok(Compute { threads: threads.clone(), alone })
    }

    /// The threads.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Runs `work` on them.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.alone {
            Some(pool) => pool.install(work),
            None => self.threads.install(work),
        }
    }
}

/// Devices that a build may have.
const OTHER_DEVICES: [&str; 5] = ["wgpu", "vulkan", "metal", "cuda", "rocm"];

/// The device of a name.
pub fn device(name: &str) -> Result<Device> {
    match name {
        "cpu" => Ok(Device::flex()),
        #[cfg(feature = "wgpu")]
        "wgpu" => Ok(Device::wgpu(burn::tensor::DeviceKind::DefaultDevice)),
        #[cfg(feature = "vulkan")]
        "vulkan" => Ok(Device::vulkan(burn::tensor::DeviceKind::DefaultDevice)),
        #[cfg(feature = "metal")]
        "metal" => Ok(Device::metal(burn::tensor::DeviceKind::DefaultDevice)),
        #[cfg(feature = "cuda")]
        "cuda" => Ok(Device::cuda(0)),
        #[cfg(feature = "rocm")]
        "rocm" => Ok(Device::rocm(0)),
        _ => Err(match OTHER_DEVICES.iter().find(|known| **known == name) {
            Some(known) => Error::usage(format!("device={name} is not built in")).with_remedy(message![
                "install with ",
                Subject::DeviceBuild(known),
                ", or use device=cpu"
            ]),
            None => Error::parameter("device", format!("one of cpu, {}", OTHER_DEVICES.join(", ")), name),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standardised_activations_have_the_deviation_asked_for_whatever_the_scale_of_the_features() {
        let device = Device::flex().autodiff();
        for size in [1e-3, 1.0, 1e3] {
            let network =
                Network::new(BackboneKind::Mlp, Input::Table { features: 5 }, 7, Seed::new(0), &device)
                    .unwrap();
            let rows = 20;
            let width = network.backbone.width();
            // Large beside its deviation, as features after a rectifier are.
            let numbers = (0..rows * width).map(|i| size * (5.0 + ((i * 31) % 17) as f32 / 17.0)).collect();
            let features = Tensor::<2>::from_data(TensorData::new(numbers, [rows, width]), &device);
            let network = network.standardise_activations(features.clone(), 2.0);
            assert!(network.projection.weight.is_require_grad());
            let activations = host(network.projection.forward(features).inner().into_data());
            for unit in 0..7 {
                let over_rows: Vec<f32> = activations[unit..].iter().step_by(7).copied().collect();
                let mean = over_rows.iter().sum::<f32>() / rows as f32;
                let deviation =
                    (over_rows.iter().map(|a| (a - mean).powi(2)).sum::<f32>() / rows as f32).sqrt();
                assert!(mean.abs() < 0.01 && (deviation - 2.0).abs() < 0.01, "{size}: {mean} {deviation}");
            }
        }
    }

    #[test]
    fn a_projection_learnt_on_scaled_features_gives_the_same_on_those_of_the_backbone() {
        let device = Device::flex().autodiff();
        let network =
            Network::new(BackboneKind::Mlp, Input::Table { features: 5 }, 3, Seed::new(0), &device).unwrap();
        let width = network.backbone.width();
        let raw: Vec<f32> = (0..4 * width).map(|i| 2.0 + ((i * 37) % 23) as f32).collect();
        let scales: Vec<(f64, f64)> = (0..width).map(|f| (f as f64 / 100.0, 0.5 + (f % 7) as f64)).collect();
        let scaled =
            (0..4 * width).map(|i| ((f64::from(raw[i]) - scales[i % width].0) / scales[i % width].1) as f32);
        let tensor = |v: Vec<f32>| Tensor::<2>::from_data(TensorData::new(v, [4, width]), &device);
        let expected = host(network.projection.forward(tensor(scaled.collect())).inner().into_data());
        let network = network.on_unscaled_features(&scales);
        assert!(network.projection.weight.is_require_grad());
        let found = host(network.projection.forward(tensor(raw)).inner().into_data());
        for (a, b) in expected.iter().zip(&found) {
            assert!((a - b).abs() < 1e-3 * a.abs().max(1.0), "{a} {b}");
        }
    }

    #[test]
    fn a_unit_that_does_not_vary_is_only_shifted() {
        let device = Device::flex().autodiff();
        let network =
            Network::new(BackboneKind::Mlp, Input::Table { features: 5 }, 3, Seed::new(0), &device).unwrap();
        let before = host(network.projection.weight.val().inner().into_data());
        let features = Tensor::<2>::full([4, network.backbone.width()], 3.0, &device);
        let network = network.standardise_activations(features.clone(), 2.0);
        assert_eq!(host(network.projection.weight.val().inner().into_data()), before);
        let activations = host(network.projection.forward(features).inner().into_data());
        assert!(activations.iter().all(|a| a.abs() < 1e-4), "{activations:?}");
    }
}
