//! The feature function of the shallow model: `f(x) = Theta^T x`, dense or sparse.

use ldlf_core::optimise::step::Step;
use ldlf_core::parallel::chunks;
use ldlf_core::product::{Into, View, ViewMut, product};
use ldlf_core::simd::{Simd, WithSimd, bytemuck, dispatch};
use ldlf_core::{Csr, Threads, vectorise};
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
                    Into::Fresh,
                    ViewMut::row_major(out, self.units, rows),
                    View::row_major(&self.weights, self.inputs, self.units).transposed(),
                    View::row_major(x, rows, self.inputs).transposed(),
                );
            }
            EncodedView::Sparse(rows) => dispatch(ForwardSparse { map: self, rows, out }),
        }
    }

    /// The activations of a single row, `[units]`, from its inputs that differ from zero.
    pub fn forward_row(&self, inputs: &[(u32, f32)], out: &mut [f32]) {
        dispatch(ForwardRow { map: self, inputs, out });
    }

    /// The sums of one row over a strip of `VECTORS` vectors of units from `first` on, in registers.
    #[inline(always)]
    fn strip<S: Simd>(
        &self,
        simd: S,
        inputs: impl Iterator<Item = (u32, f32)>,
        first: usize,
    ) -> [S::f32s; VECTORS] {
        let mut sums = [simd.splat_f32s(0.0); VECTORS];
        for (input, value) in inputs {
            let start = input as usize * self.units + first;
            let weights: &[S::f32s] =
                bytemuck::cast_slice(&self.weights[start..start + VECTORS * S::F32_LANES]);
            let value = simd.splat_f32s(value);
            for vector in 0..VECTORS {
                sums[vector] = simd.mul_add_e_f32s(value, weights[vector], sums[vector]);
            }
        }
        sums
    }

    /// The sums of one row over the last units, which do not fill a strip.
    #[inline(always)]
    fn rest(&self, inputs: impl Iterator<Item = (u32, f32)>, first: usize, sums: &mut [f32]) {
        sums.fill(0.0);
        for (input, value) in inputs {
            let start = input as usize * self.units + first;
            let weights = &self.weights[start..start + sums.len()];
            sums.iter_mut().zip(weights).for_each(|(sum, w)| *sum += value * w);
        }
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
                    if strip == width {
                        let full = map.strip(simd, inputs, first);
                        sums[..width].copy_from_slice(bytemuck::cast_slice(&full));
                    } else {
                        map.rest(inputs, first, &mut sums[..strip]);
                    }
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
struct ForwardRow<'a> {
    map: &'a LinearMap,
    inputs: &'a [(u32, f32)],
    out: &'a mut [f32],
}

impl WithSimd for ForwardRow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = VECTORS * S::F32_LANES;
        for (index, out) in self.out.chunks_mut(width).enumerate() {
            let inputs = self.inputs.iter().copied();
            if out.len() == width {
                let full = self.map.strip(simd, inputs, index * width);
                out.copy_from_slice(bytemuck::cast_slice(&full));
            } else {
                self.map.rest(inputs, index * width, out);
            }
        }
    }
}

/// What the optimiser keeps for each weight.
///
/// With sparse rows a step touches only the inputs that the mini-batch holds. What it does to the others (decay, momentum)
/// depends on nothing but themselves, so it is owed: each input replays the steps it missed, with the same operations in
/// the same order, before it is next needed. [`OptimiserState::settle`] pays all debts.
#[derive(Clone)]
pub struct OptimiserState {
    /// First moments, or the momentum.
    pub first: Vec<f32>,
    /// Second moments.
    pub second: Vec<f32>,
    /// Room for the gradient of dense rows, `[inputs, units]`.
    gradient: Vec<f32>,
    shards: Vec<Shard>,
    /// By input: units and the weights that theirs are drawn to instead of zero; empty when there are none.
    homes: Homes,
    /// The steps since all debts were paid.
    pending: Vec<Step>,
}

