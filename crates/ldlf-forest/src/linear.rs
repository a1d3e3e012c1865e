//! The feature function of the shallow model: `f(x) = Theta^T x`, dense or sparse.

use ldlf_core::Csr;
use ldlf_math::parallel::chunks;
use ldlf_math::product::{Accumulate, View, ViewMut, product};
use ldlf_math::simd::{Simd, WithSimd, bytemuck, dispatch};
use rand::RngExt;

use crate::encoder::EncodedView;

/// The transformation matrix `Theta`, `[inputs, units]`, row after row: the weights of one input are neighbours, which is
/// what sparse rows need.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMap {
    inputs: usize,
    units: usize,
    weights: Vec<f32>,
}

impl LinearMap {
    /// Weights uniform in `+-sqrt(3 / features)`, so that standardised features give activations of variance 1; a bias row,
    /// when there is one, starts at zero.
    pub fn new(features: usize, bias: bool, units: usize, seed: ldlf_core::Seed) -> Self {
        let inputs = features + usize::from(bias);
        let bound = (3.0 / features.max(1) as f64).sqrt() as f32;
        let mut generator = seed.named("weights").generator();
        let mut weights = vec![0.0; inputs * units];
        for w in &mut weights[..features * units] {
            *w = bound * (2.0 * generator.random::<f32>() - 1.0);
        }
        LinearMap { inputs, units, weights }
    }

    /// A map from its weights, `[inputs, units]`.
    ///
    /// # Panics
    /// When the weights do not fit the sizes.
    pub fn from_weights(inputs: usize, units: usize, weights: Vec<f32>) -> Self {
        assert_eq!(weights.len(), inputs * units);
        LinearMap { inputs, units, weights }
    }

    /// The number of inputs, with the bias.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of units.
    pub fn units(&self) -> usize {
        self.units
    }

    /// The weights, `[inputs, units]`.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The weights, to change.
    pub fn weights_mut(&mut self) -> &mut [f32] {
        &mut self.weights
    }

    /// The activations of encoded rows.
    ///
    /// # Shapes
    /// - `encoded`: `[rows, inputs]`; `out`: `[units, rows]`, overwritten
    pub fn forward(&self, encoded: EncodedView<'_>, out: &mut [f32]) {
        match encoded {
            EncodedView::Dense(x) => {
                let rows = x.len() / self.inputs.max(1);
                product(
                    Accumulate::Replace,
                    ViewMut::row_major(out, self.units, rows),
                    View::row_major(&self.weights, self.inputs, self.units).transposed(),
                    View::row_major(x, rows, self.inputs).transposed(),
                );
            }
            EncodedView::Sparse(rows) => dispatch(ForwardSparse { map: self, rows, out }),
        }
    }

    /// The activations of a single row, `[units]`, from its inputs; those that are zero may be left out.
    pub fn forward_row(&self, inputs: impl Iterator<Item = (u32, f32)> + Clone, out: &mut [f32]) {
        dispatch(ForwardRow { map: self, inputs, out });
    }

    /// The sums of one row over the units from `first` on, as many as `sums` has room for, in strips of as many vectors as fit.
    #[inline(always)]
    fn strips<S: Simd>(
        &self,
        simd: S,
        inputs: impl Iterator<Item = (u32, f32)> + Clone,
        first: usize,
        sums: &mut [f32],
    ) {
        let mut at = 0;
        while at < sums.len() {
            let (inputs, first, rest) = (inputs.clone(), first + at, &mut sums[at..]);
            at += match rest.len() / S::F32_LANES {
                VECTORS.. => self.strip::<S, VECTORS>(simd, inputs, first, rest),
                4.. => self.strip::<S, 4>(simd, inputs, first, rest),
                2.. => self.strip::<S, 2>(simd, inputs, first, rest),
                1 => self.strip::<S, 1>(simd, inputs, first, rest),
                0 => self.rest(inputs, first, rest),
            };
        }
    }

