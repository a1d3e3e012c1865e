//! `sldlf`: the shallow label distribution learning forest, a linear map under soft trees (Shen et al. 2017).

use ldlf_core::forest_view::ForestView;
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::learner::{Abilities, RowPredictor};
use ldlf_core::model_file::{Array, ModelShape, Parts};
use ldlf_core::optimise::step::{Optimiser, Schedule, Step, StepLength};
use ldlf_core::{
    Dataset, Error, Features, FitContext, Fitted, Learner, LearnerEntry, Matrix, Model, Prediction, Preset,
    Result, Settings, Threads, Value, choices, message,
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
    /// What the first splits are.
    pub enum Start {
        /// Random directions.
        Random = "random",
        /// The splits of a random forest grown greedily on the training rows, softened; decay then leads back to them.
        Greedy = "greedy",
    }
}

ldlf_core::parameters! {
    /// What `sldlf` can be told.
    pub struct SldlfParameters {
        /// Number of trees.
        trees: usize = 20, at_least 1, at_most 1_000_000;
        /// Depth of the trees: 2^(depth-1) leaves each.
        depth: usize = 7, at_least 1, at_most 30;
        /// Output units of the linear map, shared by the trees at random; none gives every split its own.
        units: Option<usize> = None, at_least 1;
        /// Whether the linear map has a bias.
        bias: bool = true;
        /// How features are scaled, on training rows only.
        scaling: Scaling = Scaling::Standard;
        /// With standard scaling: deviations from the mean beyond which a value is cut off.
        clip: f64 = 5.0, above 0;
        /// With standard scaling: quantile bins over which a numeric column among sparse ones is spread; 0 scales it like the others.
        bins: usize = 32, at_most 1024;
        /// What the first splits are.
        start: Start = Start::Random;
        /// What the gradient steps lower.
        loss: LossForm = LossForm::Trees;
        /// Rule that turns gradients into steps.
        optimiser: Optimiser = Optimiser::AdamW;
        /// Step length.
        learning_rate: f64 = 0.01, above 0;
        /// Momentum of sgd.
        momentum: f64 = 0.9, at_least 0, below 1;
        /// How the step length changes.
        schedule: Schedule = Schedule::Cosine;
        /// Share of the iterations over which the step length first rises.
        warm_up: f64 = 0.1, at_least 0, at_most 1;
        /// With the step schedule: iterations between two changes.
        step_every: usize = 10_000, at_least 1;
        /// With the step schedule: factor of each change.
        step_factor: f64 = 0.1, above 0, at_most 1;
        /// Weight decay: decoupled with adamw, added to the gradient with sgd and adam.
        weight_decay: f64 = 0.5, at_least 0;
        /// Share of the inputs that are left out at random in each step; none is 0.1 with a hundred features or more and 0 with fewer.
        dropout: Option<f64> = None, at_least 0, below 1;
        /// Rows of a mini-batch.
        batch_size: usize = 256, at_least 1;
        /// Largest number of iterations (mini-batches).
        iterations: usize = 25_000, at_least 1;
        /// Passes over the training rows, but for least_iterations and iterations; none goes on to iterations.
        epochs: Option<f64> = Some(20.0), above 0;
        /// Iterations that few rows get however soon their epochs are over.
        least_iterations: usize = 1_500;
        /// Mini-batches between two leaf updates.
        leaf_every: usize = 50, at_least 1;
        /// Rows a leaf update looks at.
        leaf_rows: LeafRows = LeafRows::Auto;
        /// Iterations of a leaf update.
        leaf_iterations: usize = 10, at_least 1;
        /// Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update.
        leaf_prior: f64 = 1.0, at_least 0;
        /// Whether to hold rows back and keep the iteration that is best on them; none does so with fewer than a hundred features.
        early_stopping: Option<bool> = None;
        /// Share of the training rows held back.
        validation_share: f64 = 0.1, above 0, below 1;
        /// Leaf updates without improvement before training stops.
        patience: usize = 20, at_least 1;
        /// Relative change of the mean loss between leaf updates below which training has converged; none never stops for it.
        tolerance: Option<f64> = None, above 0;
    }
}

/// From so many features on some of them may be left out.
const MANY_FEATURES: usize = 100;

impl SldlfParameters {
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
        Step::new(self.optimiser, iteration, length.at(iteration, total), self.momentum, self.weight_decay)
    }

    /// The share of inputs left out: many features carry each other's news, few do not.
    pub(crate) fn dropout_share(&self, features: usize) -> f64 {
        self.dropout.unwrap_or(if features >= MANY_FEATURES { 0.1 } else { 0.0 })
    }

    /// Whether rows are held back: what dropout keeps from being learnt by heart, early stopping does for few features.
    pub(crate) fn stops_early(&self, features: usize) -> bool {
        self.early_stopping.unwrap_or(features < MANY_FEATURES)
    }

    /// Iterations on this many training rows.
    pub(crate) fn total_iterations(&self, rows: usize) -> usize {
        let batches = (rows / self.batch_size.min(rows).max(1)).max(1);
        match self.epochs {
            None => self.iterations,
            Some(epochs) => {
                ((epochs * batches as f64).ceil() as usize).max(self.least_iterations).min(self.iterations)
            }
        }
    }
}

