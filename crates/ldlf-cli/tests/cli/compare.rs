//! `ldlf cv`, `ldlf sweep` and `ldlf demo`.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

/// A forest that is trained in no time.
const SMALL: &str = "--set sldlf.trees=2 --set sldlf.depth=3 --set sldlf.iterations=10";

#[test]
fn learners_stand_side_by_side() {
    let folder = Folder::with_votes();
    assert_data_eq!(
        folder.call("cv votes.csv --labels votes_* --learner mean --folds 3 --quiet"),
        str![[r#"
exit 0
-- stdout
votes, 60 rows, 3 features, 4 labels; protocol clean, 3 folds, seed 0

learner            K-L       Euclidean        Sorensen    Squared chi2
mean     0.4867±0.0236   0.4727±0.0111   0.4027±0.0039   0.4472±0.0183

learner       Fidelity    Intersection
mean     0.8382±0.0085   0.5973±0.0039

Mean ± standard deviation over the folds. Fidelity and intersection should be high, the others low.

"#]]
    );
    let table =
        folder.succeed(&format!("cv votes.csv --labels votes_* --folds 3 --learner sldlf,mean {SMALL}"));
    assert!(table.contains("\nsldlf  ") && table.contains("\nmean   "), "{table}");
}

#[test]
fn ordered_labels_also_have_errors() {
    let folder = Folder::with_votes();
    assert_data_eq!(
        folder.call("cv votes.csv --labels votes_* --label-values 1..4 --learner mean --folds 3 --quiet"),
        str![[r#"
exit 0
-- stdout
votes, 60 rows, 3 features, 4 labels; protocol clean, 3 folds, seed 0

learner            K-L       Euclidean        Sorensen    Squared chi2
mean     0.4867±0.0236   0.4727±0.0111   0.4027±0.0039   0.4472±0.0183

learner       Fidelity    Intersection
mean     0.8382±0.0085   0.5973±0.0039

learner  MAE of the mode   MAE of the mean   MAE of the median           CS(1)
mean       1.3167±0.0850     0.6021±0.0326       0.8000±0.0707   0.6500±0.0000

Mean ± standard deviation over the folds. Fidelity, intersection and CS(1) should be high, the others low.

"#]]
    );
}

#[test]
fn ordered_labels_have_a_curve_of_cumulative_scores() {
    let folder = Folder::with_votes();
    let object =
        folder.json("cv votes.csv --labels votes_* --label-values 1..4 --learner mean --folds 3 --json");
    let curve = object["results"][0]["cs_curve"].as_array().unwrap();
    assert_eq!((curve.len(), curve[3].as_f64()), (21, Some(1.0)), "no label is more than 3 away");
    assert!(curve[0].as_f64() < curve[1].as_f64());
    let plain = folder.json("cv votes.csv --labels votes_* --learner mean --folds 3 --json");
    assert!(plain["results"][0].get("cs_curve").is_none());
}

#[test]
fn random_splits_and_repeats_take_the_place_of_folds() {
    let folder = Folder::with_votes();
    let folds = |options: &str| {
        let object = folder.json(&format!("cv votes.csv --labels votes_* --learner mean --json {options}"));
        object["results"][0]["folds"].as_array().unwrap().len()
    };
    assert_eq!(folds("--train-share 0.2 --repeats 4"), 4);
    assert_eq!(folds("--train-share 0.2"), 10);
    assert_eq!(folds("--folds 3 --repeats 2"), 6);
    let refused = folder.call("cv votes.csv --labels votes_* --train-share 1.5");
    assert!(refused.contains("the training share must be above 0 and below 1, got 1.5"), "{refused}");
}

#[test]
fn json_has_every_fold_and_every_measure() {
    let folder = Folder::with_votes();
    let object =
        folder.json(&format!("cv votes.csv --labels votes_* --folds 3 --learner sldlf,mean {SMALL} --json"));
    let keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["dataset", "rows", "features", "labels", "protocol", "seed", "results", "build"]);
    let forest = &object["results"][0];
    assert_eq!((&forest["learner"], &forest["parameters"]["trees"]), (&"sldlf".into(), &2.into()));
    assert_eq!(forest["folds"].as_array().unwrap().len(), 3);
    let measures: Vec<&str> = forest["folds"][0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        measures,
        [
            "kl",
            "euclidean",
            "sorensen",
            "squared_chi2",
            "fidelity",
            "intersection",
            "chebyshev",
            "clark",
            "canberra",
            "cosine",
            "fit_seconds",
            "predict_seconds"
        ]
    );
}

#[test]
fn results_are_kept_in_a_folder_that_is_not_overwritten() {
    let folder = Folder::with_votes();
    let call = "cv votes.csv --labels votes_* --learner mean --folds 3 --results kept --quiet";
    let table = folder.succeed(call);
    let kept: serde_json::Value = serde_json::from_str(&folder.read("kept/results.json")).unwrap();
    assert_eq!(kept["dataset"], "votes");
    assert!(folder.path("kept/predictions/mean-2.csv").exists());
    assert_data_eq!(
        folder.call(call),
        str![[r#"
exit 2
-- stderr
error: kept exists; choose another name or add --force

"#]]
    );
    assert_eq!(folder.succeed(&format!("{call} --force")), table);
}

#[test]
fn folds_come_from_a_file_or_a_split() {
    let folder = Folder::new();
    folder.write("data.csv", "x,a,b,part\n1,1,0,train\n2,1,0,train\n3,0,1,test\n4,0,1,test\n");
    folder.write("folds.txt", "0\n1\n0\n1\n");
    folder.write("short.txt", "0\n1\n");
    let cv = "cv data.csv --labels a,b --learner mean";
    let given = folder.json(&format!("{cv} --ignore part --fold-file folds.txt --json"));
    assert_eq!(given["results"][0]["folds"].as_array().unwrap().len(), 2);
    assert_data_eq!(
        folder.call(&format!("{cv} --split-column part")),
        str![[r#"
exit 0
-- stdout
data, 4 rows, 1 feature, 2 labels; protocol clean, 1 fold, seed 0

learner      K-L   Euclidean   Sorensen   Squared chi2   Fidelity
mean     27.6310      1.4142     1.0000         2.0000     0.0000

learner  Intersection
mean           0.0000

Fidelity and intersection should be high, the others low.

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{cv} --ignore part --fold-file short.txt")),
        str![[r#"
exit 3
-- stderr
error: short.txt: 2 fold numbers for the 4 rows of data; give one per row

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{cv} --split-column part --fold-file folds.txt")),
        str![[r#"
exit 2
-- stderr
error: --fold-file and --split-column both cut the rows; give one of them

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{cv} --ignore part --folds 1")),
        str![[r#"
exit 2
-- stderr
error: folds must be at least 2, got 1

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{cv} --ignore part --folds 5")),
        str![[r#"
exit 2
-- stderr
error: data: 4 rows cannot make 5 folds; ask for fewer

"#]]
    );
}

#[test]
fn the_released_protocol_draws_its_own_folds() {
    let folder = Folder::with_votes();
    let cv = "cv votes.csv --labels votes_* --learner mean --protocol released --quiet";
    assert_data_eq!(
        folder.call(cv),
        str![[r#"
exit 0
-- stdout
votes, 60 rows, 3 features, 4 labels; protocol released, 10 folds, seed 0

learner            K-L       Euclidean        Sorensen    Squared chi2
mean     0.4611±0.0972   0.4614±0.0591   0.3919±0.0495   0.4228±0.0867

learner       Fidelity    Intersection
mean     0.8513±0.0374   0.6081±0.0495

Mean ± standard deviation over the folds. Fidelity and intersection should be high, the others low.
Released protocol: rows are drawn with replacement, so that most test rows are also training rows, and the
iteration with the best test K-L is reported. It reproduces a published row; it does not say how well a
model does on new rows.

"#]]
    );
    folder.write("folds.txt", "0\n1\n");
    assert_data_eq!(
        folder.call(&format!("{cv} --fold-file folds.txt")),
        str![[r#"
exit 2
-- stderr
error: --fold-file does not go with --protocol released, which draws its own ten folds

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{cv} --folds 5")),
        str![[r#"
exit 2
-- stderr
error: --folds does not go with --protocol released, which draws its own ten folds

"#]]
    );
}

#[test]
fn settings_and_presets_find_their_learner() {
    let folder = Folder::with_votes();
    let cv = "cv votes.csv --labels votes_* --folds 2 --quiet";
    assert_data_eq!(
        folder.call(&format!("{cv} --learner sldlf,mean --set trees=3")),
        str![[r#"
exit 2
-- stderr
error: --set trees=3: say for which learner, such as sldlf.trees=3; they are sldlf, mean

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{cv} --learner sldlf,mean --set oak.trees=3")),
        str![[r#"
exit 2
-- stderr
error: --set oak.trees=3: oak is not among the learners sldlf, mean

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{cv} --learner mean,mean")),
        str![[r#"
exit 2
-- stderr
error: the learner mean is named twice; settings tell them apart, as in mean,mean@NAME=VALUE

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{cv} --learner sldlf,mean --preset nothing")),
        str![[r#"
exit 2
-- stderr
error: no preset is called "nothing": sldlf has best, paper, paper-aided, released, released-movie, components; mean has none

"#]]
    );
    let short = "--set sldlf.iterations=5 --preset paper --json";
    let object = folder.json(&format!("{cv} --learner sldlf,mean {short}"));
    assert_eq!(object["results"][0]["parameters"]["depth"], 7);
}

#[test]
fn folds_of_another_build_are_not_reused_and_are_counted() {
    let folder = Folder::with_votes();
    let cv = "cv votes.csv --labels votes_* --learner mean --folds 3 --journal j --json";
    let first = folder.json(&format!("{cv} --quiet"));
    let id = first["build"]["id"].as_str().unwrap().to_string();
    let version = folder.succeed("--version");
    let sources = version.lines().nth(1).unwrap().strip_prefix("sources ").unwrap().to_string();
    assert_eq!(id, format!("{}+{sources}", env!("CARGO_PKG_VERSION")), "{version}");
    assert!(sources.len() == 16 && sources.chars().all(|c| c.is_ascii_hexdigit()), "{version}");
    let lines = |folder: &Folder| folder.read("j").lines().count();
    folder.succeed(&format!("{cv} --quiet"));
    assert_eq!(lines(&folder), 3, "folds of this build are reused");
    // Two folds as an older program left them.
    let older = folder.read("j").replacen(&format!("\"build\":\"{id}\""), "\"version\":\"0.1.0\"", 2);
    folder.write("j", &older);
    let output = folder.call(cv);
    assert!(output.contains("note: j: 2 folds of other builds of ldlf are not reused"), "{output}");
    assert_eq!(lines(&folder), 5, "they were fitted again");
}

#[test]
fn a_sweep_resumes_from_its_journal() {
    let folder = Folder::with_votes();
    let sweep = "sweep votes.csv --labels votes_* --folds 2 --over trees=1,2 --over depth=2,3 --set iterations=5 \
                 --journal j --quiet";
    let table = folder.succeed(sweep);
    assert_data_eq!(
        table.clone(),
        str![[r#"
trees  depth            K-L
    1      2  [..]
    1      3  [..]
    2      2  [..]
    2      3  [..]

"#]]
    );
    let journal = folder.bytes("j");
    assert_eq!(folder.succeed(&format!("{sweep} --out s.csv")), table, "the same from the journal");
    assert_eq!(folder.bytes("j"), journal, "nothing was fitted again");
    assert!(folder.read("s.csv").starts_with("trees,depth,kl_mean,"));
    let object = folder.json(&format!("{sweep} --json"));
    assert_eq!(object["over"], serde_json::json!(["trees", "depth"]));
    assert_data_eq!(
        folder.call(&format!("{sweep} --out s.csv")),
        str![[r#"
exit 2
-- stderr
error: s.csv exists; choose another name or add --force

"#]]
    );
}

#[test]
fn a_sweep_checks_every_value_before_the_first_fit() {
    let folder = Folder::with_votes();
    let sweep = "sweep votes.csv --labels votes_* --quiet";
    assert_data_eq!(
        folder.call(&format!("{sweep} --over trees=1,0")),
        str![[r#"
exit 2
-- stderr
error: sldlf: trees must be at least 1, got 0

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{sweep} --over tres=1,2")),
        str![[r#"
exit 2
-- stderr
error: sldlf: no parameter is called "tres"; did you mean trees?

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{sweep} --over trees")),
        str![[r#"
exit 2
-- stderr
error: invalid value 'trees' for '--over <NAME=V1,V2,...>': give a parameter and its values, such as trees=1,2,5

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{sweep} --over trees=1 --over trees=2")),
        str![[r#"
exit 2
-- stderr
error: --over names trees twice; give all its values at once

"#]]
    );
    assert_data_eq!(
        folder.call(sweep),
        str![[r#"
exit 2
-- stderr
error: the following required arguments were not provided:
  --over <NAME=V1,V2,...>

Usage: ldlf sweep --over <NAME=V1,V2,...> --labels <LIST> --quiet <DATA>

For more information, try '--help'.

"#]]
    );
}

#[test]
fn the_next_steps_of_the_demo_work() {
    let folder = Folder::new();
    let text = folder.succeed("demo --out first-look --quiet");
    assert!(text.contains("\nsldlf ") && text.contains("\nmean "), "{text}");
    for name in ["votes.csv", "model.ldlf", "results/results.json"] {
        assert!(folder.path("first-look").join(name).exists(), "{name}");
    }
    folder.succeed("evaluate first-look/model.ldlf first-look/votes.csv");
    assert_data_eq!(
        folder.call("demo --out first-look"),
        str![[r#"
exit 2
-- stderr
error: first-look exists; choose another name or add --force

"#]]
    );
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let folder = Folder::with_votes();
    for (call, words) in [
        (
            "sweep votes.csv --labels votes_* --over trees=1 --out s.parquet",
            "s.parquet: a sweep is written as .csv; choose that ending",
        ),
        ("cv votes.csv --labels votes_* --split-column part --folds 5", "cannot be used with '--folds <N>'"),
        (
            "sweep votes.csv --labels votes_* --over trees=1 --split-column part --folds 5",
            "cannot be used with",
        ),
        ("reproduce complexity --sets Movie", "complexity measures the forest on generated rows"),
        ("reproduce complexity --labels votes_*", "leave out the options about data and learners"),
    ] {
        let said = folder.call(call);
        assert!(said.starts_with("exit 2\n") && said.contains(words), "ldlf {call}\n{said}");
    }
    assert_eq!(folder.files(), ["votes.csv"]);
}
