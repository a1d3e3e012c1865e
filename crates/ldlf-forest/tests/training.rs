//! Training from end to end: the same bytes whatever the threads or the interruptions, and a forest that learns.

use std::ops::ControlFlow;

use ldlf_core::generate::{MixtureParameters, mixture};
use ldlf_core::measures::{KL, mean_over_rows};
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{
    Dataset, Error, Features, FitContext, FitEvent, InProgress, LearnerEntry, Matrix, Settings, StopReason,
    Threads, TrainedModel,
};
use ldlf_forest::shallow::{ForestParams, Init};
use ldlf_forest::{Forest, NeuralDecisionForest};

fn data(density: Option<f64>) -> Dataset {
    let parameters = MixtureParameters::default().features(12).labels(4).density(density);
    mixture(600, &parameters, 1).unwrap()
}

const SMALL: [&str; 8] = [
    "choose=false",
    "leave_out=0",
    "trees=3",
    "depth=4",
    "batch_size=100",
    "epochs=none",
    "iterations=50",
    "leaf_every=10",
];

fn settings(extra: &[&str]) -> Settings {
    Settings::parse(SMALL.iter().chain(extra)).unwrap()
}

fn fit_in(data: &Dataset, extra: &[&str], mut context: FitContext<'_>) -> Result<TrainedModel, Error> {
    TrainedModel::fit(&*(LearnerEntry::of::<Forest>().build)(&settings(extra)).unwrap(), data, &mut context)
}

fn fit(data: &Dataset, extra: &[&str], threads: usize) -> TrainedModel {
    fit_in(data, extra, FitContext::new(3, Threads::new(threads).unwrap(), &mut ())).unwrap()
}

fn bytes(model: &TrainedModel) -> Vec<u8> {
    model.to_parts().to_bytes().unwrap()
}

fn kl(model: &TrainedModel, data: &Dataset) -> f64 {
    let predicted = model.predict_with(data.inputs(), &Threads::one()).unwrap().into_distributions().unwrap();
    mean_over_rows(&KL, data.targets(), &predicted, None)
}

/// Fits until `stop`, takes the checkpoint there, and fits on from its bytes.
fn interrupted_at(stop: usize, data: &Dataset, extra: &[&str]) -> TrainedModel {
    let mut kept: Option<Vec<u8>> = None;
    let mut observer = |event: &FitEvent, state: &dyn InProgress| match event {
        FitEvent::Iteration { iteration, .. } if *iteration == stop => {
            kept = Some(state.checkpoint().unwrap().to_bytes().unwrap());
            ControlFlow::Break(StopReason::Interrupted)
        }
        _ => ControlFlow::Continue(()),
    };
    let first = fit_in(data, extra, FitContext::new(3, Threads::one(), &mut observer)).unwrap();
    assert_eq!((first.summary.iterations, first.summary.stopped), (stop, StopReason::Interrupted));
    let mut nobody = ();
    let mut context = FitContext::new(3, Threads::one(), &mut nobody);
    context.resume = Some(Parts::from_bytes(&kept.unwrap()).unwrap());
    fit_in(data, extra, context).unwrap()
}

#[test]
fn the_bytes_of_a_model_do_not_depend_on_the_threads_or_the_run() {
    for density in [None, Some(0.2)] {
        let data = data(density);
        for extra in [&[][..], &["init=greedy", "loss=forest"]] {
            let one = bytes(&fit(&data, extra, 1));
            assert!(one == bytes(&fit(&data, extra, 1)), "two runs");
            assert!(one == bytes(&fit(&data, extra, 2)), "two threads");
            assert!(one == bytes(&fit(&data, extra, 3)), "three threads");
        }
    }
}

#[test]
fn a_training_that_was_stopped_and_resumed_ends_in_the_same_bytes() {
    for extra in [
        &[][..],
        &["early_stopping=false"],
        &["optimizer=sgd", "leaf_rows=batches"],
        &["leaf_rows=epoch"],
        &["init=greedy", "loss=forest"],
    ] {
        for density in [None, Some(0.2)] {
            let data = data(density);
            let whole = bytes(&fit(&data, extra, 1));
            for stop in [25, 30, 1] {
                assert!(whole == bytes(&interrupted_at(stop, &data, extra)), "{extra:?} stopped at {stop}");
            }
        }
    }
}

