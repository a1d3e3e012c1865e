//! Help, `learners`, `datasets` and `completions`.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

#[test]
fn without_arguments_there_is_help() {
    let folder = Folder::new();
    assert_data_eq!(
        folder.call(""),
        str![[r#"
exit 0
-- stdout
Learn and predict label distributions: how much each label describes each row

Usage: ldlf [OPTIONS] <COMMAND>

Commands:
  train        Learn from a table and write a model file
  predict      Predict the rows of a table, in bounded memory
  evaluate     Measure a model on a table
  explain      Explain predictions: which columns moved a row away from the mean, and by how much
  importance   Show how important each column is to a model
  annotators   Estimate how reliable annotators are, from one vote per line
  cv           Compare learners by cross-validation
  sweep        Cross-validate a learner over values of its parameters
  search       Search the parameters of a learner and train the best on all rows
  reproduce    Reproduce a table of the paper beside its published rows
  learners     List the learners, or describe one with its parameters
  datasets     List known public datasets and how to get them
  generate     Write an artificial dataset
  inspect      Show what a model file holds
  export       Write a model for other runtimes, as ONNX
  features     Export a layer's activations for images, as a table
  report       Make one self-contained HTML page of results and models
  plot         Draw a single figure as SVG or PNG
  demo         See it work on built-in data, within a minute
  completions  Print a completion script for a shell
  help         Print this message or the help of the given subcommand(s)

Options:
  -q, --quiet    No progress and no messages; results and errors only
  -h, --help     Print help
  -V, --version  Print version

Start here:
  ldlf demo                                                    no file needed
  ldlf train votes.csv --labels 'votes_*' --out votes.ldlf     learn from a table
  ldlf predict votes.ldlf new.csv --out predicted.csv          predict new rows
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,mean    compare learners

Exit codes: 0 ok, 2 usage, 3 bad data, 4 bad model file, 5 training failed, 130 interrupted, 1
anything else.

"#]]
    );
    assert_eq!(folder.succeed(""), folder.succeed("--help"));
}

#[test]
fn wrong_calls_are_exit_2() {
    let folder = Folder::new();
    assert_data_eq!(
        folder.call("trian"),
        str![[r#"
exit 2
-- stderr
error: unrecognized subcommand 'trian'

  tip: a similar subcommand exists: 'train'

Usage: ldlf [OPTIONS] <COMMAND>

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        folder.call("train"),
        str![[r#"
exit 2
-- stderr
error: the following required arguments were not provided:
  --out <FILE>
  <DATA>

Usage: ldlf train --out <FILE> <DATA>

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        folder.call("train a.csv --out m --checkpoint-every 5"),
        str![[r#"
exit 2
-- stderr
error: the following required arguments were not provided:
  --checkpoint <FILE>

Usage: ldlf train --checkpoint <FILE> --out <FILE> --checkpoint-every <N> <DATA>

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        folder.call("train a.csv --out m --time-limit 0"),
        str![[r#"
exit 2
-- stderr
error: invalid value '0' for '--time-limit <SECONDS>': give a number of seconds above 0

For more information, try '--help'.

"#]]
    );
}

#[test]
fn every_verb_has_help_with_examples() {
    let folder = Folder::new();
    for verb in [
        "train",
        "predict",
        "evaluate",
        "cv",
        "sweep",
        "reproduce",
        "learners",
        "generate",
        "inspect",
        "report",
        "plot",
        "demo",
        "completions",
    ] {
        let help = folder.succeed(&format!("{verb} --help"));
        assert!(help.contains("Example") && help.contains(&format!("ldlf {verb}")), "{verb}: {help}");
    }
    folder.succeed("datasets --help");
}

#[test]
fn learners_are_listed_and_described() {
    let folder = Folder::new();
    let list = folder.succeed("learners");
    assert!(list.contains("\nsldlf ") && list.contains("\nmean "), "{list}");
    assert_data_eq!(
        folder.call("learners mean"),
        str![[r#"
exit 0
-- stdout
mean: always the mean training distribution: the simplest baseline
takes: images, sparse rows, weights

There are no parameters to set.

"#]]
    );
    assert_data_eq!(
        folder.call("learners meen"),
        str![[r#"
exit 2
-- stderr
error: no learner is called "meen"; did you mean mean?

"#]]
    );
    let forest = folder.succeed("learners sldlf");
    assert!(forest.contains("\ntrees ") && forest.contains("\npreset paper: "), "{forest}");
}

#[test]
fn learners_as_json_have_parameters_with_defaults_and_limits() {
    let folder = Folder::new();
    let all = folder.json("learners --json");
    let forest = all.as_array().unwrap().iter().find(|entry| entry["name"] == "sldlf").unwrap().clone();
    let trees = &forest["parameters"][0];
    assert_eq!((&trees["name"], &trees["optional"]), (&"trees".into(), &false.into()));
    assert_eq!(trees["default"], "auto");
    assert!(trees["allowed"].as_str().unwrap().starts_with("a whole number"), "{trees}");
    assert_eq!(trees["known_as"], "n_estimators");
    assert_eq!(folder.json("learners sldlf --json"), forest);
}

#[test]
fn learners_as_json_state_their_facts() {
    let folder = Folder::new();
    let facts = |name: &str| folder.json(&format!("learners {name} --json"))["abilities"].clone();
    let forest = facts("sldlf");
    assert_eq!((&forest["reads"], &forest["predicts"]), (&"table".into(), &"distributions".into()));
    assert_eq!((&forest["resumes"], &forest["exports"]), (&true.into(), &true.into()));
    assert_eq!((&facts("larr")["predicts"], &facts("larr")["ordered"]), (&"values".into(), &true.into()));
}

#[test]
fn datasets_have_sizes_and_sources() {
    let folder = Folder::new();
    let text = folder.succeed("datasets");
    assert!(text.contains("Movie") && text.contains("palm.seu.edu.cn/xgeng/LDL"), "{text}");
    let sets = folder.json("datasets --json");
    let sources: Vec<&str> =
        sets["sources"].as_array().unwrap().iter().map(|source| source["key"].as_str().unwrap()).collect();
    for set in sets["datasets"].as_array().unwrap() {
        assert!(sources.contains(&set["source"].as_str().unwrap()), "{set}");
    }
}

#[test]
fn shells_get_a_script() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(folder.succeed(&format!("completions {shell}")).contains("ldlf"), "{shell}");
    }
    assert!(folder.call("completions tcsh").starts_with("exit 2\n"));
}
