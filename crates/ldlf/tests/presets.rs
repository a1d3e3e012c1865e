//! Every preset of every learner is what it says: the values that it sets, and the parameters that it leaves at their defaults.
//!
//! A parameter that is new stands in neither list of a preset that names a publication, so that no default of ours slips into it.

use std::collections::{BTreeMap, BTreeSet};

use ldlf::{Settings, registry};

/// A preset of some learners: its values, and the parameters that it leaves alone because they do nothing there or because the source
/// does not state them (`*` where the preset names no source).
struct Expected {
    learners: &'static [&'static str],
    preset: &'static str,
    values: &'static str,
    rest: &'static str,
}

const FORESTS: &[&str] = &["sldlf", "sndf-ldl"];

/// Without early stopping, steps of the learning rate, left-out rows and epochs these do nothing.
const IDLE: &str =
    "given_back grown_trees min_iterations patience step_every step_factor validation_fraction";

const PRESETS: &[Expected] = &[
    Expected { learners: FORESTS, preset: "best", values: "trees=50", rest: "*" },
    Expected {
        learners: FORESTS,
        preset: "components",
        values: "choose=false leave_out=0 trees=40 depth=5 scaling=common weight_decay=0.3 dropout=0 min_iterations=600 early_stopping=false",
        rest: "*",
    },
    // Shen et al. 2017, Section 4; scaling, optimizer, momentum, learning_rate, schedule and batch_size are not stated there.
    Expected {
        learners: FORESTS,
        preset: "paper",
        values: "trees=5 depth=7 units=64 iterations=25000 leaf_iterations=20 leaf_every=100 leaf_rows=batches bias=false \
                 scaling=standard optimizer=sgd momentum=0.9 learning_rate=1 schedule=constant warm_up=0 batch_size=64 \
                 bins=0 feature_clip=none early_stopping=false choose=false leave_out=0 init=random loss=trees leaf_prior=0 \
                 weight_decay=0 dropout=0 epochs=none tolerance=none",
        rest: IDLE,
    },
    Expected {
        learners: FORESTS,
        preset: "paper-aided",
        values: "trees=5 depth=7 units=64 iterations=25000 leaf_iterations=20 leaf_every=100 leaf_rows=batches bias=false \
                 scaling=standard optimizer=sgd momentum=0.9 learning_rate=1 schedule=constant warm_up=0 batch_size=64 \
                 bins=32 feature_clip=5 early_stopping=true choose=false leave_out=0 init=random loss=trees leaf_prior=0 \
                 weight_decay=0 dropout=0 epochs=none tolerance=none",
        rest: IDLE,
    },
    // The authors' script; its learning rate is 100 on the sum of ten trees.
    Expected {
        learners: FORESTS,
        preset: "released",
        values: "trees=10 depth=5 units=512 iterations=3000 leaf_iterations=20 leaf_every=50 leaf_rows=epoch bias=true \
                 scaling=raw optimizer=sgd momentum=0.9 learning_rate=30 schedule=constant warm_up=0 batch_size=1000 \
                 early_stopping=false choose=false leave_out=0 init=random loss=trees leaf_prior=0 weight_decay=0 dropout=0 \
                 epochs=none tolerance=none",
        rest: "bins feature_clip given_back grown_trees min_iterations patience step_every step_factor validation_fraction",
    },
    Expected {
        learners: FORESTS,
        preset: "released-movie",
        values: "trees=10 depth=5 units=512 iterations=2000 leaf_iterations=20 leaf_every=50 leaf_rows=epoch bias=true \
                 scaling=raw optimizer=sgd momentum=0.9 learning_rate=30 schedule=constant warm_up=0 batch_size=1000 \
                 early_stopping=false choose=false leave_out=0 init=random loss=trees leaf_prior=0 weight_decay=0 dropout=0 \
                 epochs=none tolerance=none",
        rest: "bins feature_clip given_back grown_trees min_iterations patience step_every step_factor validation_fraction",
    },
    Expected {
        learners: &["bfgs-ldl"],
        preset: "paper",
        values: "l2=0 scaling=raw",
        rest: "iterations memory patience tolerance validation_fraction",
    },
    Expected {
        learners: &["iis-ldl"],
        preset: "paper",
        values: "patience=none scaling=raw",
        rest: "iterations tolerance validation_fraction",
    },
    Expected {
        learners: &["iis-aldl"],
        preset: "paper",
        values: "patience=none scaling=raw",
        rest: "init_sigma iterations rounds tolerance validation_fraction",
    },
    Expected {
        learners: &["aa-bp"],
        preset: "paper",
        values: "optimizer=sgd momentum=0 learning_rate=0.1 weight_decay=0 patience=none",
        rest: "batch_size epochs hidden scaling validation_fraction",
    },
    Expected { learners: &["aa-knn"], preset: "paper", values: "scaling=raw", rest: "neighbors" },
    Expected {
        learners: &["aas"],
        preset: "paper",
        values: "functions=separate l2=0 special_l2=0",
        rest: "clusters overlap ranges scaling validation_fraction",
    },
    Expected {
        learners: &["ldlogitboost", "aoso-ldlogitboost"],
        preset: "paper",
        values: "l2=0 max_features=1 subsample=1",
        rest: "learning_rate max_depth min_leaf_weight patience refit rounds validation_fraction",
    },
    Expected {
        learners: &["cpnn"],
        preset: "paper",
        values: "l2=0 patience=none",
        rest: "epochs hidden learning_rate scaling validation_fraction",
    },
    Expected {
        learners: &["d2ldl"],
        preset: "paper",
        values: "mix=0.3 scaling=raw",
        rest: "iterations l1 l2 neighbors rounds tolerance validation_fraction",
    },
    Expected {
        learners: &["extra-trees"],
        preset: "paper",
        values: "trees=100 max_depth=none min_leaf_weight=2 max_features=1 bootstrap=false",
        rest: "",
    },
    Expected {
        learners: &["larr"],
        preset: "paper",
        values: "decision=tournament",
        rest: "c epsilon pair_c scaling tolerance validation_fraction width window",
    },
    Expected {
        learners: &["ldsvr"],
        preset: "paper",
        values: "c=1 epsilon=0.1 width=1 scaling=raw",
        rest: "iterations search_rows target_clip tolerance",
    },
    Expected { learners: &["pt-bayes"], preset: "paper", values: "resample=true smoothing=0", rest: "" },
    Expected {
        learners: &["pt-svm"],
        preset: "paper",
        values: "scaling=raw",
        rest: "c folds kernel tolerance width",
    },
    Expected {
        learners: &["random-forest"],
        preset: "paper",
        values: "trees=100 max_depth=none min_leaf_weight=1 max_features=0.333 bootstrap=true",
        rest: "",
    },
    Expected {
        learners: &["sce-ldl"],
        preset: "paper",
        values: "l2=0 patience=none",
        rest: "activity hidden iterations scaling sparsity tolerance validation_fraction",
    },
    #[cfg(feature = "deep")]
    Expected {
        learners: DEEP,
        preset: "paper",
        values: "trees=5 depth=7 units=64 leaf_every=100 leaf_iterations=20 leaf_prior=0 leaf_smoothing=0 early_leaf_updates=false \
                 steepness=none loss=trees start_epochs=0 optimizer=sgd momentum=0.9 weight_decay=0 max_grad_norm=none warm_up=0 flip=false jitter=0 \
                 erasing=0 mixup=0 layer_decay=1 unfreeze_epochs=0 average=none early_stopping=false learning_rate=0.5 iterations=25000 schedule=constant batch_size=64 crop=0",
        rest: "backbone backbone_factor channel_order channels convolution_factor device epochs freeze input_crop input_deviation input_mean \
               input_range patience side step_epochs step_factor step_iterations validation_fraction weights",
    },
    #[cfg(feature = "deep")]
    Expected {
        learners: DEEP,
        preset: "released",
        values: "trees=5 depth=7 units=64 leaf_every=100 leaf_iterations=20 leaf_prior=0 leaf_smoothing=0 early_leaf_updates=false \
                 steepness=none loss=trees start_epochs=0 optimizer=sgd momentum=0.9 weight_decay=0 max_grad_norm=none warm_up=0 flip=false jitter=0 \
                 erasing=0 mixup=0 layer_decay=1 unfreeze_epochs=0 average=none early_stopping=false learning_rate=0.5 iterations=30000 schedule=step step_iterations=10000 step_factor=0.5 \
                 batch_size=64 convolution_factor=0.1 backbone_factor=1 input_range=255 input_mean=112 input_deviation=1 crop=0.06",
        rest: "backbone channel_order channels device epochs freeze input_crop patience side step_epochs validation_fraction weights",
    },
    #[cfg(feature = "deep")]
    Expected {
        learners: DEEP,
        preset: "released-vgg",
        values: "trees=5 depth=7 units=64 leaf_every=100 leaf_iterations=20 leaf_prior=0 leaf_smoothing=0 early_leaf_updates=false \
                 steepness=none loss=trees start_epochs=0 optimizer=sgd momentum=0.9 weight_decay=0 max_grad_norm=none warm_up=0 flip=false jitter=0 \
                 erasing=0 mixup=0 layer_decay=1 unfreeze_epochs=0 average=none early_stopping=false learning_rate=0.5 iterations=30000 schedule=step step_iterations=10000 step_factor=0.5 \
                 batch_size=32 convolution_factor=1 backbone_factor=1 input_range=255 input_mean=112 input_deviation=1 crop=0.07",
        rest: "backbone channel_order channels device epochs freeze input_crop patience side step_epochs validation_fraction weights",
    },
    #[cfg(feature = "deep")]
    Expected {
        learners: &["dldl"],
        preset: "paper",
        values: "optimizer=sgd momentum=0.9 weight_decay=0 max_grad_norm=none warm_up=0 jitter=0 erasing=0 mixup=0 \
                 layer_decay=1 unfreeze_epochs=0 average=none early_stopping=false start_epochs=0",
        rest: "backbone backbone_factor batch_size channel_order channels convolution_factor crop device epochs flip freeze \
               input_crop input_deviation input_mean input_range iterations learning_rate patience schedule side step_epochs step_factor \
               step_iterations validation_fraction weights",
    },
];