#[test]
fn a_checkpoint_of_any_event_goes_on_to_the_same_bytes() {
    let data = data(None);
    let extra = ["early_stopping=true", "learning_rate=0.3", "iterations=400", "patience=3"];
    let mut kept: Vec<(FitEvent, Parts)> = Vec::new();
    let mut observer = |event: &FitEvent, state: &dyn InProgress| {
        kept.push((event.clone(), state.checkpoint().unwrap()));
        ControlFlow::Continue(())
    };
    let whole = fit_in(&data, &extra, FitContext::new(3, Threads::one(), &mut observer)).unwrap();
    assert_eq!(whole.summary.stopped, StopReason::EarlyStopping);
    let is_single = |event: &FitEvent| match event {
        FitEvent::Iteration { iteration, .. } => *iteration == whole.summary.iterations,
        _ => true,
    };
    for (event, checkpoint) in kept.into_iter().filter(|(event, _)| is_single(event)) {
        let mut nobody = ();
        let mut context = FitContext::new(3, Threads::one(), &mut nobody);
        context.resume = Some(checkpoint);
        assert!(bytes(&fit_in(&data, &extra, context).unwrap()) == bytes(&whole), "{event:?}");
    }
}

#[test]
fn a_checkpoint_of_any_iteration_on_sparse_rows_goes_on_to_the_same_bytes() {
    // Most mini-batches lack most features, whose updates are pending at a checkpoint.
    let parameters = MixtureParameters::default().features(60).labels(4).density(Some(0.02));
    let data = mixture(300, &parameters, 1).unwrap();
    let small = ["batch_size=10", "iterations=24", "leaf_every=12", "early_stopping=false"];
    for more in [&[][..], &["optimizer=sgd"], &["optimizer=adam"], &["init=greedy", "loss=forest"]] {
        let extra = [&small[..], more].concat();
        let mut kept: Vec<(usize, Parts)> = Vec::new();
        let mut observer = |event: &FitEvent, state: &dyn InProgress| {
            if let FitEvent::Iteration { iteration, .. } = event {
                kept.push((*iteration, state.checkpoint().unwrap()));
            }
            ControlFlow::Continue(())
        };
        let whole = fit_in(&data, &extra, FitContext::new(3, Threads::one(), &mut observer)).unwrap();
        let whole = bytes(&whole);
        assert_eq!(kept.len(), 24);
        for (iteration, checkpoint) in kept {
            let mut nobody = ();
            let mut context = FitContext::new(3, Threads::one(), &mut nobody);
            context.resume = Some(checkpoint);
            let resumed = bytes(&fit_in(&data, &extra, context).unwrap());
            assert!(resumed == whole, "{more:?} resumed at {iteration}");
        }
    }
}

#[test]
fn a_greedy_start_is_ahead_of_a_random_one_before_anything_was_learnt() {
    for density in [None, Some(0.5)] {
        let data = data(density);
        let at_once = |start| kl(&fit(&data, &[start, "iterations=1", "learning_rate=1e-9"], 1), &data);
        let (greedy, random) = (at_once("init=greedy"), at_once("init=random"));
        assert!(greedy < 0.9 * random, "density {density:?}: {greedy} {random}");
    }
}

#[test]
fn a_greedy_start_refuses_shared_units_and_a_missing_bias() {
    for extra in ["units=64", "bias=false"] {
        let error = (LearnerEntry::of::<Forest>().build)(&settings(&["init=greedy", extra]))
            .err()
            .unwrap()
            .to_string();
        assert_eq!(
            error,
            "init=greedy needs a unit for every split and a bias; leave out units and set bias=true"
        );
    }
}

