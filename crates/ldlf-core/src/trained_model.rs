//! A model with what its file says about it: the learner, the parameters, the names of the columns.

use crate::conformal::{Calibration, Conformal, check_level};
use crate::error::Subject;
use crate::familiarity::Familiarity;
use crate::features::Row;
use crate::inputs::InputKind;
use crate::learner::Summary;
use crate::prediction::not_finite;
use crate::spread::Spread;
use crate::{
    Csr, Dataset, Error, Features, FitContext, Fitted, Inputs, Learner, Matrix, Model, Prediction,
    Provenance, Result, RowPredictor, Schema, Settings, Threads, folds, message,
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
    /// The program, the seed and the data of the training; models of earlier versions do not say.
    pub provenance: Option<Provenance>,
    /// What was learnt.
    pub model: Box<dyn Model>,
    /// Right after a fit: what the model says about its training rows without having seen them, where the learner can tell. Not kept in
    /// the model file.
    pub out_of_fold: Option<Matrix<f32>>,
    /// What makes intervals and label sets with a promise of predictions: from out-of-fold predictions, or from held-out rows
    /// ([`TrainedModel::fit_calibrated`]).
    pub conformal: Option<Conformal>,
    /// What says how far a row's shares may lie from the predicted ones; from the same rows as `conformal`.
    pub spread: Option<Spread>,
    /// What says how unlike the training rows a row is; images and very few rows have none.
    pub familiarity: Option<Familiarity>,
}

impl TrainedModel {
    /// Fits `learner` to `data` and keeps the names beside the model.
    pub fn fit(learner: &dyn Learner, data: &Dataset, context: &mut FitContext<'_>) -> Result<Self> {
        if data.rows() == 0 {
            return Err(Error::data("there are no rows to learn from").in_data(data.name()));
        }
        let Fitted { model, summary, out_of_fold } = learner.fit(data, context)?;
        let out_of_fold = out_of_fold.map(Prediction::Distributions);
        let conformal =
            out_of_fold.as_ref().and_then(|unseen| Conformal::fit(unseen, data, Calibration::OutOfFold));
        let mut trained = TrainedModel {
            learner: learner.name().to_string(),
            parameters: learner.settings(),
            features: data.inputs().cols(),
            schema: data.schema().clone(),
            summary,
            provenance: Some(Provenance::of(data, context.seed_number)),
            model,
            out_of_fold: out_of_fold.map(Prediction::into_distributions).transpose()?,
            conformal,
            spread: None,
            familiarity: Familiarity::fit(data),
        };
        trained.check_finite()?;
        if let Some(unseen) = &trained.out_of_fold {
            let variance = trained.model.variance_between_trees(data.inputs(), &context.threads)?;
            trained.spread = Spread::fit(unseen, variance.as_ref(), data);
        }
        Ok(trained)
    }

    /// As [`TrainedModel::fit`], on all but the given fraction of the rows, which tell how far predictions are off: what intervals and
    /// label sets come from where the learner gives no out-of-fold predictions, or where the promise must rest on nothing but
    /// exchangeable rows. Rows of a group stay together.
    ///
    /// ```
    /// use ldlf_core::{FitContext, Threads, TrainedModel, generate, mean::Mean};
    /// let data = generate::artificial(100, 0)?;
    /// let learner = Mean::params().check()?;
    /// let mut nobody = ();
    /// let mut context = FitContext::new(1, Threads::one(), &mut nobody);
    /// let model = TrainedModel::fit_calibrated(&learner, &data, 0.2, &mut context)?;
    /// assert_eq!(model.predict_set(&data, 0.9)?.len(), 100);
    /// # Ok::<(), ldlf_core::Error>(())
    /// ```
    pub fn fit_calibrated(
        learner: &dyn Learner,
        data: &Dataset,
        fraction: f64,
        context: &mut FitContext<'_>,
    ) -> Result<Self> {
        if !(fraction > 0.0 && fraction < 1.0) {
            return Err(Error::parameter("calibrate", "above 0 and below 1", fraction));
        }
        let (seed, threads) = (context.seed.named("calibrate").value(), context.threads.clone());
        let splits = folds::random_splits(data, 1.0 - fraction, 1, seed)?;
        let mut trained = TrainedModel::fit(learner, &data.select(&splits[0].training), context)?;
        let held_out = data.select(&splits[0].test);
        let prediction = trained.predict_with(held_out.inputs(), &threads)?;
        trained.conformal = Conformal::fit(&prediction, &held_out, Calibration::HeldOut);
        trained.spread = match &prediction {
            Prediction::Distributions(p) => {
                let variance = trained.model.variance_between_trees(held_out.inputs(), &threads)?;
                Spread::fit(p, variance.as_ref(), &held_out)
            }
            Prediction::Values(_) => None,
        };
        // They are of the rows that were not held out, and a caller knows all rows.
        trained.out_of_fold = None;
        if let Some(provenance) = &mut trained.provenance {
            provenance.calibration_rows = Some(held_out.rows());
            provenance.inputs = Some(data.inputs().fingerprint());
        }
        Ok(trained)
    }

