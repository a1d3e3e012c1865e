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
        exports: true,
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

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: sgd with momentum on a network whose weights are given, no early stopping, no clipping of gradients; learning rate, schedule, batches and epochs are ours, the publication's are not known here",
            [
                "optimizer=sgd",
                "momentum=0.9",
                "weight_decay=0",
                "max_grad_norm=none",
                "warm_up=0",
                "jitter=0",
                "erasing=0",
                "mixup=0",
                "layer_decay=1",
                "unfreeze_epochs=0",
                "average=none",
                "early_stopping=false",
                "start_epochs=0",
            ],
        )]
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

/// What the paper and the authors' scripts have in common: Algorithm 1 on SGD, without anything of ours.
const PLAIN: [&str; 24] = [
    "trees=5",
    "depth=7",
    "units=64",
    "leaf_every=100",
    "leaf_iterations=20",
    "leaf_prior=0",
    "leaf_smoothing=0",
    "early_leaf_updates=false",
    "steepness=none",
    "loss=trees",
    "optimizer=sgd",
    "momentum=0.9",
    "weight_decay=0",
    "max_grad_norm=none",
    "warm_up=0",
    "flip=false",
    "jitter=0",
    "erasing=0",
    "mixup=0",
    "layer_decay=1",
    "unfreeze_epochs=0",
    "average=none",
    "early_stopping=false",
    "start_epochs=0",
];

/// The learning rate of the authors' solver: 0.1 on a loss summed over five trees is 0.5 on their mean.
const RATE: &str = "learning_rate=0.5";

/// Input and schedule of the authors' solver.
const SOLVER: [&str; 8] = [
    "iterations=30000",
    "schedule=step",
    "step_iterations=10000",
    "step_factor=0.5",
    "backbone_factor=1",
    "input_range=255",
    "input_mean=112",
    "input_deviation=1",
];

/// What the sources do not state keeps its default; docs/decisions/presets-follow-the-paper.md lists it.
fn presets() -> Vec<Preset> {
    let preset = |name, help, more: &[&[&str]]| {
        let pairs = [&[&PLAIN[..]], more].concat().concat();
        Preset { name, help, settings: Settings::parse(pairs).expect("presets are written as name=value") }
    };
    vec![
        preset(
            "paper",
            "the paper's text: 5 trees of depth 7 on 64 units, leaves every 100 mini-batches, 25,000 iterations; sgd as the authors' solver, at a constant rate",
            &[&[RATE, "iterations=25000", "schedule=constant", "batch_size=64", "crop=0"]],
        ),
        preset(
            "released",
            "the authors' solver for AlexNet: the rate halves every 10,000 of 30,000 iterations, convolutions learn at a tenth, batches of 64, 112 subtracted, no mirroring",
            &[&SOLVER, &[RATE, "batch_size=64", "convolution_factor=0.1", "crop=0.06"]],
        ),
        preset(
            "released-vgg",
            "the authors' solver for VGG-16: as released, with all layers at the full rate and batches of 32",
            &[&SOLVER, &[RATE, "batch_size=32", "convolution_factor=1", "crop=0.07"]],
        ),
    ]
}
