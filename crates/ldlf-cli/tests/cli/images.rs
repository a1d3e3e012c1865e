//! Rows that are images: a folder or a zip file of them beside a table.

use std::io::Write;

use image::{Rgb, RgbImage};
use snapbox::{assert_data_eq, str};

use crate::call::Folder;

/// Small images, the older the brighter, with a table of ages.
pub struct Faces {
    folder: Folder,
}

impl std::ops::Deref for Faces {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Faces {
    /// `faces/0.png` to `faces/5.png` and `labels.csv`: file, age (10 to 15), part.
    pub fn new() -> Self {
        let faces = Faces { folder: Folder::new() };
        std::fs::create_dir(faces.path("faces")).unwrap();
        let mut table = "file,age,part\n".to_string();
        for number in 0..6u8 {
            let image = RgbImage::from_pixel(20, 24, Rgb([40 * number, 100, 200 - 30 * number]));
            image.save(faces.path(&format!("faces/{number}.png"))).unwrap();
            let part = if number < 4 { "train" } else { "test" };
            table += &format!("{number}.png,{},{part}\n", 10 + number);
        }
        faces.write("labels.csv", &table);
        faces
    }

    /// Replaces the last row of the table.
    fn last_row(self, row: &str) -> Self {
        let table = self.read("labels.csv").replace("5.png,15,test\n", row);
        self.write("labels.csv", &table);
        self
    }

    /// Writes a NumPy array of bytes with two columns.
    fn votes(&self, rows: usize) {
        let mut head = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, 2), }}");
        head += &" ".repeat(117 - head.len());
        head.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((head.len() as u16).to_le_bytes());
        bytes.extend(head.as_bytes());
        bytes.extend((0..rows).flat_map(|_| [1, 3]));
        std::fs::write(self.path("votes.npy"), bytes).unwrap();
    }

    /// The same images in a zip file.
    fn zipped(&self) {
        let mut archive = zip::ZipWriter::new(std::fs::File::create(self.path("faces.zip")).unwrap());
        for number in 0..6 {
            let name = format!("{number}.png");
            archive.start_file(&name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(&self.bytes(&format!("faces/{name}"))).unwrap();
        }
        archive.finish().unwrap();
    }
}

/// What most calls say about their data.
pub const TABLE: &str = "--table labels.csv --image-column file";
pub const AGES: &str = "--label-column age --sigma 1 --label-values 8..17";
/// A network that learns in a moment.
pub const SMALL: &str = "--learner dldlf --backbone small-cnn --set side=16 --set epochs=2 --set batch_size=4 --set trees=2 \
                     --set depth=3";

pub fn train_mean(faces: &Faces, data: &str) {
    faces.succeed(&format!("train {data} {TABLE} {AGES} --learner mean --out m --quiet"));
}

