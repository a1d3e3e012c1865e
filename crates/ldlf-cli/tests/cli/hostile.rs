//! Paths and files that mean harm, or are just not what was expected: one sentence, the right exit code, no waiting, no memory.
#![cfg(unix)]

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::call::{Folder, shown};

/// Runs a call that must end by itself soon.
fn ends(folder: &Folder, call: &str) -> String {
    let mut child =
        folder.command(call).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ldlf starts");
    let started = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().expect("it can be killed");
            panic!("`ldlf {call}` waits for ever");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    shown(&child.wait_with_output().expect("it ended"))
}

fn with_pipe() -> Folder {
    let folder = Folder::with_model();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo starts");
    assert!(made.success());
    std::fs::create_dir(folder.path("place")).expect("a folder");
    folder
}

#[test]
fn pipes_folders_and_devices_are_named_for_what_they_are() {
    let folder = with_pipe();
    let data = "--labels votes_* --format csv";
    for (call, code, words) in [
        ("inspect pipe".to_string(), 4, "pipe: is a pipe; name a model file"),
        ("inspect place".into(), 4, "place: is a folder; name a model file"),
        ("inspect /dev/zero".into(), 4, "/dev/zero: is a device; name a model file"),
        ("predict pipe votes.csv --out p.csv".into(), 4, "is a pipe"),
        ("report pipe --out page.html".into(), 3, "pipe is a pipe, where a file is expected"),
        (format!("train place {data} --out m"), 3, "place: is a folder"),
        (format!("train /dev/zero {data} --out m"), 3, "/dev/zero is a device"),
        ("train pipe --format npz --out m".into(), 2, "npz files are not read from a pipe"),
        (format!("cv votes.csv {data} --learner mean --journal pipe"), 3, "pipe is a pipe"),
        (format!("cv votes.csv {data} --learner mean --fold-file place"), 3, "place: is a folder"),
        (format!("train votes.csv {data} --resume pipe --out m"), 4, "is a pipe"),
        (
            format!("train votes.csv {data} --learner mean --out pipe --force"),
            2,
            "pipe is not a regular file",
        ),
    ] {
        let said = ends(&folder, &call);
        assert!(said.starts_with(&format!("exit {code}\n")) && said.contains(words), "ldlf {call}\n{said}");
    }
}

#[test]
fn a_pipe_that_nobody_writes_to_is_given_up() {
    let folder = with_pipe();
    let said = ends(&folder, "train pipe --format csv --labels votes_* --out m");
    assert!(said.starts_with("exit 3\n") && said.contains("nobody wrote to it for 10 s"), "{said}");
}

#[test]
fn links_to_inputs_are_followed() {
    let folder = Folder::with_model();
    std::os::unix::fs::symlink("votes.csv", folder.path("link.csv")).expect("a link");
    std::os::unix::fs::symlink("mean.ldlf", folder.path("model")).expect("a link");
    std::os::unix::fs::symlink("nowhere", folder.path("lost.csv")).expect("a link");
    folder.succeed("evaluate model link.csv --quiet");
    assert!(folder.call("evaluate model lost.csv").starts_with("exit 3\n"));
    let votes = folder.read("votes.csv");
    let said = folder.call_with_input("predict mean.ldlf /dev/stdin --format csv --out - --quiet", &votes);
    assert!(said.starts_with("exit 0\n") && said.lines().count() == 63, "{said}");
}

/// An archive whose features are `count` zeros, a thousand times smaller when packed.
fn bomb(count: usize, shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for name in ["features", "labels"] {
        archive.start_file(format!("{name}.npy"), options).expect("memory can be written");
        archive.write_all(b"\x93NUMPY\x01\x00").expect("memory can be written");
        archive.write_all(&(header.len() as u16).to_le_bytes()).expect("memory can be written");
        archive.write_all(header.as_bytes()).expect("memory can be written");
        let zeros = vec![0u8; 1 << 20];
        (0..count * 4 / zeros.len()).for_each(|_| archive.write_all(&zeros).expect("memory can be written"));
    }
    archive.finish().expect("memory can be written").into_inner()
}

/// Runs a call that may use so much memory, and no more whatever it believes.
fn within_memory(folder: &Folder, call: &str, limit: &str, kilobytes: usize) -> Output {
    let ldlf = folder.command(call);
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\""))
        .arg(ldlf.get_program())
        .args(ldlf.get_args())
        .env("LDLF_MEMORY", limit)
        .current_dir(folder.path("."))
        .output()
        .expect("sh starts")
}

#[test]
fn a_zip_bomb_is_refused_before_it_fills_the_memory() {
    let folder = Folder::new();
    let count = 64 << 20;
    for (shape, place) in [("(67108864, 1)", ""), ("(1, 67108864)", " row 1")] {
        let packed = bomb(count, shape);
        assert!(packed.len() < 2 << 20, "{} bytes", packed.len());
        std::fs::write(folder.path("bomb.npz"), packed).expect("the folder can be written");
        let output =
            within_memory(&folder, "train bomb.npz --learner mean --threads 1 --out m", "30MB", 600_000);
        let said = shown(&output);
        assert!(said.starts_with("exit 3\n"), "{said}");
        assert!(
            said.contains(&format!("bomb.npz{place}: ")) && said.contains("of memory are left"),
            "{said}"
        );
    }
}

