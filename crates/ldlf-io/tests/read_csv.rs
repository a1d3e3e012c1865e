//! Tables of text: what is read, and the sentence for everything that cannot be.

use std::path::PathBuf;

use ldlf_core::error::{Column, Subject};
use ldlf_core::targets::Spread;
use ldlf_core::{ErrorKind, Features, Schema};
use ldlf_io::read::{Format, Loaded, LongColumns, ReadOptions, read, stream};
use proptest::prelude::*;
use tempfile::TempDir;

/// A folder with one file in it.
fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn labels(names: &[&str]) -> ReadOptions {
    ReadOptions { labels: names.iter().map(ToString::to_string).collect(), ..ReadOptions::default() }
}

fn load(content: impl AsRef<[u8]>, options: &ReadOptions) -> Loaded {
    let (_folder, path) = file("votes.csv", content);
    read(&path, options).unwrap()
}

/// The message about `votes.csv`, without the folder, and its kind.
fn refusal(content: impl AsRef<[u8]>, options: &ReadOptions) -> (String, ErrorKind) {
    let (folder, path) = file("votes.csv", content);
    let error = read(&path, options).unwrap_err();
    let folder = format!("{}/", folder.path().display());
    (error.to_string().replace(&folder, ""), error.kind())
}

fn dense(features: &Features) -> Vec<f32> {
    let mut all = vec![0.0; features.rows() * features.cols()];
    for row in 0..features.rows() {
        features.copy_row_into(row, &mut all[row * features.cols()..(row + 1) * features.cols()]);
    }
    all
}

#[test]
fn votes_become_distributions_with_one_notice() {
    let loaded = load("a,r_1,b,r_2\n1,3,2,1\n4,0.5,5,0.5\n", &labels(&["r_*"]));
    let data = loaded.dataset;
    assert_eq!(data.name(), "votes");
    assert_eq!(data.targets().as_slice(), [0.75, 0.25, 0.5, 0.5]);
    assert_eq!(dense(data.features().unwrap()), [1.0, 2.0, 4.0, 5.0]);
    assert_eq!(data.schema().feature_names.clone().unwrap(), ["a", "b"]);
    assert_eq!(data.schema().label_names, ["r_1", "r_2"]);
    assert_eq!(loaded.notices.len(), 1);
    assert!(loaded.notices[0].to_string().ends_with(
        "votes.csv: 1 of 2 rows of labels did not sum to 1 (sums from 1 to 4) and were normalised"
    ));
}

#[test]
fn the_place_and_the_remedy_of_a_bad_value_are_data() {
    let (_folder, path) = file("votes.csv", "a,r,s\n1,1,1\nanna,1,1\n");
    let error = read(&path, &labels(&["r", "s"])).unwrap_err();
    let place = error.place().unwrap();
    assert_eq!((place.file.as_ref(), place.line), (Some(&path), Some(3)));
    assert_eq!(place.column, Some(Column::Named("a".into())));
    let subjects: Vec<Subject> = error.remedy().unwrap().subjects().collect();
    assert_eq!(subjects, [Subject::Categories, Subject::Ignore]);
}

#[test]
fn strict_refuses_to_normalise() {
    let options = ReadOptions { strict: true, ..labels(&["r", "s"]) };
    let expected = "votes.csv line 2: the labels sum to 3, not 1, and `strict` refuses to normalise";
    assert_eq!(refusal("a,r,s\n1,2,1\n", &options), (expected.to_string(), ErrorKind::Data));
}

