//! The leaf update by variational bounding (Eqn. 12): step-size free, and it never raises the loss.

use ldlf_core::{Error, Result};

use crate::kernel::{Lane, Number, ROWS};

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

/// Adds a block's part of the statistics `sum_i w_i p_l(x_i) d_ic / g_c(x_i)`.
///
/// # Shapes
/// - `shares`: `[leaves]` lanes; `ratios`: `[labels]` lanes, `w d / g`; `statistics`: `[leaves, labels]`, added to
#[inline(always)]
pub fn add_statistics<T: Number>(shares: &[Lane<T>], ratios: &[Lane<T>], statistics: &mut [T]) {
    let labels = ratios.len();
    let mut label = 0;
    while label < labels {
        let n = (labels - label).min(2);
        for (leaf, share) in shares.chunks(4).enumerate() {
            match (share.len(), n) {
                (4, 2) => dot::<T, 4, 2>(share, &ratios[label..], leaf * 4, label, labels, statistics),
                (4, _) => dot::<T, 4, 1>(share, &ratios[label..], leaf * 4, label, labels, statistics),
                (2, 2) => dot::<T, 2, 2>(share, &ratios[label..], leaf * 4, label, labels, statistics),
                (2, _) => dot::<T, 2, 1>(share, &ratios[label..], leaf * 4, label, labels, statistics),
                (_, 2) => dot::<T, 1, 2>(share, &ratios[label..], leaf * 4, label, labels, statistics),
                _ => dot::<T, 1, 1>(share, &ratios[label..], leaf * 4, label, labels, statistics),
            }
        }
        label += n;
    }
}

/// `L x C` dot products over the rows of a block, in eight partial sums each.
#[inline(always)]
fn dot<T: Number, const L: usize, const C: usize>(
    shares: &[Lane<T>],
    ratios: &[Lane<T>],
    first_leaf: usize,
    first_label: usize,
    labels: usize,
    statistics: &mut [T],
) {
    let mut sums = [[[T::ZERO; 8]; C]; L];
    for part in (0..ROWS).step_by(8) {
        for l in 0..L {
            let share: &[T; 8] = shares[l][part..part + 8].try_into().expect("eight rows lie within a lane");
            for c in 0..C {
                let ratio: &[T; 8] =
                    ratios[c][part..part + 8].try_into().expect("eight rows lie within a lane");
                for row in 0..8 {
                    sums[l][c][row] += share[row] * ratio[row];
                }
            }
        }
    }
    for l in 0..L {
        for c in 0..C {
            let s = &sums[l][c];
            statistics[(first_leaf + l) * labels + first_label + c] +=
                ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        }
    }
}

/// Moves the leaves of one tree: `q_lc <- (q_lc S_lc + prior) / sum_c (...)`, where `S` are the summed statistics.
///
/// A leaf that no row reaches keeps its distribution.
pub fn apply<T: Number>(statistics: &[f64], prior: &LeafPrior, leaves: &mut [T]) {
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
    match leaves.chunks_exact(labels).position(|leaf| !ldlf_core::numeric::on_simplex(leaf, 1e-4)) {
        None => Ok(()),
        Some(leaf) => {
            Err(Error::model_file(format!("leaf {leaf} of the model file does not hold a distribution")))
        }
    }
}