#[test]
fn a_checkpoint_of_other_parameters_or_other_data_is_refused() {
    let data = data(None);
    let mut kept = None;
    let mut observer = |_: &FitEvent, state: &dyn InProgress| {
        kept = state.checkpoint();
        ControlFlow::Break(StopReason::Interrupted)
    };
    fit_in(&data, &[], FitContext::new(3, Threads::one(), &mut observer)).unwrap();
    let resume = |seed: u64, data: &Dataset, extra: &[&str]| {
        let mut nobody = ();
        let mut context = FitContext::new(seed, Threads::one(), &mut nobody);
        context.resume = kept.clone();
        fit_in(data, extra, context).err().map(|error| error.to_string())
    };
    assert_eq!(
        resume(3, &data, &["trees=4"]).unwrap(),
        "the checkpoint was made with trees 3, this training has 4"
    );
    assert!(resume(4, &data, &[]).unwrap().contains("another seed"));
    let other = data.select(&(1..600).collect::<Vec<_>>());
    assert!(resume(3, &other, &[]).unwrap().contains("other data"));
    assert_eq!(resume(3, &data, &["iterations=60"]), None, "more iterations may be asked for");
}

#[test]
fn every_optimiser_and_schedule_learns_more_than_the_mean() {
    let data = data(None);
    let floor: f64 = {
        let mean: Vec<f32> = data.mean_target().iter().map(|&p| p as f32).collect();
        let predicted = Matrix::new(600, 4, mean.repeat(600)).unwrap();
        mean_over_rows(&KL, data.targets(), &predicted, None)
    };
    for extra in [
        &["optimizer=adamw"][..],
        &["optimizer=adam", "schedule=constant", "weight_decay=0"],
        &[
            "optimizer=sgd",
            "learning_rate=2",
            "weight_decay=0",
            "schedule=step",
            "step_every=20",
            "step_factor=0.5",
        ],
        &["units=20", "bias=false"],
        &["scaling=raw"],
    ] {
        let reached = kl(&fit(&data, extra, 1), &data);
        assert!(reached < 0.85 * floor, "{extra:?}: {reached}, the mean gives {floor}");
    }
}

/// The units of the map whose weights differ after `iterations + 1` mini-batches from those after `iterations`, and the units of each tree.
fn moved_units(learner: &LearnerEntry, iterations: usize) -> (Vec<u32>, Vec<Vec<u32>>) {
    let data = data(None);
    // Steps that nothing but a gradient moves, from leaves that differ.
    let plain =
        ["optimizer=sgd", "momentum=0", "weight_decay=0", "dropout=0", "schedule=constant", "warm_up=0"];
    let fitted = |iterations: usize| {
        let count = format!("iterations={iterations}");
        let extra =
            [&plain[..], &["leaf_every=1", "min_iterations=0", "early_stopping=false", &count]].concat();
        let learner = (learner.build)(&settings(&extra)).unwrap();
        let mut nobody = ();
        let mut context = FitContext::new(3, Threads::one(), &mut nobody);
        let mut parts = Parts::new();
        TrainedModel::fit(&*learner, &data, &mut context).unwrap().model.store(&mut parts);
        parts
    };
    let [before, after] = [fitted(iterations), fitted(iterations + 1)].map(|parts| {
        let shape = parts.shape("weights").unwrap().to_vec();
        (shape[1], parts.f32s("weights", &shape).unwrap())
    });
    let units = before.0;
    let moved = (0..units as u32)
        .filter(|&unit| {
            let of = |weights: &[f32]| {
                weights.iter().skip(unit as usize).step_by(units).copied().collect::<Vec<_>>()
            };
            of(&before.1) != of(&after.1)
        })
        .collect();
    let trees = fitted(1).u32s("units", &[3, 7]).unwrap().chunks_exact(7).map(<[u32]>::to_vec).collect();
    (moved, trees)
}

#[test]
fn the_rule_of_neural_decision_forests_trains_one_tree_a_batch() {
    let mut seen = std::collections::BTreeSet::new();
    for iterations in 1..8 {
        let (moved, trees) = moved_units(&LearnerEntry::of::<NeuralDecisionForest>(), iterations);
        let of_tree =
            |tree: &Vec<u32>| moved.iter().all(|unit| tree.contains(unit)) && moved.len() == tree.len();
        let tree = trees.iter().position(of_tree);
        seen.insert(tree.unwrap_or_else(|| panic!("step {iterations} moved {moved:?} of {trees:?}")));
    }
    assert!(seen.len() > 1, "the tree is drawn anew for every mini-batch: {seen:?}");
    let (moved, trees) = moved_units(&LearnerEntry::of::<Forest>(), 3);
    assert_eq!(moved.len(), trees.concat().len(), "trained jointly, every tree moves");
}

