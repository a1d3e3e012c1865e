//! Ranks of a row's labels, for the measures that compare orders.

/// The rank of every label by its share, from 1; equal shares have the mean of their ranks.
pub(super) fn ranks(row: &[f32]) -> Vec<f64> {
    let rank = |share: &f32| {
        let below = row.iter().filter(|other| *other < share).count();
        let equal = row.iter().filter(|other| *other == share).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    row.iter().map(rank).collect()
}

/// Pearson's correlation; two constant rows agree, a constant row and another do not.
pub(super) fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (middle_a, middle_b) = (mean(a), mean(b));
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        both += (x - middle_a) * (y - middle_b);
        of_a += (x - middle_a).powi(2);
        of_b += (y - middle_b).powi(2);
    }
    match (of_a > 0.0, of_b > 0.0) {
        (true, true) => both / f64::sqrt(of_a * of_b),
        (false, false) => 1.0,
        _ => 0.0,
    }
}
