//! The four learners that are made of regression trees, against scikit-learn and numpy (`oracles/trees.py`) and against
//! what must hold for any data.

use std::ops::ControlFlow;

use ldlf_baselines::RandomForest;
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Csr, Dataset, Features, FitContext, FitEvent, InProgress, Inputs, LearnerEntry, Matrix, Model, Settings,
    StopReason, Threads, Value,
};
use ldlf_math::numeric::on_simplex;

const LEARNERS: [&str; 4] = ["aoso-ldlogitboost", "extra-trees", "ldlogitboost", "random-forest"];

fn entry(name: &str) -> LearnerEntry {
    ldlf_baselines::entries().into_iter().find(|entry| entry.name() == name).unwrap()
}

/// Settings that make a fit quick; the same words fit every learner of a kind.
fn quick(name: &str) -> Vec<&'static str> {
    match name {
        "random-forest" | "extra-trees" => vec!["trees=20"],
        _ => vec!["rounds=15", "patience=5", "min_leaf_weight=3"],
    }
}

fn fit(name: &str, settings: &[&str], data: &Dataset, threads: usize) -> Box<dyn Model> {
    let learner = (entry(name).build)(&Settings::parse(settings).unwrap()).unwrap();
    let threads = Threads::new(threads).unwrap();
    learner.fit(data, &mut FitContext::new(0, threads, &mut ())).unwrap().model
}

fn predict(model: &dyn Model, inputs: &Inputs) -> Matrix<f32> {
    model.predict(inputs, &Threads::one()).unwrap().into_distributions().unwrap()
}

