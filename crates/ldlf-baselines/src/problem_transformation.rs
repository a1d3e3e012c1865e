//! From distributions to single labels ("problem transformation", Geng 2016, section 3.1): each row becomes one weighted row
//! per label, of weight `w_i d_ic`, on which any classifier that gives probabilities can be trained.

use ldlf_core::{Dataset, Matrix, Seed};
use rand::RngExt;

/// `w_i d_ic`: the weights of the single-label rows, `[rows, labels]`.
pub(crate) fn weights(data: &Dataset) -> Matrix<f32> {
    let mut weights = data.targets().clone();
    for row in 0..data.rows() {
        let weight = data.weight(row);
        weights.row_mut(row).iter_mut().for_each(|w| *w *= weight);
    }
    weights
}

/// How often each single-label row is drawn when as many as there are rows are drawn with replacement, by their weights:
/// `[rows, labels]`; the published form of the method.
pub(crate) fn resampled(data: &Dataset, seed: Seed) -> Matrix<f32> {
    let weights = weights(data);
    let mut total = 0.0f64;
    let reached: Vec<f64> = weights
        .as_slice()
        .iter()
        .map(|&w| {
            total += f64::from(w);
            total
        })
        .collect();
    let mut counts = Matrix::zeros(data.rows(), data.labels());
    let mut generator = seed.named("single labels").generator();
    for _ in 0..data.rows() {
        let at = generator.random::<f64>() * total;
        // The first cell whose running sum exceeds the draw; a cell of weight 0 never does first.
        let cell = reached.partition_point(|&sum| sum <= at).min(reached.len() - 1);
        counts.as_mut_slice()[cell] += 1.0;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::Features;

    fn sample(weights: Vec<f32>) -> Dataset {
        let targets = Matrix::from_rows(&[[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]]);
        let pairs = Matrix::new(2, 3, targets.as_slice().to_vec()).unwrap();
        let rows: Vec<usize> = (0..weights.len()).map(|row| row % 2).collect();
        Dataset::new(Features::Dense(Matrix::zeros(weights.len(), 1)), pairs.select(&rows))
            .unwrap()
            .with_weights(weights)
            .unwrap()
    }

    #[test]
    fn a_row_is_spread_over_its_labels() {
        assert_eq!(weights(&sample(vec![2.0, 1.0])).as_slice(), &[0.5, 1.5, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn as_many_rows_as_there_are_are_drawn_by_their_weights() {
        let mut row_weights = vec![1.0; 4000];
        row_weights[1] = 0.0;
        let counts = resampled(&sample(row_weights), Seed::new(5));
        assert_eq!(counts.as_slice().iter().sum::<f32>(), 4000.0);
        assert_eq!(counts.row(1), &[0.0; 3], "a row of weight 0 is not drawn");
        let fraction = |label: usize| counts.iter_rows().map(|row| row[label]).sum::<f32>() / 4000.0;
        assert!(
            (fraction(0) - 0.625).abs() < 0.03 && (fraction(1) - 0.375).abs() < 0.03 && fraction(2) == 0.0
        );
    }
}
