//! How far a truth is from a predicted distribution, label by label.

use crate::estimates::mean;

/// How wide a distribution is: its standard deviation, and that of a value that is only known to the nearest label.
pub fn scale(distribution: &[f32], values: &[f64]) -> f64 {
    let middle = mean(distribution, values);
    let square = |value: &f64| (value - middle).powi(2);
    let total: f64 = distribution.iter().map(|&p| f64::from(p)).sum();
    let variance: f64 = distribution.iter().zip(values).map(|(&p, v)| f64::from(p) * square(v)).sum();
    let step = (values[values.len() - 1] - values[0]) / (values.len().max(2) - 1) as f64;
    // A single label has no width; any number above 0 will do.
    (variance / total + step.powi(2) / 12.0).sqrt().max(f64::MIN_POSITIVE)
}

/// For every label, how much of the distribution the smallest central interval with that label in it must have: up to 1 at the ends,
/// below 0 at the median.
pub fn central(distribution: &[f32]) -> Vec<f64> {
    let total: f64 = distribution.iter().map(|&p| f64::from(p)).sum();
    let mut below = 0.0;
    let of_label = |&p: &f32| {
        let before = below;
        below += f64::from(p) / total;
        f64::max(1.0 - 2.0 * below, 2.0 * before - 1.0)
    };
    distribution.iter().map(of_label).collect()
}

/// For every label, how much of the distribution lies on labels that are more probable; 0 for the most probable one.
pub fn more_probable(distribution: &[f32]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..distribution.len()).collect();
    order.sort_by(|&a, &b| distribution[b].total_cmp(&distribution[a]));
    let total: f64 = distribution.iter().map(|&p| f64::from(p)).sum();
    let (mut scores, mut before) = (vec![0.0; distribution.len()], 0.0);
    for label in order {
        scores[label] = before;
        before += f64::from(distribution[label]) / total;
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimates::mode;

    #[test]
    fn central_intervals_grow_from_the_median() {
        assert_eq!(central(&[0.125, 0.5, 0.25, 0.125]), [0.75, -0.25, 0.25, 0.75]);
    }

    #[test]
    fn sets_grow_from_the_mode() {
        let p = [0.125, 0.5, 0.25, 0.125];
        assert_eq!(more_probable(&p), [0.75, 0.0, 0.5, 0.875]);
        assert_eq!(more_probable(&p)[mode(&p)], 0.0);
    }

    #[test]
    fn a_certain_distribution_is_as_wide_as_half_a_label() {
        assert!((scale(&[0.0, 1.0, 0.0], &[10.0, 20.0, 30.0]) - 10.0 / 12f64.sqrt()).abs() < 1e-12);
        assert!(scale(&[1.0], &[10.0]) > 0.0);
    }
}
