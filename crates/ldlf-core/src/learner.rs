//! The interface that every learner stands behind: parameters make a learner, a learner's `fit` makes a model, a model
//! never changes.

use std::ops::ControlFlow;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::Subject;
use crate::features::Row;
use crate::forest_view::ForestView;
use crate::graph::{Flow, Graph};
use crate::model_file::{ModelShape, Parts};
use crate::parameters::Parameter;
use crate::{
    Csr, Dataset, Error, Features, Images, Matrix, Result, Schema, Seed, Settings, Threads, Value, message,
};

/// Learns label distributions from rows. Built from checked parameters; holds nothing that `fit` changes.
pub trait Learner: Send + Sync {
    /// The name in the registry, such as `sldlf`.
    fn name(&self) -> &'static str;

    /// Every parameter with its value.
    fn settings(&self) -> Settings;

    /// Whether [`Dataset::images`] are read in place of features.
    fn reads_images(&self) -> bool {
        false
    }

    /// Learns from `data`. Whatever is chosen (an iteration, a penalty) is chosen inside these rows.
    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted>;
}

/// What was learnt: predicts, and can be stored.
pub trait Model: Send + Sync {
    /// The prediction for every row. The caller has checked the number of features.
    fn predict(&self, features: &Features, threads: &Threads) -> Result<Prediction>;

    /// The prediction for every picture, by the models that read pictures.
    fn predict_images(&self, _images: &Images, _threads: &Threads) -> Result<Prediction> {
        Err(Error::usage("this model reads tables, not pictures"))
    }

    /// The prediction for every row of `data`, whether rows are pictures or features.
    fn predict_rows(&self, data: &Dataset, threads: &Threads) -> Result<Prediction> {
        match &data.images {
            Some(images) => self.predict_images(images, threads),
            None => self.predict(&data.features, threads),
        }
    }

    /// Adds arrays and details from which [`LearnerEntry::load`] rebuilds the model.
    fn store(&self, parts: &mut Parts);

    /// The quickest way to predict row after row, where the model has one of its own.
    fn row_predictor(&self) -> Option<Box<dyn RowPredictor + '_>> {
        None
    }

    /// What `ldlf inspect` shows beside the document: sizes and facts, names with values.
    fn inspect(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Adds the model to a graph of standard operators and gives its distributions, `[rows, labels]` or one row for all. `None` where
    /// the operators do not say what the model does; what was added then counts for nothing.
    fn add_to_graph(&self, _graph: &mut Graph, _features: &Flow) -> Option<Flow> {
        None
    }

    /// The model's trees over some rows, with the routes of `chosen` ones: what pictures of a forest show. `None` where there are
    /// no soft trees. The caller has checked the number of features and that the chosen rows are there.
    fn look_inside(&self, _features: &Features, _chosen: &[usize], _threads: &Threads) -> Option<ForestView> {
        None
    }
}

/// Predicts one row at a time, with work buffers of its own: for services that answer one question after the other.
pub trait RowPredictor {
    /// The distribution of one row. The caller has checked the number of features.
    fn predict(&mut self, row: Row<'_>) -> Result<&[f32]>;
}

/// What a model says about some rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// `[rows, labels]`, every row a distribution.
    Distributions(Matrix<f32>),
    /// One value a row, from the methods that give no more.
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
    fn check_finite(&self) -> Result<()> {
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

fn not_finite(row: &str) -> Error {
    Error::data(format!(
        "the prediction for {row} is not a finite number: its features are too far from those that the model was trained on, \
         or the model file is damaged"
    ))
}

/// Why a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// All iterations were done, or there was nothing to iterate.
    Finished,
    /// The validation measure stopped improving.
    EarlyStopping,
    /// The loss changed less than the tolerance.
    Converged,
    /// The time limit was reached.
    TimeLimit,
    /// The user (Ctrl-C) or the caller's observer stopped it.
    Interrupted,
}

/// What the training came to. Nothing in it depends on the clock, so that it may stand in a model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Iterations done.
    pub iterations: usize,
    /// Why it ended.
    pub stopped: StopReason,
    /// The iteration whose model was kept, when it is not the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_iteration: Option<usize>,
    /// The last training loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The K-L divergence of the kept model on the validation rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_kl: Option<f64>,
}

impl Summary {
    /// The summary of a fit that does not iterate.
    pub fn at_once() -> Self {
        Summary {
            iterations: 0,
            stopped: StopReason::Finished,
            best_iteration: None,
            loss: None,
            validation_kl: None,
        }
    }
}

/// The outcome of a fit.
pub struct Fitted {
    /// What was learnt.
    pub model: Box<dyn Model>,
    /// How it went.
    pub summary: Summary,
}