#[test]
fn images_come_from_a_folder_or_a_zip_file() {
    let faces = Faces::new();
    faces.zipped();
    for data in ["faces", "faces.zip"] {
        train_mean(&faces, &format!("{data} --force"));
        assert_data_eq!(
            faces.call(&format!("predict m {data} --out - --write mean --quiet")),
            str![[r#"
exit 0
-- stdout
file,mean
0.png,12.5
1.png,12.5
2.png,12.5
3.png,12.5
4.png,12.5
5.png,12.5

"#]]
        );
    }
}

#[test]
fn what_was_learnt_is_told_in_images() {
    let faces = Faces::new();
    assert_data_eq!(
        faces.call(&format!("train faces {TABLE} {AGES} --split-column part --learner mean --out m")),
        str![[r#"
exit 0
-- stdout
learner  mean
data     faces, 4 images, 10 labels
stopped  completed
model    m

"#]]
    );
}

#[test]
fn votes_come_from_an_array_beside_the_table() {
    let faces = Faces::new();
    faces.votes(6);
    let out = faces.succeed(&format!("train faces {TABLE} --votes votes.npy --learner mean --out m --quiet"));
    assert!(out.contains("2 labels"), "{out}");
    let predicted = faces.succeed("predict m faces --out -");
    assert!(predicted.starts_with("file,label_0,label_1\n0.png,0.25,0.75\n"), "{predicted}");
    faces.votes(5);
    assert_data_eq!(
        faces.call(&format!("train faces {TABLE} --votes votes.npy --learner mean --out n --quiet")),
        str![[r#"
exit 3
-- stderr
error: votes.npy: 5 rows of votes, but labels.csv has 6 rows; give one line of votes for each of them, in their order

"#]]
    );
}

#[test]
fn votes_and_an_age_beside_them_measure_both() {
    let faces = Faces::new();
    faces.votes(6);
    let options = "--votes votes.npy --label-column age --label-values 12,13";
    faces.succeed(&format!("train faces {TABLE} {options} --learner mean --out m --quiet"));
    let measures = faces.json(&format!("evaluate m faces {TABLE} --votes votes.npy --json"));
    assert_eq!(measures["measures"]["kl"], 0.0, "{measures}");
    assert_eq!(measures["measures"]["mae_mode"], 1.5, "{measures}");
}

#[test]
fn a_row_without_image_is_refused_or_left_out() {
    let faces = Faces::new().last_row("lost.png,15,test\n");
    assert_data_eq!(
        faces.call(&format!("train faces {TABLE} {AGES} --learner mean --out m --quiet")),
        str![[r#"
exit 3
-- stderr
error: labels.csv row 6: faces holds no image "lost.png"; 1 of 6 rows have none; add them, or leave such rows out with --bad-images skip

"#]]
    );
    assert_data_eq!(
        faces.call(&format!("train faces {TABLE} {AGES} --learner mean --bad-images skip --out m")),
        str![[r#"
exit 0
-- stdout
learner  mean
data     faces, 5 images, 10 labels
stopped  completed
model    m
-- stderr
note: labels.csv: 1 of 6 rows have no image in faces and were left out (the first: row 6, "lost.png")
note: faces: 1 of 6 images have no row in labels.csv and are not used (the first: "5.png")

"#]]
    );
}

#[test]
fn an_image_without_row_is_noted() {
    let faces = Faces::new().last_row("");
    let call = format!("train faces {TABLE} {AGES} --learner mean --out m");
    assert!(faces.call(&call).ends_with(
        "note: faces: 1 of 6 images have no row in labels.csv and are not used (the first: \"5.png\")\n"
    ));
}

#[test]
fn a_table_of_other_images_is_refused() {
    let faces = Faces::new();
    faces.write("labels.csv", "file,age\ntrain/0.png,10\ntrain/1.png,11\n");
    assert_data_eq!(
        faces.call(&format!("train faces {TABLE} {AGES} --learner mean --out m --quiet")),
        str![[r#"
exit 3
-- stderr
error: no image of faces has a row in labels.csv: the table names "train/0.png", the images are called "0.png" and so on; names must be paths within the folder or zip file

"#]]
    );
}

#[test]
fn an_unreadable_image_is_named_before_training_or_left_out() {
    let faces = Faces::new();
    faces.write("faces/3.png", "words");
    assert_data_eq!(
        faces.call(&format!("train faces {TABLE} {AGES} --learner mean --out m --quiet")),
        str![[r#"
exit 3
-- stderr
error: faces: the image "3.png" cannot be read (it is neither JPEG nor PNG); replace it or leave it out, or use --bad-images skip

"#]]
    );
    assert_data_eq!(
        faces.call(&format!(
            "cv faces {TABLE} {AGES} --learner mean --folds 2 --bad-images skip --json --quiet"
        )),
        str![[r#"
exit 0
-- stdout
{
  "dataset": "faces",
  "rows": 5,
...
"#]]
    );
}

#[test]
fn rows_that_the_split_does_not_use_are_not_looked_at() {
    let faces = Faces::new();
    faces.write("faces/5.png", "words");
    faces.succeed(&format!("train faces {TABLE} {AGES} --split-column part --learner mean --out m --quiet"));
}

#[test]
fn what_is_no_folder_of_images_is_refused_in_one_sentence() {
    let faces = Faces::new();
    std::fs::create_dir(faces.path("empty")).unwrap();
    faces.write("words.zip", "words");
    let call =
        |data: &str| faces.call(&format!("train {data} {TABLE} {AGES} --learner mean --out m --quiet"));
    assert_data_eq!(
        call("empty"),
        str![[r#"
exit 3
-- stderr
error: empty: there are no images (JPEG or PNG) in it

"#]]
    );
    assert_data_eq!(
        call("lost"),
        str![[r#"
exit 3
-- stderr
error: lost does not exist

"#]]
    );
    assert_data_eq!(
        call("words.zip"),
        str![[r#"
exit 3
-- stderr
error: words.zip: neither a folder nor a usable zip file of images ([..])

"#]]
    );
}

#[test]
fn images_need_a_table_and_its_column() {
    let faces = Faces::new();
    assert_data_eq!(
        faces.call(&format!("train faces {AGES} --learner mean --out m")),
        str![[r#"
exit 3
-- stderr
error: faces: is a folder; to learn from its images, say what they show with --table labels.csv --image-column file

"#]]
    );
    assert_data_eq!(
        faces.call(&format!("train faces --table labels.csv {AGES} --learner mean --out m")),
        str![[r#"
exit 2
-- stderr
error: labels.csv: which column names the images? Name it with --image-column

"#]]
    );
    assert_data_eq!(
        faces.call(&format!(
            "train faces --table labels.csv --image-column photo {AGES} --learner mean --out m"
        )),
        str![[r#"
exit 3
-- stderr
error: labels.csv: no column "photo" (--image-column); the columns are file, age, part

"#]]
    );
    assert_data_eq!(
        faces.call(&format!("train labels.csv --image-column file {AGES} --learner mean --out m")),
        str![[r#"
exit 2
-- stderr
error: --image-column is for images; give their folder or zip file in place of labels.csv, and --table labels.csv

"#]]
    );
}

#[test]
fn models_of_tables_and_of_images_do_not_take_each_others_data() {
    let faces = Faces::new();
    train_mean(&faces, "faces");
    let categories = "--ignore part --categories file";
    faces.succeed(&format!("train labels.csv {AGES} {categories} --learner mean --out t --quiet"));
    assert_data_eq!(
        faces.call("predict t faces --out -"),
        str![[r#"
exit 3
-- stderr
error: the rows are images where a table of features is needed; give a table, make one of the images with `ldlf features`, or use a learner on a deep network

"#]]
    );
    assert_data_eq!(
        faces.call("predict m labels.csv --out -"),
        str![[r#"
exit 3
-- stderr
error: the rows are a table of features where images are needed; give a folder or a zip file of images

"#]]
    );
    assert_data_eq!(
        faces.call("explain m faces --row 0"),
        str![[r#"
exit 3
-- stderr
error: m reads images, which have no columns to explain; make a table of the images with `ldlf features`, train on it, and explain that model

"#]]
    );
    assert_data_eq!(
        faces.call(&format!("train faces {TABLE} {AGES} --learner bfgs-ldl --out n")),
        str![[r#"
exit 2
-- stderr
error: the rows are images where a table of features is needed; give a table, make one of the images with `ldlf features`, or use a learner on a deep network

"#]]
    );
    assert_data_eq!(
        faces.call(&format!("train faces {TABLE} {AGES} --learner mean --backbone resnet18 --out n")),
        str![[r#"
exit 2
-- stderr
error: --backbone is for learners on a network (dldlf, dndf-ldl, dldl), not for mean

"#]]
    );
}

#[test]
fn a_model_of_images_is_inspected_and_reported() {
    let faces = Faces::new();
    train_mean(&faces, "faces");
    let facts = faces.succeed("inspect m");
    let line = facts.lines().find(|line| line.starts_with("images ")).unwrap_or_default();
    assert!(line.ends_with(" named by the column \"file\""), "{facts}");
    faces.succeed(&format!("report --model m --data faces {TABLE} --out page.html"));
    let page = faces.read("page.html");
    assert!(page.contains("faces, 6 rows") && page.contains("<dt>rows</dt><dd>images</dd>"));
    assert!(!page.contains("data:image/bmp"), "rows that it learnt from are not shown");
    faces.write("few.csv", "file,age\n0.png,10\n1.png,11\n2.png,12\n3.png,13\n");
    let few = TABLE.replace("labels.csv", "few.csv");
    faces.succeed(&format!("report --model m --data faces {few} --out page.html --force"));
    let page = faces.read("page.html");
    // The best, the median and the worst.
    assert_eq!(page.matches("src=\"data:image/bmp;base64,Qk").count(), 3);
    assert_data_eq!(
        faces.call(&format!("plot importance --model m --data faces {TABLE} --out i.svg")),
        str![[r#"
exit 2
-- stderr
error: the rows are images, which have no features to shuffle; the importance of features is for tables

"#]]
    );
}

#[test]
fn a_table_chooses_the_images_to_predict_in_its_order() {
    let faces = Faces::new();
    train_mean(&faces, "faces");
    faces.write("few.tsv", "file\n4.png\n1.png\n");
    let predicted = faces.succeed("predict m faces --table few.tsv --write mean --out -");
    assert_eq!(predicted, "file,mean\n4.png,12.5\n1.png,12.5\n");
}

#[test]
fn parts_of_predicted_images_can_be_resumed() {
    let faces = Faces::new();
    train_mean(&faces, "faces");
    faces.succeed("predict m faces --write mean --out whole.csv --part-rows 4");
    std::fs::remove_file(faces.path("whole.csv/part-000001.csv")).unwrap();
    let record = faces.read(".whole.csv.ldlf-run.json").replace("\"finished\": true", "\"finished\": false");
    faces.write(".whole.csv.ldlf-run.json", &record);
    faces.succeed("predict m faces --write mean --out whole.csv --resume");
    assert_eq!(faces.read("whole.csv/part-000001.csv"), "file,mean\n4.png,12.5\n5.png,12.5\n");
    assert!(faces.call("predict m faces --out p.csv --part-rows 4 --bad-images skip").contains("exit 2"));
}

#[cfg(feature = "parquet")]
#[test]
fn names_of_images_stand_in_every_format() {
    let faces = Faces::new();
    train_mean(&faces, "faces");
    for format in ["parquet", "arrow", "npz"] {
        faces.succeed(&format!("predict m faces --write mean --out p.{format}"));
    }
    let text = String::from_utf8_lossy(&faces.bytes("p.npz")).into_owned();
    assert!(text.contains("file.npy") && text.contains("'<U5'"), "{text}");
}

#[cfg(feature = "parquet")]
#[test]
fn the_table_of_images_may_be_of_any_format_with_named_columns() {
    let faces = Faces::new();
    train_mean(&faces, "faces");
    for format in ["parquet", "arrow"] {
        faces.succeed(&format!("predict m faces --out p.{format}"));
        let table = format!("--table p.{format} --image-column file");
        let learnt =
            faces.succeed(&format!("train faces {table} --labels 8,9,1* --learner mean --out n --force"));
        assert!(learnt.contains("faces, 6 images, 10 labels"), "{learnt}");
        let predicted = faces.succeed(&format!("predict n faces {table} --write mode --out -"));
        assert!(predicted.starts_with("file,mode\n0.png,1"), "{predicted}");
    }
}

#[test]
fn a_network_is_trained_on_images() {
    let faces = Faces::new();
    let trained = faces.succeed(&format!("train faces {TABLE} {AGES} {SMALL} --out m --quiet"));
    assert!(trained.contains("faces, 6 images, 10 labels"), "{trained}");
    let call = faces.call("predict m faces --write mode,mean --out p.csv --latency");
    assert!(call.contains("predicted 6 images in ") && call.contains(" images/s)"), "{call}");
    assert!(call.contains("one image at a time, from its file to the prediction: median "), "{call}");
    assert_eq!(faces.read("p.csv").lines().count(), 7);
    let measures = faces.json(&format!("evaluate m faces {TABLE} --json"));
    assert!(measures["measures"]["mae_mean"].is_number(), "{measures}");
}

#[test]
fn learners_are_compared_on_images_with_the_floor_beside_them() {
    let faces = Faces::new();
    let settings = "--set dldlf.side=16 --set dldlf.epochs=1 --set dldlf.trees=2 --set dldlf.depth=3";
    let learners = "--learner dldlf,mean --backbone small-cnn";
    let results =
        faces.json(&format!("cv faces {TABLE} {AGES} {learners} {settings} --folds 2 --json --quiet"));
    assert_eq!(results["results"][0]["parameters"]["backbone"], "small-cnn");
    assert!(
        results["results"].as_array().unwrap().iter().all(|result| result["mean"]["mae_mean"].is_number())
    );
    let swept = "--learner dldlf --set side=16 --set epochs=1 --set depth=3 --over trees=1,2 --folds 2";
    faces.succeed(&format!("sweep faces {TABLE} {AGES} {swept} --quiet"));
}

#[test]
fn unreadable_images_are_named_or_left_out_of_predictions() {
    let faces = Faces::new();
    faces.succeed(&format!("train faces {TABLE} {AGES} {SMALL} --out m --quiet"));
    faces.write("faces/3.png", "words");
    assert_data_eq!(
        faces.call("predict m faces --out p.csv --quiet"),
        str![[r#"
exit 3
-- stderr
error: faces: the image "3.png" cannot be read (it is neither JPEG nor PNG); replace it or leave it out, or use --bad-images skip

"#]]
    );
    let call = faces.call("predict m faces --write mean --out p.csv --bad-images skip");
    assert!(call.contains("note: left out 1 image that could not be read: 3.png\n"), "{call}");
    let names: Vec<String> =
        faces.read("p.csv").lines().map(|line| line.split(',').next().unwrap().to_string()).collect();
    assert_eq!(names, ["file", "0.png", "1.png", "2.png", "4.png", "5.png"]);
}