/// The shallow forest: `f` is a linear map of the scaled features; trees, map and leaves are learnt by Algorithm 1.
///
/// For a row `x` with target `d`, tree `k` predicts `g_k = sum_l p(l|x) q_l` (Eqn. 1 and 2) and the forest minimises
/// `-1/K sum_k 1/N sum_i sum_c d_ic ln g_kc(x_i)` (Eqn. 3 and 13) over the map by gradient steps (Eqn. 6) and over the leaves
/// by variational bounding (Eqn. 12). The prediction is the mean of the `g_k`.
pub struct Sldlf {
    parameters: SldlfParameters,
    ensemble: Ensemble,
}

impl Sldlf {
    /// The learner with the given parameters.
    pub fn new(parameters: SldlfParameters) -> Result<Self> {
        Sldlf::with_rule(parameters, Ensemble::Joint)
    }

    /// The learner with another rule for the trees.
    pub fn with_rule(parameters: SldlfParameters, ensemble: Ensemble) -> Result<Self> {
        parameters.forest_shape(1, ensemble).check()?;
        if parameters.start == Start::Greedy && (parameters.units.is_some() || !parameters.bias) {
            return Err(Error::usage("start=greedy needs a unit for every split and a bias")
                .with_remedy("leave out units and set bias=true"));
        }
        Ok(Sldlf { parameters, ensemble })
    }
}

impl Learner for Sldlf {
    fn name(&self) -> &'static str {
        match self.ensemble {
            Ensemble::Joint => SLDLF.name,
            Ensemble::OneTree => SNDF_LDL.name,
        }
    }

    fn settings(&self) -> Settings {
        self.parameters.to_settings()
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let (model, summary) = train(self.name(), &self.parameters, self.ensemble, data, context)?;
        Ok(Fitted { model: Box::new(model), summary })
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
    features: &Features,
    threads: &Threads,
) -> Result<Prediction> {
    let rows = EncodedRows { encoder, features, rows: None };
    let out = predict_rows(map, head, &rows, features.rows(), threads);
    Ok(Prediction::Distributions(Matrix::new(features.rows(), head.shape().labels, out)?))
}

impl Model for ShallowForest {
    fn predict(&self, features: &Features, threads: &Threads) -> Result<Prediction> {
        predict(&self.encoder, &self.map, &self.head, features, threads)
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
    forest.check().map_err(|e| Error::model_file(message!["the model file's forest: ", e.sentence()]))?;
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

/// The named sets of parameters of `sldlf`.
fn presets() -> Vec<Preset> {
    let settings = |pairs: &[&str]| Settings::parse(pairs).expect("presets are written as name=value");
    vec![
        Preset {
            name: "best",
            help: "the defaults with 50 trees: the last per cent, for two and a half times the time; sldlf-auto searches for more",
            settings: settings(&["trees=50"]),
            on_dataset: vec![],
        },
        Preset {
            name: "paper",
            help: "the settings of the paper's text: 5 trees of depth 7 on 64 shared units, sgd, no regularisation",
            settings: settings(&[
                "trees=5",
                "depth=7",
                "units=64",
                "bias=false",
                "optimiser=sgd",
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
            ]),
            on_dataset: vec![],
        },
        Preset {
            name: "released",
            help: "the authors' released script: 10 trees of depth 5 on 512 shared units, raw features, no early stopping",
            settings: settings(&[
                "trees=10",
                "depth=5",
                "units=512",
                "bias=true",
                "scaling=raw",
                "optimiser=sgd",
                "momentum=0.9",
                "learning_rate=30",
                "schedule=constant",
                "warm_up=0",
                "batch_size=1000",
                "iterations=3000",
                "epochs=none",
                "leaf_every=50",
                "leaf_rows=epoch",
                "leaf_iterations=20",
                "leaf_prior=0",
                "weight_decay=0",
                "dropout=0",
                "early_stopping=false",
            ]),
            on_dataset: vec![("movie", settings(&["iterations=2000"]))],
        },
        Preset {
            name: "components",
            help: "for principal components and few rows (chosen on ages of faces): one factor for all features, none left out, 40 trees of depth 5, no rows held back",
            settings: settings(&[
                "trees=40",
                "depth=5",
                "scaling=common",
                "weight_decay=0.3",
                "dropout=0",
                "least_iterations=600",
                "early_stopping=false",
            ]),
            on_dataset: vec![],
        },
    ]
}

const SOURCE: &str = "W. Shen, K. Zhao, Y. Guo, A. Yuille: Label Distribution Learning Forests, NIPS 2017";

/// `sldlf` for the registry.
pub const SLDLF: LearnerEntry = LearnerEntry {
    name: "sldlf",
    summary: "shallow label distribution learning forest: soft trees on a linear map, learnt jointly",
    source: SOURCE,
    abilities: Abilities { sparse: true, weights: true, iterates: true, ordered: false, images: false },
    parameters: SldlfParameters::declared,
    presets,
    build: |settings| Ok(Box::new(Sldlf::new(SldlfParameters::from_settings(settings)?)?)),
    load,
};

/// `sndf-ldl` for the registry.
pub const SNDF_LDL: LearnerEntry = LearnerEntry {
    name: "sndf-ldl",
    summary: "the same trees with the rule of neural decision forests: every mini-batch trains one tree drawn at random",
    source: "P. Kontschieder et al.: Deep Neural Decision Forests, ICCV 2015; the rule compared in Shen et al. 2017, Fig. 3(a)",
    abilities: Abilities { sparse: true, weights: true, iterates: true, ordered: false, images: false },
    parameters: SldlfParameters::declared,
    presets,
    build: |settings| {
        Ok(Box::new(Sldlf::with_rule(SldlfParameters::from_settings(settings)?, Ensemble::OneTree)?))
    },
    load,
};
