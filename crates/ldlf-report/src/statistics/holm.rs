//! Holm's correction for many tests at once.

/// Adjusted probabilities, in the order given: of `m` sorted ones the `i`-th (from 0) is multiplied by `m - i`, and none is smaller
/// than the one before it.
///
/// ```
/// let adjusted = ldlf_report::statistics::holm(&[0.01, 0.04, 0.03]);
/// assert!(adjusted.iter().zip([0.03, 0.06, 0.06]).all(|(a, b)| (a - b).abs() < 1e-12));
/// ```
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    let mut adjusted = vec![0.0; probabilities.len()];
    let mut largest: f64 = 0.0;
    for (place, &index) in order.iter().enumerate() {
        let factor = (probabilities.len() - place) as f64;
        largest = largest.max((factor * probabilities[index]).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}
