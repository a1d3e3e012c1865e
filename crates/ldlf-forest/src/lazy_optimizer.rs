//! The optimiser of the linear map, with lazy updates of sparse inputs.

use ldlf_core::Threads;
use ldlf_math::optimise::step::Step;
use ldlf_math::parallel::chunks;
use ldlf_math::product::{Accumulate, View, ViewMut, product};
use ldlf_math::vectorise;

use crate::by_input::ByInput;
use crate::linear::LinearMap;

/// An optimiser of a linear map, with what it keeps for each weight.
///
/// Updates are lazy: with sparse rows a step touches only the inputs that the mini-batch holds. What it does to the others (decay,
/// momentum) depends on nothing but themselves, so each input replays the steps it missed, with the same operations in the same
/// order, before it is next read: [`LazyOptimizer::catch_up`] does so for the inputs of a mini-batch before its forward pass, and
/// [`LazyOptimizer::flush`] applies all pending steps. Whether steps are replayed at once or in parts does not change a bit.
#[derive(Clone)]
pub struct LazyOptimizer {
    /// First moments, or the momentum.
    pub first: Vec<f32>,
    /// Second moments.
    pub second: Vec<f32>,
    /// Room for the gradient of dense rows, `[inputs, units]`.
    gradient: Vec<f32>,
    shards: Vec<Shard>,
    /// Empty when all weights decay to zero.
    decay_targets: DecayTargets,
    /// Learning rates of the weights, relative to that of a step, `[inputs, units]`; empty when all are 1. Dense rows only.
    rates: Vec<f32>,
    /// The steps since the last flush.
    pending: Vec<Step>,
}

/// By input: the units whose weight decays to another value than zero, with that value.
pub type DecayTargets = Vec<Vec<(u32, f32)>>;

/// What one task keeps of its inputs.
#[derive(Clone)]
struct Shard {
    /// By input: how many of the pending steps it has taken.
    taken: Vec<usize>,
    /// The inputs of the mini-batch that have caught up and await its step, counted from the first of this task.
    caught_up: Vec<usize>,
    /// Room for the gradient of one input, `[units]`.
    gradient: Vec<f32>,
}

/// Pending steps are flushed after so many at the latest: the list of steps stays short.
const MAX_PENDING: usize = 64;

impl LazyOptimizer {
    /// Zeros for a map of this size.
    pub fn new(map: &LinearMap) -> Self {
        let zeros = || vec![0.0; map.weights().len()];
        let shard = |range: std::ops::Range<usize>| Shard {
            taken: vec![0; range.len()],
            caught_up: Vec::with_capacity(range.len()),
            gradient: vec![0.0; map.units()],
        };
        LazyOptimizer {
            first: zeros(),
            second: zeros(),
            gradient: Vec::new(),
            shards: chunks(map.inputs(), Self::sparse_shard(map.inputs())).map(shard).collect(),
            decay_targets: DecayTargets::new(),
            rates: Vec::new(),
            pending: Vec::with_capacity(MAX_PENDING),
        }
    }

    /// The same with some weights that decay to other values than zero.
    pub fn with_decay_targets(self, decay_targets: DecayTargets) -> Self {
        LazyOptimizer { decay_targets, ..self }
    }

    /// The same with a learning rate for every weight, relative to that of a step.
    pub fn with_rates(self, rates: Vec<f32>) -> Self {
        LazyOptimizer { rates, ..self }
    }