/// Refuses pictures where the learner reads tables.
pub(crate) fn check_kind(learner: &dyn Learner, data: &Dataset) -> Result<()> {
    if data.images.is_some() && !learner.reads_images() {
        return Err(Error::usage(format!("{} reads tables, not pictures", learner.name())).with_remedy(
            message![
                "train dldlf, dldl or dndf-ldl, or make a table of the pictures with ",
                Subject::ExtractFeatures
            ],
        ));
    }
    Ok(())
}

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
}

impl TrainedModel {
    /// Fits `learner` to `data` and keeps the names beside the model.
    pub fn fit(learner: &dyn Learner, data: &Dataset, context: &mut FitContext<'_>) -> Result<Self> {
        if data.rows() == 0 {
            return Err(Error::data("there are no rows to learn from").in_data(&data.name));
        }
        check_kind(learner, data)?;
        let Fitted { model, summary } = learner.fit(data, context)?;
        Ok(TrainedModel {
            learner: learner.name().to_string(),
            parameters: learner.settings(),
            features: data.features.cols(),
            schema: data.schema.clone(),
            summary,
            model,
        })
    }

    /// The prediction for every row, after checking that the features are those the model was fitted on.
    pub fn predict(&self, features: &Features, threads: &Threads) -> Result<Prediction> {
        if let Some(column) = &self.schema.image_column {
            return Err(Error::data(format!(
                "the model reads pictures (its column {column:?}), not a table of features"
            ))
            .with_remedy("give a folder or a zip file of pictures"));
        }
        if features.cols() != self.features {
            let (expected, found) = (self.features, features.cols());
            return Err(Error::data(format!("the model reads {expected} features, the data has {found}"))
                .with_remedy("give the columns it was trained on"));
        }
        let prediction = self.model.predict(features, threads)?;
        prediction.check_finite()?;
        Ok(prediction)
    }

    /// The prediction for every picture.
    pub fn predict_images(&self, images: &Images, threads: &Threads) -> Result<Prediction> {
        if self.schema.image_column.is_none() {
            return Err(Error::data("the model reads a table of features, not pictures")
                .with_remedy("give the columns it was trained on"));
        }
        let prediction = self.model.predict_images(images, threads)?;
        prediction.check_finite()?;
        Ok(prediction)
    }

    /// The prediction for every row of `data`, whether rows are pictures or features.
    pub fn predict_rows(&self, data: &Dataset, threads: &Threads) -> Result<Prediction> {
        match &data.images {
            Some(images) => self.predict_images(images, threads),
            None => self.predict(&data.features, threads),
        }
    }

    /// A predictor for single rows. With a forest it allocates nothing after it was made; the other models go the way of
    /// [`TrainedModel::predict`].
    ///
    /// ```
    /// use ldlf_core::{Dataset, Features, FitContext, Matrix, Threads, TrainedModel, features::Row, mean};
    /// let features = Features::Dense(Matrix::from_rows(&[[0.5], [1.5]]));
    /// let data = Dataset::new("two rows", features, Matrix::from_rows(&[[0.2, 0.8], [0.4, 0.6]]))?;
    /// let learner = (mean::ENTRY.build)(&Default::default())?;
    /// let model = TrainedModel::fit(&*learner, &data, &mut FitContext::new(0, Threads::one(), &mut ()))?;
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

/// One-row batches, for models without a way of their own.
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
        self.last = self.model.predict(&features, &Threads::one())?.into_distributions()?.into_vec();
        Ok(&self.last)
    }
}

/// Something worth telling while a fit runs.
#[derive(Clone, Debug, PartialEq)]
pub enum FitEvent {
    /// One iteration (a step, a round, a tree) is done.
    Iteration {
        /// Counted from 1.
        iteration: usize,
        /// How many there will be at most.
        total: usize,
        /// The training loss of this iteration, where there is one.
        loss: Option<f64>,
    },
    /// The leaves were updated after this iteration.
    LeafUpdate {
        /// Counted from 1.
        iteration: usize,
    },
    /// The validation rows were measured after this iteration.
    Validation {
        /// Counted from 1.
        iteration: usize,
        /// The mean K-L divergence on the validation rows.
        kl: f64,
    },
}

/// The model as it stands in the middle of a fit.
pub trait InProgress {
    /// What the model would predict now.
    fn predict(&self, features: &Features, threads: &Threads) -> Result<Prediction>;

    /// What it would predict for the rows of `data`; models that read pictures say it for those.
    fn predict_rows(&self, data: &Dataset, threads: &Threads) -> Result<Prediction> {
        self.predict(&data.features, threads)
    }

    /// How many rows an iteration looks at, where that is the same for all: what makes a rate of rows out of one of iterations.
    fn rows_an_iteration(&self) -> Option<usize> {
        None
    }

    /// The mean absolute error on the validation rows when they were last measured, where labels are ordered.
    fn validation_mae(&self) -> Option<f64> {
        None
    }

    /// All that is needed to go on from here, or `None` if the learner cannot be resumed.
    fn checkpoint(&self) -> Option<Parts> {
        None
    }
}

