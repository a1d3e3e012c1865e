//! How much a row of many votes weighs beside a row of few.

use crate::{Error, Matrix, Result};

/// How rows are weighted by their number of votes `n`.
///
/// If the votes on a row are independent draws from the distribution that the model is to give, the log-likelihood of all votes is
/// `sum_i n_i sum_c d_ic ln p_ic`: weighting by `n` is then maximum likelihood. If rows differ by more than the features can say, votes on
/// one row are alike for reasons that no model sees. The observed share of a label then has the variance
/// `p (1 - p) (1 + (n - 1) r) / n`, where `r` is the intra-class correlation, and the efficient weight is its inverse,
/// `n / (1 + (n - 1) r)`: the effective number of votes, which levels off at `1 / r`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteWeights {
    /// `n`.
    Count,
    /// `n / (1 + (n - 1) r)`, with `r` as [`agreement_within_rows`] estimates it. The features explain a part of `r`, so that this levels off
    /// rather too early.
    Effective,
}

impl VoteWeights {
    /// The weight of every row of vote counts.
    ///
    /// # Shapes
    /// - in: distributions `[rows, labels]`, and as many numbers of votes
    /// - out: one weight per row
    pub fn of(self, targets: &Matrix<f32>, votes: &[f64]) -> Result<Vec<f64>> {
        match self {
            VoteWeights::Count => Ok(votes.to_vec()),
            VoteWeights::Effective => match agreement_within_rows(targets, votes) {
                Some(alike) => Ok(votes.iter().map(|n| n / (1.0 + (n - 1.0).max(0.0) * alike)).collect()),
                None => Err(Error::data(
                    "the agreement of votes needs at least two rows, and rows of at least two votes",
                )),
            },
        }
    }
}

/// The intra-class correlation of votes: 0 where the votes on a row are no more alike than those on different rows, 1 where all votes on a
/// row agree. The estimator of the analysis of variance, summed over labels (M. Ridout, C. Demetrio, D. Firth, Estimating intraclass
/// correlation for binary data, Biometrics 1999), at least 0.
///
/// ```
/// use ldlf_core::{Matrix, votes::agreement_within_rows};
/// let split = Matrix::from_rows(&[[0.5, 0.5], [0.5, 0.5]]);
/// assert_eq!(agreement_within_rows(&split, &[4.0, 4.0]), Some(0.0));
/// let apart = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
/// assert_eq!(agreement_within_rows(&apart, &[4.0, 4.0]), Some(1.0));
/// ```
pub fn agreement_within_rows(targets: &Matrix<f32>, votes: &[f64]) -> Option<f64> {
    let rows = targets.rows() as f64;
    let total: f64 = votes.iter().sum();
    if rows < 2.0 || total <= rows {
        return None;
    }
    let mut mean = vec![0.0; targets.cols()];
    for (row, n) in targets.iter_rows().zip(votes) {
        mean.iter_mut().zip(row).for_each(|(mean, &share)| *mean += n * f64::from(share) / total);
    }
    let (mut within, mut between) = (0.0, 0.0);
    for (row, n) in targets.iter_rows().zip(votes) {
        for (&share, mean) in row.iter().zip(&mean) {
            let share = f64::from(share);
            within += n * share * (1.0 - share);
            between += n * (share - mean).powi(2);
        }
    }
    let (within, between) = (within / (total - rows), between / (rows - 1.0));
    let squares: f64 = votes.iter().map(|n| n * n).sum();
    let usual = (total - squares / total) / (rows - 1.0);
    let spread = between + (usual - 1.0) * within;
    // Where nothing varies, no vote adds to another.
    Some(if spread > 0.0 { ((between - within) / spread).clamp(0.0, 1.0) } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use ldlf_math::Seed;
    use rand::RngExt;

    use super::*;

    /// Rows whose share of the first label is 0.5 plus or minus `apart`: the correlation of their votes is `4 apart^2`.
    fn draw(apart: f64, rows: usize) -> (Matrix<f32>, Vec<f64>) {
        let mut generator = Seed::new(3).generator();
        let (mut shares, mut votes) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let n = 2 + row % 20;
            let p = if row % 2 == 0 { 0.5 + apart } else { 0.5 - apart };
            let first = (0..n).filter(|_| generator.random::<f64>() < p).count() as f64 / n as f64;
            shares.push([first as f32, (1.0 - first) as f32]);
            votes.push(n as f64);
        }
        (Matrix::from_rows(&shares), votes)
    }

    #[test]
    fn the_correlation_that_votes_were_drawn_with_is_found() {
        for apart in [0.0f64, 0.1, 0.3] {
            let (targets, votes) = draw(apart, 20_000);
            let found = agreement_within_rows(&targets, &votes).unwrap();
            assert!((found - 4.0 * apart * apart).abs() < 0.01, "{apart}: {found}");
        }
    }

    #[test]
    fn effective_votes_lie_between_one_and_all() {
        let (targets, votes) = draw(0.3, 200);
        let weights = VoteWeights::Effective.of(&targets, &votes).unwrap();
        assert!(weights.iter().zip(&votes).all(|(weight, n)| *weight >= 1.0 && weight < n));
        assert_eq!(VoteWeights::Count.of(&targets, &votes).unwrap(), votes);
        assert!(
            VoteWeights::Effective.of(&targets, &vec![1.0; 200]).is_err(),
            "one vote per row says nothing"
        );
    }
}
