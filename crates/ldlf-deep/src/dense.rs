//! Dense prediction: a forest at every pixel, as the layer of the authors takes its maps.
//!
//! Pixels are rows: `[rows, units, height, width]` becomes `[rows height width, units]`, pixel after pixel of image after image, and all
//! that a [`ForestHead`] can do with rows, leaf updates included, it can do with [`by_pixel`] of maps.

use std::ops::Range;

use burn::tensor::Tensor;
use ldlf_forest::loss::LossForm;

use crate::head::ForestHead;

/// The pixels of maps as rows.
///
/// # Shapes
/// - `maps`: `[rows, channels, height, width]`; result: `[rows height width, channels]`
pub fn by_pixel(maps: Tensor<4>) -> Tensor<2> {
    let [rows, channels, height, width] = maps.dims();
    maps.permute([0, 2, 3, 1]).reshape([rows * height * width, channels])
}

/// Rows that are the pixels of `rows` images as maps.
///
/// # Shapes
/// - `pixels`: `[rows height width, channels]`; result: `[rows, channels, height, width]`
fn as_maps(pixels: Tensor<2>, [rows, height, width]: [usize; 3]) -> Tensor<4> {
    let channels = pixels.dims()[1];
    pixels.reshape([rows, height, width, channels]).permute([0, 3, 1, 2])
}

impl ForestHead {
    /// The activations of every pixel.
    ///
    /// # Shapes
    /// - `features`: `[rows, features, height, width]`; result: `[rows, units, height, width]`
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use ldlf_core::Seed;
    /// use ldlf_deep::head::ForestHead;
    /// use ldlf_forest::tree_shape::ForestShape;
    ///
    /// let shape = ForestShape { trees: 2, depth: 3, units: 6, labels: 5 };
    /// let head = ForestHead::new(8, shape, Seed::new(0), &Device::flex())?;
    /// let maps = Tensor::<4>::ones([1, 8, 4, 4], &Device::flex());
    /// let distributions = head.predict_maps(head.activations_of_maps(maps));
    /// assert_eq!(distributions.dims(), [1, 5, 4, 4]);
    /// # Ok::<(), ldlf_core::Error>(())
    /// ```
    pub fn activations_of_maps(&self, features: Tensor<4>) -> Tensor<4> {
        let [rows, _, height, width] = features.dims();
        as_maps(self.activations(by_pixel(features)), [rows, height, width])
    }

    /// The distribution of every pixel, by tensor operations.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units, height, width]`; result: `[rows, labels, height, width]`
    pub fn predict_maps(&self, activations: Tensor<4>) -> Tensor<4> {
        let [rows, _, height, width] = activations.dims();
        as_maps(self.predict(by_pixel(activations)), [rows, height, width])
    }

    /// The loss of some trees over all pixels by their weights, which are 0 where a pixel has no target: [`ForestHead::loss`] of the pixels.
    ///
    /// # Shapes
    /// - `activations`: `[rows, units, height, width]`; `targets`: `[rows, labels, height, width]`; `weights`: `[rows, height, width]`;
    ///   result: `[1]`
    pub fn loss_of_maps(
        &self,
        activations: Tensor<4>,
        targets: Tensor<4>,
        weights: Option<Tensor<3>>,
        form: LossForm,
        trees: Range<usize>,
    ) -> Tensor<1> {
        let weights = weights.map(|weights| weights.flatten::<1>(0, 2));
        self.loss(by_pixel(activations), by_pixel(targets), weights, form, trees)
    }
}
