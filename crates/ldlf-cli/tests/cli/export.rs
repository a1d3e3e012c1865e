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
