//! `sldlf`: the shallow label distribution learning forest, a linear map under soft trees (Shen et al. 2017).

use ldlf_core::forest_view::ForestView;
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::model_file::{Array, ModelShape, Parts};
use ldlf_core::optimise::step::{Optimizer, Schedule, Step, StepLength};
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Facts, Features, FitContext, Fitted, Inputs, Matrix, Model, Prediction,
    Preset, Result, RowPredictor, Threads, Value, choices,
};

use crate::encoder::{EncodedRows, Encoder, Scaling};
use crate::head::Head;
use crate::leaves::check_on_simplex;
use crate::linear::LinearMap;
use crate::loss::LossForm;
use crate::single_row::SingleRow;
use crate::stepper::predict_rows;
use crate::training::{Ensemble, train};
use crate::tree_shape::{ForestShape, LARGEST_DEPTH};

choices! {
    /// Which rows a leaf update looks at.
    pub enum LeafRows {
        /// Those of the mini-batches since the last update: Algorithm 1 of the paper.
        Batches = "batches",
        /// Those of the last mini-batches that make up one epoch.
        Epoch = "epoch",
        /// All training rows.
        All = "all",
        /// All training rows up to 50,000; above that those of the mini-batches since the last update.
        Auto = "auto",
    }
}

choices! {
    /// How splits are initialised.
    pub enum Init {
        /// Random directions.
        Random = "random",
        /// The splits of a random forest grown greedily on the training rows, softened; weight decay then leads back to them.
        Greedy = "greedy",
    }
}

ldlf_core::parameters! {
    /// Parameters of `sldlf` and `sndf-ldl`.
    pub struct ForestParameters, builder ForestParams for Forest, NeuralDecisionForest {
        /// Number of trees.
        trees: usize = 20, at_least 1, at_most 1_000_000, known_as "n_estimators";
        /// Depth of every tree, which then has 2^(depth-1) leaves.
        depth: usize = 7, at_least 1, at_most 30;
        /// Output units of the linear map, shared by the trees at random; auto gives every split its own.
        units: Auto<usize> = Auto::Auto, at_least 1;
        /// Whether the linear map has a bias.
        bias: bool = true, known_as "fit_intercept";
        /// How features are scaled, by what the training rows say.
        scaling: Scaling = Scaling::Standard;
        /// With standard scaling: standard deviations from the mean at which values are clipped.
        feature_clip: f64 = 5.0, above 0;
        /// With standard scaling: quantile bins into which a numeric column among sparse ones is encoded; 0 scales it like the others.
        bins: usize = 32, at_most 1024;
        /// How splits are initialised.
        init: Init = Init::Random;
        /// Loss that the gradient steps minimise.
        loss: LossForm = LossForm::Trees;
        /// Optimizer.
        optimizer: Optimizer = Optimizer::AdamW;
        /// Learning rate.
        learning_rate: f64 = 0.01, above 0;
        /// Momentum of sgd.
        momentum: f64 = 0.9, at_least 0, below 1;
        /// Learning rate schedule.
        schedule: Schedule = Schedule::Cosine;
        /// Fraction of the iterations over which the learning rate warms up.
        warm_up: f64 = 0.1, at_least 0, at_most 1;
        /// With the step schedule: iterations between two changes.
        step_every: usize = 10_000, at_least 1;
        /// With the step schedule: factor of each change.
        step_factor: f64 = 0.1, above 0, at_most 1;
        /// Weight decay: decoupled with adamw, added to the gradient with sgd and adam.
        weight_decay: f64 = 0.5, at_least 0;
        /// Fraction of the inputs dropped at random in each step; auto is 0.1 with at least 100 features and 0 with fewer.
        dropout: Auto<f64> = Auto::Auto, at_least 0, below 1;
        /// Rows per mini-batch.
        batch_size: usize = 256, at_least 1;
        /// Maximum number of iterations (mini-batches).
        iterations: usize = 25_000, at_least 1, known_as "max_iter";
        /// Epochs, clamped to [min_iterations, iterations]; none always runs iterations.
        epochs: Option<f64> = Some(20.0), above 0;
        /// Minimum number of iterations, however small the data.
        min_iterations: usize = 1_500;
        /// Mini-batches between two leaf updates.
        leaf_every: usize = 50, at_least 1;
        /// Rows that a leaf update sees.
        leaf_rows: LeafRows = LeafRows::Auto;
        /// Iterations per leaf update.
        leaf_iterations: usize = 10, at_least 1;
        /// Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update.
        leaf_prior: f64 = 1.0, at_least 0;
        /// Whether to keep the iteration that is best on held-out rows; auto does so with fewer than 100 features.
        early_stopping: Auto<bool> = Auto::Auto;
        /// Fraction of the training rows held out for early stopping.
        validation_fraction: f64 = 0.1, above 0, below 1;
        /// Leaf updates without improvement on the held-out rows before stopping.
        patience: usize = 20, at_least 1, known_as "n_iter_no_change";
        /// Relative change of the mean loss between leaf updates below which training stops; none never stops for it.
        tolerance: Option<f64> = None, above 0, known_as "tol";
    }
}

