//! What a tree predicts (Eqn. 2), how far that is from the targets (Eqn. 3), and how each leaf pulls on it.

use crate::kernel::{Lane, Number, ROWS};

/// Rows that are summed in registers at once: two vectors of eight single-precision numbers.
const STRIP: usize = 16;

/// The output of one tree: `g_c = sum_l p_l q_lc` (Eqn. 2).
///
/// # Shapes
/// - `shares`: `[leaves]` lanes; `leaves`: `[leaves, labels]`; `output`: `[labels]` lanes, overwritten
#[inline(always)]
pub fn mix<T: Number>(shares: &[Lane<T>], leaves: &[T], output: &mut [Lane<T>]) {
    let labels = output.len();
    let mut label = 0;
    // Four labels a pass: each share is loaded once and used four times.
    while label + 4 <= labels {
        mix_labels::<T, 4>(shares, leaves, labels, label, output);
        label += 4;
    }
    match labels - label {
        3 => mix_labels::<T, 3>(shares, leaves, labels, label, output),
        2 => mix_labels::<T, 2>(shares, leaves, labels, label, output),
        1 => mix_labels::<T, 1>(shares, leaves, labels, label, output),
        _ => {}
    }
}

#[inline(always)]
fn mix_labels<T: Number, const N: usize>(
    shares: &[Lane<T>],
    leaves: &[T],
    labels: usize,
    first: usize,
    output: &mut [Lane<T>],
) {
    for strip in (0..ROWS).step_by(STRIP) {
        let mut sums = [[T::ZERO; STRIP]; N];
        for (share, leaf) in shares.iter().zip(leaves.chunks_exact(labels)) {
            let share: &[T; STRIP] =
                share[strip..strip + STRIP].try_into().expect("a strip lies within a lane");
            let leaf: &[T; N] = leaf[first..first + N].try_into().expect("first + N labels exist");
            for n in 0..N {
                for row in 0..STRIP {
                    sums[n][row] += share[row] * leaf[n];
                }
            }
        }
        for n in 0..N {
            output[first + n][strip..strip + STRIP].copy_from_slice(&sums[n]);
        }
    }
}

/// Replaces the output `g` by `d / g` and gives `-sum_c d_c ln g_c` of every row (Eqn. 3 before averaging).
///
/// `g` is floored, so that a label which no leaf holds gives a large but finite loss.
#[inline(always)]
pub fn divide_into<T: Number>(targets: &[Lane<T>], output: &mut [Lane<T>], losses: &mut Lane<T>) {
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
pub fn divide<T: Number>(targets: &[Lane<T>], output: &mut [Lane<T>]) {
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
pub fn pull<T: Number>(shares: &[Lane<T>], leaves: &[T], ratios: &[Lane<T>], pulls: &mut [Lane<T>]) {
    let labels = ratios.len();
    for ((shares, leaves), pulls) in shares.chunks(4).zip(leaves.chunks(4 * labels)).zip(pulls.chunks_mut(4))
    {
        match shares.len() {
            4 => pull_leaves::<T, 4>(shares, leaves, ratios, pulls),
            2 => pull_leaves::<T, 2>(shares, leaves, ratios, pulls),
            _ => pull_leaves::<T, 1>(shares, leaves, ratios, pulls),
        }
    }
}

#[inline(always)]
fn pull_leaves<T: Number, const N: usize>(
    shares: &[Lane<T>],
    leaves: &[T],
    ratios: &[Lane<T>],
    pulls: &mut [Lane<T>],
) {
    let labels = ratios.len();
    let shares: &[Lane<T>; N] = shares.try_into().expect("N leaves are given");
    for strip in (0..ROWS).step_by(STRIP) {
        let mut sums = [[T::ZERO; STRIP]; N];
        for (label, ratio) in ratios.iter().enumerate() {
            let ratio: &[T; STRIP] =
                ratio[strip..strip + STRIP].try_into().expect("a strip lies within a lane");
            for n in 0..N {
                let q = leaves[n * labels + label];
                for row in 0..STRIP {
                    sums[n][row] += ratio[row] * q;
                }
            }
        }
        for n in 0..N {
            for row in 0..STRIP {
                pulls[n][strip + row] = sums[n][row] * shares[n][strip + row];
            }
        }
    }
}