    /// Intervals that hold the true value of a row with probability `level`, one per row; [`conformal`](crate::conformal) says what is
    /// promised.
    pub fn predict_interval(&self, rows: &impl AsRef<Inputs>, level: f64) -> Result<Vec<(f64, f64)>> {
        let (conformal, prediction) = (self.calibrated(level)?, self.predict(rows)?);
        conformal.intervals(&prediction, self.numbers()?, level).ok_or_else(not_ordered)
    }

    /// Intervals that hold a new vote on a row with probability `level`, one per row.
    pub fn predict_vote_interval(&self, rows: &impl AsRef<Inputs>, level: f64) -> Result<Vec<(f64, f64)>> {
        let conformal = self.calibrated(level)?;
        let prediction = self.predict(rows)?.into_distributions()?;
        conformal.vote_intervals(&prediction, self.numbers()?, level).ok_or_else(not_ordered)
    }

    /// For every row whether each label is in the set that holds a random voter's label with probability `level`.
    pub fn predict_set(&self, rows: &impl AsRef<Inputs>, level: f64) -> Result<Vec<Vec<bool>>> {
        let conformal = self.calibrated(level)?;
        Ok(conformal.sets(&self.predict(rows)?.into_distributions()?, level))
    }

    /// How far a row's shares may lie from the predicted ones, as a standard deviation, `[rows, labels]`; [`spread`](crate::spread) says
    /// what it is made of.
    pub fn predict_spread(&self, rows: &impl AsRef<Inputs>) -> Result<Matrix<f32>> {
        let threads = Threads::new(0)?;
        let predicted = self.predict_with(rows.as_ref(), &threads)?.into_distributions()?;
        self.spread_with(rows.as_ref(), &predicted, &threads)
    }

    /// As [`TrainedModel::predict_spread`], of rows whose distributions are known.
    pub fn spread_with(
        &self,
        inputs: &Inputs,
        predicted: &Matrix<f32>,
        threads: &Threads,
    ) -> Result<Matrix<f32>> {
        let spread = self.spread.ok_or_else(not_calibrated)?;
        let variance = match spread.between_trees > 0.0 {
            true => self.model.variance_between_trees(inputs, threads)?,
            false => None,
        };
        spread.of(predicted, variance.as_ref())
    }

    /// How familiar every row is: the fraction of training rows that are at least as unlike the others, above 0 and up to 1;
    /// [`familiarity`](crate::familiarity) says what is promised.
    pub fn predict_familiarity(&self, rows: &impl AsRef<Inputs>) -> Result<Vec<f64>> {
        self.familiarity_with(rows.as_ref(), &Threads::new(0)?)
    }

    /// As [`TrainedModel::predict_familiarity`], with these threads.
    pub fn familiarity_with(&self, inputs: &Inputs, threads: &Threads) -> Result<Vec<f64>> {
        let familiarity = self.familiarity.as_ref().ok_or_else(|| {
            Error::usage("this model does not know what its training rows looked like")
                .with_remedy("fit it anew, on a table of at least 40 rows (or groups)")
        })?;
        self.check_inputs(inputs)?;
        Ok(familiarity.of(inputs.table()?, threads))
    }

    fn calibrated(&self, level: f64) -> Result<&Conformal> {
        check_level(level)?;
        self.conformal.as_ref().ok_or_else(not_calibrated)
    }

    fn numbers(&self) -> Result<&[f64]> {
        self.schema.label_values.as_deref().ok_or_else(not_ordered)
    }

    /// Whether these are the rows that the model was fitted on, so that its predictions of them look better than those of new rows.
    pub fn was_fitted_on(&self, inputs: &Inputs) -> bool {
        self.known_inputs().is_some_and(|known| *known == inputs.fingerprint())
    }

    /// The fingerprint of the rows that it was fitted on; models of earlier versions and of shards do not know it.
    pub fn known_inputs(&self) -> Option<&str> {
        self.provenance.as_ref()?.inputs.as_deref()
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
        self.check_inputs(inputs)?;
        let prediction = self.model.predict(inputs, threads)?;
        prediction.check_finite()?;
        Ok(prediction)
    }

    /// Refuses inputs unlike those that the model was fitted on.
    fn check_inputs(&self, inputs: &Inputs) -> Result<()> {
        self.reads().check(inputs.kind())?;
        if inputs.cols() != self.features {
            let (expected, found) = (self.features, inputs.cols());
            return Err(Error::data(format!("the model reads {expected} features, the data has {found}"))
                .with_remedy("give the columns it was trained on"));
        }
        Ok(())
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

fn not_calibrated() -> Error {
    Error::usage("this model has no calibration data, so that nothing can be promised")
        .with_remedy(message!["fit it with ", Subject::Calibrate])
}

fn not_ordered() -> Error {
    Error::usage("intervals need labels that stand for numbers")
        .with_remedy(message!["give ", Subject::LabelValues])
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
