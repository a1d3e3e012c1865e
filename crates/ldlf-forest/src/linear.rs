//! The feature function of the shallow model: `f(x) = Theta^T x`, dense or sparse.

use ldlf_core::Threads;
use ldlf_core::optimise::step::Step;
use ldlf_core::product::{Into, View, ViewMut, product};
use ldlf_core::simd::vectorise;
use rand::RngExt;

use crate::encoder::Encoded;

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
    pub fn forward(&self, encoded: &Encoded, rows: usize, out: &mut Vec<f32>) {
        out.resize(self.units * rows, 0.0);
        match encoded {
            Encoded::Dense(x) => product(
                Into::Fresh,
                ViewMut::row_major(out, self.units, rows),
                View::row_major(&self.weights, self.inputs, self.units).transposed(),
                View::row_major(x, rows, self.inputs).transposed(),
            ),
            Encoded::Sparse(x) => vectorise(|| {
                let mut sums = vec![0.0f32; self.units];
                for (row, (columns, values)) in x.iter_rows().enumerate() {
                    sums.fill(0.0);
                    for (&column, &value) in columns.iter().zip(values) {
                        let weights =
                            &self.weights[column as usize * self.units..(column as usize + 1) * self.units];
                        sums.iter_mut().zip(weights).for_each(|(sum, w)| *sum += value * w);
                    }
                    sums.iter().enumerate().for_each(|(unit, &sum)| out[unit * rows + row] = sum);
                }
            }),
        }
    }
}

/// What the optimiser keeps for each weight, and the gradient's place.
pub struct OptimiserState {
    /// First moments, or the momentum.
    pub first: Vec<f32>,
    /// Second moments.
    pub second: Vec<f32>,
    gradient: Vec<f32>,
    by_input: ByInput,
}

/// A mini-batch's sparse entries ordered by input, with the batch's row number of each.
#[derive(Default)]
struct ByInput {
    starts: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

/// Encoded rows and the gradient of the loss with respect to their activations.
pub struct Part<'a> {
    /// `[rows, inputs]`.
    pub encoded: &'a Encoded,
    /// For dense rows `[units, rows]`, for sparse rows `[rows, units]`.
    pub gradient: &'a [f32],
    /// The number of rows.
    pub rows: usize,
}

impl OptimiserState {
    /// Zeros for a map of this size.
    pub fn new(map: &LinearMap) -> Self {
        let zeros = || vec![0.0; map.weights.len()];
        OptimiserState { first: zeros(), second: zeros(), gradient: zeros(), by_input: ByInput::default() }
    }

    /// Inputs that one task updates.
    fn shard(inputs: usize) -> usize {
        inputs.div_ceil(8).next_multiple_of(16).clamp(32, 512)
    }

