//! `ldlf explain` and `ldlf importance`.

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::call::Folder;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

/// How far the mean and the parts of a row are from its prediction, at most.
fn worst_gap(found: &Value) -> f64 {
    let mean = numbers(&found["mean"]);
    let mut worst: f64 = 0.0;
    for row in found["rows"].as_array().expect("rows") {
        let mut sums = mean.clone();
        for column in row["columns"].as_array().expect("columns") {
            sums.iter_mut().zip(numbers(&column["contributions"])).for_each(|(sum, part)| *sum += part);
        }
        for (sum, predicted) in sums.iter().zip(numbers(&row["prediction"])) {
            worst = worst.max((sum - predicted).abs());
        }
    }
    worst
}

#[test]
fn the_parts_of_every_learner_sum_to_its_predictions() {
    let folder = Folder::new();
    folder.succeed("generate mixture --rows 60 --features 8 --labels 3 --votes 20 --out votes.csv");
    let short = [("trees", "2"), ("depth", "3"), ("rounds", "3"), ("iterations", "30"), ("epochs", "3")];
    let learners = folder.json("learners --json");
    let mut methods = Vec::new();
    for learner in learners.as_array().expect("a list") {
        let name = learner["name"].as_str().expect("a name");
        // Several learners at once; each of its members is here.
        if name == "sldlf-auto" {
            continue;
        }
        let declared: Vec<&str> = learner["parameters"]
            .as_array()
            .expect("parameters")
            .iter()
            .filter_map(|parameter| parameter["name"].as_str())
            .collect();
        let set: String = short
            .iter()
            .filter(|(name, _)| declared.contains(name))
            .map(|(name, value)| format!(" --set {name}={value}"))
            .collect();
        let backbone = if declared.contains(&"backbone") { " --set backbone=mlp" } else { "" };
        let train =
            format!("train votes.csv --labels votes_* --label-values 1..3 --learner {name}{set}{backbone}");
        folder.succeed(&format!("{train} --out {name}.ldlf --quiet"));
        let found = folder.json(&format!("explain {name}.ldlf votes.csv --row 0 --row 7 --json"));
        let gap = worst_gap(&found);
        assert!(gap < 1e-5, "{name}: {gap}");
        methods.push(format!("{name} {}", found["method"].as_str().expect("a method")));
    }
    for expected in ["sldlf splits", "sndf-ldl splits", "random-forest splits", "aa-knn permutation"] {
        assert!(methods.iter().any(|method| method == expected), "{expected} in {methods:?}");
    }
}

#[test]
fn few_columns_get_shapley_values_and_categories_count_for_their_column() {
    let folder = Folder::new();
    let mut table = "size,colour,no,yes\n".to_string();
    for row in 0..40 {
        let (size, red) = (row % 10, row % 3 == 0);
        let yes = size + if red { 10 } else { 0 };
        table += &format!("{size},{},{},{yes}\n", if red { "red" } else { "blue" }, 20 - yes);
    }
    folder.write("data.csv", &table);
    folder.succeed("train data.csv --labels no,yes --categories colour --learner bfgs-ldl --out m --quiet");
    let found = folder.json("explain m data.csv --all --json");
    assert_eq!(found["method"], "shapley");
    assert!(worst_gap(&found) < 1e-5);
    let columns: Vec<&str> = found["rows"][0]["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .filter_map(|column| column["column"].as_str())
        .collect();
    assert_eq!(columns, ["colour", "size"]);
    let importance = folder.json("importance m data.csv --json");
    assert_eq!(importance["columns"].as_array().expect("columns").len(), 2);
    assert!(importance["columns"][0]["rise"].as_f64().expect("a number") > 0.0);
    assert_data_eq!(
        folder.call("explain m data.csv --row 0"),
        str![[r#"
exit 0
-- stdout
row 0 of data, bfgs-ldl: Shapley values from all subsets of the columns; the mean is that over 40 rows

column       moved       no      yes
mean                 0.[..]   0.[..]
colour      0.[..]  -0.[..]  +0.[..]
size        0.[..]  +0.[..]  -0.[..]
prediction           0.[..]   0.[..]

"#]]
    );
}

#[test]
fn explanations_are_tables_and_figures_too() {
    let folder = Folder::with_model();
    folder.succeed("train votes.csv --labels votes_* --learner random-forest --set trees=3 --out rf --quiet");
    folder.succeed("explain rf votes.csv --all --out parts.csv --quiet");
    let parts = folder.read("parts.csv");
    assert_eq!(parts.lines().next(), Some("row,column,votes_1,votes_2,votes_3,votes_4"));
    assert_eq!(parts.lines().count(), 1 + 60 * 3);
    folder.succeed("explain rf votes.csv --row 5 --out why.svg --quiet");
    assert!(folder.read("why.svg").contains("row 5 of votes"));
    assert_data_eq!(
        folder.call("explain rf votes.csv --row 60"),
        str![[r#"
exit 2
-- stderr
error: --row 60: votes.csv has 60 rows, numbered from 0

"#]]
    );
    assert_data_eq!(
        folder.call("explain rf votes.csv --all --out why.svg --force"),
        str![[r#"
exit 2
-- stderr
error: a figure explains one row; name one with --row, or write a table of all parts, such as parts.csv

"#]]
    );
    assert_data_eq!(
        folder.call("importance mean.ldlf votes.csv --out i.svg"),
        str![[r#"
exit 3
-- stderr
[..]
error: no column makes the model worse when it is shuffled: there is nothing to draw; leave out --out to see the numbers

"#]]
    );
}