/// From so many features on dropout helps: they are redundant.
const MANY_FEATURES: usize = 100;

impl ForestParameters {
    /// Checks the rules between the parameters.
    fn check_shape(&self, ensemble: Ensemble) -> Result<()> {
        self.forest_shape(1, ensemble).check()?;
        if self.init == Init::Greedy && (!self.units.is_auto() || !self.bias) {
            return Err(Error::usage(
                "init=greedy needs a unit for every split and a bias; leave out units and set bias=true",
            ));
        }
        Ok(())
    }

    pub(crate) fn forest_shape(&self, labels: usize, ensemble: Ensemble) -> ForestShape {
        let mut shape =
            ForestShape { trees: self.trees, depth: self.depth.min(LARGEST_DEPTH), units: 0, labels };
        let own = shape.trees.saturating_mul(shape.splits()).max(1);
        shape.units = match ensemble {
            Ensemble::Joint => self.units.unwrap_or(own),
            Ensemble::OneTree => own,
        };
        shape
    }

    /// The step of an iteration, counted from 0, of so many.
    pub(crate) fn step_at(&self, iteration: usize, total: usize) -> Step {
        let length = StepLength {
            rate: self.learning_rate,
            schedule: self.schedule,
            warm_up: self.warm_up,
            step_every: self.step_every,
            step_factor: self.step_factor,
        };
        Step::new(self.optimizer, iteration, length.at(iteration, total), self.momentum, self.weight_decay)
    }

    /// The fraction of inputs dropped: with many (redundant) features dropout helps, with few it hurts.
    pub(crate) fn dropout_share(&self, features: usize) -> f64 {
        self.dropout.unwrap_or(if features >= MANY_FEATURES { 0.1 } else { 0.0 })
    }

    /// Whether rows are held out: below 100 features dropout is off, so early stopping guards against overfitting.
    pub(crate) fn stops_early(&self, features: usize) -> bool {
        self.early_stopping.unwrap_or(features < MANY_FEATURES)
    }

    /// Iterations on this many training rows.
    pub(crate) fn total_iterations(&self, rows: usize) -> usize {
        let batches = (rows / self.batch_size.min(rows).max(1)).max(1);
        match self.epochs {
            None => self.iterations,
            Some(epochs) => {
                ((epochs * batches as f64).ceil() as usize).max(self.min_iterations).min(self.iterations)
            }
        }
    }
}

/// The shallow forest: `f` is a linear map of the scaled features; trees, map and leaves are learnt by Algorithm 1.
///
/// For a row `x` with target `d`, tree `k` predicts `g_k = sum_l p(l|x) q_l` (Eqn. 1 and 2) and the forest minimises
/// `-1/K sum_k 1/N sum_i sum_c d_ic ln g_kc(x_i)` (Eqn. 3 and 13) over the map by gradient steps (Eqn. 6) and over the leaves
/// by variational bounding (Eqn. 12). The prediction is the mean of the `g_k`.
pub struct Forest;

