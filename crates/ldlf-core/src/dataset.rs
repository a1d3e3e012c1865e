//! Rows with features and with how much each label applies.

mod filling;

use std::collections::HashSet;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::columns::Columns;
use crate::early_stopping::HeldOutKl;
use crate::error::Place;
use crate::fingerprint::Fingerprint;
use crate::inputs::not_a_table;
use crate::split::SplitPart;
use crate::targets::{Spread, check_label_values};
use crate::{Error, Features, Inputs, Matrix, Result};

/// What the columns are called. Saved with a model, so that a table with other columns is refused by name.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Schema {
    /// One name per feature, when the source has names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_names: Option<Vec<String>>,
    /// One name per label.
    pub label_names: Vec<String>,
    /// The number that each label stands for (an age, a rating), when the labels are ordered. Rises strictly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_values: Option<Vec<f64>>,
    /// Where the single label of every row stood, when the source had one, so that further tables are read likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single: Option<SingleLabel>,
    /// The column that names the image of every row, where rows are images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_column: Option<String>,
    /// How the raw columns of a table became the features, so that further tables are read likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Columns>,
}

/// One label per row: its column, and what targets were made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SingleLabel {
    /// The column, where columns have names.
    pub column: Option<String>,
    /// How the label spread over its neighbours; none where distributions stood beside it.
    pub spread: Option<Spread>,
    /// Whether the column holds classes, which have no order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub classes: bool,
}

/// Rows with a label distribution each, checked: as many targets as rows, every target on the simplex, every number finite, and as
/// many weights, groups, names and so on as there are rows or labels to have them.
///
/// Its parts are read through functions and set through functions that check and consume (`with_weights`, `with_groups`, ...).
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    name: String,
    inputs: Inputs,
    targets: Matrix<f32>,
    weights: Option<Vec<f32>>,
    groups: Option<Vec<u32>>,
    split: Option<Vec<String>>,
    truth: Option<Vec<f64>>,
    schema: Schema,
}

/// How far a target row's sum may be from 1 and still count as a distribution.
pub const SIMPLEX_TOLERANCE: f64 = 1e-4;

/// What messages call data that has no name.
const UNNAMED: &str = "data";

/// The column of image names where nothing else names it.
const IMAGE_COLUMN: &str = "file";

impl Dataset {
    /// Checks and joins inputs and targets; label names become `label_0`, `label_1`, ... until set.
    ///
    /// ```
    /// use ldlf_core::{Dataset, Features, Matrix};
    /// let features = Features::Dense(Matrix::from_rows(&[[0.5], [1.5]]));
    /// let targets = Matrix::from_rows(&[[0.2, 0.8], [1.0, 0.0]]);
    /// let data = Dataset::new(features, targets)?.named("two rows").with_weights(vec![1.0, 3.0])?;
    /// assert_eq!((data.rows(), data.labels(), data.weight(1)), (2, 2, 3.0));
    /// # Ok::<(), ldlf_core::Error>(())
    /// ```
    pub fn new(inputs: impl Into<Inputs>, targets: Matrix<f32>) -> Result<Self> {
        Dataset::new_named(UNNAMED, inputs, targets)
    }

    /// As [`Dataset::new`], with the name known from the start: what readers use, whose errors name the file.
    pub fn new_named(
        name: impl Into<String>,
        inputs: impl Into<Inputs>,
        targets: Matrix<f32>,
    ) -> Result<Self> {
        let (name, inputs) = (name.into(), inputs.into());
        check_inputs(&name, &inputs, targets.rows())?;
        check_targets(&name, &targets)?;
        let schema = Schema {
            label_names: numbered_labels(targets.cols()),
            image_column: matches!(inputs, Inputs::Images(_)).then(|| IMAGE_COLUMN.to_string()),
            ..Schema::default()
        };
        Ok(Dataset { name, inputs, targets, weights: None, groups: None, split: None, truth: None, schema })
    }

    /// What messages and results call it: the file's stem or the generator's name.
    #[inline]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The features or the image of every row.
    #[inline]
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The features, `[rows, features]`, for learners that read tables; an error where rows are images.
    #[inline]
    pub fn features(&self) -> Result<&Features> {
        match &self.inputs {
            Inputs::Table(features) => Ok(features),
            // Unlike a model, a learner can be chosen anew.
            Inputs::Images(_) => Err(not_a_table(Error::Usage)),
        }
    }

