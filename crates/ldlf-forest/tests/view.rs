//! The forest as plain data agrees with the forest that predicts.

use ldlf_core::{FitContext, LearnerEntry, Prediction, Settings, Threads, generate};
use ldlf_forest::Forest;

#[test]
fn routes_and_leaves_give_the_prediction_again() {
    let data = generate::artificial(300, 0).expect("a generated set");
    let settings = Settings::parse(["choose=false", "leave_out=0", "trees=3", "depth=4", "iterations=60"])
        .expect("settings");
    let learner = (LearnerEntry::of::<Forest>().build)(&settings).expect("a learner");
    let mut observer = ();
    let mut context = FitContext::new(0, Threads::one(), &mut observer);
    let model = learner.fit(&data, &mut context).expect("a model").model;
    let Prediction::Distributions(predicted) =
        model.predict(data.inputs(), &Threads::one()).expect("a prediction")
    else {
        panic!("a forest predicts distributions");
    };

    let chosen = [0, 7, 299];
    let view =
        model.look_inside(data.features().unwrap(), &chosen, &Threads::one()).expect("a forest has trees");
    assert_eq!((view.trees.len(), view.rows, view.trees[0].leaves.len()), (3, 300, 8));
    for (place, &row) in chosen.iter().enumerate() {
        for (label, &expected) in predicted.row(row).iter().enumerate() {
            let of_tree = |tree: &ldlf_core::forest_view::TreeView| {
                let leaves = tree.routes[place].iter().zip(&tree.leaves);
                leaves.map(|(share, leaf)| share * f64::from(leaf[label])).sum::<f64>()
            };
            let mean = view.trees.iter().map(of_tree).sum::<f64>() / 3.0;
            assert!(
                (mean - f64::from(expected)).abs() < 1e-5,
                "row {row}, label {label}: {mean} and {expected}"
            );
        }
    }
    for tree in &view.trees {
        assert!((tree.mass.iter().sum::<f64>() - 1.0).abs() < 1e-5, "all rows arrive somewhere");
        assert!(tree.splits.iter().all(|split| split.len() == 3), "the set has three features");
    }
}

#[test]
fn the_way_of_a_row_does_not_depend_on_threads() {
    let data = generate::artificial(700, 1).expect("a generated set");
    let settings = Settings::parse(["choose=false", "leave_out=0", "trees=2", "depth=3", "iterations=20"])
        .expect("settings");
    let learner = (LearnerEntry::of::<Forest>().build)(&settings).expect("a learner");
    let mut observer = ();
    let mut context = FitContext::new(0, Threads::one(), &mut observer);
    let model = learner.fit(&data, &mut context).expect("a model").model;
    let two = Threads::new(2).expect("two threads");
    let looked = |threads: &Threads| model.look_inside(data.features().unwrap(), &[5], threads);
    assert!(looked(&Threads::one()) == looked(&two));
}
