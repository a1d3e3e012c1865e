//! Predictions in parts: an interrupted run resumes to the same bytes.

use std::process::Stdio;
use std::time::{Duration, Instant};

use snapbox::{assert_data_eq, str};

use crate::call::{Folder, shown};

/// A folder with a model and 3,000 rows to predict.
fn folder() -> Folder {
    let folder = Folder::with_votes();
    folder.succeed(
        "train votes.csv --labels votes_* --set trees=2 --set depth=3 --set iterations=20 --out m --quiet",
    );
    folder.succeed("generate mixture --rows 3000 --features 3 --labels 4 --seed 1 --out rows.csv");
    folder
}

/// The names and bytes of all parts in a folder.
fn parts(folder: &Folder, name: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder.path(name)).expect("the folder is there");
    let mut parts: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into(), std::fs::read(&path).unwrap()))
        .filter(|(name, _): &(String, _)| name.starts_with("part-"))
        .collect();
    parts.sort();
    parts
}

#[test]
fn parts_hold_the_rows_of_one_file_in_their_order() {
    let folder = folder();
    folder.succeed("predict m rows.csv --out whole.csv");
    assert_data_eq!(
        folder.call("predict m rows.csv --out p.csv --part-rows 700"),
        str![[r#"
exit 0
-- stderr
predicted 3000 rows in [..] s ([..] rows/s); p.csv has 5 parts

"#]]
    );
    let parts = parts(&folder, "p.csv");
    let names: Vec<&str> = parts.iter().map(|(name, _)| &**name).collect();
    let expected: Vec<String> = (0..5).map(|number| format!("part-{number:06}.csv")).collect();
    assert_eq!(names, expected);
    let rows: Vec<String> = parts
        .iter()
        .flat_map(|(_, bytes)| {
            String::from_utf8(bytes.clone()).unwrap().lines().skip(1).map(String::from).collect::<Vec<_>>()
        })
        .collect();
    let whole = folder.read("whole.csv");
    assert_eq!(rows, whole.lines().skip(1).collect::<Vec<_>>());
}

#[test]
fn parts_that_are_missing_are_made_again_to_the_same_bytes() {
    let folder = folder();
    for out in ["p.csv", "p.parquet", "p.arrow", "p.arrows", "p.npz"] {
        let call = format!("predict m rows.csv --out {out} --part-rows 500 --write distribution,mode");
        folder.succeed(&call);
        let whole = parts(&folder, out);
        assert_eq!(whole.len(), 6, "{out}");
        // As after a stop: the run is not finished, and its last parts are not there.
        let record = format!(".{out}.ldlf-run.json");
        let unfinished = folder.read(&record).replace("\"finished\": true", "\"finished\": false");
        folder.write(&record, &unfinished);
        std::fs::remove_file(folder.path(&format!("{out}/{}", whole[3].0))).unwrap();
        std::fs::remove_file(folder.path(&format!("{out}/{}", whole[5].0))).unwrap();
        let said = folder.call(&format!("{call} --resume"));
        assert!(said.contains(&format!("{out}: resuming after 3 parts\npredicted 1500 rows")), "{said}");
        assert!(parts(&folder, out) == whole, "{out}");
        let said = folder.call(&format!("predict m rows.csv --out {out} --write distribution,mode --resume"));
        assert!(said.contains("is complete; nothing was left to predict"), "{said}");
    }
}

#[test]
fn every_format_goes_on_from_the_same_row() {
    let folder = folder();
    folder.succeed("predict m rows.csv --out rows.parquet");
    folder.succeed("predict m rows.csv --out rows.arrow");
    folder.succeed("predict m rows.csv --out rows.arrows");
    folder.succeed(
        "train rows.parquet --labels votes_1,votes_2 --features votes_3,votes_4 --learner bfgs-ldl --out n",
    );
    let mut first: Option<Vec<(String, Vec<u8>)>> = None;
    for data in ["rows.parquet", "rows.arrow", "rows.arrows"] {
        let out = format!("from-{data}.csv");
        let call = format!("predict n {data} --out {out} --part-rows 400");
        folder.succeed(&call);
        let whole = parts(&folder, &out);
        let record = format!(".{out}.ldlf-run.json");
        folder.write(&record, &folder.read(&record).replace("true\n}", "false\n}"));
        std::fs::remove_file(folder.path(&format!("{out}/{}", whole[4].0))).unwrap();
        folder.succeed(&format!("{call} --resume"));
        assert!(parts(&folder, &out) == whole, "{data}");
        assert!(*first.get_or_insert(whole.clone()) == whole, "{data} gives other rows");
    }
}

#[test]
fn another_run_is_not_gone_on_with() {
    let folder = folder();
    let call = "predict m rows.csv --out p.csv --part-rows 1000";
    folder.succeed(call);
    assert_data_eq!(
        folder.call(call),
        str![[r#"
exit 2
-- stderr
error: p.csv exists; choose another name, continue with --resume, or add --force to start again

"#]]
    );
    for (other, what) in [
        ("predict m votes.csv --out p.csv --part-rows 1000 --resume", "other data"),
        ("predict m rows.csv --out p.csv --part-rows 999 --resume", "another --part-rows"),
        ("predict m rows.csv --out p.csv --part-rows 1000 --write mode --resume", "another --write"),
    ] {
        let said = folder.call(other);
        assert!(
            said.starts_with("exit 2\n") && said.contains(&format!("p.csv was started with {what}; ")),
            "{said}"
        );
    }
    folder.succeed("train votes.csv --labels votes_* --learner mean --out mean");
    let said = folder.call("predict mean rows.csv --out p.csv --resume");
    assert!(said.contains("p.csv was started with another model"), "{said}");
    let before = parts(&folder, "p.csv");
    folder.succeed(&format!("{call} --force"));
    assert!(parts(&folder, "p.csv") == before);
    folder.write("p.csv/notes.txt", "mine");
    let said = folder.call(&format!("{call} --force"));
    assert!(said.starts_with("exit 2\n") && said.contains("p.csv holds notes.txt"), "{said}");
}

#[test]
fn what_makes_no_sense_with_parts_is_refused() {
    let folder = folder();
    for (call, said) in [
        ("predict m rows.csv --out - --part-rows 5", "--part-rows and --resume need a name for --out"),
        (
            "predict m rows.csv --out p.csv --resume",
            "p.csv: there is nothing to resume; start with --part-rows",
        ),
        ("predict m rows.csv --out p.csv --part-rows 0", "give a whole number of at least 1"),
        ("predict m rows.csv --out p.csv --part-rows 5 --resume --force", "cannot be used with"),
        ("predict m rows.csv --out votes.csv --part-rows 5", "votes.csv is a file; name another output"),
    ] {
        let shown = folder.call(call);
        assert!(shown.starts_with("exit 2\n") && shown.contains(said), "{shown}");
    }
}

#[test]
fn no_rows_make_one_part_of_heads() {
    let folder = folder();
    folder.write("none.csv", "x_1,x_2,x_3\n");
    folder.succeed("predict m none.csv --out p.csv --part-rows 5 --resume");
    assert_eq!(folder.read("p.csv/part-000000.csv"), "votes_1,votes_2,votes_3,votes_4\n");
}

#[cfg(unix)]
#[test]
fn a_run_that_is_killed_repeatedly_resumes_to_the_same_bytes() {
    let folder = folder();
    folder.succeed("generate mixture --rows 60000 --features 3 --labels 2 --out many.csv");
    let call = "predict m many.csv --part-rows 1500 --threads 1 --quiet";
    folder.succeed(&format!("{call} --out whole.parquet"));
    let whole = parts(&folder, "whole.parquet");
    assert_eq!(whole.len(), 40);
    let (mut kills, mut reached) = (0, 0);
    for attempt in 0..6 {
        let mut child = folder
            .command(&format!("{call} --out p.parquet --resume"))
            .stderr(Stdio::null())
            .spawn()
            .expect("ldlf starts");
        let started = Instant::now();
        let count = || std::fs::read_dir(folder.path("p.parquet")).map_or(0, |entries| entries.count());
        // Killed while it works: when there are more parts than before, and a little later each time.
        while count() <= reached && child.try_wait().expect("it can be asked").is_none() {
            assert!(started.elapsed() < Duration::from_secs(60), "no part came");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(attempt * 3 % 7));
        child.kill().expect("it can be killed");
        kills += u32::from(!child.wait().expect("it ends").success());
        reached = count();
    }
    println!("kills survived: {kills}");
    assert!(kills > 0, "the run ended before the first kill");
    let last = folder.output(&format!("{call} --out p.parquet --resume"));
    assert!(last.status.success(), "{}", shown(&last));
    assert!(parts(&folder, "p.parquet") == whole);
    let hidden: Vec<String> = std::fs::read_dir(folder.path("p.parquet"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert_eq!(hidden, Vec::<String>::new(), "nothing of the killed is left");
}