/// Watches a fit: progress bars, logs, checkpoints and Ctrl-C all hang here.
pub trait Observer {
    /// Told of every event; `Break` ends the fit, which then keeps the best model so far.
    fn observe(&mut self, event: &FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason>;

    /// Asked where there is nothing to report yet, such as within a search for parameters: `true` ends the fit without a model.
    fn interrupted(&mut self) -> bool {
        false
    }
}

/// Watches nothing.
impl Observer for () {
    fn observe(&mut self, _: &FitEvent, _: &dyn InProgress) -> ControlFlow<StopReason> {
        ControlFlow::Continue(())
    }
}

/// Any closure of the right shape watches.
impl<F: FnMut(&FitEvent, &dyn InProgress) -> ControlFlow<StopReason>> Observer for F {
    fn observe(&mut self, event: &FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason> {
        self(event, state)
    }
}

/// What a fit needs beside the data.
pub struct FitContext<'a> {
    /// The seed of everything random.
    pub seed: Seed,
    /// The threads to use.
    pub threads: Threads,
    /// A checkpoint to go on from.
    pub resume: Option<Parts>,
    /// The moment at which to stop with the best so far.
    pub deadline: Option<Instant>,
    /// Everything reported so far.
    pub history: Vec<FitEvent>,
    observer: &'a mut dyn Observer,
}

impl<'a> FitContext<'a> {
    /// A context with the given seed and threads.
    pub fn new(seed: u64, threads: Threads, observer: &'a mut dyn Observer) -> Self {
        FitContext {
            seed: Seed::new(seed),
            threads,
            resume: None,
            deadline: None,
            history: Vec::new(),
            observer,
        }
    }

    /// Tells the observer, notes the event, and says whether to go on. A learner calls this at every iteration.
    pub fn report(&mut self, event: FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason> {
        let verdict = self.observer.observe(&event, state);
        self.history.push(event);
        if verdict.is_continue() && self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return ControlFlow::Break(StopReason::TimeLimit);
        }
        verdict
    }

    /// Ends a fit that was interrupted before there is a model to keep. A learner calls this between the steps of a search.
    pub fn go_on(&mut self) -> Result<()> {
        if self.observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Refuses a checkpoint on behalf of a learner that cannot go on from one.
    pub fn refuse_resume(&self, learner: &str) -> Result<()> {
        match self.resume {
            Some(_) => Err(Error::usage(format!("{learner} cannot be resumed from a checkpoint"))
                .with_remedy("train it anew")),
            None => Ok(()),
        }
    }
}

/// A named set of parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preset {
    /// What `--preset` calls it.
    pub name: &'static str,
    /// What it is for, in a line.
    pub help: &'static str,
    /// What it sets.
    pub settings: Settings,
    /// What it sets otherwise on datasets of a given name (compared without case).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_dataset: Vec<(&'static str, Settings)>,
}

impl Preset {
    /// What the preset sets for a dataset of this name.
    pub fn settings_for(&self, dataset: &str) -> Settings {
        let special = self.on_dataset.iter().find(|(name, _)| name.eq_ignore_ascii_case(dataset));
        special.map_or_else(|| self.settings.clone(), |(_, over)| self.settings.clone().overridden_by(over))
    }
}

/// What a learner can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Abilities {
    /// Reads sparse features without making them dense.
    pub sparse: bool,
    /// Takes row weights.
    pub weights: bool,
    /// Iterates: can be stopped early and, in the `released` protocol, is measured along the way.
    pub iterates: bool,
    /// Needs labels that stand for numbers.
    pub ordered: bool,
    /// Reads pictures in place of a table of features.
    pub images: bool,
}

/// A learner as the registry knows it: how to describe it, make it, and read its models.
#[derive(Clone)]
pub struct LearnerEntry {
    /// The name, such as `sldlf`.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it can take.
    pub abilities: Abilities,
    /// Its parameters.
    pub parameters: fn() -> Vec<Parameter>,
    /// Its presets.
    pub presets: fn() -> Vec<Preset>,
    /// Checks settings and makes the learner.
    pub build: fn(&Settings) -> Result<Box<dyn Learner>>,
    /// Rebuilds a model from what [`Model::store`] kept.
    pub load: fn(&Parts, &ModelShape) -> Result<Box<dyn Model>>,
}

impl LearnerEntry {
    /// The description that `ldlf learners --json` prints and the Python estimators are written from.
    pub fn description(&self) -> serde_json::Value {
        let parameters: Vec<serde_json::Value> = (self.parameters)()
            .iter()
            .map(|parameter| {
                let mut object = serde_json::json!(parameter);
                object["allowed"] = parameter.allowed().into();
                object
            })
            .collect();
        serde_json::json!({
            "name": self.name,
            "summary": self.summary,
            "source": self.source,
            "abilities": self.abilities,
            "parameters": parameters,
            "presets": (self.presets)(),
        })
    }
}
