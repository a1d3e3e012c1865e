//! Feature scaling inside a model, so that every baseline works on unscaled features.

use std::ops::Range;

use ldlf_core::graph::{Flow, Graph};
use ldlf_core::stored::{Array, Parts};
use ldlf_core::{Csr, Dataset, Error, Features, Matrix, Result};

ldlf_core::choices! {
    /// How features are scaled, as measured on the training rows.
    pub enum FeatureScaling {
        /// As they are.
        Raw = "raw",
        /// Mean 0 and deviation 1 (sparse columns: deviation 1, zeros stay zeros).
        Standard = "standard",
    }
}

/// `x_k -> (x_k - shift_k) factor_k`. Dense columns get mean 0 and deviation 1; sparse columns keep their zeros and get
/// deviation 1 (`shift = 0`). A constant column becomes 0: it adds nothing to a bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    shift: Vec<f32>,
    factor: Vec<f32>,
}

impl Scaling {
    /// Leaves every column as it is.
    pub fn none(columns: usize) -> Self {
        Scaling { shift: vec![0.0; columns], factor: vec![1.0; columns] }
    }

    /// Measures the columns of the training rows, each row counting by its weight.
    pub fn fit(features: &Features, weights: Option<&[f32]>) -> Self {
        let columns = features.cols();
        let weight = |row: usize| weights.map_or(1.0, |weights| f64::from(weights[row]));
        let total = (0..features.rows()).map(weight).sum::<f64>();
        let total = if total > 0.0 { total } else { 1.0 };
        let mut mean = vec![0.0f64; columns];
        for row in 0..features.rows() {
            let w = weight(row);
            features.for_each_in_row(row, |column, x| mean[column] += w * f64::from(x));
        }
        mean.iter_mut().for_each(|m| *m /= total);
        // Around the mean in a second pass; a zero that is not stored adds mean^2, which the first line adds for all.
        let mut square: Vec<f64> = mean.iter().map(|m| total * m * m).collect();
        for row in 0..features.rows() {
            let w = weight(row);
            features.for_each_in_row(row, |column, x| {
                let (m, x) = (mean[column], f64::from(x));
                square[column] += w * ((x - m) * (x - m) - m * m);
            });
        }
        let factor = square
            .iter()
            .zip(&mean)
            .map(|(&s, &m)| {
                let deviation = (s / total).max(0.0).sqrt();
                // Rounding leaves a constant column with a deviation of about its size times the precision.
                if deviation > 1e-6 * m.abs() && deviation > 1e-30 { (1.0 / deviation) as f32 } else { 0.0 }
            })
            .collect();
        let shift = match features {
            Features::Dense(_) => mean.iter().map(|&m| m as f32).collect(),
            Features::Sparse(_) => vec![0.0; columns],
        };
        Scaling { shift, factor }
    }

    /// The scaling that a learner was set to.
    pub fn choose(scaling: FeatureScaling, data: &Dataset) -> Result<Self> {
        let features = data.features()?;
        Ok(match scaling {
            FeatureScaling::Standard => Scaling::fit(features, data.weights()),
            FeatureScaling::Raw => Scaling::none(features.cols()),
        })
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.factor.len()
    }

    /// What is subtracted from every column.
    pub fn shift(&self) -> &[f32] {
        &self.shift
    }

    /// What every column is multiplied by.
    pub fn factor(&self) -> &[f32] {
        &self.factor
    }

    /// The scaled features. Sparse rows stay sparse unless the scaling was fitted on dense ones (whose zeros move).
    pub fn apply(&self, features: &Features) -> Features {
        self.apply_rows(features, 0..features.rows())
    }

    /// The scaled features of some rows.
    pub fn apply_rows(&self, features: &Features, rows: Range<usize>) -> Features {
        match features {
            Features::Sparse(m) if self.shift.iter().all(|&s| s == 0.0) => {
                let mut scaled = Csr::with_columns(m.cols());
                for row in rows {
                    let (columns, values) = m.row(row);
                    scaled
                        .push_row(columns.iter().zip(values).map(|(&c, x)| (c, x * self.factor[c as usize])));
                }
                Features::Sparse(scaled)
            }
            _ => {
                let mut out = Matrix::zeros(rows.len(), features.cols());
                for (row, from) in rows.enumerate() {
                    let out = out.row_mut(row);
                    features.copy_row_into(from, out);
                    for ((x, shift), factor) in out.iter_mut().zip(&self.shift).zip(&self.factor) {
                        *x = (*x - shift) * factor;
                    }
                }
                Features::Dense(out)
            }
        }
    }

