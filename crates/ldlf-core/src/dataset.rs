//! Rows with features and with how much each label applies.

use serde::{Deserialize, Serialize};

use crate::error::Place;
use crate::targets::Spread;
use crate::{Error, Features, Images, Matrix, Result};

/// What the columns are called. Saved with a model, so that a table with other columns is refused by name.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Schema {
    /// One name a feature, when the source has names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_names: Option<Vec<String>>,
    /// One name a label.
    pub label_names: Vec<String>,
    /// The number that each label stands for (an age, a rating), when the labels are ordered. Rises strictly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_values: Option<Vec<f64>>,
    /// Where the single label of every row stood, when the source had one, so that further tables are read likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single: Option<SingleLabel>,
    /// The column that names the picture of every row, where rows are pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_column: Option<String>,
}

/// One ordered label a row: its column, and what targets were made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SingleLabel {
    /// The column, where columns have names.
    pub column: Option<String>,
    /// How the label spread over its neighbours; none where distributions stood beside it.
    pub spread: Option<Spread>,
}

/// Rows of features with a label distribution each, checked: as many targets as rows, every target on the simplex,
/// every number finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// What messages and results call it: the file's stem or the generator's name.
    pub name: String,
    /// `[rows, features]`; without columns where rows are pictures.
    pub features: Features,
    /// The picture of every row, where rows are pictures.
    pub images: Option<Images>,
    /// `[rows, labels]`; every row sums to 1.
    pub targets: Matrix<f32>,
    /// The weight of every row; 1 where absent.
    pub weights: Option<Vec<f32>>,
    /// Rows with the same number belong together (one person) and must stay in one fold.
    pub groups: Option<Vec<u32>>,
    /// The part that each row belongs to by the source's own split (`train`, `valid`, `test`).
    pub split: Option<Vec<String>>,
    /// The single value each row's target was made from (an age), for errors of point predictions.
    pub truth: Option<Vec<f64>>,
    /// What the columns are called.
    pub schema: Schema,
}

/// How far a target row's sum may be from 1 and still count as a distribution.
pub const SIMPLEX_TOLERANCE: f64 = 1e-4;

impl Dataset {
    /// Checks and joins features and targets; label names become `label_0`, `label_1`, ... until set.
    ///
    /// ```
    /// use ldlf_core::{Dataset, Features, Matrix};
    /// let features = Features::Dense(Matrix::from_rows(&[[0.5], [1.5]]));
    /// let targets = Matrix::from_rows(&[[0.2, 0.8], [1.0, 0.0]]);
    /// let data = Dataset::new("two rows", features, targets)?;
    /// assert_eq!((data.rows(), data.labels()), (2, 2));
    /// # Ok::<(), ldlf_core::Error>(())
    /// ```
    pub fn new(name: impl Into<String>, features: Features, targets: Matrix<f32>) -> Result<Self> {
        let name = name.into();
        if features.rows() != targets.rows() {
            let (rows, labels) = (features.rows(), targets.rows());
            return Err(
                Error::data(format!("{rows} rows of features but {labels} rows of labels")).in_data(name)
            );
        }
        if targets.cols() == 0 {
            return Err(Error::data("no label columns").in_data(name));
        }
        let values = match &features {
            Features::Dense(m) => m.as_slice(),
            Features::Sparse(m) => m.parts().2,
        };
        if !values.iter().all(|v| v.is_finite()) {
            let row = (0..features.rows())
                .find(|&row| {
                    let mut bad = false;
                    features.for_each_in_row(row, |_, v| bad |= !v.is_finite());
                    bad
                })
                .unwrap_or(0);
            return Err(Error::data("a feature is not a finite number").at(Place::data(name).row(row + 1)));
        }
        for (row, target) in targets.iter_rows().enumerate() {
            let sum: f64 = target.iter().map(|&v| f64::from(v)).sum();
            if !target.iter().all(|v| v.is_finite() && *v >= 0.0) || (sum - 1.0).abs() > SIMPLEX_TOLERANCE {
                return Err(Error::data(format!(
                    "the labels are not a distribution (non-negative, summing to 1; the sum is {sum})"
                ))
                .at(Place::data(name).row(row + 1)));
            }
        }
        let label_names = (0..targets.cols()).map(|label| format!("label_{label}")).collect();
        Ok(Dataset {
            name,
            features,
            images: None,
            targets,
            weights: None,
            groups: None,
            split: None,
            truth: None,
            schema: Schema { label_names, ..Schema::default() },
        })
    }