#[test]
fn bad_cells_are_named_by_line_and_column() {
    const MISSING: &str = "votes.csv line 3, column \"r\": the label is missing; if nobody chose it use `missing_labels` zero; \
                           `missing_labels` skip leaves such rows out";
    let options = labels(&["r", "s"]);
    for (row, expected) in [
        (
            "1,many,1",
            "votes.csv line 3, column \"r\": \"many\" is not a number; correct it, or leave the column out of `labels`",
        ),
        ("1,n/a,1", MISSING),
        ("1,,1", MISSING),
        ("1,nan,1", MISSING),
        ("1,inf,1", "votes.csv line 3, column \"r\": the label is infinite"),
        (
            "1,1,-1",
            "votes.csv line 3, column \"s\": the label -1 is negative; labels are shares or counts of at least 0",
        ),
        ("1,0,0", "votes.csv line 3: every label is 0, so there is no distribution to learn; remove the row"),
        ("-inf,1,1", "votes.csv line 3, column \"a\": the value is infinite"),
        (
            "1e300,1,1",
            "votes.csv line 3, column \"a\": 1e300 is outside the range of single precision; rescale the column",
        ),
        (
            "anna,1,1",
            "votes.csv line 3, column \"a\": \"anna\" is not a number; correct it, name the column in `categories`, or leave it out with `ignore` \"a\"",
        ),
        ("1,1", "votes.csv line 3: 2 values where the header has 3 (is the row cut off?)"),
        (
            "1,1,1,1",
            "votes.csv line 3: 4 values where the header has 3 (a value that holds a separator needs quotes)",
        ),
        (
            "1,\"1,1\n2,1,1",
            "votes.csv line 3: 2 values where the header has 3 (a quote that begins in this row ends in another, or never)",
        ),
    ] {
        let content = format!("a,r,s\n1,0.5,0.5\n{row}\n");
        assert_eq!(refusal(content, &options), (expected.to_string(), ErrorKind::Data), "{row}");
    }
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    for (content, line) in [
        ("a,r,s\r\n1,x,1\r\n", 2),
        ("a,r,s\r\n1,1,1\r\nx,1,1\r\n", 3),
        ("\u{feff}a,r,s\r\n1,1,1\r\nx,1,1\r\n", 3),
        ("a,r,s\n\n1,1,1\n\n\nx,1,1\n", 6),
        ("\r\na,r,s\r\n\r\n1,1,1\r\n\r\nx,1,1\r\n", 6),
        ("a,r,\"s\n\ns\"\n1,1,1\nx,1,1\n", 5),
        ("a,r,s\r1,1,1\rx,1,1\r", 3),
        ("a,r,s\n1,1,1\n1,1\n", 3),
        ("a,r,s\n1,1,1\nx,1,1", 3),
    ] {
        let (message, _) = refusal(content, &labels(&["r", "s*"]));
        let place = format!("votes.csv line {line}");
        assert!(
            message.strip_prefix(&place).is_some_and(|rest| !rest.starts_with(char::is_numeric)),
            "{message}"
        );
    }
    let expected = "votes.csv line 4: the text is not UTF-8 here, but is before; save the file as UTF-8";
    assert_eq!(
        refusal(b"\xc3\xa9,r,s\r\n\r\n1,1,1\r\n\xff,1,1\r\n", &labels(&["r", "s"])),
        (expected.to_string(), ErrorKind::Data)
    );
}

#[test]
fn lines_are_counted_beyond_what_is_read_at_once() {
    let content = format!("a,r,s\r\n{}x,1,1\r\n", "1,0.5,0.5\r\n".repeat(20_000));
    let (message, _) = refusal(content, &labels(&["r", "s"]));
    assert!(message.starts_with("votes.csv line 20002, column \"a\": "), "{message}");
}

#[test]
fn bad_tables_are_refused_in_one_sentence() {
    for (content, expected) in [
        ("", "votes.csv: the file is empty"),
        ("a,r,s\n", "votes.csv: a header but no rows"),
        (
            "a,r,s,a\n1,1,1,1\n",
            "votes.csv line 1: the column name \"a\" stands twice; rename one of the columns, or leave it out of the file",
        ),
        (
            "a,r,s,\n1,1,1,\n1,1,1,left over\n",
            "votes.csv line 3: a value in column 4, which has no name; name the column in the header line",
        ),
        (
            "My survey,,\na,r,s\n1,1,1\n",
            "votes.csv line 1: \"My survey\" stands where the names of the columns are expected; remove what is above the header line",
        ),
        (
            "a,r,S\n1,1,1\n",
            "votes.csv: no column \"s\" (`labels`); did you mean \"S\"? The columns are a, r, S",
        ),
        (
            ",a,r,s\n0,1,1,1\n",
            "votes.csv line 1: column 1 has no name (a saved row index? write the file without it)",
        ),
        (
            "0.5,1\n1,1\n",
            "votes.csv line 1: numbers where the names of the columns are expected; add a header line",
        ),
        ("a,b\n1,1\n", "votes.csv: no column \"r\" (`labels`); the columns are a, b"),
        ("a,\u{1b}[2Jb\n1,1\n", "votes.csv: no column \"r\" (`labels`); the columns are a, \\u{1b}[2Jb"),
        ("r,s\n1,1\n", "votes.csv: no column is left for the features"),
    ] {
        assert_eq!(
            refusal(content, &labels(&["r", "s"])),
            (expected.to_string(), ErrorKind::Data),
            "{content:?}"
        );
    }
}