#[test]
fn a_stored_model_predicts_the_same_and_damage_is_named() {
    let data = data(Some(0.3));
    let model = fit(&data, &[], 1);
    let parts = model.to_parts();
    let again = TrainedModel::from_parts(parts.clone(), &[LearnerEntry::of::<Forest>()]).unwrap();
    assert_eq!(
        model.predict_with(data.inputs(), &Threads::one()).unwrap(),
        again.predict_with(data.inputs(), &Threads::one()).unwrap()
    );
    assert!(bytes(&model) == bytes(&again));
    let mut stored = Parts::new();
    model.model.store(&mut stored);
    let broken = |change: &dyn Fn(&mut Parts)| {
        let mut parts = stored.clone();
        change(&mut parts);
        (LearnerEntry::of::<Forest>().load)(&parts, &ModelShape { features: 12, labels: 4 })
            .err()
            .unwrap()
            .to_string()
    };
    use ldlf_core::stored::Array;
    assert!(
        broken(&|p| p.put("leaves", Array::F32(vec![3, 8, 4], vec![0.5; 96])))
            .contains("does not hold a distribution")
    );
    assert!(broken(&|p| p.put("units", Array::U32(vec![3, 7], vec![99; 21]))).contains("does not exist"));
    assert!(broken(&|p| p.put_detail("depth", 5)).contains("do not fit"));
    assert!(broken(&|p| p.put_detail("depth", 60)).contains("between 1 and 30"));
    assert!(
        broken(&|p| p.put("encoder.scale", Array::F32(vec![1], vec![f32::NAN]))).contains("encoder.scale")
    );
}

#[test]
fn the_best_iteration_on_the_rows_held_back_is_kept() {
    let data = data(None);
    let model = fit(&data, &["early_stopping=true", "learning_rate=0.3", "iterations=400", "patience=3"], 1);
    assert_eq!(model.summary.stopped, StopReason::EarlyStopping);
    let best = model.summary.best_iteration.unwrap();
    assert_eq!(model.summary.iterations, best + 30, "three leaf updates without improvement");
}

#[test]
fn a_converged_training_stops() {
    let model =
        fit(&data(None), &["iterations=100000", "tolerance=0.05", "early_stopping=false", "dropout=0"], 1);
    assert_eq!(model.summary.stopped, StopReason::Converged);
}

#[test]
fn a_time_limit_stops_with_the_best_so_far() {
    let mut nobody = ();
    let mut context = FitContext::new(3, Threads::one(), &mut nobody);
    context.deadline = Some(std::time::Instant::now());
    let model = fit_in(&data(None), &[], context).unwrap();
    assert_eq!((model.summary.stopped, model.summary.iterations), (StopReason::TimeLimit, 1));
}

#[test]
fn a_loss_that_is_not_finite_stops_with_a_remedy() {
    let extra = ["optimizer=sgd", "learning_rate=1e300", "schedule=constant", "warm_up=0"];
    let error = fit_in(&data(None), &extra, FitContext::new(3, Threads::one(), &mut ())).err().unwrap();
    assert_eq!(error.kind(), ldlf_core::ErrorKind::Training);
    assert!(error.to_string().contains("try a learning_rate below"), "{error}");
}

#[test]
fn sizes_that_do_not_fit_the_memory_are_refused_before_they_are_allocated() {
    let error = |extra: &[&str]| {
        fit_in(&data(None), extra, FitContext::new(0, Threads::one(), &mut ())).err().unwrap().to_string()
    };
    let deep = error(&["depth=30", "trees=1000"]);
    assert!(deep.contains("GB are available; choose smaller sizes"), "{deep}");
    assert!(error(&["trees=1000000", "depth=20", "units=600000"]).contains("1000000 trees"));
}

