//! What a model says about some rows.

use crate::{Error, Matrix, Result};

/// What a model says about some rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// `[rows, labels]`, every row a distribution.
    Distributions(Matrix<f32>),
    /// One value per row, from the methods that give no more.
    Values(Vec<f64>),
}

impl Prediction {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Prediction::Distributions(m) => m.rows(),
            Prediction::Values(v) => v.len(),
        }
    }

    /// Refuses numbers that are not finite: what the sizes of features or weights can bring a model to.
    pub(crate) fn check_finite(&self) -> Result<()> {
        let odd = match self {
            Prediction::Distributions(m) => {
                let all = m.as_slice().iter().position(|v| !v.is_finite());
                all.map(|place| place / m.cols().max(1))
            }
            Prediction::Values(v) => v.iter().position(|v| !v.is_finite()),
        };
        odd.map_or(Ok(()), |row| Err(not_finite(&format!("row {} of these rows", row + 1))))
    }

    /// The distributions, or a sentence that there are none.
    pub fn into_distributions(self) -> Result<Matrix<f32>> {
        match self {
            Prediction::Distributions(m) => Ok(m),
            Prediction::Values(_) => Err(Error::usage("this model predicts values, not distributions")),
        }
    }
}

pub(crate) fn not_finite(row: &str) -> Error {
    Error::data(format!(
        "the prediction for {row} is not a finite number: its features are too far from those that the model was trained on, \
         or the model file is damaged"
    ))
}