    /// Forgets all moments and pending steps.
    pub fn restart(&mut self, map: &LinearMap) {
        *self = LazyOptimizer::new(map)
            .with_decay_targets(std::mem::take(&mut self.decay_targets))
            .with_rates(std::mem::take(&mut self.rates));
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
        let (inputs, units) = (map.inputs(), map.units());
        let rows = gradient.len() / units;
        let shard = Self::dense_shard(inputs);
        self.gradient.resize(inputs * units, 0.0);
        let (targets, rates) = (&self.decay_targets, &self.rates);
        let slices = [map.weights_mut(), &mut self.first[..], &mut self.second[..], &mut self.gradient[..]];
        threads.for_each_chunk(slices, shard * units, |task, [weights, first, second, sums]| {
            let start = task * shard;
            let count = weights.len() / units;
            product(
                Accumulate::Replace,
                ViewMut::row_major(sums, count, units),
                View::strided(&x[start..], count, rows, 1, inputs),
                View::row_major(gradient, rows, units),
            );
            let bias = bias && start + count == inputs;
            let (targets, rates) =
                (targets.get(start..).unwrap_or(&[]), rates.get(start * units..).unwrap_or(&[]));
            apply_step(step, bias, targets, rates, units, weights, sums, first, second);
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
        let (inputs, units) = (map.inputs(), map.units());
        let shard = Self::dense_shard(inputs);
        let (targets, rates) = (&self.decay_targets, &self.rates);
        let slices = [map.weights_mut(), &mut self.first[..], &mut self.second[..]];
        threads.for_each_chunk(slices, shard * units, |task, [weights, first, second]| {
            let start = task * shard;
            let count = weights.len() / units;
            let gradient = &gradient[start * units..(start + count) * units];
            let bias = bias && start + count == inputs;
            let (targets, rates) =
                (targets.get(start..).unwrap_or(&[]), rates.get(start * units..).unwrap_or(&[]));
            apply_step(step, bias, targets, rates, units, weights, gradient, first, second);
        });
    }

    /// Lets the inputs of a mini-batch of sparse rows take the steps they missed. Comes before its forward pass, which so reads
    /// the same weights as if no step were pending, and before its [`LazyOptimizer::step_sparse`].
    pub fn catch_up<'a>(
        &mut self,
        map: &mut LinearMap,
        parts: impl Iterator<Item = &'a ByInput> + Clone + Sync,
        bias: bool,
        threads: &Threads,
    ) {
        if self.pending.len() == MAX_PENDING {
            self.flush(map, bias, threads);
        }
        let units = map.units();
        let undecayed = if bias { map.inputs() - 1 } else { map.inputs() };
        let shard = Self::sparse_shard(map.inputs());
        let (pending, targets) = (&self.pending[..], &self.decay_targets);
        let slices = [map.weights_mut(), &mut self.first[..], &mut self.second[..]];
        let slices = slices.map(|slice| (slice, shard * units));
        threads.for_each_part(&mut self.shards, slices, |index, own, [weights, first, second]| {
            vectorise!({
                own.caught_up.clear();
                for (place, taken) in own.taken.iter_mut().enumerate() {
                    let input = index * shard + place;
                    if !parts.clone().any(|part| part.holds(input)) {
                        continue;
                    }
                    own.caught_up.push(place);
                    // Every row holds the bias: it never misses a step.
                    if *taken < pending.len() && input < undecayed {
                        let own = place * units..(place + 1) * units;
                        let (w, m) = (&mut weights[own.clone()], &mut first[own.clone()]);
                        let targets = targets.get(input).map_or(&[][..], Vec::as_slice);
                        replay(&pending[*taken..], targets, w, m, &mut second[own]);
                    }
                    *taken = pending.len();
                }
            },);
        });
    }

    /// As [`LazyOptimizer::step_dense`] for sparse rows, which come in parts, one after the other: those whose inputs have just
    /// caught up.
    pub fn step_sparse<'a>(
        &mut self,
        map: &mut LinearMap,
        parts: impl Iterator<Item = &'a ByInput> + Clone + Sync,
        gradient: &[f32],
        step: &Step,
        bias: bool,
        threads: &Threads,
    ) {
        let units = map.units();
        self.pending.push(*step);
        let now = self.pending.len();
        let undecayed = if bias { map.inputs() - 1 } else { map.inputs() };
        let shard = Self::sparse_shard(map.inputs());
        let targets = &self.decay_targets;
        let slices = [map.weights_mut(), &mut self.first[..], &mut self.second[..]];
        let slices = slices.map(|slice| (slice, shard * units));
        threads.for_each_part(&mut self.shards, slices, |index, own, [weights, first, second]| {
            vectorise!({
                for &place in &own.caught_up {
                    let (input, range) = (index * shard + place, place * units..(place + 1) * units);
                    let (w, m) = (&mut weights[range.clone()], &mut first[range.clone()]);
                    let v = &mut second[range];
                    sum_rows(parts.clone(), input, gradient, &mut own.gradient);
                    if input < undecayed {
                        step.apply(w, &own.gradient, m, v);
                        step.decay_toward(targets.get(input).map_or(&[][..], Vec::as_slice), w);
                    } else {
                        step.without_decay().apply(w, &own.gradient, m, v);
                    }
                    own.taken[place] = now;
                }
            },);
            own.caught_up.clear();
        });
    }

