//! A full disk is an error, and nothing half-written stands under the name that was asked for.
#![cfg(target_os = "linux")]

use std::process::Command;

use crate::call::{Folder, shown};

/// Data whose every output is larger than the limit below.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("generate mixture --rows 600 --features 3 --labels 12 --out data.csv");
    folder.succeed("train data.csv --labels label_* --learner mean --out m --quiet");
    folder.succeed("train data.csv --labels label_* --set iterations=2 --out forest --quiet");
    folder.succeed("cv data.csv --labels label_* --learner mean --folds 2 --results results --quiet");
    folder
}

/// Everything that is written, by the name of its output.
const CALLS: [(&str, &str); 13] = [
    ("model", "train data.csv --labels label_* --learner aa-knn --set neighbors=3 --out model"),
    ("p.csv", "predict m data.csv --out p.csv"),
    ("p.tsv", "predict m data.csv --out p.tsv"),
    ("p.parquet", "predict m data.csv --out p.parquet"),
    ("p.npz", "predict m data.csv --out p.npz"),
    ("p.arrow", "predict m data.csv --out p.arrow"),
    ("p.arrows", "predict m data.csv --out p.arrows"),
    ("m.onnx", "export forest --onnx m.onnx"),
    ("g.csv", "generate mixture --rows 900 --out g.csv"),
    ("page.html", "report results --out page.html"),
    ("figure.svg", "plot distributions results --out figure.svg"),
    ("new/results.json", "cv data.csv --labels label_* --learner mean --folds 2 --results new"),
    ("journal", "cv data.csv --labels label_* --learner mean --folds 2 --journal journal"),
];

/// Whether what is left under the final name is nothing, or a journal of whole lines.
fn nothing_partial(folder: &Folder, name: &str) -> bool {
    let path = folder.path(name);
    !path.exists()
        || (name == "journal" && (folder.bytes(name).is_empty() || folder.bytes(name).ends_with(b"\n")))
}

fn temporary_files(folder: &Folder) -> Vec<String> {
    folder.files().into_iter().filter(|name| name.starts_with(".ldlf-")).collect()
}

#[test]
fn a_file_size_limit_leaves_nothing_partial() {
    for (name, call) in CALLS {
        let folder = folder();
        let ldlf = folder.command(&format!("{call} --quiet"));
        // The limit counts blocks of 512 bytes in a POSIX shell, of 1024 in some; both are below any of these outputs.
        let mut limited = Command::new("sh");
        limited
            .arg("-c")
            .arg("ulimit -f 4 && exec \"$0\" \"$@\"")
            .arg(ldlf.get_program())
            .args(ldlf.get_args());
        limited.current_dir(folder.path("."));
        let output = limited.output().expect("sh starts");
        let said = shown(&output);
        assert!(said.starts_with("exit 1\n") && said.contains("File too large"), "{call}\n{said}");
        assert!(nothing_partial(&folder, name), "{name} is left behind by {call}");
        assert_eq!(temporary_files(&folder), Vec::<String>::new(), "{call}");
        // With room the same call works: it was the limit.
        folder.succeed(&format!("{call} --quiet{}", if name.starts_with("new") { " --force" } else { "" }));
    }
}

#[test]
fn a_full_file_system_leaves_the_old_file_whole() {
    let folder = folder();
    std::fs::create_dir(folder.path("full")).expect("a folder");
    folder.succeed("train data.csv --labels label_* --learner mean --out old --quiet");
    // A mount of its own, seen by this process alone; needs rights that not everybody has.
    let script = "mount -t tmpfs -o size=32k tmpfs full 2>/dev/null || exit 77
        cp old full/model && head -c 20000 /dev/zero > full/fill
        \"$0\" train data.csv --labels 'label_*' --learner aa-knn --set neighbors=3 --out full/model --force --quiet 2>said
        code=$?
        cmp -s old full/model || exit 78
        test \"$(ls -A full | wc -l)\" = 2 || exit 79
        exit $code";
    let run = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_ldlf")])
        .current_dir(folder.path("."))
        .output();
    match run.map(|output| output.status.code()) {
        Ok(Some(1)) => {
            assert!(folder.read("said").contains("No space left on device"), "{}", folder.read("said"))
        }
        Ok(Some(78)) => panic!("the old model was not kept"),
        Ok(Some(79)) => panic!("a temporary file was left behind"),
        Ok(Some(0)) => panic!("a full disk went unnoticed"),
        other => {
            ldlf_testing::skipped(&format!("a small file system cannot be mounted here ({other:?})"));
        }
    }
}