fn largest_difference(a: &Matrix<f32>, b: &Matrix<f32>) -> f32 {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn oracle() -> Value {
    serde_json::from_str(include_str!("../oracles/trees.json")).unwrap()
}

fn matrix(value: &Value) -> Matrix<f32> {
    let rows: Vec<Vec<f32>> = serde_json::from_value(value.clone()).unwrap();
    Matrix::new(rows.len(), rows[0].len(), rows.concat()).unwrap()
}

/// The closed formula of `oracles/trees.py`.
fn waves(rows: std::ops::Range<usize>) -> Dataset {
    let (mut x, mut d) = (Vec::new(), Vec::new());
    for i in rows.clone() {
        let row: [f64; 6] = std::array::from_fn(|k| {
            f64::from((1.0 + (i * (k + 1)) as f64 * 0.7 + (k * k) as f64).sin() as f32)
        });
        let mut p = [2.0 * row[0] * row[1], row[2] + row[3], 1.5 * row[4].abs()];
        ldlf_math::numeric::softmax_in_place(&mut p);
        x.extend(row.map(|v| v as f32));
        d.extend(p.map(|v| v as f32));
    }
    let features = Features::Dense(Matrix::new(rows.len(), 6, x).unwrap());
    Dataset::new(features, Matrix::new(rows.len(), 3, d).unwrap()).unwrap()
}

/// Rows whose numbers are sums of a few powers of two, so that sums are exact in any order; mostly zeros.
fn exact_and_sparse(rows: usize) -> (Csr, Matrix<f32>) {
    let mut features = Csr::with_columns(12);
    let mut targets = Vec::new();
    for i in 0..rows {
        let first = (i * 7 % 11) as u32;
        features.push_row([(first, (i % 5) as f32 - 1.5), (11, (i * 13 % 32) as f32)]);
        let a = ((i * 13 % 32) / 8) as f32 / 8.0;
        let b = f32::from(u8::from(first < 4)) / 4.0 + (i % 3) as f32 / 16.0;
        targets.extend([a, b, 1.0 - a - b]);
    }
    (features, Matrix::new(rows, 3, targets).unwrap())
}

fn mean_kl(targets: &Matrix<f32>, predicted: &Matrix<f32>) -> f64 {
    let of_rows = targets.iter_rows().zip(predicted.iter_rows());
    let sum: f64 = of_rows
        .flat_map(|(d, p)| d.iter().zip(p))
        .filter(|(d, _)| **d > 0.0)
        .map(|(&d, &p)| f64::from(d) * (f64::from(d) / f64::from(p).max(1e-12)).ln())
        .sum();
    sum / targets.rows() as f64
}

#[test]
fn one_tree_without_randomness_is_the_tree_of_scikit_learn() {
    let oracle = &oracle()["single_tree"];
    let weights: Vec<f32> = serde_json::from_value(oracle["weights"].clone()).unwrap();
    let features = Features::Dense(matrix(&oracle["features"]));
    let data = Dataset::new(features, matrix(&oracle["targets"])).unwrap().with_weights(weights).unwrap();
    let learner = RandomForest::params()
        .trees(1)
        .max_depth(4)
        .min_leaf_weight(5.0)
        .max_features(1.0)
        .bootstrap(false)
        .check()
        .unwrap();
    let (forest, _) =
        RandomForest::grow(learner.parameters(), &data, &mut FitContext::new(0, Threads::one(), &mut ()))
            .unwrap();
    let tree = &forest.trees()[0];
    let root = tree.split(0).unwrap();
    assert_eq!(Value::from(root.feature), oracle["root"][0]);
    assert_eq!(f64::from(root.threshold), oracle["root"][1].as_f64().unwrap());
    assert_eq!(Value::from(tree.node_count()), oracle["nodes"]);
    let predicted = predict(&forest, &Features::Dense(matrix(&oracle["queries"])).into());
    let difference = largest_difference(&predicted, &matrix(&oracle["predictions"]));
    assert!(difference < 1e-5, "{difference}");
}

#[test]
fn the_forests_are_as_accurate_as_those_of_scikit_learn() {
    let (training, test) = (waves(0..300), waves(300..600));
    for name in ["random-forest", "extra-trees"] {
        let settings = ["trees=50", "min_leaf_weight=3", "max_features=0.5"];
        let learner = (entry(name).build)(&Settings::parse(settings).unwrap()).unwrap();
        let ours: f64 = (0..5)
            .map(|seed| {
                let model = learner
                    .fit(&training, &mut FitContext::new(seed, Threads::one(), &mut ()))
                    .unwrap()
                    .model;
                mean_kl(test.targets(), &predict(model.as_ref(), test.inputs())) / 5.0
            })
            .sum();
        let theirs = &oracle()["forests"][name];
        let (mean, spread) = (theirs["mean"].as_f64().unwrap(), theirs["std"].as_f64().unwrap());
        assert!((ours - mean).abs() < 4.0 * spread, "{name}: {ours} against {mean} +- {spread}");
    }
}

#[test]
fn the_first_rounds_of_the_boosters_are_those_of_a_direct_computation() {
    let oracle = &oracle()["boosters"];
    let features = Features::Dense(matrix(&oracle["features"]));
    let data = Dataset::new(features, matrix(&oracle["targets"])).unwrap();
    for name in ["ldlogitboost", "aoso-ldlogitboost"] {
        for rounds in 1..=2 {
            let settings = [
                &format!("rounds={rounds}"),
                "learning_rate=0.5",
                "max_depth=1",
                "min_leaf_weight=1",
                "l2=0",
                "max_features=1",
                "subsample=1",
                "validation_fraction=0",
            ];
            let model = fit(name, &settings, &data, 1);
            let difference = largest_difference(
                &predict(model.as_ref(), data.inputs()),
                &matrix(&oracle[name][rounds - 1]),
            );
            assert!(difference < 1e-5, "{name}, round {rounds}: {difference}");
        }
    }
}

#[test]
fn predictions_are_distributions() {
    let (training, test) = (waves(0..300), waves(300..400));
    for name in LEARNERS {
        let predicted = predict(fit(name, &quick(name), &training, 1).as_ref(), test.inputs());
        assert!(predicted.iter_rows().all(|p| on_simplex(p, 1e-5)), "{name}");
    }
}

#[test]
fn predictions_are_better_than_the_mean() {
    let (training, test) = (waves(0..300), waves(300..400));
    let mean: Vec<f32> = training.mean_target().iter().map(|&p| p as f32).collect();
    let of_mean = mean_kl(test.targets(), &Matrix::new(100, 3, mean.repeat(100)).unwrap());
    for name in LEARNERS {
        let predicted = predict(fit(name, &quick(name), &training, 1).as_ref(), test.inputs());
        let kl = mean_kl(test.targets(), &predicted);
        assert!(kl < 0.7 * of_mean, "{name}: {kl}, the mean gives {of_mean}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let data = waves(0..200);
    for name in LEARNERS {
        let bytes = |threads| {
            let mut parts = Parts::new();
            fit(name, &quick(name), &data, threads).store(&mut parts);
            parts.to_bytes().unwrap()
        };
        assert_eq!(bytes(1), bytes(3), "{name}");
    }
}

#[test]
fn a_model_survives_its_file() {
    let data = waves(0..150);
    for name in LEARNERS {
        let model = fit(name, &quick(name), &data, 1);
        let mut parts = Parts::new();
        model.store(&mut parts);
        let parts = Parts::from_bytes(&parts.to_bytes().unwrap()).unwrap();
        let again = (entry(name).load)(&parts, &ModelShape { features: 6, labels: 3 }).unwrap();
        assert_eq!(predict(model.as_ref(), data.inputs()), predict(again.as_ref(), data.inputs()), "{name}");
    }
}

#[test]
fn sparse_and_dense_rows_give_the_same_model() {
    let (sparse, targets) = exact_and_sparse(160);
    let mut dense = Matrix::zeros(160, 12);
    (0..160).for_each(|row| Features::Sparse(sparse.clone()).copy_row_into(row, dense.row_mut(row)));
    // Noise-free ones in a dense column keep the dense copy from being read as sparse.
    let filled = |m: &Matrix<f32>| {
        let rows: Vec<f32> = m.iter_rows().flat_map(|r| [r, &[1.0; 8]].concat()).collect();
        Features::Dense(Matrix::new(160, 20, rows).unwrap())
    };
    let wider = Features::Sparse(
        Csr::new(20, sparse.parts().0.to_vec(), sparse.parts().1.to_vec(), sparse.parts().2.to_vec())
            .unwrap(),
    );
    let data = |features: Features| Dataset::new(features, targets.clone()).unwrap();
    for (name, settings) in [
        ("random-forest", vec!["trees=3", "max_features=1", "bootstrap=false"]),
        ("ldlogitboost", vec!["rounds=3", "max_features=1", "subsample=1"]),
        ("aoso-ldlogitboost", vec!["rounds=3", "max_features=1", "subsample=1"]),
    ] {
        let [a, b] = [&wider, &filled(&dense)].map(|features| {
            let data = data(features.clone());
            predict(fit(name, &settings, &data, 1).as_ref(), data.inputs())
        });
        assert!(largest_difference(&a, &b) < 1e-5, "{name}: {}", largest_difference(&a, &b));
    }
}

#[test]
fn extra_trees_learn_from_sparse_rows_with_both_signs() {
    let (sparse, targets) = exact_and_sparse(320);
    let data = Dataset::new(Features::Sparse(sparse), targets).unwrap();
    let model = fit("extra-trees", &["trees=30", "min_leaf_weight=1", "max_features=1"], &data, 1);
    let kl = mean_kl(data.targets(), &predict(model.as_ref(), data.inputs()));
    assert!(kl < 1e-3, "trees with leaves of one row repeat the training rows: {kl}");
}

#[test]
fn a_weight_of_w_equals_w_copies() {
    let (features, targets) = exact_and_sparse(60);
    let weights: Vec<f32> = (0..60).map(|i| (i % 4) as f32).collect();
    let copies: Vec<usize> = (0..60).flat_map(|i| vec![i; i % 4]).collect();
    let data = Dataset::new(Features::Sparse(features), targets).unwrap();
    let weighted = data.clone().with_weights(weights).unwrap();
    for (name, settings) in [
        ("random-forest", vec!["trees=2", "max_features=1", "bootstrap=false"]),
        ("ldlogitboost", vec!["rounds=4", "max_features=1", "subsample=1", "validation_fraction=0"]),
        ("aoso-ldlogitboost", vec!["rounds=4", "max_features=1", "subsample=1", "validation_fraction=0"]),
    ] {
        let a = predict(fit(name, &settings, &weighted, 1).as_ref(), data.inputs());
        let b = predict(fit(name, &settings, &data.select(&copies), 1).as_ref(), data.inputs());
        assert!(largest_difference(&a, &b) < 1e-5, "{name}: {}", largest_difference(&a, &b));
    }
}

#[test]
fn other_names_for_the_labels_give_the_same_model() {
    let data = waves(0..200);
    let order = [2usize, 0, 1];
    let swap = |m: &Matrix<f32>| {
        let values: Vec<f32> = m.iter_rows().flat_map(|row| order.map(|label| row[label])).collect();
        Matrix::new(m.rows(), 3, values).unwrap()
    };
    let relabelled = Dataset::new(data.features().unwrap().clone(), swap(data.targets())).unwrap();
    for (name, settings) in [
        ("random-forest", vec!["trees=5"]),
        ("extra-trees", vec!["trees=5"]),
        ("ldlogitboost", vec!["rounds=5", "max_features=1", "validation_fraction=0"]),
        ("aoso-ldlogitboost", vec!["rounds=5", "validation_fraction=0"]),
    ] {
        let a = swap(&predict(fit(name, &settings, &data, 1).as_ref(), data.inputs()));
        let b = predict(fit(name, &settings, &relabelled, 1).as_ref(), data.inputs());
        assert!(largest_difference(&a, &b) < 1e-4, "{name}: {}", largest_difference(&a, &b));
    }
}

#[test]
fn an_interrupted_fit_keeps_the_trees_so_far() {
    let data = waves(0..200);
    for name in LEARNERS {
        let mut seen = 0;
        let mut observer = |_: &FitEvent, state: &dyn InProgress| {
            seen += 1;
            assert!(state.predict(data.inputs(), &Threads::one()).is_ok());
            if seen == 3 { ControlFlow::Break(StopReason::Interrupted) } else { ControlFlow::Continue(()) }
        };
        let settings = if name.contains("boost") { "rounds=50" } else { "trees=500" };
        let learner = (entry(name).build)(&Settings::parse([settings]).unwrap()).unwrap();
        let fitted = learner.fit(&data, &mut FitContext::new(0, Threads::one(), &mut observer)).unwrap();
        assert_eq!(fitted.summary.stopped, StopReason::Interrupted, "{name}");
        assert!(predict(fitted.model.as_ref(), data.inputs()).iter_rows().all(|p| on_simplex(p, 1e-5)));
    }
}

#[test]
fn early_stopping_is_followed_by_a_refit_on_all_rows() {
    let data = waves(0..200);
    for name in ["ldlogitboost", "aoso-ldlogitboost"] {
        let settings =
            Settings::parse(["rounds=400", "learning_rate=0.5", "patience=5", "min_leaf_weight=1"]).unwrap();
        let learner = (entry(name).build)(&settings).unwrap();
        let summary = learner.fit(&data, &mut FitContext::new(0, Threads::one(), &mut ())).unwrap().summary;
        assert_eq!(summary.stopped, StopReason::EarlyStopping, "{name}");
        let best = summary.best_iteration.unwrap();
        assert_eq!(summary.iterations, best + 5 + best, "{name}: the search, then the rounds on all rows");
        assert!(summary.validation_kl.unwrap() > 0.0);
    }
}

#[test]
fn rows_of_one_kind_become_a_single_leaf() {
    let features = Features::Dense(Matrix::from_rows(&[[1.0], [1.0], [1.0]]));
    let targets = Matrix::from_rows(&[[0.5, 0.5], [0.25, 0.75], [0.75, 0.25]]);
    let data = Dataset::new(features, targets).unwrap();
    for name in LEARNERS {
        let predicted = predict(fit(name, &quick(name)[..1], &data, 1).as_ref(), data.inputs());
        assert!(predicted.iter_rows().all(|p| p == predicted.row(0)), "{name}");
    }
}

#[test]
fn a_damaged_tree_is_refused_in_a_sentence() {
    let data = waves(0..100);
    let mut whole = Parts::new();
    fit("random-forest", &["trees=2"], &data, 1).store(&mut whole);
    let nodes = whole.shape("node_child").unwrap()[0];
    let leaves = whole.shape("leaf_values").unwrap()[0];
    let shape = ModelShape { features: 6, labels: 3 };
    let load = entry("random-forest").load;
    assert!(load(&whole, &shape).is_ok());
    let damaged = |name: &str, change: &dyn Fn(&mut Vec<u32>)| {
        let mut parts = whole.clone();
        let mut values = parts.u32s(name, &[nodes]).unwrap();
        change(&mut values);
        parts.put(name, Array::U32(vec![nodes], values));
        load(&parts, &shape).err().expect("a damaged tree is refused").to_string()
    };
    assert!(damaged("node_child", &|child| child[0] = 0).contains("out of order"));
    assert!(damaged("node_child", &|child| child[0] = nodes as u32).contains("out of range"));
    assert!(damaged("node_child", &|child| child[0] = u32::MAX).contains("out of range"));
    // The first child of the root's left child is node 3: naming node 2 in its place gives node 3 two parents.
    assert!(damaged("node_child", &|child| child[0] = 2).contains("two parents"));
    assert!(damaged("node_feature", &|feature| feature[0] = 6).contains("a feature that does not exist"));
    assert!(damaged("node_feature", &|feature| feature[0] = u32::MAX).contains("tree 0"));
    let mut parts = whole.clone();
    parts.put("leaf_values", Array::F32(vec![leaves, 3], vec![0.5; leaves * 3]));
    assert!(load(&parts, &shape).err().unwrap().to_string().contains("not a distribution"));
    assert!(load(&whole, &ModelShape { features: 5, labels: 3 }).is_err());
    assert!(load(&whole, &ModelShape { features: 6, labels: 4 }).is_err());
    assert!(load(&Parts::new(), &shape).is_err());
}

#[test]
fn a_bad_parameter_is_one_sentence() {
    let refused = |name: &str, setting: &str| {
        (entry(name).build)(&Settings::parse([setting]).unwrap()).err().unwrap().to_string()
    };
    assert_eq!(refused("random-forest", "trees=0"), "trees must be at least 1, got 0");
    assert_eq!(refused("extra-trees", "max_features=1.5"), "max_features must be at most 1, got 1.5");
    assert_eq!(refused("ldlogitboost", "learning_rate=0"), "learning_rate must be above 0, got 0");
    assert_eq!(refused("aoso-ldlogitboost", "patience=0"), "patience must be at least 1, got 0");
}

#[test]
fn out_of_bag_predictions_are_of_rows_that_trees_did_not_draw() {
    let data = waves(0..200);
    let out_of_bag = |settings: &[&str], data: &Dataset| {
        let learner = (entry("random-forest").build)(&Settings::parse(settings).unwrap()).unwrap();
        learner.fit(data, &mut FitContext::new(0, Threads::one(), &mut ())).unwrap().out_of_fold
    };
    let found = out_of_bag(&["trees=60", "min_leaf_weight=1"], &data).unwrap();
    // Another target of the first row moves what trees that drew it say, and not what it is predicted out of bag.
    let mut targets = data.targets().clone();
    targets.row_mut(0).copy_from_slice(&[0.0, 0.0, 1.0]);
    let other = data.clone().with_targets(targets).unwrap();
    let again = out_of_bag(&["trees=60", "min_leaf_weight=1"], &other).unwrap();
    assert_eq!(found.row(0), again.row(0));
    assert_ne!(found, again);
    // Rows that belong together are known by each other, and without samples no tree leaves out a row.
    let people = data.clone().with_groups((0..200).map(|row| row / 2).collect()).unwrap();
    assert!(out_of_bag(&["trees=60"], &people).is_none());
    assert!(out_of_bag(&["trees=60", "bootstrap=false"], &data).is_none());
    assert!(out_of_bag(&["trees=5"], &data).is_none());
}

#[test]
fn the_variance_between_trees_is_that_of_their_leaves() {
    let data = waves(0..80);
    let mut nobody = ();
    let learner = RandomForest::params().trees(3).check().unwrap();
    let mut context = FitContext::new(0, Threads::one(), &mut nobody);
    let (forest, _) = RandomForest::grow(learner.parameters(), &data, &mut context).unwrap();
    let found = forest.variance_between_trees(data.inputs(), &Threads::one()).unwrap().unwrap();
    let Inputs::Table(Features::Dense(rows)) = data.inputs() else { unreachable!() };
    for row in [0, 17, 79] {
        for label in 0..3 {
            let said: Vec<f64> = forest
                .trees()
                .iter()
                .map(|tree| f64::from(tree.predict_dense(rows.row(row))[label]))
                .collect();
            let mean = said.iter().sum::<f64>() / 3.0;
            let variance = said.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / 3.0;
            assert!((f64::from(found.row(row)[label]) - variance).abs() < 1e-6, "{row} {label}");
        }
    }
}
