//! `ldlf export`.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

#[test]
fn a_model_is_written_as_onnx() {
    let folder = Folder::with_model();
    assert_data_eq!(
        folder.call("export mean.ldlf --onnx mean.onnx"),
        str![[r#"
exit 0
-- stderr
wrote mean.onnx (3 features, 4 labels, [..] bytes)
the columns of `features`, in their order: x_1, x_2, x_3

"#]]
    );
    let written = folder.bytes("mean.onnx");
    let has = |part: &[u8]| written.windows(part.len()).any(|window| window == part);
    assert!(has(b"distributions") && has(br#"["votes_1","votes_2","votes_3","votes_4"]"#));
}

#[test]
fn an_existing_onnx_file_stays_without_force() {
    let folder = Folder::with_model();
    folder.succeed("export mean.ldlf --onnx mean.onnx");
    let written = folder.bytes("mean.onnx");
    assert_data_eq!(
        folder.call("export mean.ldlf --onnx mean.onnx"),
        str![[r#"
exit 2
-- stderr
error: mean.onnx exists; choose another name or add --force

"#]]
    );
    folder.succeed("export mean.ldlf --onnx mean.onnx --force");
    assert_eq!(folder.bytes("mean.onnx"), written);
    assert_data_eq!(
        folder.call("export mean.ldlf --onnx mean.ldlf --force"),
        str![[r#"
exit 2
-- stderr
error: mean.ldlf would overwrite mean.ldlf, which this call also uses; name another output

"#]]
    );
}

#[test]
fn what_cannot_be_exported_is_said_with_what_can() {
    let folder = Folder::with_votes();
    folder.succeed("train votes.csv --labels votes_* --learner pt-svm --out svm.ldlf");
    assert_data_eq!(
        folder.call("export svm.ldlf --onnx svm.onnx"),
        str![[r#"
exit 2
-- stderr
error: a model of pt-svm cannot be exported to ONNX; those of sldlf, [..], mean, and mixtures of these, can

"#]]
    );
    folder.write("text.ldlf", "no model");
    assert!(folder.call("export text.ldlf --onnx m.onnx").starts_with("exit 4\n"));
    assert!(folder.call("export absent.ldlf --onnx m.onnx").starts_with("exit 3\n"));
    assert_eq!(folder.files(), ["svm.ldlf", "text.ldlf", "votes.csv"]);
}

#[test]
fn a_model_of_texts_and_missing_cells_takes_the_columns_of_its_table() {
    let folder = Folder::new();
    let rows: String = (0..40)
        .map(|row| {
            let city = ["Bern", "Graz"][row % 2];
            let year = if row % 5 == 0 { String::new() } else { (1960 + row).to_string() };
            format!("{city},{year},2021-03-{:02},{},{}\n", 1 + row % 28, 1 + row % 3, 2)
        })
        .collect();
    folder.write("people.csv", &format!("city,year,day,vote_1,vote_2\n{rows}"));
    folder.succeed("train people.csv --labels vote_* --learner bfgs-ldl --out m.ldlf");
    assert_data_eq!(
        folder.call("export m.ldlf --onnx columns.onnx"),
        str![[r#"
exit 0
-- stderr
wrote columns.onnx (8 features, 2 labels, [..] bytes)
its inputs, one per column: city (text), year (number), day (seconds since 1970)

"#]]
    );
    let written = folder.bytes("columns.onnx");
    let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    assert!(has(&written, b"LabelEncoder") && has(&written, br#""values":["Bern","Graz"]"#));
    assert_data_eq!(
        folder.call("export m.ldlf --onnx features.onnx --inputs features"),
        str![[r#"
exit 0
-- stderr
wrote features.onnx (8 features, 2 labels, [..] bytes)
the columns of `features`, in their order: city=Bern, city=Graz, year, year is missing, day year, day month, day weekday, day days

"#]]
    );
    assert!(!has(&folder.bytes("features.onnx"), b"LabelEncoder"));
}

#[test]
fn a_model_without_named_columns_has_none_to_take() {
    let folder = Folder::new();
    folder.succeed("generate mixture --rows 40 --features 30 --density 0.1 --labels 3 --out sparse.svm -q");
    folder.succeed("train sparse.svm --learner mean --out m.ldlf -q");
    assert_data_eq!(
        folder.call("export m.ldlf --onnx m.onnx --inputs columns"),
        str![[r#"
exit 2
-- stderr
error: the model does not know from which columns its features are made; export it with --inputs features

"#]]
    );
}