#[test]
fn odd_data_gives_valid_distributions() {
    let one_hot: Vec<f32> =
        (0..30).flat_map(|row| if row % 2 == 0 { [1.0, 0.0] } else { [0.0, 1.0] }).collect();
    let cases = [
        ("one row", Features::Dense(Matrix::new(1, 2, vec![1.0, 2.0]).unwrap()), vec![0.3, 0.7]),
        ("one label", Features::Dense(Matrix::new(3, 1, vec![1.0, 2.0, 3.0]).unwrap()), vec![1.0; 3]),
        ("constant columns", Features::Dense(Matrix::new(30, 2, vec![7.0; 60]).unwrap()), one_hot.clone()),
        (
            "huge values",
            Features::Dense(Matrix::new(30, 1, (0..30).map(|i| i as f32 * 1e37).collect()).unwrap()),
            one_hot.clone(),
        ),
        (
            "tiny values",
            Features::Dense(Matrix::new(30, 1, (0..30).map(|i| i as f32 * 1e-38).collect()).unwrap()),
            one_hot,
        ),
    ];
    for (name, features, targets) in cases {
        let rows = features.rows();
        let targets = Matrix::new(rows, targets.len() / rows, targets).unwrap();
        let data = Dataset::new(features, targets).unwrap();
        let model = fit(&data, &[], 1);
        let predicted =
            model.predict_with(data.inputs(), &Threads::one()).unwrap().into_distributions().unwrap();
        assert!(
            predicted.iter_rows().all(|p| ldlf_math::numeric::on_simplex(p, 1e-5)),
            "{name}: {predicted:?}"
        );
    }
}

#[test]
fn a_weight_of_w_equals_w_copies_over_a_whole_training() {
    // Full batches, no chance beyond the initial weights: the only difference is the order of sums.
    let plain = data(None).select(&(0..100).collect::<Vec<_>>());
    let extra = ["batch_size=300", "early_stopping=false", "dropout=0", "scaling=raw", "iterations=20"];
    let weights: Vec<f32> = (0..100).map(|row| (1 + row % 3) as f32).collect();
    let copies: Vec<usize> = (0..100).flat_map(|row| vec![row; 1 + row % 3]).collect();
    let repeated = fit(&plain.select(&copies), &extra, 1);
    let weighted = fit(&plain.clone().with_weights(weights).unwrap(), &extra, 1);
    let predict = |model: &TrainedModel| {
        model.predict_with(plain.inputs(), &Threads::one()).unwrap().into_distributions().unwrap()
    };
    for (x, y) in predict(&weighted).as_slice().iter().zip(predict(&repeated).as_slice()) {
        assert!((x - y).abs() < 2e-4, "{x} {y}");
    }
}

#[test]
fn relabelling_and_reordering_features_commute_with_training() {
    let plain = data(None);
    let (rows, cols, labels) = (plain.rows(), plain.features().unwrap().cols(), plain.labels());
    let Features::Dense(x) = plain.features().unwrap() else { panic!("dense") };
    let turned_targets = Matrix::new(
        rows,
        labels,
        plain.targets().iter_rows().flat_map(|r| r.iter().rev().copied().collect::<Vec<_>>()).collect(),
    )
    .unwrap();
    let extra = ["dropout=0", "iterations=20"];
    let predict = |model: &TrainedModel| {
        model.predict_with(plain.inputs(), &Threads::one()).unwrap().into_distributions().unwrap()
    };
    let base = predict(&fit(&plain, &extra, 1));
    let relabelled = Dataset::new(plain.inputs().clone(), turned_targets).unwrap();
    let turned = predict(&fit(&relabelled, &extra, 1));
    for (a, b) in base.iter_rows().zip(turned.iter_rows()) {
        a.iter().zip(b.iter().rev()).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{a} {b}"));
    }
    // The initial weights belong to places, so with features reordered the fit starts elsewhere; the encoder must not care.
    let reordered = Features::Dense(
        Matrix::new(
            rows,
            cols,
            x.iter_rows().flat_map(|r| r.iter().rev().copied().collect::<Vec<_>>()).collect(),
        )
        .unwrap(),
    );
    let other = Dataset::new(reordered.clone(), plain.targets().clone()).unwrap();
    let reached = kl(&fit(&other, &extra, 1), &other);
    let expected = mean_over_rows(&KL, plain.targets(), &base, None);
    assert!((reached - expected).abs() < 0.1 * expected, "{reached} {expected}");
}