    /// Adds the scaling to a graph and gives the scaled features.
    pub fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Flow {
        graph.scale(features, &self.shift, &self.factor)
    }

    /// Adds the scaling to a model's parts.
    pub fn store(&self, parts: &mut Parts) {
        parts.put("scaling_shift", Array::F32(vec![self.columns()], self.shift.clone()));
        parts.put("scaling_factor", Array::F32(vec![self.columns()], self.factor.clone()));
    }

    /// Reads what [`Scaling::store`] wrote.
    pub fn load(parts: &Parts, columns: usize) -> Result<Self> {
        let shift = parts.f32s("scaling_shift", &[columns])?;
        let factor = parts.f32s("scaling_factor", &[columns])?;
        if factor.iter().any(|&f| f < 0.0) {
            return Err(Error::model_file("the model file's \"scaling_factor\" holds a negative number"));
        }
        Ok(Scaling { shift, factor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_columns_get_mean_0_and_deviation_1() {
        let scaled = dense_column([1.0, 3.0, 5.0]);
        let expected = [-1.5f32.sqrt(), 0.0, 1.5f32.sqrt()];
        assert!(scaled.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-6), "{scaled:?}");
    }

    #[test]
    fn a_constant_column_becomes_0() {
        let scaled = dense_column([0.1; 3]);
        assert!(scaled.iter().all(|x| x.abs() < 1e-6), "{scaled:?}");
    }

    /// A dense column, scaled.
    fn dense_column(values: [f32; 3]) -> Vec<f32> {
        let features = Features::Dense(Matrix::from_rows(&values.map(|value| [value])));
        let Features::Dense(scaled) = Scaling::fit(&features, None).apply(&features) else {
            panic!("dense stays dense")
        };
        scaled.as_slice().to_vec()
    }

    #[test]
    fn sparse_columns_are_scaled_without_a_shift() {
        let dense = Features::Dense(Matrix::from_rows(&[[0.0, 2.0], [4.0, 0.0], [0.0, 5.0]]));
        let mut rows = Csr::with_columns(2);
        rows.push_row([(1, 2.0)]);
        rows.push_row([(0, 4.0)]);
        rows.push_row([(1, 5.0)]);
        let sparse = Features::Sparse(rows);
        let (from_dense, from_sparse) = (Scaling::fit(&dense, None), Scaling::fit(&sparse, None));
        assert_eq!(from_dense.factor(), from_sparse.factor());
        assert_eq!(from_sparse.shift(), &[0.0, 0.0]);
        assert!(matches!(from_sparse.apply(&sparse), Features::Sparse(m) if m.stored() == 3));
        assert_eq!(from_dense.apply(&sparse), from_dense.apply(&dense), "a moved zero is stored");
    }

    #[test]
    fn a_weight_counts_as_that_many_rows() {
        let once = Features::Dense(Matrix::from_rows(&[[1.0], [2.0], [4.0]]));
        let copies = Features::Dense(Matrix::from_rows(&[[1.0], [2.0], [2.0], [2.0], [4.0], [4.0]]));
        assert_eq!(Scaling::fit(&once, Some(&[1.0, 3.0, 2.0])), Scaling::fit(&copies, None));
    }

    #[test]
    fn a_stored_scaling_is_loaded_unchanged() {
        let (scaling, parts) = stored_scaling();
        assert_eq!(Scaling::load(&parts, 2).unwrap(), scaling);
    }

    #[test]
    fn a_stored_scaling_of_another_size_is_refused() {
        assert!(Scaling::load(&stored_scaling().1, 3).is_err());
    }

    fn stored_scaling() -> (Scaling, Parts) {
        let scaling = Scaling::fit(&Features::Dense(Matrix::from_rows(&[[1.0, 2.0], [3.0, 9.0]])), None);
        let mut parts = Parts::new();
        scaling.store(&mut parts);
        (scaling, parts)
    }
}
