//! What a deep model of images shows and gives away: the images that reach its leaves, and an ONNX file.

use snapbox::{assert_data_eq, str};

use crate::images::{AGES, Faces, SMALL, TABLE};

fn trained() -> Faces {
    let faces = Faces::new();
    faces.succeed(&format!("train faces {TABLE} {AGES} {SMALL} --out m --quiet"));
    faces
}

#[test]
fn a_figure_of_a_tree_shows_the_images_that_reach_its_leaves() {
    let faces = trained();
    faces.succeed(&format!("plot tree --model m --data faces {TABLE} --tree 2 --row 3 --out tree.svg"));
    let figure = faces.read("tree.svg");
    assert!(figure.contains("Tree 2 of 2") && figure.contains("href=\"data:image/png;base64,"), "{figure}");
    // Six images: a leaf shows at most four of them.
    let shown = figure.matches("<image").count();
    assert!((4..=16).contains(&shown), "{shown}");
    assert!(figure.contains(".png</title>"), "an image says its name");
    faces.succeed(&format!("plot leaf-usage --model m --data faces {TABLE} --out usage.svg"));
}

#[test]
fn a_report_of_a_deep_forest_draws_its_trees_with_images() {
    let faces = trained();
    faces.succeed(&format!("report --model m --data faces {TABLE} --out page.html"));
    let page = faces.read("page.html");
    assert!(page.contains("Tree 1 of 2") && page.contains("data:image/png;base64,"));
}

#[test]
fn a_figure_with_images_is_written_as_svg_only() {
    let faces = trained();
    assert_data_eq!(
        faces.call(&format!("plot tree --model m --data faces {TABLE} --out tree.png")),
        str![[r#"
exit 2
-- stderr
error: the figure cannot be drawn as PNG: it shows images; write it as .svg

"#]]
    );
}

#[test]
fn a_softmax_has_no_trees_to_draw() {
    let faces = Faces::new();
    let softmax = "--learner dldl --backbone small-cnn --set side=16 --set epochs=1 --set batch_size=4";
    faces.succeed(&format!("train faces {TABLE} {AGES} {softmax} --out m --quiet"));
    assert_data_eq!(
        faces.call(&format!("plot tree --model m --data faces {TABLE} --out tree.svg")),
        str![[r#"
exit 2
-- stderr
error: dldl has no soft trees to draw

"#]]
    );
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
