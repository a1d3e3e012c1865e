//! What a report does not compare, it names.

use ldlf_report::load::{Evaluation, read};
use ldlf_report::page::{Report, render};
use serde_json::{Value, json};

fn evaluation(file: &str, dataset: &str, learners: &[&str]) -> Evaluation {
    let run = |(place, learner): (usize, &&str)| {
        let kl = 0.1 + place as f64;
        json!({"learner": learner, "folds": [{"kl": kl}], "mean": {"kl": kl}, "std": {"kl": 0.0}})
    };
    let runs: Vec<Value> = learners.iter().enumerate().map(run).collect();
    let results = json!({
        "dataset": dataset, "rows": 2, "features": 0, "labels": ["a", "b"], "protocol": "clean", "seed": 0, "results": runs
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(format!("{file}.json"));
    std::fs::write(&path, results.to_string()).expect("a file");
    read(&path).expect("results can be read").remove(0)
}

fn page(evaluations: Vec<Evaluation>) -> String {
    render(&Report { title: "t".into(), evaluations, ..Report::default() }).expect("a page")
}

#[test]
fn learners_and_datasets_that_are_not_compared_are_named() {
    let html = page(vec![
        evaluation("a", "Movie", &["mean", "sldlf", "bfgs-ldl", "aa-knn", "pt-svm"]),
        evaluation("b", "SJAFFE", &["mean", "sldlf", "bfgs-ldl"]),
        evaluation("c", "Yeast", &["mean"]),
    ]);
    assert!(html.contains(
        "Left out, because not all learners were run on all datasets: the dataset Yeast, aa-knn, pt-svm."
    ));
    assert!(!html.contains("<dt>features</dt>"), "images have none");
}

#[test]
fn a_further_evaluation_of_a_dataset_is_named() {
    let both = ["mean", "sldlf"];
    let html = page(vec![
        evaluation("a", "Movie", &both),
        evaluation("b", "SJAFFE", &both),
        evaluation("again", "Movie", &both),
    ]);
    assert!(html.contains("Left out, because a dataset counts once: a further evaluation of Movie (again)."));
}

#[test]
fn datasets_without_shared_learners_say_that_there_are_no_ranks() {
    let html = page(vec![
        evaluation("a", "Movie", &["mean", "sldlf"]),
        evaluation("b", "SJAFFE", &["mean", "aa-knn"]),
    ]);
    assert!(html.contains(
        "No ranks: fewer than two learners were run on all of these datasets. Movie has mean, sldlf; SJAFFE has mean, aa-knn."
    ));
    assert!(!page(vec![evaluation("a", "Movie", &["mean"])]).contains("No ranks"));
}
