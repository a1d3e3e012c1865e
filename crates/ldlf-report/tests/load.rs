//! Reading what evaluations left behind.

use std::path::PathBuf;

use ldlf_report::load::{Evaluation, Predictions, read};
use serde_json::{Value, json};

fn run(learner: &str, parameters: Value, kl: f64) -> Value {
    json!({"learner": learner, "parameters": parameters, "folds": [{"kl": kl}], "mean": {"kl": kl}, "std": {"kl": 0.0}})
}

fn results(runs: &[Value]) -> Value {
    json!({"dataset": "d", "rows": 2, "features": 1, "labels": ["a", "b"], "protocol": "clean", "seed": 0, "results": runs})
}

/// A results folder with one learner, `mean`, and one fold.
fn folder(predictions: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_path_buf();
    std::fs::create_dir(path.join("predictions")).expect("a folder");
    std::fs::write(path.join("results.json"), results(&[run("mean", json!({}), 0.5)]).to_string())
        .expect("a file");
    std::fs::write(path.join("predictions/mean-0.csv"), predictions).expect("a file");
    (folder, path)
}

fn one(path: &std::path::Path) -> Evaluation {
    read(path).expect("results can be read").remove(0)
}

#[test]
fn predictions_stand_beside_the_truth() {
    let (_kept, path) = folder("row,truth_a,truth_b,predicted_a,predicted_b\n7,1,0,0.75,0.25\n");
    let Some(Predictions::Distributions(rows)) = one(&path).predictions(0).expect("predictions") else {
        panic!("distributions were kept");
    };
    assert_eq!(
        (rows[0].row, &rows[0].truth[..], &rows[0].predicted[..]),
        (7, &[1.0, 0.0][..], &[0.75, 0.25][..])
    );
}

#[test]
fn a_damaged_prediction_is_named_by_line_and_column() {
    let (_kept, path) = folder("row,truth_a,truth_b,predicted_a,predicted_b\n7,1,0,much,0.25\n");
    let error = one(&path).predictions(0).expect_err("no number").to_string();
    assert!(
        error.ends_with("mean-0.csv line 2, column \"predicted_a\": \"much\" is not a number"),
        "{error}"
    );
}

#[test]
fn the_axes_of_a_sweep_are_the_independent_parameters() {
    let runs: Vec<Value> = [2, 3, 4]
        .iter()
        .map(|depth| run("sldlf", json!({"trees": 1, "depth": depth, "units": 1 << (depth - 1)}), 0.1))
        .collect();
    let file = tempfile::Builder::new().suffix(".json").tempfile().expect("a file");
    std::fs::write(file.path(), results(&runs).to_string()).expect("the file can be written");
    let evaluation = one(file.path());
    assert_eq!(evaluation.swept(), ["depth"]);
    let names: Vec<&str> = evaluation.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["sldlf", "sldlf.2", "sldlf.3"]);
}

#[test]
fn learners_that_differ_are_no_sweep() {
    let runs = [run("sldlf", json!({"trees": 1}), 0.1), run("random-forest", json!({"trees": 2}), 0.2)];
    let file = tempfile::Builder::new().suffix(".json").tempfile().expect("a file");
    std::fs::write(file.path(), results(&runs).to_string()).expect("the file can be written");
    assert!(one(file.path()).swept().is_empty());
}

#[test]
fn the_parts_of_a_figure_are_sweeps_of_their_own() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("figure3.json");
    let runs = [
        run("sldlf", json!({"trees": 1, "depth": 7}), 0.3),
        run("sldlf", json!({"trees": 5, "depth": 7}), 0.2),
    ];
    let deep = [
        run("sldlf", json!({"trees": 1, "depth": 2}), 0.4),
        run("sldlf", json!({"trees": 1, "depth": 9}), 0.1),
    ];
    let section = json!({
        "set": "d", "division": "90 %",
        "entrants": ["sldlf, trees 1", "sldlf, trees 5", "sldlf, depth 2", "sldlf, depth 9"],
        "evaluation": results(&[runs, deep].concat()),
    });
    let absent = json!({"set": "e", "division": "90 %", "entrants": [], "evaluation": null});
    let object = json!({"experiment": "figure3", "sections": [section, absent]});
    std::fs::write(&path, object.to_string()).expect("a file");
    let parts = read(&path).expect("results can be read");
    let swept: Vec<Vec<String>> = parts.iter().map(Evaluation::swept).collect();
    assert_eq!(swept, [["trees"], ["depth"]]);
    assert_eq!(parts[0].title(), "d: figure3, 90 %");
}