impl Algorithm for Forest {
    type Parameters = ForestParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        resumes: true,
        exports: true,
        ..Facts::new(
            "sldlf",
            "shallow label distribution learning forest: soft trees on a linear map, learnt jointly",
            "W. Shen, K. Zhao, Y. Guo, A. Yuille: Label Distribution Learning Forests, NIPS 2017",
        )
    };

    fn check(parameters: &ForestParameters) -> Result<()> {
        parameters.check_shape(Ensemble::Joint)
    }

    fn presets() -> Vec<Preset> {
        presets()
    }

    fn fit(parameters: &ForestParameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let (model, summary) = train(Self::FACTS.name, parameters, Ensemble::Joint, data, context)?;
        Ok(Fitted { model: Box::new(model), summary })
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load(parts, shape)
    }
}

/// The same trees with the rule of neural decision forests: every mini-batch trains one tree, drawn at random, and every split has
/// a unit of its own.
pub struct NeuralDecisionForest;

impl Algorithm for NeuralDecisionForest {
    type Parameters = ForestParameters;

    const FACTS: Facts = Facts {
        name: "sndf-ldl",
        summary: "the same trees with the rule of neural decision forests: every mini-batch trains one tree drawn at random",
        source: "P. Kontschieder et al.: Deep Neural Decision Forests, ICCV 2015; the rule compared in Shen et al. 2017, Fig. 3(a)",
        ..Forest::FACTS
    };

    fn check(parameters: &ForestParameters) -> Result<()> {
        parameters.check_shape(Ensemble::OneTree)
    }

    fn presets() -> Vec<Preset> {
        presets()
    }

    fn fit(parameters: &ForestParameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let (model, summary) = train(Self::FACTS.name, parameters, Ensemble::OneTree, data, context)?;
        Ok(Fitted { model: Box::new(model), summary })
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load(parts, shape)
    }
}

/// A trained forest: encoder, linear map and head.
pub struct ShallowForest {
    /// Scales the features.
    pub encoder: Encoder,
    /// Turns scaled features into activations.
    pub map: LinearMap,
    /// The trees.
    pub head: Head<f32>,
}

pub(crate) fn predict(
    encoder: &Encoder,
    map: &LinearMap,
    head: &Head<f32>,
    inputs: &Inputs,
    threads: &Threads,
) -> Result<Prediction> {
    let features = inputs.table()?;
    let rows = EncodedRows { encoder, features, rows: None };
    let out = predict_rows(map, head, &rows, features.rows(), threads);
    Ok(Prediction::Distributions(Matrix::new(features.rows(), head.shape().labels, out)?))
}

impl Model for ShallowForest {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        predict(&self.encoder, &self.map, &self.head, inputs, threads)
    }

    fn row_predictor(&self) -> Option<Box<dyn RowPredictor + '_>> {
        Some(Box::new(SingleRow::new(self)))
    }

    fn store(&self, parts: &mut Parts) {
        let shape = self.head.shape();
        self.encoder.store(parts);
        parts.put(
            "weights",
            Array::F32(vec![self.encoder.inputs(), shape.units], self.map.weights().to_vec()),
        );
        parts.put("units", Array::U32(vec![shape.trees, shape.splits()], self.head.units().to_vec()));
        let leaves = self.head.leaves().to_vec();
        parts.put("leaves", Array::F32(vec![shape.trees, shape.leaves(), shape.labels], leaves));
        parts.put_detail("depth", shape.depth);
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        Some(crate::graph::add_shallow(graph, features, &self.encoder, &self.map, &self.head))
    }

    fn look_inside(&self, features: &Features, chosen: &[usize], threads: &Threads) -> Option<ForestView> {
        Some(crate::view::look_inside(self, features, chosen, threads))
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        let shape = self.head.shape();
        [
            ("trees", shape.trees),
            ("depth", shape.depth),
            ("leaves a tree", shape.leaves()),
            ("units", shape.units),
            ("weights", self.map.weights().len()),
        ]
        .map(|(name, value)| (name.to_string(), Value::from(value)))
        .into()
    }
}

fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
    let encoder = Encoder::load(parts, shape.features)?;
    let depth: usize = parts.detail("depth")?;
    let (&[trees, splits], &[inputs, units]) = (parts.shape("units")?, parts.shape("weights")?) else {
        return Err(Error::model_file("the model file's \"units\" and \"weights\" must have two dimensions"));
    };
    let forest = ForestShape { trees, depth, units, labels: shape.labels };
    forest.check().map_err(|e| Error::model_file(format!("the model file's forest: {e}")))?;
    if splits != forest.splits() || inputs != encoder.inputs() {
        return Err(Error::model_file("the model file's arrays do not fit its depth and its features"));
    }
    let of = parts.u32s("units", &[trees, splits])?;
    if of.iter().any(|&unit| unit as usize >= units) {
        return Err(Error::model_file("the model file's \"units\" names a unit that does not exist"));
    }
    let leaves = parts.f32s("leaves", &[trees, forest.leaves(), shape.labels])?;
    check_on_simplex(&leaves, shape.labels)?;
    let map = LinearMap::from_weights(inputs, units, parts.f32s("weights", &[inputs, units])?);
    Ok(Box::new(ShallowForest { encoder, map, head: Head::from_parts(forest, of, leaves) }))
}

/// The presets of both learners.
fn presets() -> Vec<Preset> {
    vec![
        Preset::new(
            "best",
            "the defaults with 50 trees: the last per cent, for two and a half times the time; sldlf-auto searches for more",
            ["trees=50"],
        ),
        Preset::new(
            "paper",
            "the settings of the paper's text: 5 trees of depth 7 on 64 shared units, sgd, no regularisation",
            [
                "trees=5",
                "depth=7",
                "units=64",
                "bias=false",
                "optimizer=sgd",
                "momentum=0.9",
                "learning_rate=1",
                "schedule=constant",
                "warm_up=0",
                "batch_size=64",
                "iterations=25000",
                "epochs=none",
                "leaf_every=100",
                "leaf_rows=batches",
                "leaf_iterations=20",
                "leaf_prior=0",
                "weight_decay=0",
                "dropout=0",
                "early_stopping=true",
            ],
        ),
        released(
            "released",
            "the authors' released script, with its 3,000 iterations: 10 trees of depth 5 on 512 shared units, raw features, no early stopping",
            3000,
        ),
        released(
            "released-movie",
            "the same with the 2,000 iterations that the script has for the Movie set",
            2000,
        ),
        Preset::new(
            "components",
            "for principal components and few rows (chosen on ages of faces): one factor for all features, no dropout, 40 trees of depth 5, no held-out rows",
            [
                "trees=40",
                "depth=5",
                "scaling=common",
                "weight_decay=0.3",
                "dropout=0",
                "min_iterations=600",
                "early_stopping=false",
            ],
        ),
    ]
}

/// The authors' script, which differs from set to set in its iterations alone.
fn released(name: &'static str, help: &'static str, iterations: usize) -> Preset {
    let mut preset = Preset::new(
        name,
        help,
        [
            "trees=10",
            "depth=5",
            "units=512",
            "bias=true",
            "scaling=raw",
            "optimizer=sgd",
            "momentum=0.9",
            "learning_rate=30",
            "schedule=constant",
            "warm_up=0",
            "batch_size=1000",
            "epochs=none",
            "leaf_every=50",
            "leaf_rows=epoch",
            "leaf_iterations=20",
            "leaf_prior=0",
            "weight_decay=0",
            "dropout=0",
            "early_stopping=false",
        ],
    );
    preset.settings.set("iterations", iterations);
    preset
}
