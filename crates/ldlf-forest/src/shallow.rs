//! `sldlf`: the shallow label distribution learning forest, a linear map under soft trees (Shen et al. 2017).

use ldlf_core::parameters::ParameterSet;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Auto, Dataset, Error, Facts, FitContext, Fitted, Model, Preset, Result};
use ldlf_math::optimise::step::{LearningRate, Optimizer, Schedule};

use crate::algorithm1::Ensemble;
use crate::choice::Choice;
use crate::encoder::Scaling;
use crate::loss::LossForm;
use crate::model::load;
use crate::plan::{Encoding, Iterations, LeafPlan, LeaveOutPlan, Plan, StepRule};
pub use crate::plan::{Init, LeafRows};
use crate::race::fit_choosing;
use crate::training::{Outcome, train};
use crate::tree_shape::{ForestShape, LARGEST_DEPTH};

ldlf_core::parameters! {
    /// Parameters of `sldlf` and `sndf-ldl`.
    pub struct ForestParameters, builder ForestParams for Forest, NeuralDecisionForest {
        /// Number of soft trees; auto is 20, or where the fit chooses 30 for a strong signal and 40 if they are shallow.
        trees: Auto<usize> = Auto::Auto, at_least 1, at_most 1_000_000, known_as "n_estimators";
        /// Whether the fit checks itself: it chooses what is `auto` (scaling, depth, loss, weight_decay, dropout, leaf_prior) by rows that
        /// trees leave out, and mixes in grown trees and a linear model where they help. If false, the parameters are taken as they are, and `auto`
        /// stands for fixed values.
        choose: bool = true, except "false for `NeuralDecisionForest`";
        /// Groups of rows of which every tree leaves out one, which gives out-of-fold predictions; 0 leaves out none, as in the paper.
        leave_out: usize = 5, at_most 100, except "0 for `NeuralDecisionForest`";
        /// Fraction of the iterations, at the end, in which every tree learns from all rows.
        given_back: f64 = 0.3, at_least 0, below 1;
        /// Number of grown trees that may join when the fit checks itself, beside boosted ones; auto is 100, or up to 400 where they pay;
        /// 0 keeps all of them out.
        grown_trees: Auto<usize> = Auto::Auto, at_most 10_000;
        /// Depth of every tree, which then has 2^(depth-1) leaves; auto is chosen in the fit, or 7.
        depth: Auto<usize> = Auto::Auto, at_least 1, at_most 30;
        /// Output units of the linear map, shared by the trees at random; auto gives every split its own.
        units: Auto<usize> = Auto::Auto, at_least 1;
        /// Whether the linear map has a bias.
        bias: bool = true, known_as "fit_intercept";
        /// How features are scaled, by what the training rows say; auto is chosen in the fit, or standard.
        scaling: Auto<Scaling> = Auto::Auto;
        /// With standard scaling: standard deviations from the mean at which values are clipped; none never clips.
        feature_clip: Option<f64> = Some(5.0), above 0;
        /// With standard scaling: quantile bins into which a numeric column among sparse ones is encoded; 0 scales it like the others.
        bins: usize = 32, at_most 1024;
        /// How splits are initialised; auto is chosen in the fit, or random.
        init: Auto<Init> = Auto::Auto;
        /// Loss that the gradient steps minimise; auto is chosen in the fit, or trees.
        loss: Auto<LossForm> = Auto::Auto;
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
        /// Weight decay: decoupled with adamw, added to the gradient with sgd and adam; auto is chosen in the fit, or 0.5.
        weight_decay: Auto<f64> = Auto::Auto, at_least 0;
        /// Fraction of the inputs dropped at random in each step; auto is chosen in the fit, or 0.1 with at least 100 features and 0 with fewer.
        dropout: Auto<f64> = Auto::Auto, at_least 0, below 1;
        /// Rows per mini-batch.
        batch_size: usize = 128, at_least 1;
        /// Maximum number of iterations (mini-batches).
        iterations: usize = 25_000, at_least 1, known_as "max_iter";
        /// Epochs, clamped to [min_iterations, iterations]; none always runs iterations.
        epochs: Option<f64> = Some(20.0), above 0;
        /// Minimum number of iterations, however small the data; half of it where the fit chooses and finds that the features say little.
        min_iterations: usize = 1200;
        /// Mini-batches between two leaf updates.
        leaf_every: usize = 50, at_least 1;
        /// Rows that a leaf update sees.
        leaf_rows: LeafRows = LeafRows::Auto;
        /// Iterations per leaf update.
        leaf_iterations: usize = 5, at_least 1;
        /// Pseudo-count that draws every leaf to the mean training distribution; 0 is the paper's update; auto is chosen in the fit, or 1.
        leaf_prior: Auto<f64> = Auto::Auto, at_least 0;
        /// Whether to keep the iteration that is best on held-out rows, or on the rows that trees leave out; auto does so with fewer than 100
        /// features where no rows are left out.
        early_stopping: Auto<bool> = Auto::Auto;
        /// Fraction of the training rows held out for early stopping.
        validation_fraction: f64 = 0.1, above 0, below 1;
        /// Leaf updates without improvement on the held-out rows before stopping.
        patience: usize = 20, at_least 1, known_as "n_iter_no_change";
        /// Relative change of the mean loss between leaf updates below which training stops; none never stops for it.
        tolerance: Option<f64> = None, above 0, known_as "tol";
    }
}