/// By input: the units whose weight decays to another value than zero, with that value.
pub type Homes = Vec<Vec<(u32, f32)>>;

/// What one task keeps of its inputs.
#[derive(Clone)]
struct Shard {
    /// By input: how many of the pending steps it has taken.
    taken: Vec<usize>,
    /// Room for the gradient of one input, `[units]`.
    gradient: Vec<f32>,
}

/// Debts are paid after so many steps at the latest: the list of steps stays short.
const LONGEST_DEBT: usize = 64;

impl OptimiserState {
    /// Zeros for a map of this size.
    pub fn new(map: &LinearMap) -> Self {
        let zeros = || vec![0.0; map.weights.len()];
        let shard = |range: std::ops::Range<usize>| Shard {
            taken: vec![0; range.len()],
            gradient: vec![0.0; map.units],
        };
        OptimiserState {
            first: zeros(),
            second: zeros(),
            gradient: Vec::new(),
            shards: chunks(map.inputs, Self::sparse_shard(map.inputs)).map(shard).collect(),
            homes: Homes::new(),
            pending: Vec::with_capacity(LONGEST_DEBT),
        }
    }

    /// The same with some weights at home elsewhere than at zero.
    pub fn with_homes(self, homes: Homes) -> Self {
        OptimiserState { homes, ..self }
    }

    /// Forgets all moments and debts.
    pub fn restart(&mut self, map: &LinearMap) {
        *self = OptimiserState::new(map).with_homes(std::mem::take(&mut self.homes));
    }

    /// Dense inputs that one task updates: few large tasks, because each reads all of `G`.
    fn dense_shard(inputs: usize) -> usize {
        inputs.div_ceil(8).next_multiple_of(16).clamp(32, 512)
    }

    /// Sparse inputs that one task updates: many small tasks, because a few inputs hold most of the entries.
    fn sparse_shard(inputs: usize) -> usize {
        inputs.div_ceil(64).clamp(8, 512)
    }

    /// Computes the gradient with respect to the weights, `X^T G`, and takes one step. The last input is a bias when `bias`
    /// says so and does not decay.
    ///
    /// Every task owns some inputs and sees all rows: nothing depends on the number of threads.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`, a whole mini-batch; `gradient`: `[rows, units]`, with respect to the activations
    pub fn step_dense(
        &mut self,
        map: &mut LinearMap,
        x: &[f32],
        gradient: &[f32],
        step: &Step,
        bias: bool,
        threads: &Threads,
    ) {
        let (inputs, units) = (map.inputs, map.units);
        let rows = gradient.len() / units;
        let shard = Self::dense_shard(inputs);
        self.gradient.resize(inputs * units, 0.0);
        let homes = &self.homes;
        let slices =
            [&mut map.weights[..], &mut self.first[..], &mut self.second[..], &mut self.gradient[..]];
        threads.for_each_chunk(slices, shard * units, |task, [weights, first, second, sums]| {
            let start = task * shard;
            let count = weights.len() / units;
            product(
                Into::Fresh,
                ViewMut::row_major(sums, count, units),
                View::strided(&x[start..], count, rows, 1, inputs),
                View::row_major(gradient, rows, units),
            );
            let bias = bias && start + count == inputs;
            apply_step(step, bias, homes.get(start..).unwrap_or(&[]), units, weights, sums, first, second);
        });
    }

    /// Takes one step by a gradient with respect to the weights that is known already, `[inputs, units]`.
    pub fn step_by(
        &mut self,
        map: &mut LinearMap,
        gradient: &[f32],
        step: &Step,
        bias: bool,
        threads: &Threads,
    ) {
        let (inputs, units) = (map.inputs, map.units);
        let shard = Self::dense_shard(inputs);
        let homes = &self.homes;
        let slices = [&mut map.weights[..], &mut self.first[..], &mut self.second[..]];
        threads.for_each_chunk(slices, shard * units, |task, [weights, first, second]| {
            let start = task * shard;
            let count = weights.len() / units;
            let gradient = &gradient[start * units..(start + count) * units];
            let bias = bias && start + count == inputs;
            apply_step(
                step,
                bias,
                homes.get(start..).unwrap_or(&[]),
                units,
                weights,
                gradient,
                first,
                second,
            );
        });
    }

