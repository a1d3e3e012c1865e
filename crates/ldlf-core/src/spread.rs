//! How sure a model is of a distribution itself: how far a row's shares may lie from the predicted ones.
//!
//! The spread of a label is a standard deviation, `s_c^2 = a p_c (1 - p_c) + b v_c`. The first part is that of a Dirichlet distribution
//! around the prediction, as if `1 / a - 1` votes stood behind it; the second is how much the trees differ on this row (`v_c`, the variance of
//! their shares). Both factors come from rows that the model did not learn from: they are those, 0 or more, that are nearest to the squared
//! errors `(d_c - p_c)^2`, and sum to as much.
//!
//! Shares are meant as the training rows have them: with few votes per row, also a new row's few votes scatter, and that is part of it.

use serde::{Deserialize, Serialize};

use crate::{Dataset, Error, Matrix, Result};

/// Squared errors below this part of `p (1 - p)` come from single precision.
const ROUNDING: f64 = 1e-10;

/// What turns predictions into spreads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// `a`: the part of a Dirichlet distribution.
    pub dirichlet: f64,
    /// `b`: how much the trees' variance counts; 0 for models without trees.
    pub between_trees: f64,
}

impl Spread {
    /// Fits both factors on predictions of rows that the model did not learn from, with the variance between its trees where it has some.
    /// `None` where no row has weight or nothing could be off.
    ///
    /// # Shapes
    /// - `predicted`, `between_trees`: `[rows, labels]`
    pub fn fit(predicted: &Matrix<f32>, between_trees: Option<&Matrix<f32>>, data: &Dataset) -> Option<Self> {
        let mut sums = Sums::default();
        for row in 0..data.rows() {
            let weight = f64::from(data.weight(row));
            let truth = data.targets().row(row);
            let total: f64 = truth.iter().map(|&share| f64::from(share)).sum();
            for (label, (&d, &p)) in truth.iter().zip(predicted.row(row)).enumerate() {
                let (d, p) = (f64::from(d) / total, f64::from(p));
                let variance = between_trees.map_or(0.0, |variance| f64::from(variance.row(row)[label]));
                sums.add(weight, (d - p).powi(2), p * (1.0 - p), variance);
            }
        }
        sums.solve()
    }

    /// The spread of every label, given the variance between the trees where there are some.
    ///
    /// # Shapes
    /// - `predicted`, `between_trees`, result: `[rows, labels]`
    pub fn of(&self, predicted: &Matrix<f32>, between_trees: Option<&Matrix<f32>>) -> Result<Matrix<f32>> {
        let variance = |place: usize| between_trees.map_or(0.0, |found| f64::from(found.as_slice()[place]));
        let of_share = |(place, &p): (usize, &f32)| {
            let p = f64::from(p);
            let square = self.dirichlet * p * (1.0 - p) + self.between_trees * variance(place);
            square.max(0.0).sqrt() as f32
        };
        let spreads = predicted.as_slice().iter().enumerate().map(of_share).collect();
        Ok(Matrix::new(predicted.rows(), predicted.cols(), spreads)?)
    }

    /// How many votes the Dirichlet part is worth; `None` where it is nothing.
    pub fn votes(&self) -> Option<f64> {
        (self.dirichlet > 0.0).then(|| (1.0 / self.dirichlet - 1.0).max(0.0))
    }

    /// Refuses factors that no fit gives.
    pub fn check(self) -> Result<Self> {
        let fine = |factor: f64| factor.is_finite() && factor >= 0.0;
        match fine(self.dirichlet) && fine(self.between_trees) {
            true => Ok(self),
            false => {
                Err(Error::model_file("the model file's \"spread\" is not made of numbers of at least 0"))
            }
        }
    }
}

/// Sums over rows and labels of squared errors `e`, of `a = p (1 - p)`, of `v`, and of their products.
#[derive(Default)]
struct Sums {
    e: f64,
    a: f64,
    v: f64,
    aa: f64,
    av: f64,
    vv: f64,
    ea: f64,
    ev: f64,
}

impl Sums {
    fn add(&mut self, weight: f64, e: f64, a: f64, v: f64) {
        let sums = [
            (&mut self.e, e),
            (&mut self.a, a),
            (&mut self.v, v),
            (&mut self.aa, a * a),
            (&mut self.av, a * v),
            (&mut self.vv, v * v),
            (&mut self.ea, e * a),
            (&mut self.ev, e * v),
        ];
        sums.into_iter().for_each(|(sum, one)| *sum += weight * one);
    }

