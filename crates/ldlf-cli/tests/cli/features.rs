//! `ldlf features`.

use snapbox::{assert_data_eq, str};

use crate::images::{AGES, Faces, SMALL, TABLE, train_mean};

#[test]
fn a_layer_is_written_as_a_table_that_other_learners_read() {
    let faces = Faces::new();
    faces.succeed(&format!("train faces {TABLE} {AGES} {SMALL} --out m --quiet"));
    faces.succeed("features m faces --out f.csv");
    let features = faces.read("f.csv");
    let lines: Vec<&str> = features.lines().collect();
    assert!(lines[0].starts_with("file,f_0,f_1,") && lines.len() == 7, "{}", lines[0]);
    let refused = faces.call("features m faces --layer fc9 --out g.csv");
    assert!(
        refused.starts_with("exit 2\n-- stderr\nerror: small-cnn has no layer \"fc9\"; it has "),
        "{refused}"
    );
    train_mean(&faces, "faces --force");
    assert_data_eq!(
        faces.call("features m faces --out g.csv"),
        str![[r#"
exit 4
-- stderr
error: m: a model of mean has no network to look into; give one of dldlf, dndf-ldl, dldl

"#]]
    );
}
