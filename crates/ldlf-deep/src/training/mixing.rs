//! Mixing the rows of a mini-batch in pairs (mixup, Zhang et al. 2018): inputs and targets alike, so that a face between two faces has
//! the votes of both.

use ldlf_core::{Dataset, Seed};
use ldlf_math::random::{Generator, permutation};
use rand::RngExt;

/// The targets of rows that are mixtures, and their weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mixed {
    /// `[rows, labels]`.
    pub targets: Vec<f32>,
    /// One per row.
    pub weights: Vec<f32>,
}

/// Replaces every input `x_i` of a mini-batch by `s x_i + (1 - s) x_j`, where `j` is another row of it and the share `s` is drawn from
/// the beta distribution with both parameters `strength`; the targets and their weights follow.
///
/// # Shapes
/// - `inputs`: `[rows, numbers]`
pub(crate) fn mix(data: &Dataset, rows: &[usize], inputs: &mut [f32], strength: f64, seed: Seed) -> Mixed {
    let mut generator = seed.generator();
    let share = beta(strength, &mut generator);
    let partners = permutation(rows.len(), &mut generator);
    let numbers = inputs.len() / rows.len().max(1);
    let before = inputs.to_vec();
    for (row, &partner) in inputs.chunks_exact_mut(numbers.max(1)).zip(&partners) {
        let other = &before[partner * numbers..][..numbers];
        row.iter_mut().zip(other).for_each(|(x, &y)| *x = share * *x + (1.0 - share) * y);
    }
    let mut mixed = Mixed::default();
    for (place, &partner) in partners.iter().enumerate() {
        let (row, other) = (rows[place], rows[partner]);
        // A row without weight lends its pixels but no votes.
        let (own, lent) = (share * data.weight(row), (1.0 - share) * data.weight(other));
        let total = own + lent;
        let part = if total > 0.0 { own / total } else { share };
        let targets = data.targets().row(row).iter().zip(data.targets().row(other));
        mixed.targets.extend(targets.map(|(&d, &e)| part * d + (1.0 - part) * e));
        mixed.weights.push(total);
    }
    mixed
}

/// A draw from the beta distribution with both parameters `strength`, which is at most 1 (Johnk 1964).
fn beta(strength: f64, generator: &mut Generator) -> f32 {
    loop {
        let [u, v] = [(); 2].map(|()| generator.random::<f64>().powf(1.0 / strength));
        if u + v <= 1.0 && u + v > 0.0 {
            return (u / (u + v)) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use ldlf_core::{Features, Matrix};

    use super::*;

    fn data(weights: [f32; 3]) -> Dataset {
        let features = Features::Dense(Matrix::from_rows(&[[1.0], [2.0], [4.0]]));
        let targets = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]);
        Dataset::new(features, targets).unwrap().with_weights(weights.to_vec()).unwrap()
    }

    /// A mini-batch of the first two rows whose seed pairs them.
    fn pair(data: &Dataset) -> (Vec<f32>, Mixed) {
        (0..)
            .map(|seed| {
                let mut inputs = vec![1.0, 2.0];
                let mixed = mix(data, &[0, 1], &mut inputs, 0.8, Seed::new(seed));
                (inputs, mixed)
            })
            .find(|(inputs, _)| inputs[0] != 1.0)
            .unwrap()
    }

    #[test]
    fn targets_are_mixed_as_inputs_are() {
        let (inputs, mixed) = pair(&data([1.0; 3]));
        let share = 2.0 - inputs[0];
        assert!((inputs[0] + inputs[1] - 3.0).abs() < 1e-6, "{inputs:?}");
        let expected = [share, 1.0 - share, 1.0 - share, share];
        assert!(mixed.targets.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{mixed:?} {share}");
        assert!(mixed.weights.iter().all(|weight| (weight - 1.0).abs() < 1e-6));
    }

    #[test]
    fn a_row_without_weight_lends_no_votes() {
        let (inputs, mixed) = pair(&data([1.0, 0.0, 1.0]));
        let share = 2.0 - inputs[0];
        assert_eq!(mixed.targets, [1.0, 0.0, 1.0, 0.0]);
        assert!((mixed.weights[0] - share).abs() < 1e-6 && (mixed.weights[1] - 1.0 + share).abs() < 1e-6);
    }

    #[test]
    fn small_strengths_mix_little_and_shares_are_symmetric() {
        let shares = |strength: f64| {
            let mut generator = Seed::new(5).generator();
            (0..4000).map(|_| f64::from(beta(strength, &mut generator))).collect::<Vec<f64>>()
        };
        for strength in [0.1, 0.4, 1.0] {
            let drawn = shares(strength);
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let variance = drawn.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
            // Of the distribution: 1/2 and 1 / (4 (2 strength + 1)).
            assert!((mean - 0.5).abs() < 0.03, "{strength}: {mean}");
            assert!((variance - 0.25 / (2.0 * strength + 1.0)).abs() < 0.01, "{strength}: {variance}");
        }
    }
}