    /// As [`OptimiserState::step_dense`] for sparse rows, which come in parts, one after the other.
    pub fn step_sparse<'a>(
        &mut self,
        map: &mut LinearMap,
        parts: impl Iterator<Item = &'a ByInput> + Clone + Sync,
        gradient: &[f32],
        step: &Step,
        bias: bool,
        threads: &Threads,
    ) {
        let units = map.units;
        if self.pending.len() == LONGEST_DEBT {
            self.settle(map, bias, threads);
        }
        self.pending.push(*step);
        let (missed, now) = (&self.pending[..self.pending.len() - 1], self.pending.len());
        let undecayed = if bias { map.inputs - 1 } else { map.inputs };
        let shard = Self::sparse_shard(map.inputs);
        let homes = &self.homes;
        let slices = [&mut map.weights[..], &mut self.first[..], &mut self.second[..]];
        let slices = slices.map(|slice| (slice, shard * units));
        threads.for_each_part(&mut self.shards, slices, |index, own, [weights, first, second]| {
            vectorise!({
                let rows = weights.chunks_exact_mut(units).zip(first.chunks_exact_mut(units));
                let rows = rows.zip(second.chunks_exact_mut(units)).zip(&mut own.taken);
                for (input, (((w, m), v), taken)) in (index * shard..).zip(rows) {
                    if parts.clone().all(|part| part.of(input).is_empty()) {
                        continue;
                    }
                    own.gradient.fill(0.0);
                    let mut rows_before = 0;
                    for part in parts.clone() {
                        for &(row, value) in part.of(input) {
                            let start = (rows_before + row as usize) * units;
                            let source = &gradient[start..start + units];
                            own.gradient.iter_mut().zip(source).for_each(|(g, s)| *g += value * s);
                        }
                        rows_before += part.rows;
                    }
                    if input < undecayed {
                        let homes = homes.get(input).map_or(&[][..], Vec::as_slice);
                        replay(&missed[*taken..], homes, w, m, v);
                        step.apply(w, &own.gradient, m, v);
                        step.draw_home(homes, w);
                    } else {
                        // Every row holds the bias: it never misses a step.
                        step.without_decay().apply(w, &own.gradient, m, v);
                    }
                    *taken = now;
                }
            },);
        });
    }

    /// Lets every input take the steps it has missed.
    pub fn settle(&mut self, map: &mut LinearMap, bias: bool, threads: &Threads) {
        if self.pending.is_empty() {
            return;
        }
        let units = map.units;
        let undecayed = if bias { map.inputs - 1 } else { map.inputs };
        let shard = Self::sparse_shard(map.inputs);
        let (pending, homes) = (&self.pending[..], &self.homes);
        let slices = [&mut map.weights[..], &mut self.first[..], &mut self.second[..]];
        let slices = slices.map(|slice| (slice, shard * units));
        threads.for_each_part(&mut self.shards, slices, |index, own, [weights, first, second]| {
            vectorise!({
                let rows = weights.chunks_exact_mut(units).zip(first.chunks_exact_mut(units));
                let rows = rows.zip(second.chunks_exact_mut(units)).zip(&mut own.taken);
                for (input, (((w, m), v), taken)) in (index * shard..).zip(rows) {
                    if input < undecayed {
                        let homes = homes.get(input).map_or(&[][..], Vec::as_slice);
                        replay(&pending[*taken..], homes, w, m, v);
                    }
                    *taken = 0;
                }
            },);
        });
        self.pending.clear();
    }

    /// Whether inputs owe steps.
    pub fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }
}

