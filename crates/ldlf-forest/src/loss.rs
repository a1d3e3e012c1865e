//! What a tree predicts (Eqn. 2), how far that is from the targets (Eqn. 3), and how each leaf pulls on it.

use ldlf_core::choices;
use ldlf_math::simd::Simd;

use crate::kernel::{Lane, ROWS, SimdFloat, even_ranges, vectors, vectors_mut};

choices! {
    /// What the gradient steps lower.
    pub enum LossForm {
        /// The mean of the trees' losses: Eqn. 13 of the paper.
        Trees = "trees",
        /// The loss of the trees' mean, which is what the forest predicts.
        Forest = "forest",
    }
}

/// Labels whose sums are held at once: twelve registers of the sixteen.
const LABELS: usize = 6;

/// The output of one tree: `g_c = sum_l p_l q_lc` (Eqn. 2).
///
/// # Shapes
/// - `shares`: `[leaves]` lanes; `leaves`: `[leaves, labels]`; `output`: `[labels]` lanes, overwritten
#[inline(always)]
pub fn mix<S: Simd, T: SimdFloat>(simd: S, shares: &[Lane<T>], leaves: &[T], output: &mut [Lane<T>]) {
    let labels = output.len();
    // Several labels a pass: each share is loaded once and used for all of them.
    for range in even_ranges(labels, LABELS) {
        let (first, output) = (range.start, &mut output[range]);
        match output.len() {
            6 => mix_labels::<S, T, 6>(simd, shares, leaves, labels, first, output),
            5 => mix_labels::<S, T, 5>(simd, shares, leaves, labels, first, output),
            4 => mix_labels::<S, T, 4>(simd, shares, leaves, labels, first, output),
            3 => mix_labels::<S, T, 3>(simd, shares, leaves, labels, first, output),
            2 => mix_labels::<S, T, 2>(simd, shares, leaves, labels, first, output),
            _ => mix_labels::<S, T, 1>(simd, shares, leaves, labels, first, output),
        }
    }
}

#[inline(always)]
fn mix_labels<S: Simd, T: SimdFloat, const N: usize>(
    simd: S,
    shares: &[Lane<T>],
    leaves: &[T],
    labels: usize,
    first: usize,
    output: &mut [Lane<T>],
) {
    let zero = T::splat(simd, T::ZERO);
    for strip in (0..vectors::<S, T>(&shares[0]).len()).step_by(2) {
        let mut sums = [[zero; 2]; N];
        for (share, leaf) in shares.iter().zip(leaves.chunks_exact(labels)) {
            let share = &vectors::<S, T>(share)[strip..strip + 2];
            let leaf: &[T; N] = leaf[first..first + N].try_into().expect("first + N labels exist");
            for n in 0..N {
                let q = T::splat(simd, leaf[n]);
                sums[n][0] = T::mul_add(simd, share[0], q, sums[n][0]);
                sums[n][1] = T::mul_add(simd, share[1], q, sums[n][1]);
            }
        }
        for n in 0..N {
            vectors_mut::<S, T>(&mut output[n])[strip..strip + 2].copy_from_slice(&sums[n]);
        }
    }
}

/// Replaces the output `g` by `d / g` and gives `-sum_c d_c ln g_c` of every row (Eqn. 3 before averaging).
///
/// `g` is floored, so that a label which no leaf holds gives a large but finite loss.
#[inline(always)]
pub fn divide_into<T: SimdFloat>(targets: &[Lane<T>], output: &mut [Lane<T>], losses: &mut Lane<T>) {
    for (target, out) in targets.iter().zip(output) {
        for row in 0..ROWS {
            let g = out[row].larger(T::FLOOR);
            losses[row] += -(target[row] * g.logarithm());
            out[row] = target[row] / g;
        }
    }
}

/// Replaces the output `g` by `d / g` without the loss, for leaf updates.
#[inline(always)]
pub fn divide<T: SimdFloat>(targets: &[Lane<T>], output: &mut [Lane<T>]) {
    for (target, out) in targets.iter().zip(output) {
        for row in 0..ROWS {
            out[row] = target[row] / out[row].larger(T::FLOOR);
        }
    }
}

/// How much each leaf explains: `A_l = p_l sum_c (d_c / g_c) q_lc`.
///
/// # Shapes
/// - `shares`: `[leaves]` lanes; `leaves`: `[leaves, labels]`; `ratios`: `[labels]` lanes; `pulls`: `[leaves]` lanes, overwritten
#[inline(always)]
pub fn pull<S: Simd, T: SimdFloat>(
    simd: S,
    shares: &[Lane<T>],
    leaves: &[T],
    ratios: &[Lane<T>],
    pulls: &mut [Lane<T>],
) {
    let labels = ratios.len();
    for ((shares, leaves), pulls) in shares.chunks(4).zip(leaves.chunks(4 * labels)).zip(pulls.chunks_mut(4))
    {
        match shares.len() {
            4 => pull_leaves::<S, T, 4>(simd, shares, leaves, ratios, pulls),
            2 => pull_leaves::<S, T, 2>(simd, shares, leaves, ratios, pulls),
            _ => pull_leaves::<S, T, 1>(simd, shares, leaves, ratios, pulls),
        }
    }
}

#[inline(always)]
fn pull_leaves<S: Simd, T: SimdFloat, const N: usize>(
    simd: S,
    shares: &[Lane<T>],
    leaves: &[T],
    ratios: &[Lane<T>],
    pulls: &mut [Lane<T>],
) {
    let labels = ratios.len();
    let zero = T::splat(simd, T::ZERO);
    for strip in (0..vectors::<S, T>(&shares[0]).len()).step_by(2) {
        let mut sums = [[zero; 2]; N];
        for (label, ratio) in ratios.iter().enumerate() {
            let ratio = &vectors::<S, T>(ratio)[strip..strip + 2];
            for n in 0..N {
                let q = T::splat(simd, leaves[n * labels + label]);
                sums[n][0] = T::mul_add(simd, ratio[0], q, sums[n][0]);
                sums[n][1] = T::mul_add(simd, ratio[1], q, sums[n][1]);
            }
        }
        for n in 0..N {
            let share = &vectors::<S, T>(&shares[n])[strip..strip + 2];
            let out = &mut vectors_mut::<S, T>(&mut pulls[n])[strip..strip + 2];
            out[0] = T::times(simd, share[0], sums[n][0]);
            out[1] = T::times(simd, share[1], sums[n][1]);
        }
    }
}
