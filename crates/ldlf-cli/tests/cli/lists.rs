//! Help, `learners`, `datasets` and `completions`.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

#[test]
fn without_arguments_there_is_help() {
    let folder = Folder::new();
    assert_data_eq!(folder.call(""), str![]);
    assert_eq!(folder.succeed(""), folder.succeed("--help"));
}

#[test]
fn wrong_calls_are_exit_2() {
    let folder = Folder::new();
    assert_data_eq!(folder.call("trian"), str![]);
    assert_data_eq!(folder.call("train"), str![]);
    assert_data_eq!(folder.call("train a.csv --out m --checkpoint-every 5"), str![]);
    assert_data_eq!(folder.call("train a.csv --out m --time-limit 0"), str![]);
}

#[test]
fn every_verb_has_help_and_those_that_take_files_have_examples() {
    let folder = Folder::new();
    for verb in [
        "train",
        "predict",
        "evaluate",
        "cv",
        "sweep",
        "learners",
        "generate",
        "inspect",
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
    assert_data_eq!(folder.call("learners mean"), str![]);
    assert_data_eq!(folder.call("learners meen"), str![]);
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
    assert!(trees["default"].is_u64() && trees["allowed"].as_str().unwrap().starts_with("a whole number"));
    assert_eq!(folder.json("learners sldlf --json"), forest);
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
