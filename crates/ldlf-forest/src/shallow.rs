//! `sldlf`: the shallow label distribution learning forest, a linear map under soft trees (Shen et al. 2017).

use ldlf_core::parameters::ParameterSet;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Auto, Dataset, Error, Facts, FitContext, Fitted, Model, Preset, Result};
use ldlf_math::optimise::step::{LearningRate, Optimizer, Schedule};

use crate::algorithm1::Ensemble;
use crate::encoder::Scaling;
use crate::loss::LossForm;
use crate::model::load;
use crate::plan::{Encoding, Iterations, LeafPlan, Plan, StepRule};
pub use crate::plan::{Init, LeafRows};
use crate::training::train;
use crate::tree_shape::{ForestShape, LARGEST_DEPTH};

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
            return Err(Error::usage("init=greedy needs a unit for every split and a bias")
                .with_remedy("leave out units and set bias=true"));
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

    /// What a training on data of so many features and labels does.
    pub(crate) fn plan(
        &self,
        learner: &'static str,
        ensemble: Ensemble,
        features: usize,
        labels: usize,
    ) -> Plan {
        let (scaling, clip, bins, bias) = (self.scaling, self.feature_clip, self.bins, self.bias);
        let many = features >= MANY_FEATURES;
        Plan {
            learner,
            settings: self.to_settings(),
            free: &["iterations"],
            remedy: format!("try a learning_rate below {} or scaling=standard", self.learning_rate),
            ensemble,
            shape: self.forest_shape(labels, ensemble),
            encoding: Encoding { scaling, clip, bins, bias },
            init: self.init,
            loss: self.loss,
            steps: StepRule {
                optimizer: self.optimizer,
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
            iterations: Iterations { epochs: self.epochs, least: self.min_iterations, most: self.iterations },
            leaves: LeafPlan {
                every: self.leaf_every,
                rows: self.leaf_rows,
                iterations: self.leaf_iterations,
                prior: self.leaf_prior,
            },
            // Without dropout, early stopping guards against overfitting.
            held_out: self.early_stopping.unwrap_or(!many).then_some(self.validation_fraction),
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
        let plan = parameters.plan(Self::FACTS.name, Ensemble::Joint, data.features()?.cols(), data.labels());
        let (model, summary) = train(plan, data, context)?;
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
        let plan =
            parameters.plan(Self::FACTS.name, Ensemble::OneTree, data.features()?.cols(), data.labels());
        let (model, summary) = train(plan, data, context)?;
        Ok(Fitted { model: Box::new(model), summary })
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load(parts, shape)
    }
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