#[test]
fn a_call_without_labels_or_with_two_roles_for_a_column_is_a_usage_error() {
    let (message, kind) = refusal("a,r\n1,1\n", &ReadOptions::default());
    assert_eq!(
        message,
        "votes.csv: which columns are the labels? Name them with `labels` (a pattern such as \"rating_*\" will do), \
         one label per row with `label_column`, or one vote per line with `long`; the columns are a, r"
    );
    assert_eq!(kind, ErrorKind::Usage);
    let options = ReadOptions { features: vec!["r".into()], ..labels(&["r", "s"]) };
    let expected = "the column \"r\" is named by both `labels` and `features`";
    assert_eq!(refusal("a,r,s\n1,1,1\n", &options), (expected.to_string(), ErrorKind::Usage));
    let spread = Some(Spread::Gaussian { sigma: 1.0 });
    let options = ReadOptions { label_column: Some("age".into()), spread, ..labels(&["r", "s"]) };
    let expected =
        "the targets come from `labels`, or from `label_column` with `spread`; leave one of them out";
    assert_eq!(refusal("a,r,s,age\n1,1,1,1\n", &options), (expected.to_string(), ErrorKind::Usage));
}

#[test]
fn a_table_is_read_as_spreadsheets_leave_it() {
    let rows =
        |separator: &str| ["1,1,1", "2,1,3", "4,0,2"].map(|row| row.replace(',', separator) + "\n").concat();
    let plain = load(format!("a,r,s\n{}", rows(",")), &labels(&["r", "s"]));
    assert_eq!(plain.dataset.rows(), 3);
    for (content, notice) in [
        (format!("sep=;\r\na;r;s\n{}", rows(";")), None),
        (format!("\u{feff}sep=|\na|r|s\n{}", rows("|")), None),
        (format!("a,r,s,,\n{}", rows(",").replace('\n', ",,\n")), None),
        (format!("a,r,s\n{},,\n , ,\n", rows(",")), Some("votes.csv: left out 2 empty rows")),
        (format!("a,r,s\n,,\n{}", rows(",")), Some("votes.csv: left out 1 empty row")),
    ] {
        let read = load(content.clone(), &labels(&["r", "s"]));
        assert_eq!(read.dataset.features().unwrap(), plain.dataset.features().unwrap(), "{content:?}");
        assert_eq!(read.dataset.targets(), plain.dataset.targets(), "{content:?}");
        assert_eq!(read.dataset.schema().feature_names, plain.dataset.schema().feature_names, "{content:?}");
        let said: Vec<String> = read.notices.iter().map(ToString::to_string).collect();
        let blank = said.iter().find_map(|said| Some(&said[said.find("votes.csv: left out")?..]));
        assert_eq!(blank, notice, "{content:?}");
    }
}