#[cfg(feature = "deep")]
const DEEP: &[&str] = &["dldlf", "dndf-ldl"];

fn sorted(settings: &Settings) -> BTreeMap<String, String> {
    settings.0.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
}

#[test]
fn every_preset_sets_what_its_table_says_and_leaves_what_it_names() {
    for entry in registry::learners() {
        for preset in (entry.presets)() {
            let place = format!("{}, preset {}", entry.name(), preset.name);
            let expected = PRESETS
                .iter()
                .find(|expected| expected.learners.contains(&entry.name()) && expected.preset == preset.name);
            let Some(Expected { values, rest, .. }) = expected else { panic!("{place}: no table here") };
            let table = Settings::parse(values.split_whitespace()).unwrap();
            assert_eq!(sorted(&preset.settings), sorted(&table), "{place}");
            if *rest == "*" {
                continue;
            }
            let set: BTreeSet<&str> = table.0.keys().map(String::as_str).collect();
            let left: BTreeSet<&str> = (entry.parameters)()
                .iter()
                .map(|parameter| parameter.name)
                .filter(|name| !set.contains(name))
                .collect();
            assert_eq!(left, rest.split_whitespace().collect(), "{place}: parameters that it leaves");
        }
    }
}

#[test]
fn every_table_has_its_preset() {
    for Expected { learners, preset, .. } in PRESETS {
        for learner in *learners {
            registry::build(learner, Some(preset), &Settings::new())
                .unwrap_or_else(|error| panic!("{learner}: {error}"));
        }
    }
}

#[test]
fn every_learner_of_a_publication_has_its_preset() {
    let without: Vec<&str> = registry::learners()
        .iter()
        .filter(|entry| !(entry.presets)().iter().any(|preset| preset.name == "paper"))
        .map(|entry| entry.name())
        .collect();
    // Ours, textbook methods put together, and the mean.
    assert_eq!(without, ["sldlf-auto", "kernel-ridge", "mean"]);
}
