//! The deep learners as the registry gives them: they learn, stop, resume, and are loaded unchanged.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ldlf_core::images::{Image, ImageSource};
use ldlf_core::stored::Parts;
use ldlf_core::{Dataset, Features, FitContext, Images, Result, Settings, StopReason, Threads, TrainedModel};
use ldlf_deep::entries;

use crate::small_fits::*;

#[test]
fn every_deep_learner_learns_from_images() {
    let data = squares();
    for learner in ["dldlf", "dndf-ldl", "dldl"] {
        let found = kl(&fit(learner, &["epochs=12"], &data), &data);
        assert!(found < 0.5 * kl_of_mean(&data), "{learner}: {found} against {}", kl_of_mean(&data));
    }
}

/// Without batch norms too large a learning rate lets the features diverge and saturates the splits, whose gradients then vanish.
#[test]
fn a_network_without_batch_norms_learns_with_the_default_learning_rate() {
    let data = squares();
    let own = ["backbone=alexnet", "side=63", "batch_size=16", "epochs=4", "early_stopping=false"];
    let learner = (entry("dldlf").build)(&Settings::parse(own).unwrap()).unwrap();
    let mut observer = ();
    let model =
        TrainedModel::fit(&*learner, &data, &mut FitContext::new(0, Threads::one(), &mut observer)).unwrap();
    let found = kl(&model, &data);
    assert!(found < 0.5 * kl_of_mean(&data), "{found} against {}", kl_of_mean(&data));
}

#[test]
fn every_deep_learner_learns_from_a_table() {
    let data = table();
    for learner in ["dldlf", "dndf-ldl", "dldl"] {
        let found = kl(&fit(learner, &["backbone=mlp", "epochs=15"], &data), &data);
        assert!(found < 0.5 * kl_of_mean(&data), "{learner}: {found} against {}", kl_of_mean(&data));
    }
}

#[test]
fn mini_batches_without_weight_teach_nothing_and_do_no_harm() {
    // 18 of 96 rows weigh something, in mini-batches of 4: many have none of them.
    let weights: Vec<f32> = (0..ROWS).map(|row| if row % 16 < 3 { 1.0 } else { 0.0 }).collect();
    let data = table().with_weights(weights).unwrap();
    for learner in ["dldlf", "dndf-ldl", "dldl"] {
        let model = fit(learner, &["backbone=mlp", "batch_size=4"], &data);
        assert!(kl(&model, &data) < kl_of_mean(&data), "{learner}: {}", kl(&model, &data));
    }
}

#[test]
fn the_unit_of_a_column_does_not_matter() {
    let data = table();
    let mut tiny = data.features().unwrap().clone();
    let Features::Dense(values) = &mut tiny else { panic!("dense rows expected") };
    // A power of two, so that nothing is rounded.
    values.as_mut_slice().iter_mut().for_each(|v| *v *= 0.5f32.powi(30));
    let tiny = data.clone().with_inputs(tiny).unwrap();
    for learner in ["dldlf", "dldl"] {
        let [large, small] = [&data, &tiny].map(|data| kl(&fit(learner, &["backbone=mlp"], data), data));
        assert!((large - small).abs() < 1e-6, "{learner}: {large} and {small}");
    }
}

#[test]
fn sgd_with_steps_learns_too() {
    let data = squares();
    let sgd = [
        "optimizer=sgd",
        "learning_rate=0.05",
        "schedule=step",
        "step_epochs=8",
        "epochs=12",
        "weight_decay=0",
    ];
    assert!(kl(&fit("dldl", &sgd, &data), &data) < 0.5 * kl_of_mean(&data));
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let data = squares();
    let with = |seed, threads| {
        let mut observer = ();
        let mut context = FitContext::new(seed, threads, &mut observer);
        bytes(&fit_with("dldlf", &["epochs=2"], &data, &mut context).unwrap())
    };
    let first = with(0, Threads::one());
    assert_eq!(first, with(0, Threads::one()));
    assert_eq!(first, with(0, Threads::new(2).unwrap()));
    assert_ne!(first, with(1, Threads::one()));
}

#[test]
fn a_resumed_training_ends_with_the_same_bytes() {
    for learner in ["dldlf", "dldl"] {
        ends_with_the_same_bytes_when_resumed(learner, &[], &squares());
    }
}

#[test]
fn a_resumed_training_that_started_from_features_ends_with_the_same_bytes() {
    // Once with steps that help, and once with steps that harm, after which the start is what is kept.
    for rate in ["learning_rate=0.001", "learning_rate=0.3"] {
        ends_with_the_same_bytes_when_resumed("dldlf", &["start_epochs=3", rate], &squares());
    }
    ends_with_the_same_bytes_when_resumed("dldl", &["start_epochs=3", "freeze=all"], &squares());
}

