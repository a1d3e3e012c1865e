//! No output takes the place of what the same call reads, whatever the verb and the option, even with `--force`.

use crate::call::Folder;

fn folder() -> Folder {
    let folder = Folder::with_model();
    folder.write("items.csv", "item,x\na,1\nb,2\nc,3\n");
    folder.write("long.csv", "item,who,label\na,p,1\na,q,2\nb,p,1\nb,q,1\nc,p,2\nc,q,2\n");
    folder.write("folds.txt", &"0\n1\n".repeat(30));
    std::fs::create_dir(folder.path("days")).unwrap();
    std::fs::copy(folder.path("votes.csv"), folder.path("days/monday.csv")).unwrap();
    folder
}

#[test]
fn no_verb_writes_over_what_it_reads() {
    let folder = folder();
    std::fs::copy(folder.path("mean.ldlf"), folder.path("other.ldlf")).unwrap();
    let labels = "--labels votes_* --learner random-forest";
    for (call, kept) in [
        ("report --model mean.ldlf --data votes.csv -o votes.csv --force".to_string(), "votes.csv"),
        ("report --model mean.ldlf --data votes.csv -o mean.ldlf --force".into(), "mean.ldlf"),
        (format!("sweep votes.csv {labels} --over trees=2 --folds 2 --out votes.csv --force"), "votes.csv"),
        (
            format!("sweep votes.csv {labels} --over trees=2 --fold-file folds.txt --out folds.txt --force"),
            "folds.txt",
        ),
        (format!("search votes.csv {labels} --over trees=2,3 --out votes.csv --force"), "votes.csv"),
        (
            "train items.csv --votes long.csv --long item,who,label --learner mean --out long.csv --force"
                .into(),
            "long.csv",
        ),
        (
            "evaluate mean.ldlf votes.csv --against other.ldlf --per-row other.ldlf --force".into(),
            "other.ldlf",
        ),
        (
            "evaluate mean.ldlf votes.csv --beside other.ldlf --per-row other.ldlf --force".into(),
            "other.ldlf",
        ),
        ("explain mean.ldlf votes.csv --background items.csv -o items.csv --force".into(), "items.csv"),
        ("predict mean.ldlf votes.csv --out mean.ldlf --force".into(), "mean.ldlf"),
        ("predict mean.ldlf days --out days/monday.csv --force".into(), "days/monday.csv"),
        ("predict mean.ldlf days/*.csv --out days/monday.csv --force".into(), "days/monday.csv"),
        ("annotators long.csv --long item,who,label --out ./long.csv --force".into(), "long.csv"),
        ("export mean.ldlf --onnx mean.ldlf --force".into(), "mean.ldlf"),
        ("importance mean.ldlf votes.csv --out votes.csv --force".into(), "votes.csv"),
    ] {
        let before = folder.bytes(kept);
        let said = folder.call(&call);
        assert!(said.starts_with("exit 2\n") && said.contains(" would overwrite "), "{call}\n{said}");
        assert!(folder.bytes(kept) == before, "{call}");
    }
}

#[test]
fn two_outputs_of_a_call_have_two_names() {
    let folder = folder();
    for call in [
        "predict mean.ldlf votes.csv --bad-rows skip --bad-rows-out p.csv --out p.csv",
        "train votes.csv --labels votes_* --learner random-forest --out-of-fold m.csv --out m.csv",
    ] {
        let said = folder.call(call);
        assert!(said.starts_with("exit 2\n") && said.contains(" would overwrite "), "{call}\n{said}");
    }
    let said = folder.call("predict - votes.csv --out p.csv");
    assert!(
        said.contains("exit 2") && said.contains("a model is not read from standard input; name its file"),
        "{said}"
    );
}

#[test]
fn a_new_file_in_a_folder_that_is_read_is_no_mistake() {
    let folder = folder();
    folder.succeed("predict mean.ldlf days --out days/scored.jsonl");
    assert_eq!(folder.read("days/scored.jsonl").lines().count(), 60);
}
