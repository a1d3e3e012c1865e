//! A model with what its file says about it: the learner, the parameters, the names of the columns.

use crate::features::Row;
use crate::inputs::InputKind;
use crate::learner::Summary;
use crate::prediction::not_finite;
use crate::{
    Csr, Dataset, Error, Features, FitContext, Fitted, Inputs, Learner, Matrix, Model, Prediction, Result,
    RowPredictor, Schema, Settings, Threads,
};

/// A model with all that a model file says about it.
pub struct TrainedModel {
    /// The learner's name.
    pub learner: String,
    /// The learner's parameters.
    pub parameters: Settings,
    /// The number of features it reads.
    pub features: usize,
    /// What its columns are called.
    pub schema: Schema,
    /// How the training went.
    pub summary: Summary,
    /// What was learnt.
    pub model: Box<dyn Model>,
    /// Right after a fit: what the model says about its training rows without having seen them, where the learner can tell. Not kept in
    /// the model file.
    pub out_of_fold: Option<Matrix<f32>>,
}

impl TrainedModel {
    /// Fits `learner` to `data` and keeps the names beside the model.
    pub fn fit(learner: &dyn Learner, data: &Dataset, context: &mut FitContext<'_>) -> Result<Self> {
        if data.rows() == 0 {
            return Err(Error::data("there are no rows to learn from").in_data(data.name()));
        }
        let Fitted { model, summary, out_of_fold } = learner.fit(data, context)?;
        let trained = TrainedModel {
            learner: learner.name().to_string(),
            parameters: learner.settings(),
            features: data.inputs().cols(),
            schema: data.schema().clone(),
            summary,
            model,
            out_of_fold,
        };
        trained.check_finite()?;
        Ok(trained)
    }

    /// Whether it reads tables or images: what it was fitted on.
    pub fn reads(&self) -> InputKind {
        match self.schema.image_column {
            Some(_) => InputKind::Images,
            None => InputKind::Table,
        }
    }

    /// The prediction for every row of a dataset or of inputs alone, with one thread per core.
    ///
    /// ```
    /// use ldlf_core::{generate, mean::Mean};
    /// let data = generate::artificial(100, 0)?;
    /// let model = Mean::params().fit(&data)?;
    /// let shares = model.predict(&data)?.into_distributions()?;
    /// assert_eq!((shares.rows(), shares.cols()), (100, data.labels()));
    /// # Ok::<(), ldlf_core::Error>(())
    /// ```
    pub fn predict(&self, rows: &impl AsRef<Inputs>) -> Result<Prediction> {
        self.predict_with(rows.as_ref(), &Threads::new(0)?)
    }

    /// The prediction for every row with these threads, after checking that the inputs are such as the model was fitted on.
    pub fn predict_with(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        self.reads().check(inputs.kind())?;
        if inputs.cols() != self.features {
            let (expected, found) = (self.features, inputs.cols());
            return Err(Error::data(format!("the model reads {expected} features, the data has {found}"))
                .with_remedy("give the columns it was trained on"));
        }
        let prediction = self.model.predict(inputs, threads)?;
        prediction.check_finite()?;
        Ok(prediction)
    }

    /// A predictor for single rows. With a forest it allocates nothing after it was made; other models use
    /// [`TrainedModel::predict_with`].
    ///
    /// ```
    /// use ldlf_core::{Dataset, Features, Matrix, features::Row, mean::Mean};
    /// let features = Features::Dense(Matrix::from_rows(&[[0.5], [1.5]]));
    /// let data = Dataset::new(features, Matrix::from_rows(&[[0.2, 0.8], [0.4, 0.6]]))?;
    /// let model = Mean::params().fit(&data)?;
    /// let mut predictor = model.row_predictor();
    /// assert!((predictor.predict(Row::Dense(&[1.0]))?[0] - 0.3).abs() < 1e-6);
    /// assert!(predictor.predict(Row::Dense(&[1.0, 2.0])).is_err());
    /// # Ok::<(), ldlf_core::Error>(())
    /// ```
    pub fn row_predictor(&self) -> Box<dyn RowPredictor + '_> {
        let inner = self.model.row_predictor().unwrap_or_else(|| {
            Box::new(ByTheBatch { model: &*self.model, features: self.features, last: Vec::new() })
        });
        Box::new(CheckedRows { features: self.features, inner })
    }
}

/// Refuses rows of another width before they reach a model.
struct CheckedRows<'a> {
    features: usize,
    inner: Box<dyn RowPredictor + 'a>,
}

impl RowPredictor for CheckedRows<'_> {
    fn predict(&mut self, row: Row<'_>) -> Result<&[f32]> {
        let fits = match row {
            Row::Dense(values) => values.len() == self.features,
            Row::Sparse(columns, values) => {
                columns.len() == values.len()
                    && columns.is_sorted_by(|a, b| a < b)
                    && columns.last().is_none_or(|&last| (last as usize) < self.features)
            }
        };
        if !fits {
            return Err(Error::data(format!("the model reads {} features", self.features))
                .with_remedy("give a row of as many, or sparse columns below that in rising order"));
        }
        let distribution = self.inner.predict(row)?;
        if distribution.iter().all(|share| share.is_finite()) {
            Ok(distribution)
        } else {
            Err(not_finite("this row"))
        }
    }
}

/// One-row batches, for models without a predictor of their own.
struct ByTheBatch<'a> {
    model: &'a dyn Model,
    features: usize,
    last: Vec<f32>,
}

impl RowPredictor for ByTheBatch<'_> {
    fn predict(&mut self, row: Row<'_>) -> Result<&[f32]> {
        let features = match row {
            Row::Dense(values) => Features::Dense(Matrix::new(1, self.features, values.to_vec())?),
            Row::Sparse(columns, values) => Features::Sparse(Csr::new(
                self.features,
                vec![0, columns.len()],
                columns.to_vec(),
                values.to_vec(),
            )?),
        };
        self.last =
            self.model.predict(&Inputs::Table(features), &Threads::one())?.into_distributions()?.into_vec();
        Ok(&self.last)
    }
}