/// One step on the weights of some inputs, of which the last is a bias where `bias` says so.
#[allow(clippy::too_many_arguments, reason = "the slices of one step, which are cut alike")]
fn apply_step(
    step: &Step,
    bias: bool,
    homes: &[Vec<(u32, f32)>],
    units: usize,
    weights: &mut [f32],
    gradient: &[f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    let decaying = if bias { weights.len() - units } else { weights.len() };
    let (w, w_bias) = weights.split_at_mut(decaying);
    let (m, m_bias) = first.split_at_mut(decaying);
    let (v, v_bias) = second.split_at_mut(decaying);
    let (g, g_bias) = gradient.split_at(decaying);
    vectorise!(step.apply(w, g, m, v));
    vectorise!(step.without_decay().apply(w_bias, g_bias, m_bias, v_bias));
    for (homes, w) in homes.iter().zip(w.chunks_exact_mut(units)) {
        step.draw_home(homes, w);
    }
}

/// Lets the weights of one input take steps it has missed.
#[inline(always)]
fn replay(steps: &[Step], homes: &[(u32, f32)], w: &mut [f32], m: &mut [f32], v: &mut [f32]) {
    if homes.is_empty() {
        return Step::replay(steps, w, m, v);
    }
    for step in steps {
        Step::replay(std::slice::from_ref(step), w, m, v);
        step.draw_home(homes, w);
    }
}

/// Sparse rows ordered by input, with the row of each entry: what the product with the transposed rows needs.
#[derive(Clone, Default)]
pub struct ByInput {
    starts: Vec<u32>,
    entries: Vec<(u32, f32)>,
    rows: usize,
}

impl ByInput {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Orders the entries by input (a counting sort; rows keep their order).
    pub fn fill(&mut self, x: &Csr) {
        self.rows = x.rows();
        self.starts.clear();
        self.starts.resize(x.cols() + 2, 0);
        // Counted two places on, so that filling below leaves each start in its own place.
        x.parts().1.iter().for_each(|&column| self.starts[column as usize + 2] += 1);
        for input in 2..self.starts.len() {
            self.starts[input] += self.starts[input - 1];
        }
        self.entries.resize(x.stored(), (0, 0.0));
        for (row, (columns, values)) in x.iter_rows().enumerate() {
            for (&column, &value) in columns.iter().zip(values) {
                let place = &mut self.starts[column as usize + 1];
                self.entries[*place as usize] = (row as u32, value);
                *place += 1;
            }
        }
    }

    /// The entries of one input: rows and values.
    #[inline(always)]
    pub fn of(&self, input: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[input] as usize..self.starts[input + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::Seed;
    use ldlf_core::optimise::step::Optimizer;

    fn sparse_and_dense() -> (Csr, Vec<f32>) {
        let mut sparse = Csr::with_columns(4);
        sparse.push_row([(0, 1.0), (3, 1.0)]);
        sparse.push_row([(1, 2.0), (2, -1.0), (3, 1.0)]);
        sparse.push_row([(3, 1.0)]);
        (sparse, vec![1.0, 0.0, 0.0, 1.0, 0.0, 2.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    }

    fn by_input(x: &Csr) -> ByInput {
        let mut by_input = ByInput::default();
        by_input.fill(x);
        by_input
    }

    #[test]
    fn sparse_and_dense_rows_give_the_same_activations() {
        for units in [5, 64, 150] {
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

    #[test]
    fn sparse_and_dense_steps_agree_and_follow_the_formula() {
        let (sparse, dense) = sparse_and_dense();
        let gradient = [0.1f32, -0.4, 0.2, 0.5, 0.3, 0.6];
        let step = Step::new(Optimizer::Sgd, 0, 0.5, 0.0, 0.1);
        let start = LinearMap::from_weights(4, 2, vec![1.0; 8]);
        let (mut a, mut b) = (start.clone(), start.clone());
        let by_input = by_input(&sparse);
        let mut state = OptimiserState::new(&start);
        state.step_sparse(&mut a, std::iter::once(&by_input), &gradient, &step, true, &Threads::one());
        OptimiserState::new(&start).step_dense(&mut b, &dense, &gradient, &step, true, &Threads::one());
        // Input 1 stands only in the second row, with 2: w - 0.5 (2 g + 0.1 w).
        let expected = [1.0 - 0.5 * (2.0 * 0.2 + 0.1), 1.0 - 0.5 * (2.0 * 0.5 + 0.1)];
        // The bias sees every row and does not decay.
        let bias = [1.0 - 0.5 * 0.6, 1.0 - 0.5 * 0.7];
        for found in [a.weights, b.weights] {
            for (f, e) in found[2..4].iter().chain(&found[6..]).zip(expected.iter().chain(&bias)) {
                assert!((f - e).abs() < 1e-6, "{found:?}");
            }
        }
    }

    #[test]
    fn without_news_weights_go_home() {
        let start = LinearMap::from_weights(3, 2, vec![1.0; 6]);
        let homes = || vec![vec![(1, -6.0)], vec![], vec![]];
        let mut dense = (start.clone(), OptimiserState::new(&start).with_homes(homes()));
        let mut sparse = (start.clone(), OptimiserState::new(&start).with_homes(homes()));
        let nothing = by_input(&Csr::with_columns(3));
        for number in 0..2000 {
            let step = Step::new(Optimizer::AdamW, number, 0.01, 0.9, 1.0);
            dense.1.step_dense(&mut dense.0, &[0.0; 3], &[0.0; 2], &step, false, &Threads::one());
            let parts = std::iter::once(&nothing);
            sparse.1.step_sparse(&mut sparse.0, parts, &[], &step, false, &Threads::one());
        }
        sparse.1.settle(&mut sparse.0, false, &Threads::one());
        assert_eq!(dense.0, sparse.0);
        let ends = [0.0, -6.0, 0.0, 0.0, 0.0, 0.0];
        assert!(dense.0.weights.iter().zip(ends).all(|(w, end)| (w - end).abs() < 1e-4), "{:?}", dense.0);
    }

    /// Rows that hold few of 40 inputs, and the bias.
    fn a_mini_batch(number: usize) -> Csr {
        let mut x = Csr::with_columns(41);
        for row in 0..3 {
            let input = (7 * number + 13 * row) % 40;
            x.push_row([(input as u32, 1.0 + row as f32), (40, 1.0)]);
        }
        x
    }

    #[test]
    fn steps_that_are_owed_and_paid_later_leave_the_same_bits_as_steps_taken_at_once() {
        for optimiser in [Optimizer::Sgd, Optimizer::Adam, Optimizer::AdamW] {
            let start = LinearMap::new(40, true, 5, Seed::new(1));
            let (mut late, mut at_once) = (start.clone(), start.clone());
            let (mut debts, mut none) = (OptimiserState::new(&start), OptimiserState::new(&start));
            for number in 0..150 {
                let step = Step::new(optimiser, number, 0.01 / (1.0 + number as f64), 0.9, 0.1);
                let gradient: Vec<f32> = (0..15).map(|i| ((i + number) as f32).sin()).collect();
                let x = by_input(&a_mini_batch(number));
                let threads = Threads::one();
                debts.step_sparse(&mut late, std::iter::once(&x), &gradient, &step, true, &threads);
                none.step_sparse(&mut at_once, std::iter::once(&x), &gradient, &step, true, &threads);
                none.settle(&mut at_once, true, &threads);
            }
            assert!(!debts.is_settled() && late != at_once);
            debts.settle(&mut late, true, &Threads::new(2).unwrap());
            assert_eq!(late, at_once);
            assert_eq!((debts.first, debts.second), (none.first, none.second));
        }
    }
}
