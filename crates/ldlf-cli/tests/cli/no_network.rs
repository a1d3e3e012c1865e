//! Nothing needs a network, and nothing asks for one.
#![cfg(target_os = "linux")]

use std::process::Command;

use crate::call::{Folder, shown};

#[test]
fn everything_runs_without_a_network() {
    let folder = Folder::new();
    let alone = |call: &str| {
        let ldlf = folder.command(call);
        let mut command = Command::new("unshare");
        command.args(["--net", "--map-root-user"]).arg(ldlf.get_program()).args(ldlf.get_args());
        command.current_dir(folder.path(".")).output().expect("unshare starts")
    };
    if Command::new("unshare")
        .args(["--net", "--map-root-user", "true"])
        .status()
        .is_ok_and(|ended| !ended.success())
    {
        ldlf_testing::skipped("this system does not let a process leave the network");
        return;
    }
    for call in [
        "generate mixture --rows 60 --features 3 --labels 4 --out data.csv",
        "train data.csv --labels label_* --set iterations=30 --out m",
        "predict m data.csv --out p.csv",
        "evaluate m data.csv",
        "inspect m",
        "datasets",
        "learners",
        "cv data.csv --labels label_* --learner mean --folds 2 --results results",
        "sweep data.csv --labels label_* --learner sldlf --set iterations=20 --over trees=1,2 --folds 2 --out s.csv",
        "report results s.csv --model m --data data.csv --out page.html",
        "plot distributions results --out figure.svg",
        "demo --out first-look",
    ] {
        let output = alone(call);
        assert!(output.status.success(), "ldlf {call}\n{}", shown(&output));
    }
    let page = folder.read("page.html");
    assert!(
        !page.contains("src=\"http") && !page.contains("href=\"http"),
        "the page asks for something elsewhere"
    );
}