#[test]
fn a_start_from_features_teaches_the_head_before_the_first_step() {
    let data = squares();
    for learner in ["dldlf", "dndf-ldl", "dldl"] {
        // Steps that move nothing: whatever was learnt was learnt at the start.
        let still = ["epochs=1", "learning_rate=1e-12", "weight_decay=0"];
        let without = kl(&fit(learner, &still, &data), &data);
        let with = kl(&fit(learner, &[&still[..], &["start_epochs=30"]].concat(), &data), &data);
        assert!(with < 0.5 * without && with < 0.5 * kl_of_mean(&data), "{learner}: {with} {without}");
    }
}

#[test]
fn epochs_after_which_validation_is_worse_do_not_undo_the_start() {
    let data = squares();
    let start = ["start_epochs=30", "epochs=1"];
    let still = kl(&fit("dldlf", &[&start[..], &["learning_rate=1e-12"]].concat(), &data), &data);
    let harmed = kl(&fit("dldlf", &[&start[..], &["learning_rate=1"]].concat(), &data), &data);
    assert!((still - harmed).abs() < 1e-6, "{still} {harmed}");
}

/// Squares that count how often they are read.
#[derive(Debug)]
struct Counted(Squares, AtomicUsize);

impl ImageSource for Counted {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn name(&self, image: usize) -> &str {
        self.0.name(image)
    }
    fn resized(&self, image: usize, side: usize) -> Result<Arc<Image>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.resized(image, side)
    }
}

#[test]
fn a_frozen_network_sees_every_image_once_whatever_the_epochs() {
    let reads = |more: &[&str]| {
        let names = (0..ROWS).map(|number| format!("square-{number:03}.png")).collect();
        let source = Arc::new(Counted(Squares(names), AtomicUsize::new(0)));
        let data = Dataset::new(Images::all(source.clone()), targets()).unwrap();
        fit("dldlf", more, &data);
        source.1.load(Ordering::Relaxed)
    };
    assert_eq!(reads(&["freeze=all", "epochs=5", "start_epochs=4"]), ROWS);
    assert!(reads(&["epochs=5"]) >= 4 * ROWS);
}

#[test]
fn a_checkpoint_of_another_training_is_refused() {
    let data = squares();
    let mut stop = StopAt(2, None);
    fit_with("dldlf", &[], &data, &mut FitContext::new(0, Threads::one(), &mut stop)).unwrap();
    let refusal = |learner: &str, more: &[&str], seed| {
        let mut observer = ();
        let mut context = FitContext::new(seed, Threads::one(), &mut observer);
        context.resume = stop.1.clone();
        fit_with(learner, more, &data, &mut context).err().unwrap().to_string()
    };
    assert_eq!(
        refusal("dldl", &[], 0),
        "the checkpoint was made with the learner dldlf, this training has dldl"
    );
    assert_eq!(
        refusal("dldlf", &["batch_size=8"], 0),
        "the checkpoint was made with batch_size 16, this training has 8"
    );
    assert_eq!(refusal("dldlf", &[], 1), "the checkpoint was made with another seed; give the same `seed`");
}

#[test]
fn a_stopped_training_keeps_the_best_epoch() {
    let data = squares();
    let mut stop = StopAt(13, None);
    let model = fit_with("dldlf", &[], &data, &mut FitContext::new(0, Threads::one(), &mut stop)).unwrap();
    assert_eq!((model.summary.stopped, model.summary.iterations), (StopReason::Interrupted, 13));
    // Five batches of sixteen make an epoch of the 86 rows that are not held out.
    assert!([Some(5), Some(10)].contains(&model.summary.best_iteration), "{:?}", model.summary);
}

#[test]
fn rows_that_the_data_marks_valid_are_the_validation_rows() {
    let split = (0..ROWS).map(|row| if row < 32 { "valid" } else { "train" }.to_string()).collect();
    let data = squares().with_split(split).unwrap();
    let model = fit("dldl", &["epochs=1"], &data);
    // 64 rows are left: four batches.
    assert_eq!(model.summary.iterations, 4);
    let marked = kl(&model, &data.select(&(0..32).collect::<Vec<_>>()));
    assert!((model.summary.validation_kl.unwrap() - marked).abs() < 1e-6);
}

#[test]
fn a_model_survives_its_file() {
    let data = squares();
    for learner in ["dldlf", "dldl"] {
        let model = fit(learner, &["epochs=2"], &data);
        let parts = Parts::from_bytes(&bytes(&model)).unwrap();
        let again = TrainedModel::from_parts(parts, &entries()).unwrap();
        let threads = Threads::one();
        assert_eq!(
            model.predict_with(data.inputs(), &threads).unwrap(),
            again.predict_with(data.inputs(), &threads).unwrap()
        );
    }
}

