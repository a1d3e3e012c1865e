//! Data that cannot be used, and data in other forms than a plain table.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

fn refusal(text: &str, options: &str) -> String {
    let folder = Folder::new();
    folder.write("data.csv", text);
    let shown = folder.call(&format!("train data.csv {options} --learner mean --out m"));
    assert_eq!(folder.files(), ["data.csv"], "nothing was written");
    shown
}

#[test]
fn a_missing_input_is_exit_3() {
    let folder = Folder::with_model();
    assert_data_eq!(
        folder.call("train gone.csv --labels a --out m"),
        str![[r#"
exit 3
-- stderr
error: gone.csv does not exist

"#]]
    );
    assert_data_eq!(
        folder.call("predict mean.ldlf gone.csv --out p.csv"),
        str![[r#"
exit 3
-- stderr
error: gone.csv does not exist

"#]]
    );
    assert_data_eq!(
        folder.call("evaluate gone.ldlf votes.csv"),
        str![[r#"
exit 3
-- stderr
error: gone.ldlf does not exist

"#]]
    );
    assert_data_eq!(
        folder.call("cv votes.csv --labels votes_* --fold-file gone.txt"),
        str![[r#"
exit 3
-- stderr
error: gone.txt does not exist

"#]]
    );
}

#[test]
fn rows_that_cannot_be_used_name_their_place() {
    assert_data_eq!(
        refusal("x,a,b\n1,1,0\n2,nan,1\n", "--labels a,b"),
        str![[r#"
exit 3
-- stderr
error: data.csv line 3, column "a": the label is missing; if nobody chose it use --missing-labels zero; --missing-labels skip leaves such rows out

"#]]
    );
    assert_data_eq!(
        refusal("x,a,b\n1,1,0\n2,-1,2\n", "--labels a,b"),
        str![[r#"
exit 3
-- stderr
error: data.csv line 3, column "a": the label -1 is negative; labels are shares or counts of at least 0

"#]]
    );
    assert_data_eq!(
        refusal("x,a,b\n1,1,0\n2,0,0\n", "--labels a,b"),
        str![[r#"
exit 3
-- stderr
error: data.csv line 3: every label is 0, so there is no distribution to learn; remove the row

"#]]
    );
    assert_data_eq!(
        refusal("x,a,b\n1,1,0\noops,1,0\n", "--labels a,b"),
        str![[r#"
exit 3
-- stderr
error: data.csv line 3, column "x": "oops" is not a number; correct it, name the column in --categories, or leave it out with --ignore "x"

"#]]
    );
    assert_data_eq!(
        refusal("x,a,b\n1,1,0\n2,1\n", "--labels a,b"),
        str![[r#"
exit 3
-- stderr
error: data.csv line 3: 2 values where the header has 3 (is the row cut off?)

"#]]
    );
}

#[test]
fn tables_that_cannot_be_used_are_one_sentence() {
    assert_data_eq!(
        refusal("", "--labels a,b"),
        str![[r#"
exit 3
-- stderr
error: data.csv: the file is empty

"#]]
    );
    assert_data_eq!(
        refusal("x,a,b\n", "--labels a,b"),
        str![[r#"
exit 3
-- stderr
error: data.csv: a header but no rows

"#]]
    );
    assert_data_eq!(
        refusal("x,a,a\n1,1,0\n", "--labels a"),
        str![[r#"
exit 3
-- stderr
error: data.csv line 1: the column name "a" stands twice; rename one of the columns, or leave it out of the file

"#]]
    );
    assert_data_eq!(
        refusal("x,a,b\n1,1,0\n", "--labels a,c"),
        str![[r#"
exit 3
-- stderr
error: data.csv: no column "c" (--labels); the columns are x, a, b

"#]]
    );
    assert_data_eq!(
        refusal("x,a,b\n1,1,0\n", ""),
        str![[r#"
exit 2
-- stderr
error: data.csv: which columns are the labels? Name them with --labels (a pattern such as "rating_*" will do), one label per row with --label-column, or one vote per line with --long; the columns are x, a, b

"#]]
    );
    assert_data_eq!(
        refusal("x,a,b\n1,2,3\n", "--labels a,b --strict"),
        str![[r#"
exit 3
-- stderr
error: data.csv line 2: the labels sum to 5, not 1, and --strict refuses to normalise

"#]]
    );
}

#[test]
fn a_name_without_a_known_ending_needs_a_format() {
    let folder = Folder::new();
    folder.write("data", "x,a,b\n1,1,0\n");
    assert_data_eq!(
        folder.call("train data --labels a,b --learner mean --out m"),
        str![[r#"
exit 2
-- stderr
error: data: the extension names no known format; give --format (one of mat, csv, tsv, parquet, arrow, jsonl, xlsx, npz, svm)

"#]]
    );
    folder.succeed("train data --format csv --labels a,b --learner mean --out m");
    assert_data_eq!(
        folder.call("train data --format xls --labels a,b --out n"),
        str![[r#"
exit 2
-- stderr
error: invalid value 'xls' for '--format <FORMAT>': format must be one of mat, csv, tsv, parquet, arrow, jsonl, xlsx, npz, svm, got "xls"

For more information, try '--help'.

"#]]
    );
}

#[test]
fn standard_input_needs_a_format() {
    let folder = Folder::new();
    let table = "x,a,b\n1,1,0\n2,0,1\n";
    assert_data_eq!(
        folder.call_with_input("train - --labels a,b --learner mean --out m", table),
        str![[r#"
exit 2
-- stderr
error: standard input needs --format (one of mat, csv, tsv, parquet, arrow, jsonl, xlsx, npz, svm)

"#]]
    );
    assert_data_eq!(
        folder.call_with_input("train - --format csv --labels a,b --learner mean --out m", table),
        str![[r#"
exit 0
-- stdout
learner  mean
data     stdin, 2 rows, 1 feature, 2 labels
numbers  x
stopped  completed
model    m

"#]]
    );
}

#[test]
fn every_label_may_have_its_own_width() {
    let folder = Folder::new();
    folder.write("ages.csv", "x,age\n1,20\n2,30\n3,60\n");
    let options = "--label-column age --label-values 20,30,60 --learner mean";
    folder.succeed(&format!("train ages.csv {options} --sigma 0,0,30 --out wide"));
    folder.succeed(&format!("train ages.csv {options} --triangle 20 --out triangle"));
    let mean = |model: &str| {
        let table = folder.succeed(&format!("predict {model} ages.csv --out - --quiet"));
        table.lines().nth(1).unwrap().split(',').map(|p| p.parse().unwrap()).collect::<Vec<f64>>()
    };
    // 20 and 30 stay where they are; 60 spreads as exp(-8/9), exp(-1/2), 1.
    let (far, near) = ((-8.0f64 / 9.0).exp(), (-0.5f64).exp());
    let sum = far + near + 1.0;
    let expected = [(1.0 + far / sum) / 3.0, (1.0 + near / sum) / 3.0, 1.0 / sum / 3.0];
    assert!(mean("wide").iter().zip(expected).all(|(p, e)| (p - e).abs() < 1e-6), "{:?}", mean("wide"));
    // A triangle reaches from 20 to 30 and back with half its height, and 60 is alone.
    assert!(mean("triangle").iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-6));
    let refused = folder.call(&format!("train ages.csv {options} --sigma 1,2 --out n"));
    assert!(refused.contains("sigma gives 2 widths for 3 labels"), "{refused}");
}

#[test]
fn single_ordered_labels_become_distributions() {
    let folder = Folder::new();
    folder.write("ages.csv", "x,age\n1,10\n2,11\n3,12\n");
    let options = "--label-column age --sigma 1 --label-values 10..12";
    folder.succeed(&format!("train ages.csv {options} --learner mean --out m"));
    assert_data_eq!(
        folder.call("predict m ages.csv --write mode,mean,quantile_interval=0.5 --out - --quiet"),
        str![[r#"
exit 0
-- stdout
mode,mean,quantile_interval_0.5_low,quantile_interval_0.5_high
11,11,10,12
11,11,10,12
11,11,10,12

"#]]
    );
    let measured = folder.json("evaluate m ages.csv --label-column age --sigma 1 --json");
    assert!((measured["measures"]["mae_mode"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9, "{measured}");
    // The model remembers the column and the spread.
    assert_eq!(folder.json("evaluate m ages.csv --json")["measures"], measured["measures"]);
    assert_data_eq!(
        folder.call("train ages.csv --sigma 1 --out n"),
        str![[r#"
exit 2
-- stderr
error: the following required arguments were not provided:
  --label-column <COLUMN>

Usage: ldlf train --label-column <COLUMN> --sigma <WIDTH> --out <FILE> <DATA>

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        folder.call("train ages.csv --label-column age --sigma 1 --label-values x --out n"),
        str![[r#"
exit 2
-- stderr
error: invalid value 'x' for '--label-values <RANGE>': give a range such as 0..100 (both ends belong to it) or a list such as 1,2,5

For more information, try '--help'.

"#]]
    );
}

#[test]
fn generated_sets_are_read_back() {
    let folder = Folder::new();
    assert_data_eq!(
        folder.call("generate artificial --rows 3 --out -"),
        str![[r#"
exit 0
-- stdout
x_1,x_2,x_3,label_1,label_2,label_3
[..]
[..]
[..]

"#]]
    );
    for name in ["dense.csv", "dense.tsv", "sparse.svm"] {
        let density = if name.starts_with("sparse") { "--density 0.5" } else { "" };
        folder.succeed(&format!("generate mixture --rows 20 --features 6 --labels 3 {density} --out {name}"));
        let labels = if name.ends_with("svm") { "" } else { "--labels label_*" };
        let summary = folder.json(&format!("train {name} {labels} --learner mean --out {name}.ldlf --json"));
        assert_eq!((&summary["rows"], &summary["features"]), (&20.into(), &6.into()), "{name}");
    }
    assert_data_eq!(
        folder.call("generate mixtrue --out a.csv"),
        str![[r#"
exit 2
-- stderr
error: no generator is called "mixtrue"; did you mean mixture?

"#]]
    );
    assert_data_eq!(
        folder.call("generate artificial --labels 4 --out a.csv"),
        str![[r#"
exit 2
-- stderr
error: artificial: no parameter is called "labels"; there are none to set

"#]]
    );
    assert_data_eq!(
        folder.call("generate mixture --density 2 --out a.csv"),
        str![[r#"
exit 2
-- stderr
error: mixture: density must be at most 1, got 2.0

"#]]
    );
    assert_data_eq!(
        folder.call("generate mixture --out a.xls"),
        str![[r#"
exit 2
-- stderr
error: a.xls: datasets are written as .csv, .tsv or .svm; choose one of these

"#]]
    );
    assert_data_eq!(
        folder.call("generate mixture --out dense.csv"),
        str![[r#"
exit 2
-- stderr
error: dense.csv exists; choose another name or add --force

"#]]
    );
}

#[test]
fn categories_and_missing_values_go_through_all_verbs() {
    let folder = Folder::new();
    folder.write("pets.csv", "kind,age,likes,bites\ncat,1,3,1\ndog,,1,3\ncat,4,2,2\ndog,2,0,4\n");
    let options = "--labels likes,bites --categories kind --missing-values";
    let shown = folder.call(&format!("train pets.csv {options} --learner mean --out m.ldlf -q"));
    assert!(shown.starts_with("exit 0"), "{shown}");
    assert!(folder.call("evaluate m.ldlf pets.csv").starts_with("exit 0"));
    folder.write("new.csv", "age,kind\n3,eel\n,cat\n");
    assert!(folder.call("predict m.ldlf new.csv --out p.csv -q").starts_with("exit 0"));
    assert_eq!(folder.read("p.csv").lines().count(), 3);
}

#[test]
fn names_that_are_nearly_right_are_answered_with_what_was_meant() {
    let table = "age,city,Vote_a,Vote_b\n1,x,1,0\n2,y,0,1\n";
    for (options, near) in [
        ("--labels vote_*", "no column \"vote_*\" (--labels); did you mean \"Vote_a\"?"),
        ("--labels Vote_* --ignore citty", "no column \"citty\" (--ignore); did you mean \"city\"?"),
        ("--labels Vote_* --group AGE", "no column \"AGE\" (--group); did you mean \"age\"?"),
    ] {
        let said = refusal(table, options);
        assert!(said.starts_with("exit 3\n") && said.contains(near), "{options}\n{said}");
    }
    let folder = Folder::with_model();
    folder.write("new.csv", "x_1,X_2,x_3\n1,2,3\n");
    let said = folder.call("predict mean.ldlf new.csv --out -");
    assert!(said.contains("no column \"x_2\", which the model needs; did you mean \"X_2\"?"), "{said}");
}

#[test]
fn every_bad_cell_has_a_remedy() {
    for (table, options, remedy) in [
        (
            "x,a,b\n1,many,1\n",
            "--labels a,b",
            "\"many\" is not a number; correct it, or leave the column out of --labels",
        ),
        (
            "x,a,b,w\n1,1,1,\n",
            "--labels a,b --sample-weights w",
            "the value is missing; a weight of 0 leaves the row out",
        ),
        (
            "x,a,b,g\n1,1,1,\n",
            "--labels a,b --group g",
            "the value is missing; give a row that is alone a value of its own",
        ),
        (
            "x,a,b,s\n1,1,1,\n",
            "--labels a,b --split-column s",
            "the value is missing; write train, valid or test",
        ),
        (
            "x,age\n1,30\n2,\n",
            "--label-column age --sigma 2",
            "the label is missing; leave such rows out with --missing-labels skip",
        ),
    ] {
        let said = refusal(table, options);
        assert!(said.starts_with("exit 3\n") && said.contains(remedy), "{options}\n{said}");
    }
}

#[test]
fn rows_without_a_single_label_are_left_out_on_request() {
    let folder = Folder::new();
    folder.write("ages.csv", "x,age\n1,30\n2,\n3,31\n4,NA\n");
    let said = folder
        .call("train ages.csv --label-column age --sigma 2 --missing-labels skip --learner mean --out m");
    assert!(said.contains("data     ages, 2 rows, 1 feature, 2 labels"), "{said}");
    assert!(said.contains("note: ages.csv: left out 2 rows of which a label is missing"), "{said}");
}

#[test]
fn label_values_may_be_negative() {
    let folder = Folder::new();
    folder.write("mood.csv", "x,mood\n1,-2\n2,0\n3,1\n");
    folder
        .succeed("train mood.csv --label-column mood --sigma 1 --label-values -3..3 --learner mean --out m");
    assert_eq!(
        folder.json("inspect m --json")["document"]["schema"]["label_names"].as_array().map(Vec::len),
        Some(7)
    );
    let said = folder.call("train mood.csv --label-column mood --sigma -1 --learner mean --out n");
    assert!(said.contains("sigma must be a finite number of at least 0, got -1"), "{said}");
}

#[test]
fn labels_that_say_nothing_are_noted() {
    let folder = Folder::new();
    let rows = |of: fn(usize) -> &'static str| {
        (0..24).map(|row| format!("{},{}\n", row * 7 % 11, of(row))).collect::<String>()
    };
    folder.write(
        "never.csv",
        &format!("x,a,b,c\n{}", rows(|row| if row % 3 == 0 { "1,0,3" } else { "2,0,1" })),
    );
    let said = folder.call("train never.csv --labels a,b,c --learner mean --out m1");
    assert!(said.contains("note: never.csv: the label b is 0 in every row"), "{said}");
    folder.write("same.csv", &format!("x,a,b\n{}", rows(|_| "1,3")));
    let said = folder.call("train same.csv --labels a,b --set trees=2 --out m2");
    assert!(said.contains("warning: all rows have the same labels: there is nothing to learn"), "{said}");
    assert!(!said.contains("-0.0000"), "{said}");
}

#[test]
fn a_column_of_nearly_as_many_categories_as_rows_is_noted() {
    let folder = Folder::new();
    let rows: String =
        (0..80).map(|row| format!("{},{},{}\n", 1000 + 7 * row, row % 3, 3 - row % 2)).collect();
    folder.write("data.csv", &format!("income,a,b\n{rows}"));
    let said = folder.call("train data.csv --labels a,b --categories income --learner mean --out m");
    assert!(
        said.contains(
            "column \"income\": 80 categories for 80 values say little; if they are numbers use --numeric"
        ),
        "{said}"
    );
    assert!(!folder.call("train data.csv --labels a,b --learner mean --out n").contains("say little"));
}

#[test]
fn files_of_other_programs_are_answered_with_a_way() {
    let folder = Folder::with_model();
    for (name, way) in [
        ("data.json", "to_json(orient=\"records\", lines=True)"),
        ("data.sav", "save it as .csv or .parquet"),
    ] {
        folder.write(name, "[]");
        let said = folder.call(&format!("predict mean.ldlf {name} --out -"));
        assert!(said.starts_with("exit 2\n") && said.contains(way), "{said}");
    }
}

#[test]
fn a_list_in_json_lines_matters_only_where_it_is_read() {
    let folder = Folder::new();
    let line = |x: i32| format!("{{\"x\":{x},\"a\":1,\"b\":{x},\"tags\":[1,2]}}\n");
    folder.write("data.jsonl", &[1, 2, 3].map(line).concat());
    let said = folder.call("train data.jsonl --labels a,b --learner mean --out m");
    let refused = "data.jsonl line 1, column \"tags\": a list or an object is no value of a table; leave the column out with --ignore \"tags\"";
    assert!(said.contains(refused), "{said}");
    folder.succeed("train data.jsonl --labels a,b --ignore tags --learner mean --out m");
    folder.succeed("predict m data.jsonl --out -");
}

#[test]
fn long_identifiers_pass_through_unchanged() {
    let folder = Folder::new();
    let ids = ["9007199254740993", "1300000000000000001"];
    folder.write("data.csv", "x,a,b\n1,1,3\n2,2,1\n");
    folder.succeed("train data.csv --labels a,b --learner mean --out m");
    folder.write("new.jsonl", &ids.map(|id| format!("{{\"id\":{id},\"x\":1}}\n")).concat());
    let out = folder.succeed("predict m new.jsonl --keep id --write mode --out -");
    assert_eq!(out, format!("id,mode\n{},b\n{},b\n", ids[0], ids[1]));
}

#[test]
fn a_note_about_several_files_names_their_folder() {
    let folder = Folder::new();
    folder.write("data.csv", "c,a,b\nx,1,3\ny,2,1\n");
    folder.succeed("train data.csv --labels a,b --learner mean --out m");
    std::fs::create_dir(folder.path("days")).unwrap();
    for day in ["days/1.csv", "days/2.csv"] {
        folder.write(day, "c\nz\nx\n");
    }
    let said = folder.call("predict m days --out p.csv");
    assert!(
        said.contains("note: days: column \"c\": 2 of 4 values were not seen in training, such as \"z\""),
        "{said}"
    );
}

#[test]
fn data_that_are_read_twice_do_not_come_from_standard_input() {
    let folder = Folder::with_model();
    let votes = folder.read("votes.csv");
    for option in ["--by x_1", "--against mean.ldlf", "--beside mean.ldlf"] {
        let said = folder.call_with_input(&format!("evaluate mean.ldlf - --format csv {option}"), &votes);
        assert!(
            said.starts_with("exit 2\n")
                && said.contains("standard input does not allow; save them to a file"),
            "{said}"
        );
    }
}

#[test]
fn a_comparison_of_data_that_cannot_be_used_leaves_no_folder() {
    let folder = Folder::new();
    folder.write("data.csv", "x,a,b\n1,1,oops\n");
    folder.call("cv data.csv --labels a,b --learner mean --folds 2 --results out");
    assert_eq!(folder.files(), ["data.csv"]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_is_named_without_temporary_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_votes();
    let closed = folder.path("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(closed.join("try"), "").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    let said = folder.call("train votes.csv --labels votes_* --learner mean --out closed/m");
    assert!(
        said.contains("exit 1")
            && said.contains("closed: no file can be written in this folder (permission denied)"),
        "{said}"
    );
    assert!(!said.contains(".tmp"), "{said}");
}