    /// Least squares with factors of at least 0, then as large that spreads and errors have the same sum of squares.
    fn solve(&self) -> Option<Spread> {
        let lone = |cross: f64, square: f64| if square > 0.0 { (cross / square).max(0.0) } else { 0.0 };
        let unfitted = |(x, y): (f64, f64)| {
            x * x * self.aa + 2.0 * x * y * self.av + y * y * self.vv - 2.0 * (x * self.ea + y * self.ev)
        };
        let determinant = self.aa * self.vv - self.av * self.av;
        let mut candidates = vec![(lone(self.ea, self.aa), 0.0), (0.0, lone(self.ev, self.vv))];
        if determinant > 1e-12 * self.aa * self.vv {
            let both = (
                (self.ea * self.vv - self.ev * self.av) / determinant,
                (self.ev * self.aa - self.ea * self.av) / determinant,
            );
            candidates.extend((both.0 >= 0.0 && both.1 >= 0.0).then_some(both));
        }
        let best = candidates.into_iter().min_by(|x, y| unfitted(*x).total_cmp(&unfitted(*y)))?;
        let factor = self.e / (best.0 * self.a + best.1 * self.v);
        // What is left of rounding is no error.
        (factor.is_finite() && self.e > ROUNDING * self.a)
            .then_some(Spread { dirichlet: factor * best.0, between_trees: factor * best.1 })
            .filter(|spread| spread.dirichlet + spread.between_trees > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Seed};
    use rand::RngExt;

    fn data(targets: Vec<[f32; 2]>) -> Dataset {
        let features = Features::Dense(Matrix::zeros(targets.len(), 1));
        Dataset::new(features, Matrix::from_rows(&targets)).unwrap()
    }

    #[test]
    fn rows_of_a_few_votes_scatter_like_a_dirichlet_distribution_of_as_many() {
        // The share of 9 votes has the variance p (1 - p) / 9.
        let mut generator = Seed::new(1).generator();
        let mut votes = |p: f64| (0..9).filter(|_| generator.random::<f64>() < p).count() as f32 / 9.0;
        let predicted: Vec<[f32; 2]> =
            (0..4000).map(|row| if row % 2 == 0 { [0.3, 0.7] } else { [0.6, 0.4] }).collect();
        let targets = predicted.iter().map(|p| votes(f64::from(p[0]))).map(|d| [d, 1.0 - d]).collect();
        let found = Spread::fit(&Matrix::from_rows(&predicted), None, &data(targets)).unwrap();
        assert!((found.dirichlet - 1.0 / 9.0).abs() < 0.01 && found.between_trees == 0.0, "{found:?}");
        assert!((found.votes().unwrap() - 8.0).abs() < 0.8);
    }

    #[test]
    fn rows_on_which_trees_differ_get_more_where_errors_follow_the_trees() {
        // Errors of 0.1 where the variance is 0.02, of 0.3 where it is 0.18: half of it, and nothing of p (1 - p).
        let targets = vec![[0.6f32, 0.4], [0.4, 0.6], [0.8, 0.2], [0.2, 0.8]];
        let variance = Matrix::from_rows(&[[0.02f32; 2], [0.02; 2], [0.18; 2], [0.18; 2]]);
        let predicted = Matrix::from_rows(&[[0.5f32, 0.5]; 4]);
        let found = Spread::fit(&predicted, Some(&variance), &data(targets)).unwrap();
        assert!(found.dirichlet.abs() < 1e-6 && (found.between_trees - 0.5).abs() < 1e-6, "{found:?}");
        let spreads = found.of(&predicted, Some(&variance)).unwrap();
        assert!((spreads.row(0)[0] - 0.1).abs() < 1e-6 && (spreads.row(3)[1] - 0.3).abs() < 1e-6);
    }

    #[test]
    fn factors_are_never_negative_and_the_sums_of_squares_agree() {
        // Errors fall where the trees differ more: the variance gets no weight, the rest makes up for it.
        let targets = vec![[0.9f32, 0.1], [0.5, 0.5]];
        let predicted = Matrix::from_rows(&[[0.6f32, 0.4], [0.5, 0.5]]);
        let variance = Matrix::from_rows(&[[0.0f32; 2], [0.2; 2]]);
        let found = Spread::fit(&predicted, Some(&variance), &data(targets)).unwrap();
        assert_eq!(found.between_trees, 0.0);
        let squares: f64 = found
            .of(&predicted, Some(&variance))
            .unwrap()
            .as_slice()
            .iter()
            .map(|s| f64::from(*s).powi(2))
            .sum();
        assert!((squares - 0.18).abs() < 1e-6, "{squares}");
    }

    #[test]
    fn a_prediction_that_is_always_right_has_no_spread_to_fit() {
        let targets = vec![[0.9f32, 0.1], [0.5, 0.5]];
        assert_eq!(Spread::fit(&Matrix::from_rows(&targets), None, &data(targets.clone())), None);
    }

    #[test]
    fn a_file_with_other_numbers_is_refused() {
        assert!(Spread { dirichlet: f64::NAN, between_trees: 0.0 }.check().is_err());
        assert!(Spread { dirichlet: 0.1, between_trees: -1.0 }.check().is_err());
    }
}
