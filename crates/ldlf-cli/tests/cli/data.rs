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
error: data.csv line 3: 2 values where the header has 3

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
error: data.csv line 1: the column name "a" stands twice

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
