//! The critical difference of Nemenyi: average ranks that are closer do not differ significantly.

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// `CD = q_alpha sqrt(k (k + 1) / (6 n))` for `competitors` k over `blocks` n, where `q_alpha` is the upper quantile of the
/// studentised range of k normal values, divided by the square root of 2.
///
/// ```
/// let difference = ldlf_report::statistics::critical_difference(4, 14, 0.05);
/// assert!((difference - 1.25).abs() < 0.01); // the example of Demsar 2006, 3.2.3: 2.569 sqrt(4 * 5 / (6 * 14))
/// ```
pub fn critical_difference(competitors: usize, blocks: usize, alpha: f64) -> f64 {
    let (k, n) = (competitors as f64, blocks as f64);
    range_quantile(competitors, 1.0 - alpha) / 2f64.sqrt() * (k * (k + 1.0) / (6.0 * n)).sqrt()
}

/// The largest groups of neighbours in the order of `ranks` whose first and last are at most `difference` apart; groups of one and
/// groups within others are left out. Each is a pair of places in the sorted order.
pub fn groups(ranks: &[f64], difference: f64) -> Vec<(usize, usize)> {
    let mut sorted = ranks.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for first in 0..sorted.len() {
        let last =
            (first..sorted.len()).take_while(|&place| sorted[place] - sorted[first] <= difference).last();
        if let Some(last) = last
            && last > first
            && groups.last().is_none_or(|&(_, reached)| last > reached)
        {
            groups.push((first, last));
        }
    }
    groups
}

/// The quantile of the range of `k` standard normal values, by bisection.
fn range_quantile(k: usize, level: f64) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if range_distribution(k, middle) < level { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// `P(range < q) = k int phi(z) (Phi(z) - Phi(z - q))^(k - 1) dz`, where `z` is the largest value; Simpson's rule.
fn range_distribution(k: usize, q: f64) -> f64 {
    const STEPS: usize = 400;
    let normal = Normal::standard();
    let (low, high) = (-8.0, 8.0);
    let width = (high - low) / STEPS as f64;
    let value = |step: usize| {
        let z = low + width * step as f64;
        normal.pdf(z) * (normal.cdf(z) - normal.cdf(z - q)).powi(k as i32 - 1)
    };
    let weight = |step: usize| match step {
        0 | STEPS => 1.0,
        step if step % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|step| weight(step) * value(step)).sum();
    k as f64 * sum * width / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_the_longest_runs_within_the_difference() {
        // Sorted: 1, 1.5, 3, 3.25; 1.5 and 3.25 are 1.75 apart.
        assert_eq!(groups(&[1.0, 3.0, 1.5, 3.25], 1.75), [(0, 1), (1, 3)]);
    }

    #[test]
    fn a_competitor_far_from_all_others_is_in_no_group() {
        assert_eq!(groups(&[1.0, 5.0, 5.5], 1.0), [(1, 2)]);
    }
}