/// Trees where their number is not given.
const TREES: usize = 20;

/// From so many features on dropout helps: they are redundant.
pub(crate) const MANY_FEATURES: usize = 100;

impl ForestParameters {
    /// Checks the rules between the parameters.
    fn check_shape(&self, ensemble: Ensemble) -> Result<()> {
        self.forest_shape(1, ensemble).check()?;
        if self.init == Auto::Given(Init::Greedy) && (!self.units.is_auto() || !self.bias) {
            return Err(Error::usage("init=greedy needs a unit for every split and a bias")
                .with_remedy("leave out units and set bias=true"));
        }
        Ok(())
    }

    pub(crate) fn forest_shape(&self, labels: usize, ensemble: Ensemble) -> ForestShape {
        let depth = self.depth.unwrap_or(Choice::fixed(MANY_FEATURES).depth);
        self.shape_of(self.trees.unwrap_or(TREES), depth, labels, ensemble)
    }

    fn shape_of(&self, trees: usize, depth: usize, labels: usize, ensemble: Ensemble) -> ForestShape {
        let mut shape = ForestShape { trees, depth: depth.min(LARGEST_DEPTH), units: 0, labels };
        let own = shape.trees.saturating_mul(shape.splits()).max(1);
        shape.units = match ensemble {
            Ensemble::Joint => self.units.unwrap_or(own),
            Ensemble::OneTree => own,
        };
        shape
    }

    /// What a training on data of so many features and labels does, with fixed values where the parameters are `auto`.
    pub(crate) fn plan(
        &self,
        learner: &'static str,
        ensemble: Ensemble,
        features: usize,
        labels: usize,
    ) -> Plan {
        let choice = Choice::fixed(features).given(self);
        self.plan_of(learner, ensemble, features, labels, &choice, self.trees.unwrap_or(TREES))
    }

    /// What a training does that takes its scaling, depth, loss and regularisation from `choice`.
    pub(crate) fn plan_of(
        &self,
        learner: &'static str,
        ensemble: Ensemble,
        features: usize,
        labels: usize,
        choice: &Choice,
        trees: usize,
    ) -> Plan {
        let clip = self.feature_clip.unwrap_or(f64::from(f32::MAX));
        let (bins, bias) = (self.bins, self.bias);
        let groups = self.leave_out.min(trees);
        let leave_out = (groups >= 2).then_some(LeaveOutPlan { groups, given_back: self.given_back });
        // Without dropout and left-out rows, early stopping guards against overfitting.
        let stops_early = self.early_stopping.unwrap_or(features < MANY_FEATURES && leave_out.is_none());
        Plan {
            learner,
            settings: self.to_settings(),
            free: &["iterations"],
            remedy: format!("try a learning_rate below {} or scaling=standard", self.learning_rate),
            number: 0,
            ensemble,
            shape: self.shape_of(trees, choice.depth, labels, ensemble),
            encoding: Encoding { scaling: choice.scaling, clip, bins, bias },
            init: choice.init,
            loss: choice.loss,
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
                weight_decay: choice.weight_decay,
            },
            dropout: choice.dropout,
            batch_size: self.batch_size,
            iterations: Iterations { epochs: self.epochs, least: self.min_iterations, most: self.iterations },
            leaves: LeafPlan {
                every: self.leaf_every,
                rows: self.leaf_rows,
                iterations: self.leaf_iterations,
                prior: self.leaf_prior.unwrap_or(1.0),
                choose_prior: self.choose && self.leaf_prior.is_auto() && leave_out.is_some(),
            },
            leave_out,
            held_out: stops_early.then_some(self.validation_fraction),
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
        out_of_fold: true,
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
        match parameters.choose {
            true => fit_choosing(parameters, data, context),
            false => fit_as_told(parameters, Self::FACTS.name, Ensemble::Joint, data, context),
        }
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
        out_of_fold: false,
        ..Forest::FACTS
    };