#[test]
fn the_typed_builder_fits_what_the_settings_fit() {
    let data = data(None);
    let typed = Forest::params()
        .choose(false)
        .leave_out(0)
        .trees(3)
        .depth(4)
        .batch_size(100)
        .epochs(None)
        .iterations(50)
        .leaf_every(10)
        .seed(3)
        .threads(1)
        .fit(&data)
        .unwrap();
    assert_eq!(typed.to_parts().to_bytes().unwrap(), fit(&data, &[], 1).to_parts().to_bytes().unwrap());
}

#[test]
fn a_typed_value_out_of_range_is_an_error_and_no_panic() {
    let refused = |params: ForestParams<Forest>| params.fit(&data(None)).err().unwrap().to_string();
    assert_eq!(refused(Forest::params().batch_size(0)), "batch_size must be at least 1, got 0");
    assert_eq!(refused(Forest::params().trees(0)), "trees must be at least 1, got 0");
    assert_eq!(
        refused(Forest::params().learning_rate(f64::NAN)),
        "learning_rate must be a number above 0, got NaN"
    );
    assert!(refused(Forest::params().init(Init::Greedy).units(64)).starts_with("init=greedy needs a unit"));
}

#[test]
fn an_observer_ends_a_typed_fit() {
    let mut patient = |event: &FitEvent, _: &dyn InProgress| match event {
        FitEvent::Iteration { iteration: 3, .. } => std::ops::ControlFlow::Break(StopReason::Interrupted),
        _ => std::ops::ControlFlow::Continue(()),
    };
    let model = Forest::params()
        .choose(false)
        .leave_out(0)
        .trees(2)
        .depth(3)
        .threads(1)
        .fit_observed(&data(None), &mut patient)
        .unwrap();
    assert_eq!((model.summary.iterations, model.summary.stopped), (3, StopReason::Interrupted));
}

/// Settings under which a fit checks itself, and is short.
const CHECKED: [&str; 5] = ["choose=true", "leave_out=4", "trees=8", "iterations=40", "grown_trees=8"];

#[test]
fn a_fit_that_checks_itself_ends_in_the_same_bytes_with_any_threads() {
    for density in [None, Some(0.2)] {
        let data = data(density);
        let one = fit(&data, &CHECKED, 1);
        let three = fit(&data, &CHECKED, 3);
        assert!(bytes(&one) == bytes(&three), "density {density:?}");
        assert_eq!(one.out_of_fold, three.out_of_fold);
    }
}

#[test]
fn a_fit_that_checks_itself_resumes_to_the_same_bytes() {
    for density in [None, Some(0.2)] {
        let data = data(density);
        let whole = bytes(&fit(&data, &CHECKED, 1));
        for stop in [3, 30, 37] {
            assert!(whole == bytes(&interrupted_at(stop, &data, &CHECKED)), "stopped at {stop}");
        }
    }
}

#[test]
fn out_of_fold_predictions_are_of_rows_that_were_not_seen() {
    // Targets that the features say nothing about: a model that saw a row predicts it better than one that did not.
    let features =
        Matrix::new(120, 6, (0..720).map(|i| ((i * 7919) % 1009) as f32 / 1009.0).collect()).unwrap();
    let targets: Vec<f32> =
        (0..120).flat_map(|row| if (row * 31) % 7 < 3 { [0.9, 0.1] } else { [0.1, 0.9] }).collect();
    let data = Dataset::new(Features::Dense(features), Matrix::new(120, 2, targets).unwrap()).unwrap();
    for scaling in ["scaling=standard", "scaling=relevance"] {
        let extra = [
            "choose=false",
            "leave_out=4",
            "given_back=0",
            "trees=8",
            "iterations=400",
            "leaf_prior=0.1",
            scaling,
        ];
        let model = fit(&data, &extra, 1);
        let unseen = mean_over_rows(&KL, data.targets(), model.out_of_fold.as_ref().unwrap(), None);
        assert!(unseen > 1.1 * kl(&model, &data), "{scaling}: {unseen} {}", kl(&model, &data));
        assert!((model.summary.validation_kl.unwrap() - unseen).abs() < 1e-6);
    }
}

