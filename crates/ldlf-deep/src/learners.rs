//! `dldlf`, `dndf-ldl` and `dldl`: a deep network under trees or a softmax, learnt end to end.

use ldlf_core::learner::Abilities;
use ldlf_core::{Dataset, FitContext, Fitted, Learner, LearnerEntry, Preset, Result, Settings};

use crate::model::load;
use crate::parameters::{NetworkParameters, of_forests, split};
use crate::plan::{Plan, Rule};
use crate::training::train;

/// A deep learner: backbone, last layer and what stands on it.
///
/// With trees, for a row `x` with target `d`, tree `k` predicts `g_k = sum_l p(l|f(x)) q_l` (Eqn. 1 and 2 of Shen et al. 2017), where `f` is the
/// network; the loss (Eqn. 3 and 13) falls by gradient steps through the network (Eqn. 6) and by variational bounding of the
/// leaves (Eqn. 12). With a softmax the same loss falls by gradient steps alone.
pub struct Deep {
    plan: Plan,
}

impl Deep {
    /// The learner of a rule with some settings.
    pub fn new(learner: &'static str, rule: Rule, settings: &Settings) -> Result<Self> {
        let (network, forest) = split(settings, rule != Rule::Softmax)?;
        let plan = Plan { learner, rule, network, forest };
        plan.check()?;
        Ok(Deep { plan })
    }
}

impl Learner for Deep {
    fn name(&self) -> &'static str {
        self.plan.learner
    }

    fn settings(&self) -> Settings {
        self.plan.settings()
    }

    fn reads_images(&self) -> bool {
        true // with backbone=mlp the training says what is wrong with images
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let (model, summary) = train(&self.plan, data, context)?;
        Ok(Fitted { model: Box::new(model), summary })
    }
}

/// The deep learners, the flagship first.
pub fn entries() -> Vec<LearnerEntry> {
    vec![DLDLF, DNDF_LDL, DLDL]
}

const ABILITIES: Abilities =
    Abilities { sparse: false, weights: true, iterates: true, ordered: false, images: true };

/// `dldlf` for the registry.
pub const DLDLF: LearnerEntry = LearnerEntry {
    name: "dldlf",
    summary: "deep label distribution learning forest: soft trees on a deep network, learnt end to end",
    source: "W. Shen, K. Zhao, Y. Guo, A. Yuille: Label Distribution Learning Forests, NIPS 2017",
    abilities: ABILITIES,
    parameters: of_forests,
    presets: of_the_paper,
    build: |settings| Ok(Box::new(Deep::new("dldlf", Rule::Joint, settings)?)),
    load,
};

/// `dndf-ldl` for the registry.
pub const DNDF_LDL: LearnerEntry = LearnerEntry {
    name: "dndf-ldl",
    summary: "the same with the rule of neural decision forests: every mini-batch trains one tree drawn at random",
    source: "P. Kontschieder et al.: Deep Neural Decision Forests, ICCV 2015; as compared in Shen et al. 2017",
    abilities: ABILITIES,
    parameters: of_forests,
    presets: of_the_paper,
    build: |settings| Ok(Box::new(Deep::new("dndf-ldl", Rule::OneTree, settings)?)),
    load,
};

/// `dldl` for the registry.
pub const DLDL: LearnerEntry = LearnerEntry {
    name: "dldl",
    summary: "deep label distribution learning: a softmax over the labels on a deep network, learnt end to end",
    source: "B.-B. Gao et al.: Deep Label Distribution Learning with Label Ambiguity, IEEE TIP 2017",
    abilities: ABILITIES,
    parameters: NetworkParameters::declared,
    presets: Vec::new,
    build: |settings| Ok(Box::new(Deep::new("dldl", Rule::Softmax, settings)?)),
    load,
};

/// The forest of the paper's facial age experiments (Section 4): what it does not state (backbone, step length, weights) stays open.
fn of_the_paper() -> Vec<Preset> {
    let settings = [
        "trees=5",
        "depth=7",
        "units=64",
        "leaf_every=100",
        "leaf_iterations=20",
        "leaf_prior=0",
        "leaf_smoothing=0",
        "steepness=1",
        "loss=trees",
        "optimiser=sgd",
        "momentum=0.9",
    ];
    vec![Preset {
        name: "paper",
        help: "the forest of the paper: 5 trees of depth 7 on 64 units, leaves moved every 100 mini-batches, no prior; sgd",
        settings: Settings::parse(settings).expect("the preset reads name=value"),
        on_dataset: vec![],
    }]
}