    /// The sums of one row over a strip of `N` vectors of units from `first` on, in registers. Gives the number of units.
    #[inline(always)]
    fn strip<S: Simd, const N: usize>(
        &self,
        simd: S,
        inputs: impl Iterator<Item = (u32, f32)>,
        first: usize,
        out: &mut [f32],
    ) -> usize {
        let width = N * S::F32_LANES;
        let mut sums = [simd.splat_f32s(0.0); N];
        for (input, value) in inputs {
            let start = input as usize * self.units + first;
            let weights: &[S::f32s] = bytemuck::cast_slice(&self.weights[start..start + width]);
            let value = simd.splat_f32s(value);
            for vector in 0..N {
                sums[vector] = simd.mul_add_e_f32s(value, weights[vector], sums[vector]);
            }
        }
        out[..width].copy_from_slice(bytemuck::cast_slice(&sums));
        width
    }

    /// The sums of one row over the last units, which do not fill a vector. Gives their number.
    #[inline(always)]
    fn rest(&self, inputs: impl Iterator<Item = (u32, f32)>, first: usize, sums: &mut [f32]) -> usize {
        sums.fill(0.0);
        for (input, value) in inputs {
            let start = input as usize * self.units + first;
            let weights = &self.weights[start..start + sums.len()];
            sums.iter_mut().zip(weights).for_each(|(sum, w)| *sum += value * w);
        }
        sums.len()
    }
}

/// Vectors of units that a sparse product takes at once: half of the registers.
const VECTORS: usize = 8;

/// Units that a strip has at most: with the widest vectors.
const WIDEST: usize = VECTORS * 16;

/// Rows that the sparse product writes at once: their numbers fill a line of the cache.
const TILE: usize = 16;

/// Activations of sparse rows, strip by strip, so that the weights in use stay in the second cache while the rows pass. A tile
/// of rows is written at a time: units lie a whole chunk of rows apart, and a line of the cache should be touched once.
struct ForwardSparse<'a> {
    map: &'a LinearMap,
    rows: &'a Csr,
    out: &'a mut [f32],
}

impl WithSimd for ForwardSparse<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ForwardSparse { map, rows: x, out } = self;
        let (units, rows, width) = (map.units, x.rows(), VECTORS * S::F32_LANES);
        let mut tile = [[0.0f32; WIDEST]; TILE];
        for first in (0..units).step_by(width) {
            let strip = width.min(units - first);
            for group in chunks(rows, TILE) {
                for (sums, row) in tile.iter_mut().zip(group.clone()) {
                    let (columns, values) = x.row(row);
                    let inputs = columns.iter().copied().zip(values.iter().copied());
                    map.strips(simd, inputs, first, &mut sums[..strip]);
                }
                for unit in 0..strip {
                    let start = (first + unit) * rows;
                    let out = &mut out[start + group.start..start + group.end];
                    out.iter_mut().zip(&tile).for_each(|(out, sums)| *out = sums[unit]);
                }
            }
        }
    }
}

/// The activations of a single row.
struct ForwardRow<'a, I> {
    map: &'a LinearMap,
    inputs: I,
    out: &'a mut [f32],
}

impl<I: Iterator<Item = (u32, f32)> + Clone> WithSimd for ForwardRow<'_, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.map.strips(simd, self.inputs, 0, self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::Seed;

    fn sparse_and_dense() -> (Csr, Vec<f32>) {
        let mut sparse = Csr::with_columns(4);
        sparse.push_row([(0, 1.0), (3, 1.0)]);
        sparse.push_row([(1, 2.0), (2, -1.0), (3, 1.0)]);
        sparse.push_row([(3, 1.0)]);
        (sparse, vec![1.0, 0.0, 0.0, 1.0, 0.0, 2.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    }

    #[test]
    fn sparse_and_dense_rows_give_the_same_activations() {
        for units in [5, 16, 64, 150, 255] {
            let map = LinearMap::new(3, true, units, Seed::new(0));
            let (sparse, dense) = sparse_and_dense();
            let (mut a, mut b) = (vec![0.0; 3 * units], vec![0.0; 3 * units]);
            map.forward(EncodedView::Sparse(&sparse), &mut a);
            map.forward(EncodedView::Dense(&dense), &mut b);
            for (x, y) in a.iter().zip(&b) {
                assert!((x - y).abs() < 1e-6, "{x} {y}");
            }
        }
    }
}
