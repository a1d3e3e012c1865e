//! `ldlf predict` and `ldlf evaluate`.

use std::io::Read;
use std::process::Stdio;

use snapbox::{assert_data_eq, str};

use crate::call::{Folder, shown};

/// A folder with a model of two labels that always says 3 to 1.
fn three_to_one() -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", "x,y,no,yes\n1,5,1,3\n2,6,1,3\n");
    folder.succeed("train data.csv --labels no,yes --learner mean --out m --quiet");
    folder
}

#[test]
fn predictions_go_to_standard_output_or_a_file_in_the_order_of_the_rows() {
    let folder = three_to_one();
    assert_data_eq!(
        folder.call("predict m data.csv --out - --quiet"),
        str![[r#"
exit 0
-- stdout
no,yes
0.25,0.75
0.25,0.75

"#]]
    );
    folder.succeed("predict m data.csv --out p.csv");
    folder.succeed("predict m data.csv --out p.tsv --write mode");
    assert_eq!(folder.read("p.csv"), "no,yes\n0.25,0.75\n0.25,0.75\n");
    assert_eq!(folder.read("p.tsv"), "mode\nyes\nyes\n");
}

#[test]
fn answers_stand_beside_the_distribution() {
    let folder = three_to_one();
    assert_data_eq!(
        folder.call("predict m data.csv --out - --write mode,distribution,entropy --quiet"),
        str![[r#"
exit 0
-- stdout
mode,no,yes,entropy
yes,0.25,0.75,0.56233514[..]
yes,0.25,0.75,0.56233514[..]

"#]]
    );
    assert_data_eq!(
        folder.call("predict m data.csv --out - --write mean"),
        str![[r#"
exit 2
-- stderr
error: --write mean needs labels that stand for numbers; train with --label-values

"#]]
    );
    assert_data_eq!(
        folder.call("predict m data.csv --out - --write modus"),
        str![[r#"
exit 2
-- stderr
error: invalid value 'modus' for '--write <LIST>': write distribution, mode, mean, median, quantile=0.1, interval=0.9, vote_interval=0.9, set=0.9, quantile_interval=0.9, entropy, spread or familiarity

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        folder.call("predict m data.csv --out - --write quantile=2"),
        str![[r#"
exit 2
-- stderr
error: invalid value 'quantile=2' for '--write <LIST>': "2" is not a share from 0 to 1

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        folder.call("predict m data.csv --out - --write mode,mode"),
        str![[r#"
exit 2
-- stderr
error: --write names mode twice; leave one out

"#]]
    );
}

#[test]
fn columns_are_found_by_name_in_any_order() {
    let folder = three_to_one();
    folder.write("other.csv", "extra,y,x\n0,1,2\n");
    assert_data_eq!(
        folder.call("predict m other.csv --out - --quiet"),
        str![[r#"
exit 0
-- stdout
no,yes
0.25,0.75

"#]]
    );
    folder.write("short.csv", "y\n1\n");
    assert_data_eq!(
        folder.call("predict m short.csv --out -"),
        str![[r#"
exit 3
-- stderr
error: short.csv: no column "x", which the model needs; the columns are y

"#]]
    );
    folder.write("bad.csv", "x,y\n1,2\n3,oops\n");
    assert_data_eq!(
        folder.call("predict m bad.csv --out p.csv"),
        str![[r#"
exit 3
-- stderr
error: bad.csv line 3, column "y": "oops" is not a number; the model needs a number here, or pass over such rows with --bad-rows skip

"#]]
    );
    assert!(!folder.path("p.csv").exists());
}

#[test]
fn rows_come_from_standard_input() {
    let folder = three_to_one();
    assert_data_eq!(
        folder.call_with_input("predict m - --format csv --out - -q", "x,y\n1,2\n"),
        str![[r#"
exit 0
-- stdout
no,yes
0.25,0.75

"#]]
    );
    assert_data_eq!(
        folder.call_with_input("predict m - --out -", "x,y\n1,2\n"),
        str![[r#"
exit 2
-- stderr
error: standard input needs --format (one of mat, csv, tsv, parquet, arrow, jsonl, xlsx, npz, svm)

"#]]
    );
    assert_data_eq!(
        folder.call_with_input("predict m - --format csv --out - -q", "x,y\n"),
        str![[r#"
exit 0
-- stdout
no,yes

"#]]
    );
}

#[test]
fn many_blocks_give_every_row_once() {
    let folder = three_to_one();
    let rows: String = (0..10_000).map(|row| format!("{row},0\n")).collect();
    folder.write("many.csv", &format!("x,y\n{rows}"));
    let output = folder.output("predict m many.csv --out p.csv");
    assert!(shown(&output).contains("predicted 10000 rows in "), "{}", shown(&output));
    assert_eq!(folder.read("p.csv").lines().count(), 10_001);
}

#[test]
fn an_output_is_refused_before_the_work() {
    let folder = three_to_one();
    folder.write("p.csv", "mine");
    assert_data_eq!(
        folder.call("predict m data.csv --out p.csv"),
        str![[r#"
exit 2
-- stderr
error: p.csv exists; choose another name or add --force

"#]]
    );
    assert_eq!(folder.read("p.csv"), "mine");
    folder.succeed("predict m data.csv --out p.csv --force");
    assert_data_eq!(
        folder.call("predict m data.csv --out p.xls"),
        str![[r#"
exit 2
-- stderr
error: p.xls: tables are written as .csv, .tsv, .parquet, .arrow, .feather, .arrows, .jsonl or .npz; choose one of these

"#]]
    );
}

/// The bytes of the little-endian 32-bit number.
fn f32_bytes(value: f32) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

#[test]
fn npz_holds_the_distribution_as_one_matrix() {
    let folder = three_to_one();
    folder.succeed("predict m data.csv --out p.npz --write distribution,mode,entropy");
    let bytes = folder.bytes("p.npz");
    let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    assert!(has(b"distribution.npy") && has(b"mode.npy") && has(b"entropy.npy"));
    assert!(has(b"'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)"));
    assert!(has(&[0.25, 0.75, 0.25, 0.75].map(f32_bytes).concat()));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_written_and_read_back() {
    let folder = three_to_one();
    folder.succeed("predict m data.csv --out p.parquet --write distribution,mode,entropy");
    // The prediction as a table of its own: `entropy` is the only feature.
    let summary =
        folder.json("train p.parquet --labels no,yes --ignore mode --learner mean --out again --json");
    assert_eq!(
        (&summary["rows"], &summary["features"], &summary["labels"]),
        (&2.into(), &1.into(), &2.into())
    );
}

#[cfg(feature = "parquet")]
#[test]
fn arrow_is_written_and_read_back_as_file_and_as_stream() {
    let folder = three_to_one();
    for out in ["p.arrow", "p.feather", "p.arrows"] {
        folder.succeed(&format!("predict m data.csv --out {out} --write distribution,mode,entropy"));
        let call =
            format!("train {out} --labels no,yes --ignore mode --learner mean --out again --json --force");
        let summary = folder.json(&call);
        assert_eq!((&summary["rows"], &summary["features"]), (&2.into(), &1.into()), "{out}");
        assert_eq!(folder.json(&format!("evaluate again {out} --json"))["rows"], 2);
    }
    // Both forms are read from a pipe.
    folder.succeed("train data.csv --labels x,y --features no,yes --learner mean --out back");
    for out in ["p.arrow", "p.arrows"] {
        let mut call = folder.command("predict back - --format arrow --out - --quiet");
        call.stdin(std::fs::File::open(folder.path(out)).unwrap());
        let said = shown(&call.output().unwrap());
        assert!(said.starts_with("exit 0\n-- stdout\nx,y\n") && said.lines().count() == 5, "{said}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn many_blocks_are_whole_in_every_format() {
    let folder = three_to_one();
    let rows: String = (0..70_000).map(|row| format!("{row},0\n")).collect();
    folder.write("many.csv", &format!("x,y\n{rows}"));
    for out in ["p.csv", "p.parquet", "p.arrow", "p.arrows"] {
        folder.succeed(&format!("predict m many.csv --out {out} --write distribution,entropy --quiet"));
        let call = format!("train {out} --labels no,yes --learner mean --out again --json --force --quiet");
        assert_eq!(folder.json(&call)["rows"], 70_000, "{out}");
    }
}

#[test]
fn measures_are_a_table_or_json() {
    let folder = three_to_one();
    folder.write("test.csv", "x,y,yes,no\n1,5,0,1\n2,6,1,0\n");
    assert_data_eq!(
        folder.call("evaluate m test.csv"),
        str![[r#"
exit 0
-- stdout
2 rows of test, mean

measure        value  the mean  better
K-L           0.8370    0.6931   lower
Euclidean     0.7071    0.7071   lower
Sorensen      0.5000    0.5000   lower
Squared chi2  0.7429    0.6667   lower
Fidelity      0.6830    0.7071  higher
Intersection  0.5000    0.5000  higher
Chebyshev     0.5000    0.5000   lower
Clark         1.0882    1.0541   lower
Canberra      1.3714    1.3333   lower
Cosine        0.6325    0.7071  higher

"#]]
    );
    let measured = folder.json("evaluate m test.csv --json");
    assert_eq!((&measured["rows"], &measured["measures"]["chebyshev"]), (&2.into(), &0.5.into()));
    assert_data_eq!(
        folder.call("evaluate m test.csv --labels x,y,yes --features no,yes"),
        str![[r#"
exit 3
-- stderr
error: test.csv: 3 labels where the model has 2; give the labels it was trained on

"#]]
    );
}

#[test]
fn tables_without_column_names_must_have_the_right_number_of_columns() {
    let folder = three_to_one();
    folder.write("fits.svm", "1,0 1:1 2:5\n0,1 1:2 2:6\n");
    folder.write("narrow.svm", "1,0 1:1\n");
    folder.write("labels.svm", "1,0,0 1:1 2:5\n");
    folder.write("features.svm", "1,0 1:1 2:5 7:1\n");
    assert_eq!(folder.json("evaluate m fits.svm --json")["rows"], 2);
    assert_eq!(folder.json("evaluate m narrow.svm --json")["rows"], 1, "the last column is zero everywhere");
    assert_data_eq!(
        folder.call("evaluate m labels.svm"),
        str![[r#"
exit 3
-- stderr
error: labels.svm: 3 labels where the model has 2; give the labels it was trained on

"#]]
    );
    assert_data_eq!(
        folder.call("evaluate m features.svm"),
        str![[r#"
exit 3
-- stderr
error: the model reads 2 features, the data has 7; give the columns it was trained on

"#]]
    );
    assert_data_eq!(
        folder.call("predict m features.svm --out -"),
        str![[r#"
exit 3
-- stderr
error: features.svm line 1: the index 7 where the model expects 2 features

"#]]
    );
}

#[cfg(target_os = "linux")]
/// Calls whose results go to standard output.
const ON_STANDARD_OUTPUT: [&str; 4] =
    ["predict m data.csv --out - --quiet", "learners", "datasets --json", "generate mixture --out -"];

#[test]
fn a_full_disk_is_exit_1() {
    let folder = three_to_one();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full is there");
    for call in ON_STANDARD_OUTPUT {
        let output = folder.command(call).stdout(full()).output().expect("ldlf starts");
        assert_eq!(
            shown(&output),
            "exit 1\n-- stderr\nerror: standard output: No space left on device (os error 28)\n"
        );
    }
}

#[test]
fn a_closed_pipe_is_quiet() {
    let folder = three_to_one();
    for call in ON_STANDARD_OUTPUT {
        let mut child =
            folder.command(call).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ldlf starts");
        drop(child.stdout.take());
        let mut message = String::new();
        child.stderr.take().expect("stderr is a pipe").read_to_string(&mut message).expect("stderr is text");
        assert_eq!((child.wait().expect("ldlf ends").code(), message.as_str()), (Some(0), ""), "{call}");
    }
}