    /// Applies all pending steps.
    pub fn flush(&mut self, map: &mut LinearMap, bias: bool, threads: &Threads) {
        if self.pending.is_empty() {
            return;
        }
        let units = map.units();
        let undecayed = if bias { map.inputs() - 1 } else { map.inputs() };
        let shard = Self::sparse_shard(map.inputs());
        let (pending, targets) = (&self.pending[..], &self.decay_targets);
        let slices = [map.weights_mut(), &mut self.first[..], &mut self.second[..]];
        let slices = slices.map(|slice| (slice, shard * units));
        threads.for_each_part(&mut self.shards, slices, |index, own, [weights, first, second]| {
            vectorise!({
                let rows = weights.chunks_exact_mut(units).zip(first.chunks_exact_mut(units));
                let rows = rows.zip(second.chunks_exact_mut(units)).zip(&mut own.taken);
                for (input, (((w, m), v), taken)) in (index * shard..).zip(rows) {
                    if input < undecayed {
                        let targets = targets.get(input).map_or(&[][..], Vec::as_slice);
                        replay(&pending[*taken..], targets, w, m, v);
                    }
                    *taken = 0;
                }
            },);
        });
        self.pending.clear();
    }

    /// Whether no steps are pending.
    pub fn is_flushed(&self) -> bool {
        self.pending.is_empty()
    }
}

/// One step on the weights of some inputs, of which the last is a bias where `bias` says so.
#[allow(clippy::too_many_arguments, reason = "the slices of one step, which are cut alike")]
fn apply_step(
    step: &Step,
    bias: bool,
    targets: &[Vec<(u32, f32)>],
    rates: &[f32],
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
    match rates.get(..decaying) {
        None => vectorise!(step.apply(w, g, m, v)),
        Some(rates) => vectorise!(step.apply_at(rates, w, g, m, v)),
    }
    vectorise!(step.without_decay().apply(w_bias, g_bias, m_bias, v_bias));
    for (targets, w) in targets.iter().zip(w.chunks_exact_mut(units)) {
        step.decay_toward(targets, w);
    }
}

/// The gradient with respect to the weights of one input: the sum over the rows that hold it, in their order.
#[inline(always)]
fn sum_rows<'a>(
    parts: impl Iterator<Item = &'a ByInput>,
    input: usize,
    mut gradient: &[f32],
    sums: &mut [f32],
) {
    let mut is_first = true;
    for part in parts {
        // Several rows at a time: every sum is loaded and stored less often.
        let (fours, rest) = part.of(input).as_chunks::<4>();
        let (twos, ones) = rest.as_chunks::<2>();
        fours.iter().for_each(|rows| add_rows(rows, gradient, std::mem::take(&mut is_first), sums));
        twos.iter().for_each(|rows| add_rows(rows, gradient, std::mem::take(&mut is_first), sums));
        ones.iter().for_each(|row| add_rows(&[*row], gradient, std::mem::take(&mut is_first), sums));
        gradient = &gradient[part.rows() * sums.len()..];
    }
}

/// Adds rows of the gradient times their values, one after the other, to sums that start at zero with the first rows.
#[inline(always)]
fn add_rows<const N: usize>(rows: &[(u32, f32); N], gradient: &[f32], is_first: bool, sums: &mut [f32]) {
    let units = sums.len();
    let sources = rows.map(|(row, _)| &gradient[row as usize * units..][..units]);
    let add = |start: f32, unit: usize| (0..N).fold(start, |sum, k| sum + rows[k].1 * sources[k][unit]);
    if is_first {
        sums.iter_mut().enumerate().for_each(|(unit, sum)| *sum = add(0.0, unit));
    } else {
        sums.iter_mut().enumerate().for_each(|(unit, sum)| *sum = add(*sum, unit));
    }
}

