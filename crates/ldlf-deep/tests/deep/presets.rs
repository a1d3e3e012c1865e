//! The presets of the deep learners: what each sets, and that they learn.

use ldlf_core::measures::{KL, mean_over_rows};
use ldlf_core::{Dataset, Features, FitContext, Matrix, Preset, Settings, Threads, TrainedModel};
use ldlf_deep::entries;

fn preset(learner: &str, name: &str) -> Settings {
    let entry = entries().into_iter().find(|entry| entry.name() == learner).unwrap();
    Preset::named(&(entry.presets)(), learner, name).unwrap().settings
}

/// All settings with a preset, defaults included.
fn table_of(learner: &str, name: &str) -> Vec<String> {
    let entry = entries().into_iter().find(|entry| entry.name() == learner).unwrap();
    let settings = (entry.build)(&preset(learner, name)).unwrap().settings();
    let of = |name: &str| format!("{name}={}", settings.get(name).unwrap()).replace('"', "");
    [
        "trees",
        "depth",
        "units",
        "leaf_every",
        "leaf_iterations",
        "leaf_prior",
        "leaf_smoothing",
        "early_leaf_updates",
        "steepness",
        "loss",
        "optimizer",
        "momentum",
        "weight_decay",
        "max_grad_norm",
        "learning_rate",
        "schedule",
        "warm_up",
        "iterations",
        "batch_size",
        "flip",
        "crop",
        "jitter",
        "erasing",
        "mixup",
        "layer_decay",
        "unfreeze_epochs",
        "average",
        "early_stopping",
        "step_iterations",
        "step_factor",
        "convolution_factor",
        "input_range",
        "input_mean",
        "input_deviation",
    ]
    .map(of)
    .to_vec()
}

/// Shen et al. 2017, Section 4, and the authors' solver for what the text leaves open.
const COMMON: [&str; 22] = [
    "trees=5",
    "depth=7",
    "units=64",
    "leaf_every=100",
    "leaf_iterations=20",
    "leaf_prior=0.0",
    "leaf_smoothing=0.0",
    "early_leaf_updates=false",
    "steepness=null",
    "loss=trees",
    "optimizer=sgd",
    "momentum=0.9",
    "weight_decay=0.0",
    "max_grad_norm=null",
    "learning_rate=0.5",
    "flip=false",
    "erasing=0.0",
    "mixup=0.0",
    "layer_decay=1.0",
    "unfreeze_epochs=0",
    "average=null",
    "early_stopping=false",
];

fn holds(learner: &str, name: &str, own: &[&str]) {
    let table = table_of(learner, name);
    for expected in COMMON.iter().chain(own) {
        assert!(
            table.iter().any(|line| line == expected),
            "{learner} {name}: {expected} is not in {table:?}"
        );
    }
}

#[test]
fn the_preset_paper_has_nothing_of_ours() {
    let own =
        ["schedule=constant", "warm_up=0.0", "iterations=25000", "batch_size=64", "crop=0.0", "jitter=0.0"];
    ["dldlf", "dndf-ldl"].iter().for_each(|learner| holds(learner, "paper", &own));
}

#[test]
fn the_released_presets_are_those_of_the_authors_solvers() {
    let solver = [
        "schedule=step",
        "step_iterations=10000",
        "step_factor=0.5",
        "iterations=30000",
        "warm_up=0.0",
        "input_range=255.0",
        "input_mean=112",
        "input_deviation=1",
        "jitter=0.0",
    ];
    for learner in ["dldlf", "dndf-ldl"] {
        holds(learner, "released", &[&solver[..], &["batch_size=64", "convolution_factor=0.1"]].concat());
        holds(learner, "released-vgg", &[&solver[..], &["batch_size=32", "convolution_factor=1.0"]].concat());
    }
}

#[test]
fn the_preset_paper_learns_a_small_table() {
    let rows = 256;
    let x = |row: usize| ((row * 37) % rows) as f32 / rows as f32;
    let features: Vec<[f32; 2]> = (0..rows).map(|row| [10.0 * x(row), (row % 7) as f32]).collect();
    let targets: Vec<[f32; 3]> = (0..rows).map(|row| [0.8 * x(row), 0.8 * (1.0 - x(row)), 0.2]).collect();
    let data =
        Dataset::new(Features::Dense(Matrix::from_rows(&features)), Matrix::from_rows(&targets)).unwrap();
    let mean: Vec<f32> = data.mean_target().iter().map(|&p| p as f32).collect();
    let of_mean =
        mean_over_rows(&KL, data.targets(), &Matrix::new(rows, 3, mean.repeat(rows)).unwrap(), None);
    for learner in ["dldlf", "dndf-ldl"] {
        let entry = entries().into_iter().find(|entry| entry.name() == learner).unwrap();
        let shorter = Settings::parse(["backbone=mlp", "iterations=1500"]).unwrap();
        let learner = (entry.build)(&preset(learner, "paper").overridden_by(&shorter)).unwrap();
        let mut observer = ();
        let context = &mut FitContext::new(0, Threads::one(), &mut observer);
        let model = TrainedModel::fit(&*learner, &data, context).unwrap();
        let predicted =
            model.predict_with(data.inputs(), &Threads::one()).unwrap().into_distributions().unwrap();
        let kl = mean_over_rows(&KL, data.targets(), &predicted, None);
        assert!(kl < 0.2 * of_mean, "{}: {kl}, the mean {of_mean}", entry.name());
        assert_eq!(model.summary.iterations, 1500);
    }
}