#[test]
fn frozen_parameters_stay_as_they_were() {
    let data = squares();
    let numbers = |more: &[&str], name: &str| {
        let parts = fit("dldl", more, &data).to_parts();
        let shape = parts.shape(name).unwrap().to_vec();
        parts.f32s(name, &shape).unwrap()
    };
    let (first, second) = ("network.backbone.blocks.0.conv.weight", "network.backbone.blocks.1.conv.weight");
    let running = "network.backbone.blocks.0.norm.running_mean";
    let freeze = |epochs: &'static str| [epochs, "freeze=blocks.0"];
    assert_eq!(numbers(&freeze("epochs=1"), first), numbers(&freeze("epochs=2"), first));
    assert!(numbers(&freeze("epochs=2"), running).iter().all(|&mean| mean == 0.0));
    assert_ne!(numbers(&freeze("epochs=1"), second), numbers(&freeze("epochs=2"), second));
    let all = |epochs: &'static str| [epochs, "freeze=all"];
    assert_eq!(numbers(&all("epochs=1"), second), numbers(&all("epochs=2"), second));
    assert_ne!(
        numbers(&all("epochs=1"), "network.projection.weight"),
        numbers(&all("epochs=2"), "network.projection.weight")
    );
}

#[test]
fn a_backbone_factor_of_0_trains_the_projection_only() {
    let data = squares();
    let still = ["backbone_factor=0", "weight_decay=0", "epochs=2"];
    let parts = fit("dldl", &still, &data).to_parts();
    let other = fit("dldl", &["backbone_factor=0", "weight_decay=0", "epochs=1"], &data).to_parts();
    let weights = |parts: &Parts, name: &str| {
        let shape = parts.shape(name).unwrap().to_vec();
        parts.f32s(name, &shape).unwrap()
    };
    let conv = "network.backbone.blocks.0.conv.weight";
    assert_eq!(weights(&parts, conv), weights(&other, conv));
    assert_ne!(weights(&parts, "network.projection.weight"), weights(&other, "network.projection.weight"));
}

#[test]
fn leaves_are_smoothed_along_ordered_labels_only_when_asked() {
    let data = squares();
    let roughness = |more: &[&str]| {
        let parts = fit("dldlf", &[more, &["epochs=2", "leaf_prior=0"]].concat(), &data).to_parts();
        let leaves = parts.f32s("leaves", &[3, 4, 3]).unwrap();
        leaves.chunks(3).map(|leaf| (leaf[0] - leaf[1]).abs() + (leaf[1] - leaf[2]).abs()).sum::<f32>()
    };
    assert!(roughness(&["leaf_smoothing=2"]) < 0.8 * roughness(&[]));
}

#[test]
fn the_input_of_a_network_can_be_given_and_is_told_by_its_model() {
    let data = squares();
    let given =
        ["epochs=1", "input_range=255", "input_mean=10+20+30", "input_deviation=50", "channel_order=bgr"];
    let model = fit("dldl", &given, &data);
    let again = TrainedModel::from_parts(Parts::from_bytes(&bytes(&model)).unwrap(), &entries()).unwrap();
    let facts = again.model.inspect();
    let of = |name: &str| facts.iter().find(|(known, _)| known == name).unwrap().1.to_string();
    assert_eq!(
        ["input range", "input mean", "input deviation", "channel order"].map(of),
        ["255.0", "[10.0,20.0,30.0]", "[50.0,50.0,50.0]", "\"bgr\""]
    );
    let mut observer = ();
    let context = &mut FitContext::new(0, Threads::one(), &mut observer);
    let refused = fit_with("dldl", &["input_mean=1+2"], &data, context).err().unwrap().to_string();
    assert_eq!(refused, "input_mean must be a number, or three joined by +, got 1+2");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let refusal = |more: &[&str], data: &Dataset| {
        let mut observer = ();
        let mut context = FitContext::new(0, Threads::one(), &mut observer);
        fit_with("dldlf", more, data, &mut context).err().unwrap().to_string()
    };
    let (images, table) = (squares(), table());
    assert_eq!(
        refusal(&["backbone=alexnet"], &images),
        "side must be at least 63 for alexnet, got 8: a smaller image has no pixels left after its last layer"
    );
    assert_eq!(
        refusal(&[], &table),
        "backbone=small-cnn reads images, not tables; give a folder or zip file of images with `images::join`, or choose mlp"
    );
    assert_eq!(
        refusal(&["backbone=mlp"], &images),
        "backbone=mlp reads tables, not images; choose small-cnn, resnet18, efficientnet-lite0, \
         mobilenet-v1, alexnet, alexnet-caffe or vgg16"
    );
    assert_eq!(
        refusal(&["weights=nowhere.pth"], &images),
        "weights=nowhere.pth: there is no such file; name a .safetensors or .pth file"
    );
    assert_eq!(
        refusal(&["device=abacus"], &images),
        "device must be one of cpu, wgpu, vulkan, metal, cuda, rocm, got abacus"
    );
    assert_eq!(
        refusal(&["backbone=alexnt"], &images),
        "backbone must be one of small-cnn, resnet18, efficientnet-lite0, mobilenet-v1, alexnet, alexnet-caffe, vgg16, mlp, got \
         alexnt"
    );
}