/// Lets the weights of one input take steps it has missed.
#[inline(always)]
fn replay(steps: &[Step], targets: &[(u32, f32)], w: &mut [f32], m: &mut [f32], v: &mut [f32]) {
    if targets.is_empty() {
        return Step::replay(steps, w, m, v);
    }
    for step in steps {
        Step::replay(std::slice::from_ref(step), w, m, v);
        step.decay_toward(targets, w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::{Csr, Seed};
    use ldlf_math::optimise::step::Optimizer;

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

    fn take_step(
        state: &mut LazyOptimizer,
        map: &mut LinearMap,
        x: &ByInput,
        gradient: &[f32],
        step: &Step,
        bias: bool,
    ) {
        state.catch_up(map, std::iter::once(x), bias, &Threads::one());
        state.step_sparse(map, std::iter::once(x), gradient, step, bias, &Threads::one());
    }

    #[test]
    fn sparse_and_dense_steps_agree_and_follow_the_formula() {
        let (sparse, dense) = sparse_and_dense();
        let gradient = [0.1f32, -0.4, 0.2, 0.5, 0.3, 0.6];
        let step = Step::new(Optimizer::Sgd, 0, 0.5, 0.0, 0.1);
        let start = LinearMap::from_weights(4, 2, vec![1.0; 8]);
        let (mut a, mut b) = (start.clone(), start.clone());
        let by_input = by_input(&sparse);
        let mut state = LazyOptimizer::new(&start);
        take_step(&mut state, &mut a, &by_input, &gradient, &step, true);
        LazyOptimizer::new(&start).step_dense(&mut b, &dense, &gradient, &step, true, &Threads::one());
        // Input 1 stands only in the second row, with 2: w - 0.5 (2 g + 0.1 w).
        let expected = [1.0 - 0.5 * (2.0 * 0.2 + 0.1), 1.0 - 0.5 * (2.0 * 0.5 + 0.1)];
        // The bias sees every row and does not decay.
        let bias = [1.0 - 0.5 * 0.6, 1.0 - 0.5 * 0.7];
        for found in [a.weights(), b.weights()] {
            for (f, e) in found[2..4].iter().chain(&found[6..]).zip(expected.iter().chain(&bias)) {
                assert!((f - e).abs() < 1e-6, "{found:?}");
            }
        }
    }

    #[test]
    fn zero_gradient_decays_weights_to_their_targets() {
        let start = LinearMap::from_weights(3, 2, vec![1.0; 6]);
        let targets = || vec![vec![(1, -6.0)], vec![], vec![]];
        let mut dense = (start.clone(), LazyOptimizer::new(&start).with_decay_targets(targets()));
        let mut sparse = (start.clone(), LazyOptimizer::new(&start).with_decay_targets(targets()));
        let nothing = by_input(&Csr::with_columns(3));
        for number in 0..2000 {
            let step = Step::new(Optimizer::AdamW, number, 0.01, 0.9, 1.0);
            dense.1.step_dense(&mut dense.0, &[0.0; 3], &[0.0; 2], &step, false, &Threads::one());
            take_step(&mut sparse.1, &mut sparse.0, &nothing, &[], &step, false);
        }
        sparse.1.flush(&mut sparse.0, false, &Threads::one());
        assert_eq!(dense.0, sparse.0);
        let ends = [0.0, -6.0, 0.0, 0.0, 0.0, 0.0];
        assert!(dense.0.weights().iter().zip(ends).all(|(w, end)| (w - end).abs() < 1e-4), "{:?}", dense.0);
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
    fn pending_steps_leave_the_same_bits_whether_flushed_at_once_or_in_parts() {
        for optimiser in [Optimizer::Sgd, Optimizer::Adam, Optimizer::AdamW] {
            let start = LinearMap::new(40, true, 21, Seed::new(1));
            let targets: DecayTargets = (0..41).map(|input| vec![(input % 21, -6.0)]).collect();
            let state = LazyOptimizer::new(&start).with_decay_targets(targets);
            // Flushed never, after every step and after every seventh.
            let mut runs = [usize::MAX, 1, 7].map(|every| (every, start.clone(), state.clone()));
            for number in 0..150 {
                let step = Step::new(optimiser, number, 0.01 / (1.0 + number as f64), 0.9, 0.1);
                let gradient: Vec<f32> = (0..63).map(|i| ((i + number) as f32).sin()).collect();
                let x = by_input(&a_mini_batch(number));
                for (every, map, state) in &mut runs {
                    take_step(state, map, &x, &gradient, &step, true);
                    if (number + 1).is_multiple_of(*every) {
                        state.flush(map, true, &Threads::one());
                    }
                }
            }
            assert!(runs.iter().filter(|(_, _, state)| !state.is_flushed()).count() == 2);
            assert_ne!(runs[0].1, runs[1].1);
            let [lazy, eager, sometimes] = runs.map(|(_, mut map, mut state)| {
                state.flush(&mut map, true, &Threads::new(2).unwrap());
                (map, state.first, state.second)
            });
            assert!(lazy == eager && sometimes == eager, "{optimiser:?}");
        }
    }

    #[test]
    fn inputs_that_caught_up_hold_the_weights_of_a_flushed_map() {
        let start = LinearMap::new(40, true, 21, Seed::new(1));
        let (mut map, mut state) = (start.clone(), LazyOptimizer::new(&start));
        for number in 0..70 {
            let step = Step::new(Optimizer::AdamW, number, 0.01, 0.9, 0.1);
            let x = by_input(&a_mini_batch(number));
            let (mut flushed, mut other) = (map.clone(), state.clone());
            other.flush(&mut flushed, true, &Threads::one());
            state.catch_up(&mut map, std::iter::once(&x), true, &Threads::one());
            for input in (0..41).filter(|&input| x.holds(input)) {
                let own = input * 21..(input + 1) * 21;
                assert_eq!(map.weights()[own.clone()], flushed.weights()[own], "input {input}");
            }
            state.step_sparse(&mut map, std::iter::once(&x), &[0.5; 63], &step, true, &Threads::one());
        }
    }
}