    fn defaults() -> ForestParameters {
        ForestParameters { choose: false, leave_out: 0, ..ForestParameters::default() }
    }

    fn check(parameters: &ForestParameters) -> Result<()> {
        if parameters.choose {
            return Err(Error::parameter("choose", "false for sndf-ldl", true));
        }
        parameters.check_shape(Ensemble::OneTree)
    }

    fn presets() -> Vec<Preset> {
        presets()
    }

    fn fit(parameters: &ForestParameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        fit_as_told(parameters, Self::FACTS.name, Ensemble::OneTree, data, context)
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load(parts, shape)
    }
}

/// One training with the parameters as they are.
pub(crate) fn fit_as_told(
    parameters: &ForestParameters,
    learner: &'static str,
    ensemble: Ensemble,
    data: &Dataset,
    context: &mut FitContext<'_>,
) -> Result<Fitted> {
    let plan = parameters.plan(learner, ensemble, data.features()?.cols(), data.labels());
    let Outcome { forest, mut summary, checked } = train(plan, data, context)?;
    let mut fitted = Fitted::new(Box::new(forest), summary.clone());
    if let Some(checked) = checked {
        summary.validation_kl = Some(checked.kl);
        summary.mean_kl = Some(data.mean_kl());
        fitted = Fitted { summary, out_of_fold: Some(checked.out_of_fold), ..fitted };
    }
    Ok(fitted)
}

/// The presets of both learners.
fn presets() -> Vec<Preset> {
    vec![
        Preset::new(
            "best",
            "the defaults with 50 trees: the last per cent, for two and a half times the time; sldlf-auto searches for more",
            ["trees=50"],
        ),
        paper(
            "paper",
            "the paper's text and nothing else: 5 trees of depth 7 on 64 shared units, 25,000 iterations, 20 leaf iterations over 100 mini-batches; what the text leaves open: standardised features, sgd with momentum 0.9, a learning rate of 1, batches of 64",
            ["bins=0", "feature_clip=none", "early_stopping=false"],
        ),
        paper(
            "paper-aided",
            "paper with three aids of ours: bins of numeric columns among sparse ones, features clipped at 5 deviations, and the iteration that is best on held-out rows",
            ["bins=32", "feature_clip=5", "early_stopping=true"],
        ),
        released(
            "released",
            "the authors' script, with its 3,000 iterations: 10 trees of depth 5 on 512 shared units, raw features. It differs in the learning rate (100 on the sum of the trees there, which is 1,000 on their mean; 30 here, which settles), in mini-batches (drawn with replacement there, by epochs here) and in leaf updates (by routings as they were seen there, by the present splits here)",
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
                "choose=false",
                "leave_out=0",
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

/// The paper's text, with our aids or without them.
fn paper(name: &'static str, help: &'static str, aids: [&str; 3]) -> Preset {
    let text = [
        "choose=false",
        "leave_out=0",
        "scaling=standard",
        "init=random",
        "loss=trees",
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
        "tolerance=none",
    ];
    let preset = Preset::new(name, help, text);
    Preset { settings: preset.settings.overridden_by(&Preset::new(name, help, aids).settings), ..preset }
}

/// The authors' script, which differs from set to set in its iterations alone.
fn released(name: &'static str, help: &'static str, iterations: usize) -> Preset {
    let mut preset = Preset::new(
        name,
        help,
        [
            "choose=false",
            "leave_out=0",
            "init=random",
            "loss=trees",
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
            "tolerance=none",
        ],
    );
    preset.settings.set("iterations", iterations);
    preset
}
