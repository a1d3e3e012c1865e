//! The Wilcoxon signed-rank test of paired values.

use ldlf_core::measures::Direction;
use statrs::distribution::{ContinuousCDF, Normal};

use super::ranks;

/// Up to this many differences the distribution is exact; above, the normal approximation is used.
const EXACT: usize = 50;

/// The result of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wilcoxon {
    /// The sum of the ranks of the positive differences.
    pub positive: f64,
    /// The sum of the ranks of the negative differences.
    pub negative: f64,
    /// The two-sided probability of a split at least as uneven if signs fell at random.
    pub p: f64,
    /// Differences that are not zero.
    pub pairs: usize,
}

/// Tests whether `a - b` is symmetric around 0. Differences of zero are left out; equal ones share their rank. The
/// distribution over all `2^n` signs is exact for up to 50 differences, ties included; above, the normal approximation with
/// `var = n (n + 1) (2n + 1) / 24 - sum (t^3 - t) / 48` is used, without continuity correction.
pub fn wilcoxon(a: &[f64], b: &[f64]) -> Wilcoxon {
    let differences: Vec<f64> =
        a.iter().zip(b).map(|(a, b)| a - b).filter(|d| *d != 0.0 && !d.is_nan()).collect();
    let sizes: Vec<Option<f64>> = differences.iter().map(|d| Some(d.abs())).collect();
    let ranks = ranks(&sizes, Direction::LowerIsBetter);
    let sum = |positive: bool| {
        let own = differences.iter().zip(&ranks).filter(|(d, _)| (**d > 0.0) == positive);
        own.map(|(_, rank)| rank).sum::<f64>()
    };
    let (positive, negative) = (sum(true), sum(false));
    let p = match ranks.len() {
        0 => 1.0,
        1..=EXACT => exact(&ranks, positive.min(negative)),
        _ => approximate(&ranks, positive),
    };
    Wilcoxon { positive, negative, p, pairs: ranks.len() }
}

/// Counts the signs whose positive ranks sum to at most `smaller`, out of `2^n`, twice.
fn exact(ranks: &[f64], smaller: f64) -> f64 {
    // Shared ranks are halves: twice a rank is whole.
    let doubled: Vec<usize> = ranks.iter().map(|rank| (2.0 * rank).round() as usize).collect();
    let mut share = vec![0.0; doubled.iter().sum::<usize>() + 1];
    share[0] = 1.0;
    for rank in doubled {
        for sum in (0..share.len()).rev() {
            let with = if sum >= rank { share[sum - rank] } else { 0.0 };
            share[sum] = 0.5 * (share[sum] + with);
        }
    }
    let tail: f64 = share.iter().take((2.0 * smaller).round() as usize + 1).sum();
    (2.0 * tail).min(1.0)
}

fn approximate(ranks: &[f64], positive: f64) -> f64 {
    let n = ranks.len() as f64;
    let mut sorted = ranks.to_vec();
    sorted.sort_by(f64::total_cmp);
    let tied: f64 =
        sorted.chunk_by(|a, b| a == b).map(|group| (group.len() as f64).powi(3) - group.len() as f64).sum();
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tied / 48.0).sqrt();
    let z = (positive - n * (n + 1.0) / 4.0) / deviation;
    (2.0 * Normal::standard().sf(z.abs())).min(1.0)
}