    /// Joins pictures and targets, as [`Dataset::new`] joins features and targets.
    pub fn of_images(
        name: impl Into<String>,
        images: Images,
        column: impl Into<String>,
        targets: Matrix<f32>,
    ) -> Result<Self> {
        let mut data = Dataset::new(name, Features::Dense(Matrix::zeros(images.rows(), 0)), targets)?;
        data.schema.image_column = Some(column.into());
        data.images = Some(images);
        Ok(data)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.targets.rows()
    }

    /// The number of labels.
    pub fn labels(&self) -> usize {
        self.targets.cols()
    }

    /// The weight of a row.
    pub fn weight(&self, row: usize) -> f32 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// Sets row weights: finite, not negative, not all zero.
    pub fn with_weights(mut self, weights: Vec<f32>) -> Result<Self> {
        if weights.len() != self.rows() {
            let (found, rows) = (weights.len(), self.rows());
            return Err(Error::data(format!("{found} sample weights for {rows} rows")).in_data(&self.name));
        }
        if let Some(row) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            let weight = weights[row];
            return Err(Error::data(format!(
                "the sample weight {weight} is not a finite number of at least 0"
            ))
            .at(Place::data(&self.name).row(row + 1)));
        }
        if !weights.iter().any(|w| *w > 0.0) {
            return Err(Error::data("every sample weight is 0").in_data(&self.name));
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// The weighted mean target of all rows: what `mean` predicts.
    pub fn mean_target(&self) -> Vec<f64> {
        self.mean_target_of(0..self.rows())
    }

    /// The weighted mean target of some rows.
    pub fn mean_target_of(&self, rows: impl IntoIterator<Item = usize>) -> Vec<f64> {
        let mut mean = vec![0.0f64; self.labels()];
        let mut total = 0.0f64;
        for row in rows {
            let weight = f64::from(self.weight(row));
            total += weight;
            mean.iter_mut().zip(self.targets.row(row)).for_each(|(m, &d)| *m += weight * f64::from(d));
        }
        let total = if total > 0.0 { total } else { 1.0 };
        mean.iter_mut().for_each(|m| *m /= total);
        mean
    }

    /// Sixteen hexadecimal digits that tell this data from other data: a hash of its shape, numbers and weights.
    pub fn fingerprint(&self) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        add(self.rows() as u64);
        add(self.features.cols() as u64);
        add(self.labels() as u64);
        match &self.features {
            Features::Dense(matrix) => matrix.as_slice().iter().for_each(|v| add(u64::from(v.to_bits()))),
            Features::Sparse(matrix) => {
                let (offsets, columns, values) = matrix.parts();
                offsets.iter().for_each(|&offset| add(offset as u64));
                columns
                    .iter()
                    .zip(values)
                    .for_each(|(&c, v)| add(u64::from(c) << 32 | u64::from(v.to_bits())));
            }
        }
        // Pictures count by their names: to read them all would take as long as an epoch.
        if let Some(images) = &self.images {
            (0..images.rows()).for_each(|row| images.name(row).bytes().for_each(|byte| add(u64::from(byte))));
        }
        self.targets.as_slice().iter().for_each(|v| add(u64::from(v.to_bits())));
        self.weights.iter().flatten().for_each(|v| add(u64::from(v.to_bits())));
        format!("{hash:016x}")
    }

    /// A copy of the given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Self {
        fn pick<T: Clone>(from: &Option<Vec<T>>, rows: &[usize]) -> Option<Vec<T>> {
            from.as_ref().map(|values| rows.iter().map(|&row| values[row].clone()).collect())
        }
        Dataset {
            name: self.name.clone(),
            features: self.features.select(rows),
            images: self.images.as_ref().map(|images| images.select(rows)),
            targets: self.targets.select(rows),
            weights: pick(&self.weights, rows),
            groups: pick(&self.groups, rows),
            split: pick(&self.split, rows),
            truth: pick(&self.truth, rows),
            schema: self.schema.clone(),
        }
    }
}
