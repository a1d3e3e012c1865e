//! `dldlf`, `dndf-ldl` and `dldl`: a deep network under trees or a softmax, trained end to end.

use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{
    Algorithm, Dataset, Facts, FitContext, Fitted, LearnerEntry, Model, Preset, Reads, Result, Settings,
};

use crate::model::load;
use crate::parameters::{DeepForestParameters, ForestParameters, NetworkParameters};
use crate::plan::{Plan, Rule};
use crate::training::train;

/// The deep learners, `dldlf` first.
pub fn entries() -> Vec<LearnerEntry> {
    vec![
        LearnerEntry::of::<DeepForest>(),
        LearnerEntry::of::<DeepNeuralDecisionForest>(),
        LearnerEntry::of::<DeepLdl>(),
    ]
}

/// Soft trees on a deep network.
///
/// For a row `x` with target `d`, tree `k` predicts `g_k = sum_l p(l|f(x)) q_l` (Eqn. 1 and 2 of Shen et al. 2017), where `f` is the
/// network; the loss (Eqn. 3 and 13) falls by gradient steps through the network (Eqn. 6) and by variational bounding of the
/// leaves (Eqn. 12).
pub struct DeepForest;

impl Algorithm for DeepForest {
    type Parameters = DeepForestParameters;

    /// The backbone `mlp` reads tables, all others images: training refuses what does not fit.
    const FACTS: Facts = Facts {
        reads: Reads::Either,
        sparse: false,
        backbone: true,
        iterates: true,
        resumes: true,
        ..Facts::new(
            "dldlf",
            "deep label distribution learning forest: soft trees on a deep network, trained end to end",
            "W. Shen, K. Zhao, Y. Guo, A. Yuille: Label Distribution Learning Forests, NIPS 2017",
        )
    };

    fn check(parameters: &DeepForestParameters) -> Result<()> {
        forest_plan::<Self>(Rule::Joint, parameters).check().map(drop)
    }

    fn presets() -> Vec<Preset> {
        presets()
    }

    fn settings(parameters: &DeepForestParameters) -> Settings {
        forest_plan::<Self>(Rule::Joint, parameters).settings()
    }

    fn fit(
        parameters: &DeepForestParameters,
        data: &Dataset,
        context: &mut FitContext<'_>,
    ) -> Result<Fitted> {
        fit(&forest_plan::<Self>(Rule::Joint, parameters), data, context)
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load(parts, shape)
    }
}

/// The same with the rule of neural decision forests: every mini-batch trains one tree, drawn at random.
pub struct DeepNeuralDecisionForest;

impl Algorithm for DeepNeuralDecisionForest {
    type Parameters = DeepForestParameters;

    const FACTS: Facts = Facts {
        name: "dndf-ldl",
        summary: "the same with the rule of neural decision forests: every mini-batch trains one tree drawn at random",
        source: "P. Kontschieder et al.: Deep Neural Decision Forests, ICCV 2015; as compared in Shen et al. 2017",
        ..DeepForest::FACTS
    };

    fn check(parameters: &DeepForestParameters) -> Result<()> {
        forest_plan::<Self>(Rule::OneTree, parameters).check().map(drop)
    }

    fn presets() -> Vec<Preset> {
        presets()
    }

    fn settings(parameters: &DeepForestParameters) -> Settings {
        forest_plan::<Self>(Rule::OneTree, parameters).settings()
    }

    fn fit(
        parameters: &DeepForestParameters,
        data: &Dataset,
        context: &mut FitContext<'_>,
    ) -> Result<Fitted> {
        fit(&forest_plan::<Self>(Rule::OneTree, parameters), data, context)
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load(parts, shape)
    }
}

/// A softmax on a deep network: the loss of [`DeepForest`] falls by gradient steps alone.
pub struct DeepLdl;

impl Algorithm for DeepLdl {
    type Parameters = NetworkParameters;

    const FACTS: Facts = Facts {
        name: "dldl",
        summary: "deep label distribution learning: a softmax over the labels on a deep network, trained end to end",
        source: "B.-B. Gao et al.: Deep Label Distribution Learning with Label Ambiguity, IEEE TIP 2017",
        ..DeepForest::FACTS
    };

    fn check(parameters: &NetworkParameters) -> Result<()> {
        softmax_plan(parameters).check().map(drop)
    }

    fn settings(parameters: &NetworkParameters) -> Settings {
        softmax_plan(parameters).settings()
    }

    fn fit(parameters: &NetworkParameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        fit(&softmax_plan(parameters), data, context)
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load(parts, shape)
    }
}

fn forest_plan<A: Algorithm>(rule: Rule, (network, forest): &DeepForestParameters) -> Plan {
    Plan { learner: A::FACTS.name, rule, network: network.clone(), forest: forest.clone() }
}

fn softmax_plan(network: &NetworkParameters) -> Plan {
    Plan {
        learner: DeepLdl::FACTS.name,
        rule: Rule::Softmax,
        network: network.clone(),
        forest: ForestParameters::default(),
    }
}

fn fit(plan: &Plan, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
    let (model, summary) = train(plan, data, context)?;
    Ok(Fitted::new(Box::new(model), summary))
}

/// The forest of the paper's facial age experiments (Section 4): what the paper does not state (backbone, learning rate, weights) keeps its default.
fn presets() -> Vec<Preset> {
    vec![Preset::new(
        "paper",
        "the forest of the paper: 5 trees of depth 7 on 64 units, leaves updated every 100 mini-batches, no prior; sgd",
        [
            "trees=5",
            "depth=7",
            "units=64",
            "leaf_every=100",
            "leaf_iterations=20",
            "leaf_prior=0",
            "leaf_smoothing=0",
            "steepness=1",
            "loss=trees",
            "optimizer=sgd",
            "momentum=0.9",
        ],
    )]
}
