//! Which share of a row reaches which leaf (Eqn. 1).

use crate::kernel::{Lane, ROWS, SimdFloat};

/// Routes a block of rows through one tree:
/// `p(l|x) = prod_n s_n^[l left of n] (1 - s_n)^[l right of n]`.
///
/// # Shapes
/// - `splits`: `[units]` lanes, the sigmoid of every unit; `units`: `[2^(h-1) - 1]`, the unit of every split node
/// - `shares`: `[2^(h-1)]` lanes, overwritten with `p`
#[inline(always)]
pub fn route<T: SimdFloat>(splits: &[Lane<T>], units: &[u32], shares: &mut [Lane<T>]) {
    debug_assert_eq!(units.len() + 1, shares.len());
    shares[0] = [T::ONE; ROWS];
    let mut width = 1;
    while width < shares.len() {
        // A level has `width` nodes, numbered from `width - 1`. Going from the right, each node's share is read before its
        // place is needed by another's child.
        for node in (0..width).rev() {
            let split = &splits[units[width - 1 + node] as usize];
            let here = shares[node];
            for row in 0..ROWS {
                let left = here[row] * split[row];
                shares[2 * node][row] = left;
            }
            for row in 0..ROWS {
                shares[2 * node + 1][row] = here[row] * (T::ONE - split[row]);
            }
        }
        width *= 2;
    }
}

/// Adds the gradient of one tree with respect to the activations (Eqn. 6, summed over the labels first):
/// `s_n A(right) - (1 - s_n) A(left)`, where `A` of a subtree is the sum over its leaves.
///
/// # Shapes
/// - `splits`, `units` as in [`route`]
/// - `pulls`: `[2^(h-1)]` lanes, `A_l` of every leaf; used up
/// - `gradient`: `[units]` lanes, added to: a unit that serves several nodes gets their sum
#[inline(always)]
pub fn backward<T: SimdFloat>(
    splits: &[Lane<T>],
    units: &[u32],
    pulls: &mut [Lane<T>],
    scale: &Lane<T>,
    gradient: &mut [Lane<T>],
) {
    let mut width = pulls.len() / 2;
    while width > 0 {
        for node in 0..width {
            let unit = units[width - 1 + node] as usize;
            let (split, out) = (&splits[unit], &mut gradient[unit]);
            let (left, right) = (pulls[2 * node], pulls[2 * node + 1]);
            for row in 0..ROWS {
                out[row] += scale[row] * (split[row] * right[row] - (T::ONE - split[row]) * left[row]);
            }
            for row in 0..ROWS {
                pulls[node][row] = left[row] + right[row];
            }
        }
        width /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tree_of_depth_three_multiplies_along_its_paths() {
        let splits: Vec<Lane<f64>> = [0.5, 0.2, 0.9].map(|s| [s; ROWS]).to_vec();
        let mut shares = vec![[0.0; ROWS]; 4];
        route(&splits, &[0, 1, 2], &mut shares);
        let expected = [0.5 * 0.2, 0.5 * 0.8, 0.5 * 0.9, 0.5 * 0.1];
        for (found, expected) in shares.iter().zip(expected) {
            assert!((found[7] - expected).abs() < 1e-15);
        }
    }

    proptest! {
        #[test]
        fn the_shares_of_a_row_sum_to_one(depth in 1usize..9, seed in 0u64..1000, steep in 0.1f64..50.0) {
            let leaves = 1 << (depth - 1);
            let units: Vec<u32> = (0..leaves as u32 - 1).collect();
            let mut splits: Vec<Lane<f64>> = (0..leaves - 1)
                .map(|unit| std::array::from_fn(|row| steep * ((unit * 31 + row * 17) as f64 + seed as f64).sin()))
                .collect();
            crate::kernel::sigmoid(splits.as_flattened_mut());
            let mut shares = vec![[0.0; ROWS]; leaves];
            route(&splits, &units, &mut shares);
            for row in 0..ROWS {
                let sum: f64 = shares.iter().map(|lane| lane[row]).sum();
                prop_assert!((sum - 1.0).abs() < 1e-12);
                prop_assert!(shares.iter().all(|lane| (0.0..=1.0).contains(&lane[row])));
            }
        }
    }
}