#[test]
fn identifiers_of_many_digits_are_not_rounded() {
    // As doubles the first two are one number.
    let ids = ["9007199254740992", "9007199254740993", "1300000000000000001", "1300000000000000002"];
    let options = ReadOptions { group: Some("id".into()), ..labels(&["r", "s"]) };
    let csv: String = ids.iter().map(|id| format!("{id},1,1,2\n")).collect();
    let data = load(format!("id,a,r,s\n{csv}"), &options).dataset;
    assert_eq!(data.groups().unwrap(), [0, 1, 2, 3]);
    let json: String = ids.iter().map(|id| format!("{{\"id\":{id},\"a\":1,\"r\":1,\"s\":2}}\n")).collect();
    let (_folder, path) = file("votes.jsonl", json);
    assert_eq!(read(&path, &options).unwrap().dataset.groups().unwrap(), [0, 1, 2, 3]);
    let votes: String =
        ids.iter().flat_map(|id| [format!("{id},ann,x\n"), format!("{id},bob,y\n")]).collect();
    let (_folder, path) = file("votes.csv", format!("item,who,label\n{votes}"));
    let columns = LongColumns { item: "item".into(), annotator: Some("who".into()), label: "label".into() };
    assert_eq!(ldlf_io::read::votes(&path, None, &columns).unwrap().0.items(), 4);
}

