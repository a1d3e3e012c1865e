//! One learner with several settings side by side, searches, and several models on one table.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

#[test]
fn settings_of_one_learner_stand_side_by_side_in_one_table() {
    let folder = Folder::with_votes();
    let call = "cv votes.csv --labels votes_* --folds 2 --json --learner";
    let found = folder.json(&format!("{call} random-forest,random-forest@trees=2@max_depth=1,mean --quiet"));
    let results = found["results"].as_array().expect("results");
    let names: Vec<&str> = results.iter().filter_map(|result| result["learner"].as_str()).collect();
    assert_eq!(names, ["random-forest", "random-forest@trees=2@max_depth=1", "mean"]);
    assert_eq!(results[1]["parameters"]["trees"], 2);
    assert_ne!(results[0]["mean"]["kl"], results[1]["mean"]["kl"]);
    assert_data_eq!(
        folder.call(&format!("{call} mean,mean")),
        str![[r#"
exit 2
-- stderr
error: the learner mean is named twice; settings tell them apart, as in mean,mean@NAME=VALUE

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{call} random-forest@leaves=3")),
        str![[r#"
exit 2
-- stderr
error: random-forest: no parameter is called "leaves"[..]

"#]]
    );
}

#[test]
fn results_keep_finished_folds_until_they_are_whole() {
    let folder = Folder::with_votes();
    let call = "cv votes.csv --labels votes_* --folds 2 --learner mean,mean@x --results r --quiet";
    // A preset that does not exist ends the run before anything is made.
    assert!(folder.call(call).starts_with("exit 2"));
    assert!(!folder.path("r").exists());
    folder.succeed(&call.replace(",mean@x", ""));
    assert!(folder.path("r/results.json").is_file() && !folder.path("r/unfinished.jsonl").exists());
    // A run that ended early left its finished folds alone, and the same command goes on.
    std::fs::remove_dir_all(folder.path("r")).expect("the folder goes");
    std::fs::create_dir(folder.path("r")).expect("a folder");
    folder.write("r/unfinished.jsonl", "");
    folder.succeed(&call.replace(",mean@x", ""));
    assert!(folder.path("r/results.json").is_file());
}

#[test]
fn a_search_halves_its_trials_and_trains_the_best_on_all_rows() {
    let folder = Folder::new();
    folder.succeed("generate mixture --rows 120 --features 3 --labels 4 --votes 30 --out votes.csv");
    let call = "search votes.csv --labels votes_* --learner random-forest --over trees=1..30 --over max_depth=1,3 \
                --trials 8 --folds 4 --out best.ldlf --json --quiet";
    let found = folder.json(call);
    let trials = found["trials"].as_array().expect("trials");
    let folds: Vec<u64> = trials.iter().filter_map(|trial| trial["folds"].as_u64()).collect();
    assert_eq!(folds, [4, 4, 2, 2, 1, 1, 1, 1]);
    assert_eq!(trials.iter().filter(|trial| trial["chosen"] == true).count(), 1);
    assert_eq!(trials[0]["chosen"], true);
    let model = folder.json("inspect best.ldlf --json");
    for (name, value) in trials[0]["settings"].as_object().expect("settings") {
        assert_eq!(&model["parameters"][name], value, "{name}");
    }
    assert_eq!(folder.files(), ["best.ldlf", "votes.csv"]);
    assert_eq!(found, folder.json(&format!("{call} --force")));
    assert_data_eq!(
        folder.call("search votes.csv --labels votes_* --over oaks=1..3 --out x.ldlf"),
        str![[r#"
exit 2
-- stderr
error: sldlf: no parameter is called "oaks"[..]

"#]]
    );
}

#[test]
fn a_search_fills_missing_values_from_its_training_rows_alone() {
    let folder = Folder::new();
    // The rows of the test are far away: a mean that counts them is another.
    let rows: String = (0..40)
        .map(|row| match (row % 4, row % 7) {
            (3, _) => format!("{},9,1,test\n", 1_000_000 + row),
            (_, 2) => format!(",{},{},train\n", 1 + row % 3, 2 + row % 5),
            _ => format!("{row},{},{},train\n", 1 + row % 3, 2 + row % 5),
        })
        .collect();
    folder.write("d.csv", &format!("x,a,b,part\n{rows}"));
    let same = "d.csv --labels a,b --split-column part --learner bfgs-ldl --seed 3 --quiet";
    folder.succeed(&format!("search {same} --over l2=0.1 --trials 1 --folds 2 --out searched"));
    folder.succeed(&format!("train {same} --out trained"));
    let fills = |model: &str| {
        folder.json(&format!("inspect {model} --json"))["document"]["schema"]["columns"].clone()
    };
    assert_eq!(fills("searched"), fills("trained"));
    assert!(
        fills("searched")[0]["fill"][0].as_f64().is_some_and(|fill| fill < 40.0),
        "{}",
        fills("searched")
    );
}

#[test]
fn models_of_other_labels_of_the_same_rows_are_not_compared() {
    let folder = Folder::new();
    let rows: String =
        (0..30).map(|row| format!("{row},{},{},{}\n", 1 + row % 5, 3 + row % 2, row % 4)).collect();
    folder.write("d.csv", &format!("x,age,a,b\n{rows}"));
    for (name, labels) in [
        ("narrow", "--label-column age --sigma 1 --label-values 1..5"),
        ("wide", "--label-column age --sigma 2 --label-values 1..5"),
        ("votes", "--labels a,b"),
        ("turned", "--labels b,a"),
    ] {
        folder.succeed(&format!("train d.csv {labels} --features x --learner mean --out {name} --quiet"));
    }
    for option in ["--beside", "--against"] {
        let said = folder.call(&format!("evaluate narrow d.csv {option} wide"));
        assert!(
            said.starts_with("exit 2\n") && said.contains("makes other label distributions of the same rows"),
            "{said}"
        );
        let said = folder.call(&format!("evaluate narrow d.csv {option} votes"));
        assert!(said.contains(&format!("votes: {option} needs a model of the same labels")), "{said}");
        folder.succeed(&format!("evaluate narrow d.csv {option} wide --label-column age --sigma 2 --quiet"));
        folder.succeed(&format!("evaluate votes d.csv {option} turned --quiet"));
    }
}

#[test]
fn several_models_are_measured_on_the_same_rows_beside_the_mean() {
    let folder = Folder::with_model();
    folder.succeed("train votes.csv --labels votes_* --learner aa-knn --out near.ldlf --quiet");
    let table = folder.succeed("evaluate near.ldlf votes.csv --beside mean.ldlf --quiet");
    let heads: Vec<&str> = table.lines().nth(2).expect("heads").split_whitespace().collect();
    assert_eq!(heads, ["measure", "near", "mean", "the", "mean", "better"]);
    let found = folder.json("evaluate near.ldlf votes.csv --beside mean.ldlf --json --quiet");
    let (own, other) = (&found["measures"]["kl"], &found["beside"][0]["measures"]["kl"]);
    assert!(own.as_f64() < other.as_f64(), "{found}");
    let floor = found["measures_of_the_mean"]["kl"].as_f64().expect("a number");
    assert!((floor - other.as_f64().expect("a number")).abs() < 1e-6, "{found}");
}

#[test]
fn a_parameter_given_as_an_option_is_answered_with_the_way_to_set_it() {
    let folder = Folder::with_votes();
    let said = folder.call("train votes.csv --labels votes_* --trees 5 --out m");
    assert!(said.starts_with("exit 2") && said.contains("'--set trees=5'"), "{said}");
    let said = folder.call("train votes.csv --labels votes_* --max-depth=7 --out m");
    assert!(said.contains("'--set max_depth=7'"), "{said}");
    let said = folder.call("train votes.csv --labels votes_* --out m --trees");
    assert!(said.contains("'--set trees=VALUE'"), "{said}");
    let said = folder.call("cv votes.csv --labels votes_* --learner knn");
    assert!(said.contains("did you mean aa-knn?"), "{said}");
}

#[test]
fn completions_know_learners_presets_formats_and_estimates() {
    let script = Folder::new().succeed("completions bash");
    for word in ["aa-knn", "sldlf-auto", "released-movie", "parquet", "interval=0.9", "mae_mean", "figure3"] {
        assert!(script.contains(word), "{word}");
    }
}

#[test]
fn a_figure_without_anything_to_draw_is_an_error() {
    let folder = Folder::with_votes();
    let cv = "cv votes.csv --labels votes_* --folds 2 --quiet";
    folder.succeed(&format!("{cv} --learner random-forest --set trees=3 --results a"));
    folder.succeed(&format!("{cv} --learner mean --results b"));
    let said = folder.call("plot learning-curve a --out curve.svg");
    assert!(said.starts_with("exit 2") && said.contains("no learning curve was kept"), "{said}");
    let said = folder.call("plot folds a b --out folds.svg");
    assert!(said.starts_with("exit 2") && said.contains("shows one evaluation"), "{said}");
    assert!(!folder.path("folds.svg").exists() && !folder.path("curve.svg").exists());
    // A folder of such folders, as `ldlf reproduce` leaves one, is a page of all, with the parameters of the learners.
    std::fs::create_dir(folder.path("all")).expect("a folder");
    for name in ["a", "b"] {
        std::fs::rename(folder.path(name), folder.path("all").join(name)).expect("a folder moves");
    }
    folder.succeed("report all --out all.html --quiet");
    let page = folder.read("all.html");
    assert!(page.contains("random-forest") && page.contains("trees=3, "), "parameters are on the page");
}
