//! The leaf update by variational bounding (Eqn. 12): step-size free, and it never raises the loss.

use ldlf_core::{Error, Result};
use ldlf_math::simd::Simd;

use crate::kernel::{Lane, SimdFloat, even_ranges, vectors};

/// A pull of every leaf towards one distribution, as if `strength` rows of that distribution had reached it.
///
/// With the prior the update minimises `N R(q) - strength sum_l sum_c base_c ln q_lc`.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafPrior {
    /// The pseudo-count of every leaf; 0 gives the paper's update.
    pub strength: f64,
    /// The distribution leant to: the mean training distribution.
    pub base: Vec<f64>,
}

/// How often and towards what the leaves are moved.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafUpdate {
    /// Iterations of Eqn. 12.
    pub iterations: usize,
    /// What the leaves lean to.
    pub prior: LeafPrior,
}

/// Labels whose sums are held at once, for two leaves: twelve registers of the sixteen.
const LABELS: usize = 6;

/// Adds some blocks' part of the statistics `sum_i w_i p_l(x_i) d_ic / g_c(x_i)`.
///
/// # Shapes
/// - `shares`: `[blocks, leaves]` lanes; `ratios`: `[blocks, labels]` lanes, `w d / g`; `statistics`: `[leaves, labels]`, added to
#[inline(always)]
pub fn add_statistics<S: Simd, T: SimdFloat>(
    simd: S,
    shares: &[Lane<T>],
    ratios: &[Lane<T>],
    labels: usize,
    statistics: &mut [T],
) {
    let leaves = statistics.len() / labels;
    for range in even_ranges(labels, LABELS) {
        let (first, count) = (range.start, range.len());
        for leaf in (0..leaves).step_by(2) {
            let at = Place { leaf, leaves, first, labels };
            if leaves == 1 {
                (0..count).for_each(|c| {
                    let at = Place { first: first + c, ..at };
                    dot::<S, T, 1, 1>(simd, shares, ratios, at, statistics)
                });
                continue;
            }
            match count {
                6 => dot::<S, T, 2, 6>(simd, shares, ratios, at, statistics),
                5 => dot::<S, T, 2, 5>(simd, shares, ratios, at, statistics),
                4 => dot::<S, T, 2, 4>(simd, shares, ratios, at, statistics),
                3 => dot::<S, T, 2, 3>(simd, shares, ratios, at, statistics),
                2 => dot::<S, T, 2, 2>(simd, shares, ratios, at, statistics),
                _ => dot::<S, T, 2, 1>(simd, shares, ratios, at, statistics),
            }
        }
    }
}

/// Which entries of the statistics are summed.
#[derive(Clone, Copy)]
struct Place {
    leaf: usize,
    leaves: usize,
    first: usize,
    labels: usize,
}

/// `L x C` dot products over the rows of all blocks.
#[inline(always)]
fn dot<S: Simd, T: SimdFloat, const L: usize, const C: usize>(
    simd: S,
    shares: &[Lane<T>],
    ratios: &[Lane<T>],
    at: Place,
    statistics: &mut [T],
) {
    let mut sums = [[T::splat(simd, T::ZERO); C]; L];
    for (shares, ratios) in shares.chunks_exact(at.leaves).zip(ratios.chunks_exact(at.labels)) {
        let shares: [_; L] = std::array::from_fn(|l| vectors::<S, T>(&shares[at.leaf + l]));
        let ratios: [_; C] = std::array::from_fn(|c| vectors::<S, T>(&ratios[at.first + c]));
        for part in 0..shares[0].len() {
            for l in 0..L {
                for c in 0..C {
                    sums[l][c] = T::mul_add(simd, shares[l][part], ratios[c][part], sums[l][c]);
                }
            }
        }
    }
    for l in 0..L {
        for c in 0..C {
            statistics[(at.leaf + l) * at.labels + at.first + c] += T::sum(simd, sums[l][c]);
        }
    }
}

/// Moves the leaves of one tree: `q_lc <- (q_lc S_lc + prior) / sum_c (...)`, where `S` are the summed statistics.
///
/// A leaf that no row reaches keeps its distribution.
pub fn apply<T: SimdFloat>(statistics: &[f64], prior: &LeafPrior, leaves: &mut [T]) {
    let labels = prior.base.len();
    for (leaf, statistics) in leaves.chunks_exact_mut(labels).zip(statistics.chunks_exact(labels)) {
        let count = |c: usize, q: T| q.as_f64() * statistics[c] + prior.strength * prior.base[c];
        let total: f64 = leaf.iter().enumerate().map(|(c, &q)| count(c, q)).sum();
        if total > f64::MIN_POSITIVE && total.is_finite() {
            for (c, q) in leaf.iter_mut().enumerate() {
                *q = T::of(count(c, *q) / total);
            }
        }
    }
}

/// Refuses leaves that are not distributions, naming the first.
pub fn check_on_simplex(leaves: &[f32], labels: usize) -> Result<()> {
    match leaves.chunks_exact(labels).position(|leaf| !ldlf_math::numeric::on_simplex(leaf, 1e-4)) {
        None => Ok(()),
        Some(leaf) => {
            Err(Error::model_file(format!("leaf {leaf} of the model file does not hold a distribution")))
        }
    }
}