#[test]
fn missing_files_and_folders_are_said_to_be_so() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("movies.csv");
    let error = read(&path, &labels(&["r"])).unwrap_err();
    assert_eq!(
        (error.to_string(), error.kind()),
        (format!("{}: no such file", path.display()), ErrorKind::Data)
    );
    let error = read(folder.path(), &labels(&["r"])).unwrap_err();
    assert!(error.to_string().ends_with(": is a folder without tables where data are expected"), "{error}");
    let error = read("-".as_ref(), &labels(&["r"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "standard input needs `format` (one of mat, csv, tsv, parquet, arrow, jsonl, xlsx, npz, svm)"
    );
}

#[test]
fn roles_and_ignored_columns_take_text() {
    let options = ReadOptions {
        ignore: vec!["id".into()],
        split_column: Some("part".into()),
        group: Some("who".into()),
        sample_weights: Some("w".into()),
        ..labels(&["r*"])
    };
    let content =
        "\u{feff}id,a,part,who,w,r1,r2\nx, 1 ,train,ann,2,1,0\ny,2,test,bob,1,0,1\nz,3,train,ann,0,1,0\n";
    let data = load(content, &options).dataset;
    assert_eq!(dense(data.features().unwrap()), [1.0, 2.0, 3.0]);
    assert_eq!(data.split().unwrap(), ["train", "test", "train"]);
    assert_eq!(data.groups().unwrap(), [0, 1, 0]);
    assert_eq!(data.weights().unwrap(), [2.0, 1.0, 0.0]);
}

#[test]
fn one_ordered_label_spreads_over_the_integers_between() {
    let options = ReadOptions {
        label_column: Some("age".into()),
        spread: Some(Spread::Triangle { width: 2.0 }),
        ..ReadOptions::default()
    };
    let data = load("a,age\n1,20\n2,23\n", &options).dataset;
    assert_eq!(data.schema().label_values.clone().unwrap(), [20.0, 21.0, 22.0, 23.0]);
    assert_eq!(data.schema().label_names, ["20", "21", "22", "23"]);
    assert_eq!(data.truth().unwrap(), [20.0, 23.0]);
    let third = 1.0 / 3.0;
    assert_eq!(data.targets().as_slice(), [2.0 * third, third, 0.0, 0.0, 0.0, 0.0, third, 2.0 * third]);
}

#[test]
fn one_ordered_label_without_a_spread_asks_for_one() {
    let options = ReadOptions { label_column: Some("age".into()), ..ReadOptions::default() };
    let expected = "votes.csv: one label per row needs `spread`, the spread of the distribution around it \
                    (0 puts everything on the label itself)";
    assert_eq!(refusal("a,age\n1,20\n", &options), (expected.to_string(), ErrorKind::Usage));
}

#[test]
fn a_single_label_column_is_no_distribution() {
    let expected = "votes.csv: one label column is no distribution; for one ordered label use \
                    `label_column` age `spread` S";
    for name in ["age", "ag*"] {
        assert_eq!(
            refusal("a,age\n1,20\n2,23\n", &labels(&[name])),
            (expected.to_string(), ErrorKind::Usage)
        );
    }
}

#[test]
fn a_single_label_that_never_changes_is_no_distribution() {
    let options = ReadOptions {
        label_column: Some("age".into()),
        spread: Some(Spread::Gaussian { sigma: 1.0 }),
        ..ReadOptions::default()
    };
    let expected =
        "votes.csv: 20 is the only label, which is no distribution; give all labels with `label_values`";
    assert_eq!(refusal("a,age\n1,20\n2,20\n", &options), (expected.to_string(), ErrorKind::Usage));
    let options = ReadOptions { label_values: Some(vec![19.0, 20.0]), ..options };
    assert_eq!(load("a,age\n1,20\n2,20\n", &options).dataset.targets().cols(), 2);
}

#[test]
fn bad_weights_and_parts_are_named_by_line_and_column() {
    let options = ReadOptions {
        sample_weights: Some("w".into()),
        split_column: Some("part".into()),
        ..labels(&["r", "s"])
    };
    for (row, expected) in [
        (
            "1,-2,test,1,1",
            "votes.csv line 2, column \"w\": the sample weight -2 is not a finite number of at least 0",
        ),
        (
            "1,1,tset,1,1",
            "votes.csv line 2, column \"part\": \"tset\" is no part of a split; write train, valid or test",
        ),
        ("1,0,test,0.5,0.5", "votes.csv: every sample weight is 0"),
    ] {
        let content = format!("a,w,part,r,s\n{row}\n");
        assert_eq!(refusal(content, &options), (expected.to_string(), ErrorKind::Data), "{row}");
    }
}

#[test]
fn files_of_a_related_kind_are_refused_with_a_remedy() {
    for (name, expected) in [
        ("x.npy", "a single array is not read; save it with numpy.savez as features (and labels) of a .npz"),
        ("x.csv.xz", "such archives are not read; decompress it, or compress it by gzip, zstd or bzip2"),
        (
            "x.dat",
            "the extension names no known format; give `format` (one of mat, csv, tsv, parquet, arrow, jsonl, xlsx, npz, svm)",
        ),
    ] {
        let (_folder, path) = file(name, "a,b");
        let error = read(&path, &labels(&["r"])).unwrap_err();
        assert_eq!(
            (error.to_string(), error.kind()),
            (format!("{}: {expected}", path.display()), ErrorKind::Usage)
        );
    }
}

#[test]
fn a_label_column_beside_labels_is_the_truth() {
    let options = ReadOptions {
        label_column: Some("age".into()),
        label_values: Some(vec![20.0, 30.0]),
        ..labels(&["r*"])
    };
    let data = load("a,age,r1,r2\n1,22,0.5,0.5\n", &options).dataset;
    assert_eq!(data.truth().unwrap(), [22.0]);
    assert_eq!(data.schema().label_values.clone().unwrap(), [20.0, 30.0]);
    assert_eq!(data.schema().label_names, ["r1", "r2"]);
    let options = ReadOptions { label_values: Some(vec![1.0]), ..options };
    let expected = "`label_values` gives 1 numbers for 2 labels";
    assert_eq!(refusal("a,age,r1,r2\n1,22,0.5,0.5\n", &options), (expected.to_string(), ErrorKind::Usage));
}

#[test]
fn widths_that_do_not_fit_the_labels_say_what_the_labels_are() {
    let spread = Some(Spread::Gaussians { sigmas: vec![1.0, 2.0] });
    let options = ReadOptions { label_column: Some("age".into()), spread, ..ReadOptions::default() };
    let (text, kind) = refusal("a,age\n1,20\n2,23\n", &options);
    assert!(text.ends_with("sigma gives 2 widths for 4 labels; give one for all or one for each (the labels are 20, 21, 22, 23)"), "{text}");
    assert_eq!(kind, ErrorKind::Usage);
}

#[test]
fn a_truth_beside_labels_without_numbers_gives_a_notice() {
    let options = ReadOptions { label_column: Some("age".into()), ..labels(&["r*"]) };
    let notices = load("a,age,r1,r2\n1,22,0.5,0.5\n", &options).notices;
    assert!(
        notices.len() == 1 && notices[0].to_string().contains("no numeric values; set `label_values`"),
        "{notices:?}"
    );
}

#[test]
fn density_decides_between_sparse_or_dense() {
    let header = "a,b,c,d,e,f,g,h,r,s\n";
    let (full, empty) = ("1,2,3,4,5,6,7,8,1,0\n", "0,0,0,0,0,0,0,9,1,0\n");
    let content = format!("{header}{}{}", full.repeat(300), empty.repeat(4000));
    let data = load(content, &labels(&["r", "s"])).dataset;
    let Features::Sparse(csr) = data.features().unwrap() else { panic!("one in six entries is not zero") };
    assert_eq!((csr.rows(), csr.stored()), (4300, 300 * 8 + 4000));
    assert_eq!(csr.row(299).1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(csr.row(300), (&[7][..], &[9.0][..]));
    let content = format!("{header}{}{}", empty.repeat(300), full.repeat(300));
    let data = load(content, &labels(&["r", "s"])).dataset;
    let Features::Dense(matrix) = data.features().unwrap() else {
        panic!("more than half of the entries are not zero")
    };
    assert_eq!(matrix.row(299), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0]);
    assert_eq!(matrix.row(300), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
}

#[test]
fn a_stream_picks_the_columns_of_the_model_in_its_order() {
    let (_folder, path) = file("new.tsv", "id\tb\tr\ta\nx\t1\t0\t2\ny\t3\t0\t4\nz\t5\t0\t6\n");
    let names = Some(vec!["a".to_string(), "b".to_string()]);
    let schema = Schema { feature_names: names, label_names: vec!["r".into()], ..Schema::default() };
    let mut rows = stream(&path, None, &schema, 2).unwrap();
    assert_eq!(dense(&rows.next_block(2).unwrap().unwrap()), [2.0, 1.0, 4.0, 3.0]);
    assert_eq!(dense(&rows.next_block(2).unwrap().unwrap()), [6.0, 5.0]);
    assert!(rows.next_block(2).unwrap().is_none());

    let schema = Schema { feature_names: Some(vec!["c".into()]), ..schema };
    let error = stream(&path, None, &schema, 1).err().unwrap().to_string();
    assert!(error.ends_with("new.tsv: no column \"c\", which the model needs; the columns are id, b, r, a"));
}

#[test]
fn a_stream_does_not_advise_to_leave_out_what_the_model_needs() {
    let (_folder, path) = file("new.csv", "a\nanna\n");
    let schema = Schema { feature_names: Some(vec!["a".into()]), ..Schema::default() };
    let error = stream(&path, None, &schema, 1).unwrap().next_block(1).unwrap_err().to_string();
    let expected = "new.csv line 2, column \"a\": \"anna\" is not a number; the model needs a number here";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn a_stream_for_a_model_without_names_takes_the_numeric_columns_that_are_no_labels() {
    let (_folder, path) = file("new.csv", "id,b,label_0,a\nx,1,0,2\ny,3,0,4\n");
    let schema = Schema { label_names: vec!["label_0".into()], ..Schema::default() };
    let mut rows = stream(&path, Some(Format::Csv), &schema, 2).unwrap();
    assert_eq!(dense(&rows.next_block(9).unwrap().unwrap()), [1.0, 2.0, 3.0, 4.0]);
    let error = stream(&path, None, &schema, 5).err().unwrap().to_string();
    assert!(error.ends_with("new.csv: 2 features where the model expects 5"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn numbers_are_read_as_they_were_written(
        rows in prop::collection::vec(prop::collection::vec(
            prop_oneof![3 => Just(0.0f32), 2 => -1e30f32..1e30, 1 => prop::num::f32::NORMAL], 3), 1..40),
    ) {
        let mut content = String::from("a,b,c,r,s\n");
        for row in &rows {
            content.push_str(&format!("{:?},{:e},{},1,0\n", row[0], row[1], row[2]));
        }
        let data = load(content, &labels(&["r", "s"])).dataset;
        prop_assert_eq!(dense(data.features().unwrap()), rows.concat());
    }
}

/// Colours and sizes with missing values, as people keep them.
const COLOURS: &str = "colour,size,r,s\nred,1,1,3\nblue,,1,1\n,3,0,1\nred,NA,2,2\n";

#[test]
fn categories_and_missing_values_become_features_of_their_own() {
    let data = load(COLOURS, &labels(&["r", "s"])).dataset;
    assert_eq!(
        data.schema().feature_names.as_deref().unwrap(),
        ["colour=blue", "colour=red", "colour is missing", "size", "size is missing"]
    );
    assert_eq!(
        dense(data.features().unwrap()),
        [
            [0.0, 1.0, 0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0, 2.0, 1.0],
            [0.0, 0.0, 1.0, 3.0, 0.0],
            [0.0, 1.0, 0.0, 2.0, 1.0]
        ]
        .concat()
    );
}

#[test]
fn a_model_reads_derived_features_by_name() {
    let first = load(COLOURS, &labels(&["r", "s"])).dataset;
    let schema = first.schema();
    let (_folder, path) = file("new.csv", "size,colour\n,red\n7,green\n");
    let mut rows = stream(&path, None, schema, 5).unwrap();
    let block = rows.next_block(9).unwrap().unwrap();
    assert_eq!(dense(&block), [[0.0, 1.0, 0.0, 2.0, 1.0], [0.0, 0.0, 0.0, 7.0, 0.0]].concat());
    let said = rows.notices()[0].to_string();
    assert!(
        said.ends_with("column \"colour\": 1 of 2 values were not seen in training, such as \"green\""),
        "{said}"
    );
}

#[test]
fn a_model_of_an_old_version_reads_derived_features_by_name() {
    let names = ["size", "colour=blue", "colour=red", "size is missing"].map(String::from).to_vec();
    let schema = Schema { feature_names: Some(names), ..Schema::default() };
    let (_folder, path) = file("new.csv", "size,colour\n,red\n7,green\n");
    let block = stream(&path, None, &schema, 4).unwrap().next_block(9).unwrap().unwrap();
    assert_eq!(dense(&block), [[0.0, 0.0, 1.0, 1.0], [7.0, 0.0, 0.0, 0.0]].concat());
    let schema = Schema { feature_names: Some(vec!["x".into()]), ..Schema::default() };
    let (_folder, path) = file("new.csv", "x\n1\n\"\"\n");
    let error = stream(&path, None, &schema, 1).unwrap().next_block(9).unwrap_err();
    assert!(error.to_string().ends_with("new.csv line 3, column \"x\": the value is missing"), "{error}");
}

#[test]
fn a_missing_value_where_training_had_none_is_filled_with_the_mean() {
    let schema = load("x,r,s\n1,1,3\n5,1,1\n", &labels(&["r", "s"])).dataset.schema().clone();
    let (_folder, path) = file("new.csv", "x\n1\n\"\"\n");
    let block = stream(&path, None, &schema, 1).unwrap().next_block(9).unwrap().unwrap();
    assert_eq!(dense(&block), [1.0, 3.0]);
}

#[test]
fn a_table_of_nothing_but_categories_will_do() {
    let options = ReadOptions { categories: vec!["a".into()], ..labels(&["r", "s"]) };
    let data = load("a,r,s\nx,1,3\ny,1,1\n", &options).dataset;
    assert_eq!(dense(data.features().unwrap()), [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn a_column_may_not_have_the_name_of_a_made_feature() {
    let options = ReadOptions { categories: vec!["a".into()], ..labels(&["r", "s"]) };
    let (message, kind) = refusal("a,a=x,r,s\nx,1,1,3\n", &options);
    assert!(message.contains("has the name of a feature made from another"), "{message}");
    assert_eq!(kind, ErrorKind::Data);
}

#[test]
fn decimal_commas_in_every_row_are_no_columns_below_a_title() {
    let loaded = load("a;b;v_1;v_2\n0,25;0,68;3;1\n0,40;0,12;2;2\n", &labels(&["v_*"]));
    assert_eq!(dense(loaded.dataset.features().unwrap()), [0.25, 0.68, 0.4, 0.12]);
}

#[test]
fn separators_and_decimal_marks_are_those_of_the_file() {
    let options = labels(&["r", "s"]);
    let plain = load("a,b,r,s\n1234.5,0.25,1,3\n-2,0.5,1,1\n", &options).dataset;
    for content in [
        "a;b;r;s\n1.234,5;0,25;1;3\n-2;0,5;1;1\n",
        "a\tb\tr\ts\n1,234.5\t25%\t1\t3\n-2\t50 %\t1\t1\n",
        "a|b|r|s\n1 234.5|.25|1|3\n-2|0.50|1|1\n",
    ] {
        let read = load(content, &options).dataset;
        assert_eq!(read.inputs(), plain.inputs(), "{content}");
        assert_eq!(read.fingerprint(), plain.fingerprint(), "{content}");
        assert_eq!(read.schema(), plain.schema(), "{content}");
    }
}

#[test]
fn latin_1_and_utf_16_are_read_with_a_notice() {
    let options = labels(&["r", "s"]);
    let text = "stra\u{df}e,r,s\ncaf\u{e9},1,3\nbar,1,1\n";
    let plain = load(text, &options);
    assert!(plain.notices.iter().all(|notice| !notice.to_string().contains("UTF")));
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let wide: Vec<u8> =
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for bytes in [latin, wide] {
        let read = load(&bytes, &options);
        assert_eq!(read.dataset.schema(), plain.dataset.schema());
        assert!(read.notices.iter().any(|notice| notice.to_string().contains("UTF")), "{:?}", read.notices);
    }
}

#[test]
fn files_of_a_folder_or_a_pattern_are_one_table() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("b.csv"), "r,s,a\n1,1,3\n").unwrap();
    std::fs::write(folder.path().join("a.csv"), "a,r,s\n1,1,3\n2,1,3\n").unwrap();
    let options = labels(&["r", "s"]);
    for path in [folder.path().to_path_buf(), folder.path().join("*.csv")] {
        let data = read(&path, &options).unwrap().dataset;
        assert_eq!(dense(data.features().unwrap()), [1.0, 2.0, 3.0]);
        let mut rows = stream(&path, None, data.schema(), 1).unwrap();
        assert_eq!(dense(&rows.next_block(9).unwrap().unwrap()), [1.0, 2.0, 3.0]);
    }
    std::fs::write(folder.path().join("c.csv"), "a,r,t\n1,1,3\n").unwrap();
    let error = read(folder.path(), &options).unwrap_err().to_string();
    assert!(error.contains("c.csv: other columns than "), "{error}");
    assert!(
        read(&folder.path().join("*.tsv"), &options)
            .unwrap_err()
            .to_string()
            .ends_with("no table fits the pattern")
    );
}

#[test]
fn labels_follow_the_numbers_in_their_names() {
    let options = ReadOptions { label_values: Some(vec![1.0, 2.0, 10.0]), ..labels(&["v_*"]) };
    let loaded = load("a,v_1,v_10,v_2\n1,1,3,0\n2,1,1,2\n", &options);
    assert_eq!(loaded.dataset.schema().label_names, ["v_1", "v_2", "v_10"]);
    assert_eq!(loaded.dataset.targets().row(0), [0.25, 0.0, 0.75]);
    let options = ReadOptions { label_values: Some(vec![1.0, 2.0, 3.0]), ..labels(&["v_*"]) };
    assert_eq!(refusal("a,v_1,v_10,v_2\n1,1,3,0\n", &options).1, ErrorKind::Usage);
}

#[test]
fn the_plan_says_what_every_column_is_for() {
    let rows: String = (1..=30).map(|n| format!("{n},p{n},{},2021-03-{n:02},yes,1,3\n", n % 3)).collect();
    let loaded = load(format!("nr,who,kind,day,member,r,s\n{rows}"), &labels(&["r", "s"]));
    let said: Vec<(&str, &str, Option<&str>)> =
        loaded.plan.iter().map(|column| (column.name.as_str(), column.role, column.kind)).collect();
    assert_eq!(
        said,
        [
            ("nr", "ignored", None),
            ("who", "ignored", None),
            ("kind", "feature", Some("number")),
            ("day", "feature", Some("date")),
            ("member", "feature", Some("boolean")),
            ("r", "label", None),
            ("s", "label", None),
        ]
    );
    let notices: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
    assert!(
        notices[0].contains("left out nr (a running number), who (every value is different"),
        "{notices:?}"
    );
    let names = loaded.dataset.schema().feature_names.clone().unwrap();
    assert_eq!(names, ["kind", "day year", "day month", "day weekday", "day days", "member"]);
}
