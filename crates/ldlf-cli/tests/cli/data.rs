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
    assert_data_eq!(folder.call("train gone.csv --labels a --out m"), str![]);
    assert_data_eq!(folder.call("predict mean.ldlf gone.csv --out p.csv"), str![]);
    assert_data_eq!(folder.call("evaluate gone.ldlf votes.csv"), str![]);
    assert_data_eq!(folder.call("cv votes.csv --labels votes_* --fold-file gone.txt"), str![]);
}

#[test]
fn rows_that_cannot_be_used_name_their_place() {
    assert_data_eq!(refusal("x,a,b\n1,1,0\n2,nan,1\n", "--labels a,b"), str![]);
    assert_data_eq!(refusal("x,a,b\n1,1,0\n2,-1,2\n", "--labels a,b"), str![]);
    assert_data_eq!(refusal("x,a,b\n1,1,0\n2,0,0\n", "--labels a,b"), str![]);
    assert_data_eq!(refusal("x,a,b\n1,1,0\n,1,0\n", "--labels a,b"), str![]);
    assert_data_eq!(refusal("x,a,b\n1,1,0\nn/a,1,0\n", "--labels a,b"), str![]);
    assert_data_eq!(refusal("x,a,b\n1,1,0\n2,1\n", "--labels a,b"), str![]);
}

#[test]
fn tables_that_cannot_be_used_are_one_sentence() {
    assert_data_eq!(refusal("", "--labels a,b"), str![]);
    assert_data_eq!(refusal("x,a,b\n", "--labels a,b"), str![]);
    assert_data_eq!(refusal("x,a,a\n1,1,0\n", "--labels a"), str![]);
    assert_data_eq!(refusal("x,a,b\n1,1,0\n", "--labels a,c"), str![]);
    assert_data_eq!(refusal("x,a,b\n1,1,0\n", ""), str![]);
    assert_data_eq!(refusal("x,a,b\n1,2,3\n", "--labels a,b --strict"), str![]);
}

#[test]
fn a_name_without_a_known_ending_needs_a_format() {
    let folder = Folder::new();
    folder.write("data", "x,a,b\n1,1,0\n");
    assert_data_eq!(folder.call("train data --labels a,b --learner mean --out m"), str![]);
    folder.succeed("train data --format csv --labels a,b --learner mean --out m");
    assert_data_eq!(folder.call("train data --format xls --labels a,b --out n"), str![]);
}

#[test]
fn standard_input_needs_a_format() {
    let folder = Folder::new();
    let table = "x,a,b\n1,1,0\n2,0,1\n";
    assert_data_eq!(folder.call_with_input("train - --labels a,b --learner mean --out m", table), str![]);
    assert_data_eq!(
        folder.call_with_input("train - --format csv --labels a,b --learner mean --out m", table),
        str![]
    );
}

#[test]
fn single_ordered_labels_become_distributions() {
    let folder = Folder::new();
    folder.write("ages.csv", "x,age\n1,10\n2,11\n3,12\n");
    let options = "--label-column age --sigma 1 --label-values 10..12";
    folder.succeed(&format!("train ages.csv {options} --learner mean --out m"));
    assert_data_eq!(folder.call("predict m ages.csv --write mode,mean,interval=0.5 --out - --quiet"), str![]);
    let measured = folder.json("evaluate m ages.csv --label-column age --sigma 1 --json");
    assert!((measured["measures"]["mae_mode"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9, "{measured}");
    assert_data_eq!(folder.call("train ages.csv --sigma 1 --out n"), str![]);
    assert_data_eq!(
        folder.call("train ages.csv --label-column age --sigma 1 --label-values x --out n"),
        str![]
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
    assert_data_eq!(folder.call("generate mixtrue --out a.csv"), str![]);
    assert_data_eq!(folder.call("generate artificial --labels 4 --out a.csv"), str![]);
    assert_data_eq!(folder.call("generate mixture --density 2 --out a.csv"), str![]);
    assert_data_eq!(folder.call("generate mixture --out a.xls"), str![]);
    assert_data_eq!(folder.call("generate mixture --out dense.csv"), str![]);
}