    /// The same rows, known to be a table: for what must not fail once it has begun.
    pub fn tabular(&self) -> Result<Tabular<'_>> {
        Ok(Tabular { features: self.features()?, data: self })
    }

    /// `[rows, labels]`; every row sums to 1.
    #[inline]
    pub fn targets(&self) -> &Matrix<f32> {
        &self.targets
    }

    /// The weight of every row; 1 where absent.
    #[inline]
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// Rows with the same number belong together (one person) and must stay in one fold.
    #[inline]
    pub fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }

    /// The part that each row belongs to by the source's own split (`train`, `valid`, `test`).
    #[inline]
    pub fn split(&self) -> Option<&[String]> {
        self.split.as_deref()
    }

    /// The single value each row's target was made from (an age), for errors of point predictions.
    #[inline]
    pub fn truth(&self) -> Option<&[f64]> {
        self.truth.as_deref()
    }

    /// What the columns are called.
    #[inline]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.targets.rows()
    }

    /// The number of labels.
    #[inline]
    pub fn labels(&self) -> usize {
        self.targets.cols()
    }

    /// The weight of a row.
    #[inline]
    pub fn weight(&self, row: usize) -> f32 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// Sets the name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets other inputs for the same rows. Names of features go where their number changes.
    pub fn with_inputs(mut self, inputs: impl Into<Inputs>) -> Result<Self> {
        let inputs = inputs.into();
        check_inputs(&self.name, &inputs, self.rows())?;
        self.schema.feature_names = self.schema.feature_names.filter(|names| names.len() == inputs.cols());
        self.schema.columns = self.schema.columns.filter(|columns| columns.width() == inputs.cols());
        self.schema.image_column = match &inputs {
            Inputs::Table(_) => None,
            Inputs::Images(_) => self.schema.image_column.or_else(|| Some(IMAGE_COLUMN.to_string())),
        };
        self.inputs = inputs;
        Ok(self)
    }

    /// Sets other targets for the same rows. Names and values of labels go where their number changes.
    pub fn with_targets(mut self, targets: Matrix<f32>) -> Result<Self> {
        check_inputs(&self.name, &self.inputs, targets.rows())?;
        check_targets(&self.name, &targets)?;
        if targets.cols() != self.labels() {
            self.schema.label_names = numbered_labels(targets.cols());
            self.schema.label_values = None;
        }
        self.targets = targets;
        Ok(self)
    }

    /// Sets row weights: finite, not negative, not all zero.
    pub fn with_weights(self, weights: Vec<f32>) -> Result<Self> {
        let weighed = self.with_weights_of_a_part(weights)?;
        match weighed.weights.iter().flatten().any(|w| *w > 0.0) {
            true => Ok(weighed),
            false => Err(Error::data("every sample weight is 0").in_data(weighed.name)),
        }
    }

    /// As [`Dataset::with_weights`], for rows that are a part of more: all of them may weigh 0.
    pub fn with_weights_of_a_part(mut self, weights: Vec<f32>) -> Result<Self> {
        self.check_count("sample weights", weights.len())?;
        if let Some(row) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            let weight = weights[row];
            return Err(Error::data(format!(
                "the sample weight {weight} is not a finite number of at least 0"
            ))
            .at(Place::data(&self.name).row(row + 1)));
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// Sets the group of every row.
    pub fn with_groups(mut self, groups: Vec<u32>) -> Result<Self> {
        self.check_count("groups", groups.len())?;
        self.groups = Some(groups);
        Ok(self)
    }

    /// Sets the part of the source's own split that every row belongs to.
    pub fn with_split(mut self, split: Vec<String>) -> Result<Self> {
        self.check_count("values of the split", split.len())?;
        if let Some(row) = split.iter().position(|part| SplitPart::named(part).is_none()) {
            return Err(Error::data(format!("{:?} is no part of a split", split[row]))
                .with_remedy("write train, valid or test")
                .at(Place::data(&self.name).row(row + 1)));
        }
        self.split = Some(split);
        Ok(self)
    }

    /// Sets the single value that every row's target was made from: finite numbers.
    pub fn with_truth(mut self, truth: Vec<f64>) -> Result<Self> {
        self.check_count("single labels", truth.len())?;
        if let Some(row) = truth.iter().position(|value| !value.is_finite()) {
            return Err(Error::data(format!("the single label {} is not a finite number", truth[row]))
                .at(Place::data(&self.name).row(row + 1)));
        }
        self.truth = Some(truth);
        Ok(self)
    }

    /// Sets what the columns are called: a name for every label, none twice, and if at all, a name for every feature and a number for
    /// every label, which rise strictly. Rows of images keep a column of their names.
    pub fn with_schema(mut self, mut schema: Schema) -> Result<Self> {
        let fits = |what: &str, count: usize, of: &str, wanted: usize| match count == wanted {
            true => Ok(()),
            false => Err(Error::data(format!("{count} {what} for {wanted} {of}")).in_data(&self.name)),
        };
        fits("label names", schema.label_names.len(), "labels", self.labels())?;
        let mut known = HashSet::new();
        if let Some(name) = schema.label_names.iter().find(|name| !known.insert(name.as_str())) {
            return Err(Error::data(format!("the label name {name:?} stands twice")).in_data(&self.name));
        }
        if let Some(names) = &schema.feature_names {
            fits("feature names", names.len(), "features", self.inputs.cols())?;
        }
        if let Some(columns) = &schema.columns {
            columns.check().map_err(|error| error.in_data(&self.name))?;
            fits("features of columns", columns.width(), "features", self.inputs.cols())?;
        }
        if let Some(values) = &schema.label_values {
            check_label_values(values)?;
            fits("label values", values.len(), "labels", self.labels())?;
        }
        match &self.inputs {
            Inputs::Table(_) if schema.image_column.is_some() => {
                return Err(Error::data("a column of images for a table of features").in_data(&self.name));
            }
            Inputs::Table(_) => {}
            Inputs::Images(_) => schema.image_column = schema.image_column.or(self.schema.image_column),
        }
        self.schema = schema;
        Ok(self)
    }

    /// Sets one name per label.
    pub fn with_label_names(self, label_names: Vec<String>) -> Result<Self> {
        let schema = Schema { label_names, ..self.schema.clone() };
        self.with_schema(schema)
    }

    /// Sets the numbers that the labels stand for; they rise strictly.
    pub fn with_label_values(self, label_values: Vec<f64>) -> Result<Self> {
        let schema = Schema { label_values: Some(label_values), ..self.schema.clone() };
        self.with_schema(schema)
    }

    fn check_count(&self, what: &str, count: usize) -> Result<()> {
        match count == self.rows() {
            true => Ok(()),
            false => Err(Error::data(format!("{count} {what} for {} rows", self.rows())).in_data(&self.name)),
        }
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

    /// The K-L divergence of every row's target from the mean target of the other rows, on average: what a model must be below to have
    /// learnt anything from the features.
    pub fn mean_kl(&self) -> f64 {
        let mean = self.mean_of_others();
        HeldOutKl::of(self, 0..self.rows(), mean.as_slice()).mean()
    }

    /// The weighted mean target of all rows but the row itself, `[rows, labels]`.
    pub fn mean_of_others(&self) -> Matrix<f32> {
        let total: f64 = (0..self.rows()).map(|row| f64::from(self.weight(row))).sum();
        let mean = self.mean_target();
        let mut out = Vec::with_capacity(self.rows() * self.labels());
        for row in 0..self.rows() {
            let own = f64::from(self.weight(row));
            let rest = total - own;
            let of_label = |(mean, &target): (&f64, &f32)| match rest > 1e-9 * total {
                true => ((mean * total - own * f64::from(target)) / rest).max(0.0) as f32,
                false => *mean as f32,
            };
            out.extend(mean.iter().zip(self.targets.row(row)).map(of_label));
        }
        Matrix::new(self.rows(), self.labels(), out).expect("one distribution per row")
    }

    /// Sixteen hexadecimal digits that identify this data: a hash of its shape, numbers and weights.
    pub fn fingerprint(&self) -> String {
        let mut hash = Fingerprint::of_shape([self.rows(), self.inputs.cols(), self.labels()]);
        self.inputs.add_to(&mut hash);
        self.targets.as_slice().iter().for_each(|v| hash.add(u64::from(v.to_bits())));
        self.weights.iter().flatten().for_each(|v| hash.add(u64::from(v.to_bits())));
        hash.to_string()
    }

    /// A copy of the given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Self {
        fn pick<T: Clone>(from: &Option<Vec<T>>, rows: &[usize]) -> Option<Vec<T>> {
            from.as_ref().map(|values| rows.iter().map(|&row| values[row].clone()).collect())
        }
        Dataset {
            name: self.name.clone(),
            inputs: self.inputs.select(rows),
            targets: self.targets.select(rows),
            weights: pick(&self.weights, rows),
            groups: pick(&self.groups, rows),
            split: pick(&self.split, rows),
            truth: pick(&self.truth, rows),
            schema: self.schema.clone(),
        }
    }
}