#[test]
fn the_target_of_a_row_does_not_reach_its_out_of_fold_prediction() {
    let data = data(None);
    let mut targets = data.targets().clone().into_vec();
    targets[..data.labels()].rotate_left(1);
    let other = data.clone().with_targets(Matrix::new(data.rows(), data.labels(), targets).unwrap()).unwrap();
    for scaling in ["scaling=ranks", "scaling=relevance"] {
        // A leaf prior would draw leaves to the mean of all targets.
        let extra = ["leave_out=4", "given_back=0", "trees=8", "iterations=60", "leaf_prior=0", scaling];
        let first_row = |data: &Dataset| fit(data, &extra, 1).out_of_fold.unwrap().row(0).to_vec();
        assert_eq!(first_row(&data), first_row(&other), "{scaling}");
    }
}

#[test]
fn columns_that_tell_nothing_hardly_disturb_a_fit_by_relevance() {
    let data = data(None);
    let Features::Dense(matrix) = data.features().unwrap() else { panic!("dense") };
    let noise = |row: usize, column: usize| ((row * 7919 + column * 104_729) % 1013) as f32;
    let noisy: Vec<f32> = (0..data.rows())
        .flat_map(|row| {
            let own = matrix.row(row).to_vec();
            own.into_iter().chain((0..60).map(move |column| noise(row, column)))
        })
        .collect();
    let noisy = Matrix::new(data.rows(), matrix.cols() + 60, noisy).unwrap();
    let noisy = data.clone().with_inputs(Features::Dense(noisy)).unwrap();
    let unseen = |scaling: &str| {
        let extra = ["leave_out=4", "given_back=0", "trees=8", "iterations=100", scaling];
        fit(&noisy, &extra, 1).summary.validation_kl.unwrap()
    };
    let (ranks, relevance) = (unseen("scaling=ranks"), unseen("scaling=relevance"));
    assert!(relevance < 0.9 * ranks, "{relevance} {ranks}");
}

#[test]
fn a_fit_without_signal_is_no_worse_than_the_mean() {
    let features = Matrix::new(150, 5, (0..750).map(|i| ((i * 7919) % 1013) as f32).collect()).unwrap();
    let targets: Vec<f32> =
        (0..150).flat_map(|row| if (row * row) % 11 < 5 { [0.8, 0.2] } else { [0.3, 0.7] }).collect();
    let data = Dataset::new(Features::Dense(features), Matrix::new(150, 2, targets).unwrap()).unwrap();
    let summary = fit(&data, &CHECKED, 1).summary;
    assert!(summary.validation_kl.unwrap() <= 1.01 * summary.mean_kl.unwrap(), "{summary:?}");
}

#[test]
fn a_given_parameter_is_not_chosen() {
    let model = fit(&data(None), &["choose=true", "leave_out=4", "scaling=common", "depth=3", "trees=8"], 1);
    let lines = model.model.inspect();
    let tried: Vec<&String> =
        lines.iter().map(|(name, _)| name).filter(|name| name.starts_with("tried")).collect();
    assert!(tried.len() > 1, "{lines:?}");
    for name in tried {
        assert!(name.contains("scaling=common depth=3"), "{name}");
    }
}

#[test]
fn a_monotone_map_of_the_columns_changes_next_to_nothing_with_ranks() {
    let data = data(None);
    let Features::Dense(matrix) = data.features().unwrap() else { panic!("dense") };
    let warped = matrix.as_slice().iter().map(|x| (3.0 * x).exp() * 100.0).collect();
    let warped = Matrix::new(matrix.rows(), matrix.cols(), warped).unwrap();
    let warped = data.clone().with_inputs(Features::Dense(warped)).unwrap();
    let (plain, mapped) = (fit(&data, &["scaling=ranks"], 1), fit(&warped, &["scaling=ranks"], 1));
    assert!((kl(&plain, &data) - kl(&mapped, &warped)).abs() < 1e-3);
}

#[test]
fn rows_without_weight_teach_nothing() {
    let weights: Vec<f32> = (0..600).map(|row| if row < 40 { 1.0 } else { 0.0 }).collect();
    let weighted = data(None).with_weights(weights).unwrap();
    let model = fit(&weighted, &["batch_size=8", "iterations=200"], 1);
    assert!(model.summary.loss.is_some_and(f64::is_finite));
}