#[test]
fn files_longer_than_the_memory_are_refused_before_they_are_read() {
    let folder = Folder::with_votes();
    // Ten gigabytes that take no room on the disk.
    let file = std::fs::File::create(folder.path("long")).expect("the folder can be written");
    file.set_len(10_000_000_000).expect("a file may have holes");
    for (call, code) in [
        ("inspect long", 4),
        ("report long --out page.html", 3),
        ("cv votes.csv --labels votes_* --learner mean --journal long", 3),
    ] {
        let output = within_memory(&folder, call, "200MB", 600_000);
        let said = shown(&output);
        assert!(said.starts_with(&format!("exit {code}\n")), "ldlf {call}\n{said}");
        assert!(
            said.contains("10000000000 bytes x ") && said.contains("are available"),
            "ldlf {call}\n{said}"
        );
    }
}

#[test]
fn sizes_that_no_memory_holds_are_refused_with_the_arithmetic() {
    let folder = Folder::with_votes();
    let train = "train votes.csv --labels votes_* --out m";
    for (settings, arithmetic) in [
        ("--set depth=30", "3 features x 10737418220 units"),
        ("--set trees=1000000 --set depth=20", "units"),
        ("--set trees=1000000 --set depth=16 --set units=40000", "1000000 trees x 32768 leaves x 4 labels"),
        ("--learner sndf-ldl --set depth=30", "units"),
    ] {
        let said = folder.call(&format!("{train} {settings}"));
        assert!(said.starts_with("exit 2\n") && said.contains(" bytes = "), "{settings}\n{said}");
        assert!(said.contains(arithmetic) && said.contains("are available"), "{settings}\n{said}");
    }
    assert_eq!(folder.files(), ["votes.csv"]);
}

#[test]
fn less_memory_can_be_allowed_than_there_is() {
    let folder = Folder::with_votes();
    let call = "train votes.csv --labels votes_* --set trees=500 --set depth=12 --out m --quiet";
    let output = folder.command(call).env("LDLF_MEMORY", "10MB").output().expect("ldlf starts");
    let said = shown(&output);
    assert!(said.starts_with("exit 2\n") && said.contains("but 10.0 MB are available"), "{said}");
    let odd = folder.command(call).env("LDLF_MEMORY", "much").output().expect("ldlf starts");
    assert!(
        shown(&odd).contains("LDLF_MEMORY must be a size such as 500MB or 8GB, got \"much\""),
        "{}",
        shown(&odd)
    );
}

/// Data whose label, feature and file names are scripts and formulas.
fn with_hostile_names() -> Folder {
    let folder = Folder::new();
    let heads = "<script>alert(1)</script>,\"<img src=x onerror=alert(2)>\",\"=cmd|' /C calc'!A0\",@SUM(1),-1+1,plain";
    let mut table = format!("{heads}\n");
    (0..12).for_each(|row| table += &format!("{row},{},{},{},1,1\n", row % 3, row % 2, row % 4));
    folder.write("<b>.csv", &table);
    let labels: &[&str] = &["--labels", "=cmd|' /C calc'!A0,@SUM(1),-1+1,plain"];
    for call in [
        "train <b>.csv --set iterations=20 --set trees=1 --set depth=2 --out m --quiet",
        "cv <b>.csv --learner mean,sldlf --set sldlf.iterations=20 --folds 2 --results results --quiet",
    ] {
        let output = folder.command(call).args(labels).output().expect("ldlf starts");
        assert!(output.status.success(), "{}", shown(&output));
    }
    folder
}

#[test]
fn names_that_are_scripts_are_text_in_pages_and_figures() {
    let folder = with_hostile_names();
    folder.succeed(
        "report results --model m --data <b>.csv --title <script>alert(3)</script> -o page.html --quiet",
    );
    folder.succeed("plot distributions results --out figure.svg --quiet");
    for file in ["page.html", "figure.svg"] {
        let text = folder.read(file);
        assert!(!text.contains("<script>alert") && !text.contains("<img") && !text.contains("<b>"), "{file}");
    }
    let page = folder.read("page.html");
    assert!(
        page.contains("&lt;script&gt;alert(3)") && page.contains("&lt;b&gt;"),
        "the names are shown as text"
    );
}

#[test]
fn names_that_are_formulas_are_disarmed_where_asked() {
    let folder = with_hostile_names();
    let heads = |call: &str| folder.succeed(call).lines().next().unwrap_or_default().to_string();
    let predict = "predict m <b>.csv --out - --quiet";
    assert_eq!(heads(predict), "=cmd|' /C calc'!A0,@SUM(1),-1+1,plain");
    assert_eq!(heads(&format!("{predict} --safe-csv")), "'=cmd|' /C calc'!A0,'@SUM(1),'-1+1,plain");
    let modes = folder.succeed(&format!("{predict} --safe-csv --write mode"));
    assert!(modes.lines().skip(1).all(|name| name == "plain" || name.starts_with('\'')), "{modes}");
    let said = folder.call("predict m <b>.csv --out p.npz --safe-csv");
    assert!(said.starts_with("exit 2\n") && said.contains("--safe-csv is for .csv and .tsv"), "{said}");
}
