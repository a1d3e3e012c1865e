//! `sldlf`: the shallow label distribution learning forest, a linear map under soft trees (Shen et al. 2017).

use ldlf_core::learner::Abilities;
use ldlf_core::{Dataset, Error, FitContext, Fitted, Learner, LearnerEntry, Preset, Result, Settings};
use ldlf_math::optimise::step::{LearningRate, Optimiser, Schedule};

use crate::algorithm1::Ensemble;
use crate::encoder::Scaling;
use crate::loss::LossForm;
use crate::model::load;
use crate::plan::{Encoding, Iterations, LeafPlan, LeafRows, Plan, Start, StepRule};
use crate::training::train;
use crate::tree_shape::{ForestShape, LARGEST_DEPTH};

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

    /// What a training on data of so many features and labels does.
    pub(crate) fn plan(
        &self,
        learner: &'static str,
        ensemble: Ensemble,
        features: usize,
        labels: usize,
    ) -> Plan {
        let (scaling, clip, bins, bias) = (self.scaling, self.clip, self.bins, self.bias);
        let many = features >= MANY_FEATURES;
        Plan {
            learner,
            settings: self.to_settings(),
            free: &["iterations"],
            remedy: format!("try a learning_rate below {} or scaling=standard", self.learning_rate),
            ensemble,
            shape: self.forest_shape(labels, ensemble),
            encoding: Encoding { scaling, clip, bins, bias },
            start: self.start,
            loss: self.loss,
            steps: StepRule {
                optimiser: self.optimiser,
                length: LearningRate {
                    rate: self.learning_rate,
                    schedule: self.schedule,
                    warm_up: self.warm_up,
                    step_every: self.step_every,
                    step_factor: self.step_factor,
                },
                momentum: self.momentum,
                weight_decay: self.weight_decay,
            },
            // With many (redundant) features dropout helps; with few it hurts.
            dropout: self.dropout.unwrap_or(if many { 0.1 } else { 0.0 }),
            batch_size: self.batch_size,
            iterations: Iterations {
                epochs: self.epochs,
                least: self.least_iterations,
                most: self.iterations,
            },
            leaves: LeafPlan {
                every: self.leaf_every,
                rows: self.leaf_rows,
                iterations: self.leaf_iterations,
                prior: self.leaf_prior,
            },
            // Without dropout, early stopping guards against overfitting.
            held_out: self.early_stopping.unwrap_or(!many).then_some(self.validation_share),
            patience: self.patience,
            tolerance: self.tolerance,
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
            return Err(Error::usage(
                "start=greedy needs a unit for every split and a bias; leave out units and set bias=true",
            ));
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
        let plan = self.parameters.plan(self.name(), self.ensemble, data.features.cols(), data.labels());
        let (model, summary) = train(plan, data, context)?;
        Ok(Fitted { model: Box::new(model), summary })
    }
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
