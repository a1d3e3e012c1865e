//! What a deep model of images gives away: an ONNX file.

use snapbox::{assert_data_eq, str};

use crate::images::{AGES, Faces, SMALL, TABLE};

fn trained() -> Faces {
    let faces = Faces::new();
    faces.succeed(&format!("train faces {TABLE} {AGES} {SMALL} --out m --quiet"));
    faces
}

#[test]
fn a_deep_model_is_written_as_onnx() {
    let faces = trained();
    assert_data_eq!(
        faces.call("export m --onnx m.onnx"),
        str![[r#"
exit 0
-- stderr
wrote m.onnx (images of 16 x 16 pixels, 10 labels, [..] bytes)

"#]]
    );
    let written = faces.bytes("m.onnx");
    let has = |part: &[u8]| written.windows(part.len()).any(|window| window == part);
    assert!(has(br#""resize_shorter_side":16"#) && has(b"Conv") && has(b"images"));
}