impl AsRef<Inputs> for Dataset {
    fn as_ref(&self) -> &Inputs {
        &self.inputs
    }
}

/// A dataset whose rows are known to be a table of features.
#[derive(Clone, Copy, Debug)]
pub struct Tabular<'a> {
    /// `[rows, features]`.
    pub features: &'a Features,
    data: &'a Dataset,
}

impl<'a> Tabular<'a> {
    /// The same rows with other features of theirs, such as encoded ones.
    pub fn with_features(self, features: &'a Features) -> Self {
        debug_assert_eq!(features.rows(), self.data.rows());
        Tabular { features, ..self }
    }
}

impl Deref for Tabular<'_> {
    type Target = Dataset;

    #[inline]
    fn deref(&self) -> &Dataset {
        self.data
    }
}

/// Refuses inputs that do not fit the rows of targets or hold a number that is not finite.
fn check_inputs(name: &str, inputs: &Inputs, rows: usize) -> Result<()> {
    if inputs.rows() != rows {
        let what = if matches!(inputs, Inputs::Table(_)) { "rows of features" } else { "images" };
        return Err(Error::data(format!("{} {what} but {rows} rows of labels", inputs.rows())).in_data(name));
    }
    let Inputs::Table(features) = inputs else { return Ok(()) };
    let values = match features {
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
    Ok(())
}

/// Refuses targets that are no distributions.
fn check_targets(name: &str, targets: &Matrix<f32>) -> Result<()> {
    if targets.cols() == 0 {
        return Err(Error::data("no label columns").in_data(name));
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
    Ok(())
}

fn numbered_labels(labels: usize) -> Vec<String> {
    (0..labels).map(|label| format!("label_{label}")).collect()
}