    /// Computes the gradient with respect to the weights, `sum_parts X^T G`, and takes one step. The last input is a bias
    /// when `bias` says so and does not decay.
    ///
    /// Every task owns some inputs and adds up the parts in their order: nothing depends on the number of threads.
    pub fn step(
        &mut self,
        map: &mut LinearMap,
        parts: &[Part<'_>],
        step: &Step,
        bias: bool,
        threads: &Threads,
    ) {
        let (inputs, units) = (map.inputs, map.units);
        let sparse = parts.iter().any(|part| matches!(part.encoded, Encoded::Sparse(_)));
        if sparse {
            self.by_input.fill(parts, inputs);
        }
        let by_input = &self.by_input;
        let shard = Self::shard(inputs);
        let slices =
            [&mut map.weights[..], &mut self.first[..], &mut self.second[..], &mut self.gradient[..]];
        threads.for_each_chunk(slices, shard * units, |task, [weights, first, second, gradient]| {
            let start = task * shard;
            let count = weights.len() / units;
            if sparse {
                vectorise(|| by_input.gradient(start, parts, units, gradient));
            } else {
                for (index, part) in parts.iter().enumerate() {
                    let Encoded::Dense(x) = part.encoded else { unreachable!("all parts are of one kind") };
                    product(
                        if index == 0 { Into::Fresh } else { Into::Sum },
                        ViewMut::row_major(gradient, count, units),
                        View::strided(&x[start..], count, part.rows, 1, inputs),
                        View::row_major(part.gradient, units, part.rows).transposed(),
                    );
                }
            }
            let decaying = if bias && start + count == inputs { (count - 1) * units } else { count * units };
            let (w, w_bias) = weights.split_at_mut(decaying);
            let (m, m_bias) = first.split_at_mut(decaying);
            let (v, v_bias) = second.split_at_mut(decaying);
            let (g, g_bias) = gradient.split_at(decaying);
            vectorise(|| step.apply(w, g, m, v));
            vectorise(|| step.without_decay().apply(w_bias, g_bias, m_bias, v_bias));
        });
    }
}

impl ByInput {
    /// Orders the entries of all parts by input (a counting sort; rows keep their order).
    fn fill(&mut self, parts: &[Part<'_>], inputs: usize) {
        let sparse = || {
            parts.iter().map(|part| match part.encoded {
                Encoded::Sparse(x) => x,
                Encoded::Dense(_) => unreachable!("all parts are of one kind"),
            })
        };
        self.starts.clear();
        self.starts.resize(inputs + 2, 0);
        // Counted two places on, so that filling below leaves each start in its own place.
        for x in sparse() {
            x.parts().1.iter().for_each(|&column| self.starts[column as usize + 2] += 1);
        }
        for input in 2..self.starts.len() {
            self.starts[input] += self.starts[input - 1];
        }
        self.entries.resize(sparse().map(|x| x.stored()).sum(), (0, 0.0));
        let mut row = 0;
        for x in sparse() {
            for (columns, values) in x.iter_rows() {
                for (&column, &value) in columns.iter().zip(values) {
                    let place = &mut self.starts[column as usize + 1];
                    self.entries[*place as usize] = (row, value);
                    *place += 1;
                }
                row += 1;
            }
        }
    }

    /// `X^T G` for the inputs from `start` on, as many as `gradient` has rows.
    #[inline(always)]
    fn gradient(&self, start: usize, parts: &[Part<'_>], units: usize, gradient: &mut [f32]) {
        let per_part = parts.first().map_or(1, |part| part.rows.max(1));
        for (input, gradient) in (start..).zip(gradient.chunks_exact_mut(units)) {
            gradient.fill(0.0);
            for &(row, value) in &self.entries[self.starts[input] as usize..self.starts[input + 1] as usize] {
                let (part, row) = (row as usize / per_part, row as usize % per_part);
                let source = &parts[part].gradient[row * units..(row + 1) * units];
                gradient.iter_mut().zip(source).for_each(|(g, s)| *g += value * s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::optimise::step::Optimiser;
    use ldlf_core::{Csr, Seed};

    fn sparse_and_dense() -> (Encoded, Encoded) {
        let mut sparse = Csr::with_columns(4);
        sparse.push_row([(0, 1.0), (3, 1.0)]);
        sparse.push_row([(1, 2.0), (2, -1.0), (3, 1.0)]);
        sparse.push_row([(3, 1.0)]);
        let dense = vec![1.0, 0.0, 0.0, 1.0, 0.0, 2.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        (Encoded::Sparse(sparse), Encoded::Dense(dense))
    }

    #[test]
    fn sparse_and_dense_rows_give_the_same_activations() {
        let map = LinearMap::new(3, true, 5, Seed::new(0));
        let (sparse, dense) = sparse_and_dense();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        map.forward(&sparse, 3, &mut a);
        map.forward(&dense, 3, &mut b);
        for (x, y) in a.iter().zip(&b) {
            assert!((x - y).abs() < 1e-6, "{x} {y}");
        }
    }

    #[test]
    fn sparse_and_dense_steps_agree_and_follow_the_formula() {
        let (sparse, dense) = sparse_and_dense();
        let unit_major = [0.1f32, 0.2, 0.3, -0.4, 0.5, 0.6];
        let row_major = [0.1f32, -0.4, 0.2, 0.5, 0.3, 0.6];
        let step = Step::new(Optimiser::Sgd, 0, 0.5, 0.0, 0.1);
        let moved = |encoded: &Encoded, gradient: &[f32]| {
            let mut map = LinearMap::from_weights(4, 2, vec![1.0; 8]);
            let mut state = OptimiserState::new(&map);
            state.step(&mut map, &[Part { encoded, gradient, rows: 3 }], &step, true, &Threads::one());
            map.weights
        };
        let (a, b) = (moved(&sparse, &row_major), moved(&dense, &unit_major));
        // Input 1 stands only in the second row, with 2: w - 0.5 (2 g + 0.1 w).
        let expected = [1.0 - 0.5 * (2.0 * 0.2 + 0.1), 1.0 - 0.5 * (2.0 * 0.5 + 0.1)];
        // The bias sees every row and does not decay.
        let bias = [1.0 - 0.5 * 0.6, 1.0 - 0.5 * 0.7];
        for found in [&a, &b] {
            for (f, e) in found[2..4].iter().chain(&found[6..]).zip(expected.iter().chain(&bias)) {
                assert!((f - e).abs() < 1e-6, "{found:?}");
            }
        }
    }
}
