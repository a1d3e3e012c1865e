//! Weights, inputs and targets from a hash of their name, as `oracles/networks.py` makes them.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Tensor, TensorData};

/// Numbers from -1 to 1: the finaliser of MurmurHash3 over the place, moved by FNV-1a of the name.
pub fn hashed(name: &str, count: usize) -> Vec<f64> {
    let seed = name.bytes().fold(0x811c_9dc5u32, |h, byte| (h ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (0..count as u32)
        .map(|place| {
            let mut x = place.wrapping_mul(0x9e37_79b9).wrapping_add(seed);
            x ^= x >> 16;
            x = x.wrapping_mul(0x85eb_ca6b);
            x ^= x >> 13;
            x = x.wrapping_mul(0xc2b2_ae35);
            x ^= x >> 16;
            f64::from(x) / 4_294_967_296.0 * 2.0 - 1.0
        })
        .collect()
}

/// The values of a parameter in PyTorch's layout.
pub fn weights(name: &str, shape: &[usize]) -> Vec<f32> {
    let fan_in: usize = shape[1..].iter().product();
    let scaled = |u: f64| match name {
        _ if name.ends_with("running_var") => 1.0 + 0.5 * u,
        _ if name.ends_with("running_mean") || name.ends_with("bias") => 0.1 * u,
        _ if shape.len() == 1 => 1.0 + 0.2 * u,
        _ => u * (6.0 / fan_in as f64).sqrt(),
    };
    hashed(name, shape.iter().product()).into_iter().map(|u| scaled(u) as f32).collect()
}

/// A tensor of hashed numbers.
pub fn input<const D: usize>(name: &str, shape: [usize; D], scale: f64, device: &Device) -> Tensor<D> {
    let values: Vec<f32> =
        hashed(name, shape.iter().product()).into_iter().map(|u| (scale * u) as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Rows of positive numbers that sum to 1.
pub fn distributions(name: &str, rows: usize, labels: usize) -> Vec<f32> {
    let draws: Vec<f64> = hashed(name, rows * labels).into_iter().map(|u| (2.0 * u).exp()).collect();
    let normalise = |row: &[f64]| {
        let sum: f64 = row.iter().sum();
        row.iter().map(|v| (v / sum) as f32).collect::<Vec<_>>()
    };
    draws.chunks(labels).flat_map(normalise).collect()
}

/// The numbers of a tensor.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().unwrap()
}

/// A module with hashed weights.
pub fn with_hashed_weights<M: Module>(module: M) -> M {
    module.map(&mut Hashing { place: Vec::new() })
}

struct Hashing {
    place: Vec<String>,
}

impl ModuleMapper for Hashing {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.place.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.place.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let mut shape = param.lazy_shape().to_vec();
        if D == 2 {
            shape.reverse();
        }
        let values = TensorData::new(weights(&self.place.join("."), &shape), shape);
        let device = param.lazy_device();
        let mut tensor = Tensor::<D>::from_data(values, &device);
        if D == 2 {
            // Laid out in memory as a loaded file is, so that sums are taken in the same order.
            tensor = Tensor::from_data(tensor.transpose().into_data(), &device);
        }
        let id = param.id;
        param.transform_for_load(tensor, id)
    }
}

/// `LDLF_TEST_DEVICE=wgpu` runs the tests there, in a build with that feature.
pub fn device() -> Device {
    let name = std::env::var("LDLF_TEST_DEVICE").unwrap_or_else(|_| "cpu".into());
    ldlf_deep::device(&name).unwrap()
}
