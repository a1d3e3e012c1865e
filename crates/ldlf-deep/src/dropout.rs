//! Dropout whose masks follow from the seed of a training step, so that a resumed training drops the same units.

use burn::tensor::{Tensor, TensorData};
use rand::RngExt;

use crate::backbones::Mode;

/// In training, zeroes a fraction of the values and divides the rest by `1 - fraction`, so that the mean is unchanged; otherwise returns `x`.
///
/// `place` identifies the dropout layer within its network.
pub fn dropout<const D: usize>(x: Tensor<D>, fraction: f64, mode: &Mode, place: &str) -> Tensor<D> {
    let Mode::Train(seed) = mode else { return x };
    if fraction <= 0.0 {
        return x;
    }
    let mut generator = seed.named("dropout").named(place).generator();
    let kept = (1.0 / (1.0 - fraction)) as f32;
    // A draw of 64 bits serves four values, with a resolution of 1/65536 each.
    let threshold = (fraction * 65536.0).round() as u64;
    let shape = x.shape();
    let mut mask = Vec::with_capacity(shape.num_elements());
    while mask.len() < shape.num_elements() {
        let mut draw: u64 = generator.random();
        for _ in 0..4.min(shape.num_elements() - mask.len()) {
            mask.push(if draw & 0xffff < threshold { 0.0 } else { kept });
            draw >>= 16;
        }
    }
    let device = x.device().without_autodiff();
    x * Tensor::from_data(TensorData::new(mask, shape), &device)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use ldlf_core::Seed;

    use super::*;

    fn dropped(mode: Mode, place: &str) -> Vec<f32> {
        let x = Tensor::<2>::ones([100, 101], &Device::flex());
        dropout(x, 0.3, &mode, place).into_data().try_into_vec().unwrap()
    }

    #[test]
    fn the_mask_follows_from_the_seed_and_the_place() {
        let train = |seed| Mode::Train(Seed::new(seed));
        assert_eq!(dropped(train(0), "fc6"), dropped(train(0), "fc6"));
        assert_ne!(dropped(train(0), "fc6"), dropped(train(1), "fc6"));
        assert_ne!(dropped(train(0), "fc6"), dropped(train(0), "fc7"));
    }

    #[test]
    fn training_drops_the_fraction_without_changing_the_mean() {
        let values = dropped(Mode::Train(Seed::new(0)), "fc6");
        let zeros = values.iter().filter(|&&value| value == 0.0).count() as f64 / values.len() as f64;
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        assert!((zeros - 0.3).abs() < 0.02 && (mean - 1.0).abs() < 0.03, "{zeros} {mean}");
    }

    #[test]
    fn prediction_drops_nothing() {
        assert!(dropped(Mode::Predict, "fc6").iter().all(|&value| value == 1.0));
    }
}
