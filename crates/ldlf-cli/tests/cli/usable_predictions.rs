//! What makes predictions usable: ids that pass through, rows that cannot be read, JSON lines.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

/// A folder with a model of two labels that always says 3 to 1, and a table with ids and a bad row.
fn with_ids() -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", "x,y,no,yes\n1,5,1,3\n2,6,1,3\n");
    folder.succeed("train data.csv --labels no,yes --learner mean --out m --quiet");
    folder.write("new.csv", "id,x,y,day\na 1,1,5,Monday\n007,oops,6,Tuesday\n,3,7,\n\"c,d\",4,8,Friday\n");
    folder
}

#[test]
fn kept_columns_stand_before_the_predictions_in_the_order_they_are_named() {
    let folder = with_ids();
    folder.write("good.csv", "id,x,y,day\na 1,1,5,Monday\n\"c,d\",4,8,\n");
    assert_data_eq!(
        folder.call("predict m good.csv --keep day,id --out - --quiet"),
        str![[r#"
exit 0
-- stdout
day,id,no,yes
Monday,a 1,0.25,0.75
,"c,d",0.25,0.75

"#]]
    );
    folder.succeed("predict m good.csv --keep id,d* --write mode --out p.jsonl");
    assert_eq!(
        folder.read("p.jsonl"),
        "{\"id\":\"a 1\",\"day\":\"Monday\",\"mode\":\"yes\"}\n{\"id\":\"c,d\",\"day\":\"\",\"mode\":\"yes\"}\n"
    );
    assert_data_eq!(
        folder.call("predict m good.csv --keep ID --out -"),
        str![[r#"
exit 3
-- stderr
error: good.csv: no column "ID" (--keep); did you mean "id"? The columns are id, x, y, day

"#]]
    );
    folder.write("labelled.csv", "x,y,yes\n1,5,1\n");
    assert_data_eq!(
        folder.call("predict m labelled.csv --keep yes --out -"),
        str![[r#"
exit 2
-- stderr
error: --keep names the column "yes", and so are predictions called; leave it out of --keep, or rename it in the data

"#]]
    );
}

#[test]
fn a_row_that_cannot_be_read_ends_the_run_is_left_out_or_stays_empty() {
    let folder = with_ids();
    assert_data_eq!(
        folder.call("predict m new.csv --out p.csv"),
        str![[r#"
exit 3
-- stderr
error: new.csv line 3, column "x": "oops" is not a number; the model needs a number here, or pass over such rows with --bad-rows skip

"#]]
    );
    assert!(!folder.path("p.csv").exists());
    assert_data_eq!(
        folder.call("predict m new.csv --keep id --bad-rows skip --bad-rows-out bad.csv --out p.csv"),
        str![[r#"
exit 0
-- stderr
predicted 3 rows in [..] s ([..] rows/s)
note: 1 of 4 rows could not be read and were left out; the first: new.csv line 3, column "x": "oops" is not a number; the model needs a number here

"#]]
    );
    assert_eq!(folder.read("p.csv"), "id,no,yes\na 1,0.25,0.75\n,0.25,0.75\n\"c,d\",0.25,0.75\n");
    assert_eq!(
        folder.read("bad.csv"),
        "row,id,reason\n2,007,\"new.csv line 3, column \"\"x\"\": \"\"oops\"\" is not a number; the model needs a number here\"\n"
    );
    folder.succeed(
        "predict m new.csv --keep id --bad-rows empty --write distribution,mode,entropy --out e.csv",
    );
    assert_eq!(
        folder.read("e.csv"),
        "id,no,yes,mode,entropy\n\
         a 1,0.25,0.75,yes,0.5623351446188083\n\
         007,,,,\n\
         ,0.25,0.75,yes,0.5623351446188083\n\
         \"c,d\",0.25,0.75,yes,0.5623351446188083\n"
    );
}

#[test]
fn a_row_of_another_length_is_a_bad_row_too() {
    let folder = with_ids();
    folder.write("ragged.csv", "id,x,y\na,1,5\nb,2\nc,3,7\nd\n");
    folder.succeed("predict m ragged.csv --keep id --bad-rows empty --bad-rows-out bad.jsonl --out p.csv");
    assert_eq!(folder.read("p.csv"), "id,no,yes\na,0.25,0.75\nb,,\nc,0.25,0.75\nd,,\n");
    assert_eq!(folder.read("bad.jsonl").lines().count(), 2);
    folder.write("hopeless.csv", "id,x,y\na,oops,5\n");
    folder.succeed("predict m hopeless.csv --bad-rows skip --out none.csv");
    assert_eq!(folder.read("none.csv"), "no,yes\n");
}

#[test]
fn parts_hold_the_predictions_of_as_many_rows_of_the_input() {
    let folder = with_ids();
    folder.succeed("predict m new.csv --keep id --bad-rows skip --part-rows 2 --out parts.csv");
    assert_eq!(folder.read("parts.csv/part-000000.csv"), "id,no,yes\na 1,0.25,0.75\n");
    assert_eq!(folder.read("parts.csv/part-000001.csv"), "id,no,yes\n,0.25,0.75\n\"c,d\",0.25,0.75\n");
    assert_data_eq!(
        folder.call("predict m new.csv --bad-rows skip --resume --out parts.csv"),
        str![[r#"
exit 2
-- stderr
error: parts.csv was started with other --keep; resume with the same, or add --force in place of --resume to start again

"#]]
    );
    assert_data_eq!(
        folder.call("predict m new.csv --part-rows 2 --out parts"),
        str![[r#"
exit 2
-- stderr
error: parts: tables are written as [..]; end the name of the folder so: its parts are files of that form

"#]]
    );
}

#[test]
fn parts_say_which_rows_were_left_out() {
    let folder = with_ids();
    assert_data_eq!(
        folder.call(
            "predict m new.csv --keep id --bad-rows skip --bad-rows-out bad.csv --part-rows 3 --out parts.csv"
        ),
        str![[r#"
exit 0
-- stderr
predicted 3 rows in [..] s ([..] rows/s); parts.csv has 2 parts
note: 1 of 4 rows could not be read and were left out; the first: new.csv line 3, column "x": "oops" is not a number; the model needs a number here

"#]]
    );
    assert!(folder.read("bad.csv").starts_with("row,id,reason\n2,007,"));
    let said = folder.call("predict m new.csv --bad-rows empty --part-rows 3 --out empty.csv");
    assert!(
        said.contains("predicted 4 rows")
            && said.contains("1 of 4 rows could not be read and have no prediction"),
        "{said}"
    );
    let refused =
        folder.call("predict m new.csv --bad-rows skip --bad-rows-out b.csv --resume --out empty.csv");
    assert!(
        refused.starts_with("exit 2\n") && refused.contains("an earlier run read a part of the rows"),
        "{refused}"
    );
}

#[test]
fn a_list_of_bad_rows_needs_a_run_that_passes_over_them() {
    let folder = with_ids();
    assert_data_eq!(
        folder.call("predict m new.csv --bad-rows-out bad.csv --out p.csv"),
        str![[r#"
exit 2
-- stderr
error: --bad-rows-out lists rows that the run passes over; add --bad-rows skip (left out) or --bad-rows empty (written without a prediction)

"#]]
    );
}

#[test]
fn a_damaged_model_file_is_refused_and_a_whole_one_says_where_it_comes_from() {
    let folder = with_ids();
    let shown = folder.call("inspect m");
    for fact in ["trained on", "2 rows", "data fingerprint", "seed", "trained by"] {
        assert!(shown.contains(fact), "{fact}: {shown}");
    }
    let path = folder.path("m");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let refused = folder.call("predict m data.csv --out -");
    assert!(refused.starts_with("exit 4\n"), "{refused}");
    assert!(refused.contains("its contents do not fit its checksum"), "{refused}");
}

#[test]
fn a_pattern_may_have_stars_in_its_folders() {
    let folder = Folder::new();
    for (day, first) in [("day=2", 3), ("day=1", 1), (".hidden", 9)] {
        std::fs::create_dir_all(folder.path(&format!("days/{day}"))).expect("a folder");
        folder.write(&format!("days/{day}/k.csv"), &format!("x,a,b\n{first},1,1\n{},3,1\n", first + 1));
    }
    folder.write("days/day=1/other.csv", "y\n5\n");
    let said = folder.call("train days/*/k.csv --labels a,b --learner mean --out m");
    assert!(said.contains("4 rows, 2 features"), "{said}");
    folder.succeed("predict m days/*/k.csv --keep x,day --write mode --out p.csv");
    assert_eq!(folder.read("p.csv"), "x,day,mode\n1,1,a\n2,1,a\n3,2,a\n4,2,a\n");
    folder.succeed("predict m days/*/k.csv --keep x --part-rows 3 --out parts.csv");
    assert!(folder.read("parts.csv/part-000001.csv").ends_with("\n4,0.625,0.375\n"));
    folder.write("days/day=2/k.csv", "x,a,b\n3,1,1\n");
    let other = folder.call("predict m days/*/k.csv --keep x --resume --out parts.csv");
    assert!(other.contains("was started with other data"), "{other}");
    let none = folder.call("predict m days/*/z.csv --out q.csv");
    assert!(none.contains("days/*/z.csv: no table fits the pattern"), "{none}");
    let over = folder.call("predict m days/*/k.csv --out days/day=1/k.csv --force");
    assert!(
        over.starts_with("exit 2\n") && over.contains("would overwrite a file of days/*/k.csv"),
        "{over}"
    );
}
