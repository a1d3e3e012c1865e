//! The Friedman test: do all competitors have the same average rank?

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

/// The result of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friedman {
    /// `chi2 = (12 / (n k (k + 1)) sum_j R_j^2 - 3 n (k + 1)) / c`, with `c = 1 - sum (t^3 - t) / (n k (k^2 - 1))` for ties.
    pub chi2: f64,
    /// Its probability under equal competitors, by the chi-squared distribution with `k - 1` degrees of freedom.
    pub chi2_p: f64,
    /// `F = (n - 1) chi2 / (n (k - 1) - chi2)`, the less conservative statistic of Iman and Davenport.
    pub f: f64,
    /// Its probability, by the F distribution with `k - 1` and `(k - 1)(n - 1)` degrees of freedom.
    pub f_p: f64,
}

/// Tests `n` blocks (datasets) of `k` ranks each; needs two of both.
///
/// # Shapes
/// - `ranks`: `[blocks][competitors]`
pub fn friedman(ranks: &[Vec<f64>]) -> Option<Friedman> {
    let (n, k) = (ranks.len() as f64, ranks.first()?.len() as f64);
    if n < 2.0 || k < 2.0 {
        return None;
    }
    let sum = |place: usize| ranks.iter().map(|block| block[place]).sum::<f64>();
    let squares: f64 = (0..k as usize).map(|place| sum(place).powi(2)).sum();
    let tied: f64 = ranks.iter().map(|block| ties(block)).sum();
    let correction = 1.0 - tied / (n * k * (k * k - 1.0));
    if correction <= 0.0 {
        // All competitors are equal in every block.
        return Some(Friedman { chi2: 0.0, chi2_p: 1.0, f: 0.0, f_p: 1.0 });
    }
    let chi2 = ((12.0 / (n * k * (k + 1.0)) * squares - 3.0 * n * (k + 1.0)) / correction).max(0.0);
    let chi2_p = ChiSquared::new(k - 1.0).ok()?.sf(chi2);
    let room = n * (k - 1.0) - chi2;
    let (f, f_p) = if room <= 1e-12 * n * k {
        (f64::INFINITY, 0.0)
    } else {
        let f = (n - 1.0) * chi2 / room;
        (f, FisherSnedecor::new(k - 1.0, (k - 1.0) * (n - 1.0)).ok()?.sf(f))
    };
    Some(Friedman { chi2, chi2_p, f, f_p })
}

/// `sum (t^3 - t)` over the groups of equal ranks.
fn ties(block: &[f64]) -> f64 {
    let mut sorted = block.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|group| (group.len() as f64).powi(3) - group.len() as f64).sum()
}
