//! `ldlf train` and `ldlf inspect`.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

/// A forest that is trained in no time.
const SMALL: &str = "--set choose=false --set leave_out=0 --set trees=3 --set depth=4 --set iterations=50 --set epochs=none --set leaf_every=10 \
                     --set batch_size=16 --set early_stopping=true";

#[test]
fn a_training_says_what_came_out() {
    let folder = Folder::with_votes();
    assert_data_eq!(
        folder.call("train votes.csv --labels votes_* --learner mean --out mean.ldlf"),
        str![[r#"
exit 0
-- stdout
learner  mean
data     votes, 60 rows, 3 features, 4 labels
numbers  x_1, x_2, x_3
stopped  completed
model    mean.ldlf
-- stderr
note: votes.csv: the labels are vote counts, 10 votes per row

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("--quiet train votes.csv --labels votes_* --out forest.ldlf {SMALL}")),
        str![[r#"
exit 0
-- stdout
learner         sldlf
data            votes, 60 rows, 3 features, 4 labels
numbers         x_1, x_2, x_3
iterations      50[..]
stopped         completed
loss            [..]
validation K-L  [..]
model           forest.ldlf

"#]]
    );
}

#[test]
fn a_summary_as_json_has_every_fact() {
    let folder = Folder::with_votes();
    let summary = folder.json("train votes.csv --labels votes_* --learner mean --out mean.ldlf --json");
    let keys: Vec<&str> = summary.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "learner",
            "parameters",
            "dataset",
            "rows",
            "features",
            "labels",
            "seed",
            "iterations",
            "stopped",
            "best_iteration",
            "loss",
            "validation_kl",
            "mean_kl",
            "seconds",
            "model",
            "columns"
        ]
    );
    assert_eq!((&summary["rows"], &summary["stopped"]), (&60.into(), &"finished".into()));
}

#[test]
fn a_model_file_shows_what_is_inside() {
    let folder = Folder::with_model();
    assert_data_eq!(
        folder.call("inspect mean.ldlf"),
        str![[r#"
exit 0
-- stdout
learner           mean
format            1
size              [..] bytes
features          3: x_1, x_2, x_3
labels            4: votes_1, votes_2, votes_3, votes_4
stopped           completed
trained on        60 rows
data fingerprint  [..]
seed              0
trained by        ldlf [..]

array                  type  shape
distribution           f32   4
familiarity.centre     f32   3
familiarity.distances  f64   2 x 30
familiarity.factor     f64   3 x 3
familiarity.middle     f64   3
familiarity.scale      f32   3

"#]]
    );
    let inside = folder.json("inspect mean.ldlf --json");
    assert_eq!(inside["arrays"][0], serde_json::json!({"name": "distribution", "type": "f32", "shape": [4]}));
    assert_eq!(inside["document"]["learner"], "mean");
}

#[test]
fn wrong_names_and_values_are_one_sentence_before_anything_is_read() {
    let folder = Folder::new();
    folder.write("data.csv", "this is never read");
    assert_data_eq!(
        folder.call("train data.csv --learner sldf --out m"),
        str![[r#"
exit 2
-- stderr
error: no learner is called "sldf"; did you mean sldlf?

"#]]
    );
    assert_data_eq!(
        folder.call("train data.csv --set tree=3 --out m"),
        str![[r#"
exit 2
-- stderr
error: sldlf: no parameter is called "tree"; did you mean trees?

"#]]
    );
    assert_data_eq!(
        folder.call("train data.csv --set trees=0 --out m"),
        str![[r#"
exit 2
-- stderr
error: sldlf: trees must be at least 1, got 0

"#]]
    );
    assert_data_eq!(
        folder.call("train data.csv --set trees --out m"),
        str![[r#"
exit 2
-- stderr
error: a setting reads name=value, got "trees"

"#]]
    );
    assert_data_eq!(
        folder.call("train data.csv --set mean.trees=3 --out m"),
        str![[r#"
exit 2
-- stderr
error: --set mean.trees=3: mean is not among the learners sldlf

"#]]
    );
    assert_data_eq!(
        folder.call("train data.csv --preset papre --out m"),
        str![[r#"
exit 2
-- stderr
error: no preset is called "papre": sldlf has best, paper, paper-aided, released, released-movie, components

"#]]
    );
    assert_data_eq!(
        folder.call("train data.csv --preset paper --learner mean --out m"),
        str![[r#"
exit 2
-- stderr
error: no preset is called "paper": mean has none

"#]]
    );
    assert_eq!(folder.files(), ["data.csv"]);
}

#[test]
fn an_output_that_exists_stays_without_force() {
    let folder = Folder::with_model();
    let before = folder.bytes("mean.ldlf");
    let again = "train votes.csv --labels votes_* --learner sldlf --set iterations=1 --out mean.ldlf --quiet";
    assert_data_eq!(
        folder.call(again),
        str![[r#"
exit 2
-- stderr
error: mean.ldlf exists; choose another name or add --force

"#]]
    );
    assert_eq!(folder.bytes("mean.ldlf"), before);
    folder.succeed(&format!("{again} --force"));
    assert_ne!(folder.bytes("mean.ldlf"), before);
}

#[test]
fn an_output_that_cannot_be_is_refused_before_the_work() {
    let folder = Folder::with_votes();
    assert_data_eq!(
        folder.call("train votes.csv --labels votes_* --out nowhere/m"),
        str![[r#"
exit 2
-- stderr
error: the folder nowhere does not exist; make it first

"#]]
    );
    assert_data_eq!(
        folder.call("train votes.csv --labels votes_* --out . --force"),
        str![[r#"
exit 2
-- stderr
error: . is a folder; name a file

"#]]
    );
    assert_data_eq!(
        folder.call("train votes.csv --labels votes_* --out -"),
        str![[r#"
exit 2
-- stderr
error: a model is not written to standard output; name a file with --out

"#]]
    );
}

#[test]
fn a_resumed_training_gives_the_same_bytes() {
    let folder = Folder::with_votes();
    let train = format!("--quiet train votes.csv --labels votes_* {SMALL}");
    folder.succeed(&format!("{train} --out whole.ldlf"));
    assert_data_eq!(
        folder.call(&format!(
            "train votes.csv --labels votes_* {SMALL} --out half.ldlf --checkpoint c --stop-after 25"
        )),
        str![[r#"
exit 0
-- stdout
learner         sldlf
data            votes, 60 rows, 3 features, 4 labels
numbers         x_1, x_2, x_3
iterations      25[..]
stopped         interrupted
loss            [..]
validation K-L  [..]
model           half.ldlf
-- stderr
note: votes.csv: the labels are vote counts, 10 votes per row
checkpoint: c

"#]]
    );
    folder.succeed(&format!("{train} --out resumed.ldlf --resume c"));
    assert_eq!(folder.bytes("resumed.ldlf"), folder.bytes("whole.ldlf"));
    assert_ne!(folder.bytes("half.ldlf"), folder.bytes("whole.ldlf"));
}

#[test]
fn a_resumed_training_may_have_more_iterations() {
    let folder = Folder::with_votes();
    let train = format!("--quiet train votes.csv --labels votes_* {SMALL} --set early_stopping=false --json");
    folder.succeed(&format!("{train} --out short --checkpoint c --checkpoint-every 1"));
    let done = folder.json(&format!("{train} --out again --resume c"))["iterations"].as_u64().unwrap();
    let more = done + 7;
    let longer = folder.json(&format!("{train} --out long --resume c --set iterations={more}"));
    assert_eq!(longer["iterations"], more);
    assert_ne!(folder.bytes("long"), folder.bytes("short"));
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let folder = Folder::with_model();
    let train = format!("--quiet train votes.csv --labels votes_* --out m {SMALL}");
    folder.succeed(&format!("{train} --checkpoint c --stop-after 5"));
    assert_data_eq!(
        folder.call(&format!("{train} --force --resume c --set trees=4")),
        str![[r#"
exit 2
-- stderr
error: c: the checkpoint was made with trees 3, this training has 4

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{train} --force --resume c --seed 1")),
        str![[r#"
exit 2
-- stderr
error: c: the checkpoint was made with another seed; give the same --seed

"#]]
    );
    assert_data_eq!(
        folder.call("train votes.csv --labels votes_* --learner mean --out n --resume c"),
        str![[r#"
exit 2
-- stderr
error: c: the checkpoint was made with the learner sldlf, this training has mean

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{train} --force --resume mean.ldlf")),
        str![[r#"
exit 4
-- stderr
error: mean.ldlf: is not a checkpoint

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{train} --force --resume gone")),
        str![[r#"
exit 3
-- stderr
error: gone does not exist

"#]]
    );
}

#[test]
fn a_learner_that_does_not_iterate_writes_no_checkpoint() {
    let folder = Folder::with_votes();
    let call = folder.call("train votes.csv --labels votes_* --learner mean --out m --checkpoint c");
    assert!(
        call.starts_with("exit 0\n")
            && call.ends_with("note: mean does not iterate: no checkpoint was written\n")
    );
    assert_eq!(folder.files(), ["m", "votes.csv"]);
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_refused_before_the_work() {
    let folder = Folder::with_votes();
    let train = format!("train votes.csv --labels votes_* {SMALL} --out m --quiet");
    // A folder in the place of the file: it may be replaced by no file.
    std::fs::create_dir(folder.path("c")).unwrap();
    assert_data_eq!(
        folder.call(&format!("{train} --checkpoint c")),
        str![[r#"
exit 2
-- stderr
error: c exists; choose another name or add --force

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{train} --checkpoint nowhere/c")),
        str![[r#"
exit 2
-- stderr
error: the folder nowhere does not exist; make it first

"#]]
    );
    assert_eq!(folder.files(), ["c", "votes.csv"], "refused before the work");
}

#[test]
fn nothing_that_a_call_reads_is_overwritten_even_with_force() {
    let folder = Folder::with_votes();
    let train = format!("train votes.csv --labels votes_* {SMALL} --quiet");
    assert_data_eq!(
        folder.call(&format!("{train} --out votes.csv --force")),
        str![[r#"
exit 2
-- stderr
error: votes.csv would overwrite votes.csv, which this call also uses; name another output

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{train} --out m --checkpoint votes.csv")),
        str![[r#"
exit 2
-- stderr
error: votes.csv would overwrite votes.csv, which this call also uses; name another output

"#]]
    );
    assert_data_eq!(
        folder.call(&format!("{train} --out m --checkpoint votes.csv --force")),
        str![[r#"
exit 2
-- stderr
error: votes.csv would overwrite votes.csv, which this call also uses; name another output

"#]]
    );
    assert_eq!(folder.files(), ["votes.csv"]);
}

#[test]
fn a_checkpoint_is_not_taken_for_a_model() {
    let folder = Folder::with_votes();
    folder.call(&format!("train votes.csv --labels votes_* {SMALL} --out m --checkpoint c --quiet"));
    assert_data_eq!(
        folder.call("inspect c"),
        str![[r#"
exit 4
-- stderr
error: c: this is a checkpoint, not a model; resume it with `ldlf train --resume`

"#]]
    );
}

#[test]
fn the_number_of_threads_does_not_change_the_model() {
    let folder = Folder::with_votes();
    for threads in 1..=2 {
        folder.succeed(&format!(
            "train votes.csv --labels votes_* {SMALL} --threads {threads} --out {threads}.ldlf --quiet"
        ));
    }
    assert_eq!(folder.bytes("1.ldlf"), folder.bytes("2.ldlf"));
}

#[test]
fn a_time_limit_ends_a_training_with_a_model() {
    let folder = Folder::with_votes();
    let summary = folder.json(
        "train votes.csv --labels votes_* --set iterations=100000000 --set epochs=none --set early_stopping=false \
         --time-limit 0.2 --out m --json --quiet",
    );
    assert_eq!(summary["stopped"], "time_limit");
    folder.succeed("inspect m");
}

#[test]
fn a_training_that_diverges_says_what_to_try() {
    let folder = Folder::with_votes();
    let call = folder.call("train votes.csv --labels votes_* --set learning_rate=1e38 --out m --quiet");
    assert!(call.starts_with("exit 5\n") && call.contains("learning_rate"), "{call}");
    assert_eq!(folder.files(), ["votes.csv"]);
}

#[test]
fn a_given_split_separates_training_from_test_rows() {
    let folder = Folder::new();
    folder.write("split.csv", "x,a,b,part\n1,1,0,train\n2,1,0,valid\n3,0,1,test\n");
    let options = "--labels a,b --split-column part";
    let summary = folder.json(&format!("train split.csv {options} --learner mean --out m --json"));
    assert_eq!(summary["rows"], 2);
    let measured = folder.json(&format!("evaluate m split.csv {options} --json"));
    assert_eq!((&measured["rows"], &measured["measures"]["chebyshev"]), (&1.into(), &1.0.into()));
}

#[test]
fn a_damaged_model_file_is_exit_4() {
    let folder = Folder::with_model();
    let bytes = folder.bytes("mean.ldlf");
    std::fs::write(folder.path("cut.ldlf"), &bytes[..bytes.len() / 2]).unwrap();
    assert_data_eq!(
        folder.call("inspect cut.ldlf"),
        str![[r#"
exit 4
-- stderr
error: cut.ldlf: not an ldlf model file, or a damaged one: invalid header length

"#]]
    );
    assert_data_eq!(
        folder.call("inspect votes.csv"),
        str![[r#"
exit 4
-- stderr
error: votes.csv: not an ldlf model file, or a damaged one: header too large

"#]]
    );
    assert_data_eq!(
        folder.call("predict cut.ldlf votes.csv --out p.csv"),
        str![[r#"
exit 4
-- stderr
error: cut.ldlf: not an ldlf model file, or a damaged one: invalid header length

"#]]
    );
    assert_data_eq!(
        folder.call("inspect gone.ldlf"),
        str![[r#"
exit 3
-- stderr
error: gone.ldlf does not exist

"#]]
    );
}

#[test]
fn a_search_says_what_it_kept() {
    let folder = Folder::with_votes();
    let shown =
        folder.call("train votes.csv --labels votes_* --learner sldlf-auto --set budget=0.000001 --set iterations=5 --out m -q");
    assert!(shown.contains("member sldlf  weight 1.00"), "{shown}");
}

#[test]
fn a_forest_that_checks_itself_says_how_it_compares_with_the_mean() {
    let folder = Folder::with_votes();
    let said = folder.call("--quiet train votes.csv --labels votes_* --out m --set iterations=30");
    assert!(said.starts_with("exit 0\n"), "{said}");
    assert!(said.contains(" out of fold; the mean has "), "{said}");
}

#[test]
fn a_forest_warns_where_the_features_say_nothing_of_the_labels() {
    let folder = Folder::new();
    // SplitMix64
    let mut state = 0_u64;
    let mut drawn = |below: u64| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % below
    };
    let rows: String = (0..600)
        .map(|_| format!("{},{},{},{}\n", drawn(1000), drawn(1000), 1 + drawn(9), 1 + drawn(9)))
        .collect();
    folder.write("noise.csv", &format!("a,b,votes_1,votes_2\n{rows}"));
    let said = folder.call("train noise.csv --labels votes_* --out m");
    assert!(said.starts_with("exit 0\n"), "{said}");
    assert!(said.contains("warning: no setting beats predicting the mean"), "{said}");
}

#[test]
fn out_of_fold_predictions_are_one_line_per_training_row() {
    let folder = Folder::with_votes();
    let train = "--quiet train votes.csv --labels votes_*";
    folder.succeed(&format!("{train} --out m --out-of-fold unseen.csv --set iterations=30"));
    let table = folder.read("unseen.csv");
    assert_eq!(table.lines().next(), Some("votes_1,votes_2,votes_3,votes_4"));
    assert_eq!(table.lines().count(), 61);
    folder.succeed(&format!("{train} --learner random-forest --out rf --out-of-fold unseen-rf.csv"));
    assert_eq!(folder.read("unseen-rf.csv").lines().count(), 61);
    assert!(folder.succeed("inspect rf").contains("60 training rows or groups, out of fold"));
    let all_rows = "train votes.csv --labels votes_* --learner random-forest --set bootstrap=false --out all";
    let said = folder.call(&format!("{all_rows} --out-of-fold none.csv"));
    assert!(said.contains("note: none.csv was not written") && !folder.path("none.csv").exists(), "{said}");
    let refused = folder.call(&format!("{train} --learner mean --out n --out-of-fold more.csv"));
    assert!(refused.contains("mean gives no out-of-fold predictions"), "{refused}");
}

#[test]
fn the_rows_of_a_split_are_counted_by_what_they_are_for() {
    let folder = Folder::new();
    folder.write("d.csv", "x,a,b,part\n1,1,2,train\n2,3,1,train\n3,2,2,val\n4,1,1,test\n");
    let said = folder.succeed("train d.csv --labels a,b --split-column part --learner mean --out m --quiet");
    assert!(
        said.contains("\ndata     d, 3 rows,")
            && said.contains("\nsplit    2 training rows, 1 validation row\n"),
        "{said}"
    );
}

#[test]
fn a_plan_says_what_labels_hold_too() {
    let folder = Folder::new();
    folder.write("d.csv", "x,a,b,opinion\n1,1,2,good\n2,,1,bad\n3,2,2,\n");
    let plan = folder.json("-q train d.csv --labels a,b --plan --json");
    let column = |name: &str| {
        let columns = plan["columns"].as_array().expect("columns");
        columns.iter().find(|column| column["name"] == name).cloned().expect("the column")
    };
    let label = |name: &str| {
        let found = column(name);
        (found["role"].clone(), found["type"].clone(), found["missing"].clone())
    };
    assert_eq!(label("a"), ("label".into(), "number".into(), 1.into()));
    assert_eq!(label("b"), ("label".into(), "number".into(), 0.into()));
    let shown = folder.succeed("-q train d.csv --label-column opinion --plan");
    assert!(
        shown.lines().any(|line| line.split_whitespace().eq(["opinion", "label", "categories", "1", "-"])),
        "{shown}"
    );
    assert!(shown.ends_with("numbers: x, a (1 missing), b\n"), "{shown}");
}
