//! The outputs of a backbone that does not change, computed once: an epoch then costs what the last layer costs.

use burn::tensor::{Device, Tensor, TensorData};
use ldlf_core::{Dataset, FitContext, Result};

use crate::backbones::{Backbone, Mode};
use crate::network::{Compute, Preprocessing, pass};

/// Most bytes of features that are kept.
const MOST_BYTES: usize = 1 << 30;

/// Rows between two looks at whether the fit was interrupted.
const AT_ONCE: usize = 256;

/// The features of some rows: of every image as a prediction sees it and, where images may be mirrored, of its mirror image.
#[derive(Clone, Debug)]
pub struct FrozenFeatures {
    width: usize,
    looks: usize,
    /// Where the features of a row of the data stand; none where they were not asked for.
    places: Vec<Option<usize>>,
    /// `[rows, looks, width]`.
    values: Vec<f32>,
}

/// Means and deviations of features; a deviation is 0 where a feature does not vary.
pub type Scales = Vec<(f64, f64)>;

impl FrozenFeatures {
    /// The features of some rows; `None` where they would need more memory than is set aside for them.
    pub fn of(
        backbone: &Backbone,
        (data, rows): (&Dataset, &[usize]),
        preprocessing: &Preprocessing,
        mirrored: bool,
        (device, compute): (&Device, &Compute),
        context: &mut FitContext<'_>,
    ) -> Result<Option<Self>> {
        let mirrored = mirrored && matches!(preprocessing, Preprocessing::Images(_));
        let (width, looks) = (backbone.width(), 1 + usize::from(mirrored));
        let bytes = rows.len().saturating_mul(looks * width * size_of::<f32>());
        if bytes > MOST_BYTES {
            return Ok(None);
        }
        let through = |x: Tensor<4>| {
            let plain = backbone.forward(x.clone(), &Mode::Predict);
            match mirrored {
                false => plain,
                true => Tensor::cat(vec![plain, backbone.forward(x.flip([3]), &Mode::Predict)], 1),
            }
        };
        let mut values = Vec::with_capacity(bytes / size_of::<f32>());
        for chunk in rows.chunks(AT_ONCE) {
            context.check_interrupted()?;
            values.extend(pass(data.inputs(), chunk, preprocessing, device, compute, through)?);
        }
        let mut places = vec![None; data.rows()];
        rows.iter().enumerate().for_each(|(place, &row)| places[row] = Some(place));
        Ok(Some(FrozenFeatures { width, looks, places, values }))
    }

    /// The features of some rows, each in the look of an epoch: the looks take turns.
    pub fn in_epoch(&self, rows: &[usize], epoch: usize) -> Vec<f32> {
        self.gathered(rows, |row| (row + epoch) % self.looks)
    }

    /// The features of some rows as a prediction sees them.
    pub fn plain(&self, rows: &[usize]) -> Vec<f32> {
        self.gathered(rows, |_| 0)
    }

    fn gathered(&self, rows: &[usize], look: impl Fn(usize) -> usize) -> Vec<f32> {
        let mut all = Vec::with_capacity(rows.len() * self.width);
        for &row in rows {
            let place = self.places[row].expect("features were computed for all rows of a fit");
            all.extend_from_slice(
                &self.values[(place * self.looks + look(row)) * self.width..][..self.width],
            );
        }
        all
    }

    /// Some of these features as a tensor, `[rows, width]`.
    pub fn tensor(&self, numbers: Vec<f32>, device: &Device) -> Tensor<2> {
        let rows = numbers.len() / self.width.max(1);
        Tensor::from_data(TensorData::new(numbers, [rows, self.width]), device)
    }

    /// The features shifted and scaled to mean 0 and deviation 1 over all looks of all rows, and by what; one that does not vary becomes 0.
    pub fn standardised(&self) -> (Self, Scales) {
        let count = (self.values.len() / self.width.max(1)).max(1) as f64;
        let mut scales = vec![(0.0f64, 0.0f64); self.width];
        for row in self.values.chunks_exact(self.width.max(1)) {
            scales.iter_mut().zip(row).for_each(|((mean, _), &value)| *mean += f64::from(value) / count);
        }
        for row in self.values.chunks_exact(self.width.max(1)) {
            for ((mean, square), &value) in scales.iter_mut().zip(row) {
                *square += (f64::from(value) - *mean).powi(2) / count;
            }
        }
        for (mean, square) in &mut scales {
            let deviation = square.sqrt();
            // Below that, the variation is rounding.
            *square =
                if deviation > 1e-6 * (mean.abs() + f64::from(f32::MIN_POSITIVE)) { deviation } else { 0.0 };
        }
        let mut scaled = self.clone();
        for row in scaled.values.chunks_exact_mut(self.width.max(1)) {
            for (value, &(mean, deviation)) in row.iter_mut().zip(&scales) {
                *value = match deviation > 0.0 {
                    true => ((f64::from(*value) - mean) / deviation) as f32,
                    false => 0.0,
                };
            }
        }
        (scaled, scales)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_looks() -> FrozenFeatures {
        let values = vec![1.0, 7.0, 2.0, 7.0, 3.0, 7.0, 6.0, 7.0];
        FrozenFeatures { width: 2, looks: 2, places: vec![None, Some(1), Some(0)], values }
    }

    #[test]
    fn a_row_is_seen_plainly_and_mirrored_in_turns() {
        let features = two_looks();
        assert_eq!(features.in_epoch(&[2, 1], 0), [1.0, 7.0, 6.0, 7.0]);
        assert_eq!(features.in_epoch(&[2, 1], 1), [2.0, 7.0, 3.0, 7.0]);
        assert_eq!(features.plain(&[1, 2]), [3.0, 7.0, 1.0, 7.0]);
    }

    #[test]
    fn standardised_features_have_mean_0_and_deviation_1_and_constant_ones_are_0() {
        let (scaled, scales) = two_looks().standardised();
        assert_eq!(scales[0].0, 3.0);
        assert_eq!(scales[1], (7.0, 0.0));
        let first: Vec<f32> = scaled.values.iter().step_by(2).copied().collect();
        let square = first.iter().map(|v| v * v).sum::<f32>() / 4.0;
        assert!(first.iter().sum::<f32>().abs() < 1e-6 && (square - 1.0).abs() < 1e-6, "{first:?}");
        assert!(scaled.values.iter().skip(1).step_by(2).all(|&v| v == 0.0));
    }
}
