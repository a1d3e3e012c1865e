//! Tables of images: the column that names them, and votes in an array beside the table.

use std::path::PathBuf;

use ldlf_core::error::Subject;
use ldlf_core::targets::Spread;
use ldlf_core::{Error, Result};
use ldlf_io::read::{Loaded, ReadOptions, read, text_column};
use tempfile::TempDir;

const TABLE: &str = "photo,age,who,note\na.jpg,20,1,old scan\nb/c.png,30,2,\n";

/// A folder with `labels.csv` and, with bytes for it, `votes.npy`.
struct Folder {
    folder: TempDir,
}

impl Folder {
    fn new(table: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("labels.csv"), table).unwrap();
        Folder { folder }
    }

    /// Writes an array whose header says `shape` and `order`.
    fn votes(self, descr: &str, order: &str, shape: &str, data: &[u8]) -> Self {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        std::fs::write(self.path("votes.npy"), bytes).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn options(&self) -> ReadOptions {
        ReadOptions {
            image_column: Some("photo".into()),
            votes: Some(self.path("votes.npy")),
            ..ReadOptions::default()
        }
    }

    fn read(&self, options: &ReadOptions) -> Result<Loaded> {
        read(&self.path("labels.csv"), options)
    }

    /// The message without the folder.
    fn refusal(&self, options: &ReadOptions) -> String {
        let error: Error = self.read(options).unwrap_err();
        error.to_string().replace(&format!("{}/", self.folder.path().display()), "")
    }
}

#[test]
fn the_column_of_images_is_kept_as_text() {
    let folder = Folder::new(TABLE);
    let options = ReadOptions {
        label_column: Some("age".into()),
        spread: Some(Spread::Gaussian { sigma: 1.0 }),
        group: Some("who".into()),
        votes: None,
        ..folder.options()
    };
    let dataset = folder.read(&options).unwrap().dataset;
    let images = dataset.inputs().images().unwrap();
    assert_eq!(images.names().collect::<Vec<_>>(), ["a.jpg", "b/c.png"]);
    assert_eq!((dataset.rows(), dataset.inputs().cols(), dataset.labels()), (2, 0, 11));
    assert_eq!(dataset.schema().image_column.as_deref(), Some("photo"));
    assert_eq!((&dataset.schema().feature_names, dataset.groups()), (&None, Some(&[0, 1][..])));
}

#[test]
fn images_that_are_only_named_say_that_they_were_not_opened() {
    let folder = Folder::new(TABLE).votes("|u1", "False", "(2, 2)", &[1, 0, 0, 4]);
    let dataset = folder.read(&folder.options()).unwrap().dataset;
    let refused = dataset.inputs().images().unwrap().resized(1, 8).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the image \"b/c.png\" was named but not opened; give the folder or zip file that holds it"
    );
    assert!(dataset.features().unwrap_err().to_string().starts_with("the rows are images where a table"));
}

#[test]
fn votes_are_the_labels_of_the_rows() {
    let folder = Folder::new(TABLE).votes("<i2", "False", "(2, 3)", &[1, 0, 2, 0, 1, 0, 0, 0, 5, 0, 0, 0]);
    let options = ReadOptions {
        label_column: Some("age".into()),
        label_values: Some(vec![20.0, 25.0, 30.0]),
        ..folder.options()
    };
    let Loaded { dataset, notices, .. } = folder.read(&options).unwrap();
    assert_eq!(dataset.targets().as_slice(), [0.25, 0.5, 0.25, 0.0, 1.0, 0.0]);
    assert_eq!(dataset.truth(), Some(&[20.0, 30.0][..]));
    assert_eq!(dataset.schema().label_names, ["20", "25", "30"]);
    assert!(
        notices[0].to_string().contains("votes.npy: the labels are vote counts, 4 to 5 votes per row"),
        "{notices:?}"
    );
}

#[test]
fn votes_in_columns_first_order_are_read_by_rows() {
    let folder = Folder::new(TABLE).votes("|u1", "True", "(2, 2)", &[1, 0, 0, 4]);
    let dataset = folder.read(&folder.options()).unwrap().dataset;
    assert_eq!(dataset.targets().as_slice(), [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn votes_also_stand_beside_a_table_of_features() {
    let folder = Folder::new("x,y\n1,2\n3,4\n").votes("|u1", "False", "(2, 2)", &[1, 3, 1, 0]);
    let options = ReadOptions { image_column: None, ..folder.options() };
    let dataset = folder.read(&options).unwrap().dataset;
    assert_eq!(
        (dataset.features().unwrap().cols(), dataset.targets().as_slice()),
        (2, &[0.25, 0.75, 1.0, 0.0][..])
    );
}

#[test]
fn votes_that_do_not_fit_are_refused_in_one_sentence() {
    let folder = Folder::new(TABLE);
    let refusal = |folder: &Folder| folder.refusal(&folder.options());
    assert_eq!(refusal(&folder), "votes.npy: no such file");
    let folder = folder.votes("|u1", "False", "(3, 2)", &[1; 6]);
    assert_eq!(
        refusal(&folder),
        "votes.npy: 3 rows of votes, but labels.csv has 2 rows; give one line of votes for each of them, in their order"
    );
    let folder = folder.votes("|u1", "False", "(2,)", &[1; 2]);
    assert_eq!(
        refusal(&folder),
        "votes.npy: \"the array\" has 1 dimensions where rows and columns are expected"
    );
    let folder = folder.votes("|u1", "False", "(2, 2)", &[1, 2, 0, 0]);
    assert!(refusal(&folder).starts_with("votes.npy row 2: every label is 0"), "{}", refusal(&folder));
    let folder = folder.votes("|u1", "False", "(2, 2)", &[1]);
    assert!(
        refusal(&folder).starts_with("votes.npy: the file is damaged or cut short"),
        "{}",
        refusal(&folder)
    );
}

#[test]
fn targets_come_from_one_place() {
    let folder = Folder::new(TABLE).votes("|u1", "False", "(2, 2)", &[1; 4]);
    let options = ReadOptions {
        label_column: Some("age".into()),
        spread: Some(Spread::Gaussian { sigma: 1.0 }),
        ..folder.options()
    };
    assert_eq!(
        folder.refusal(&options),
        "the targets come from `votes`, or from `label_column` with `spread`; leave one of them out"
    );
}

#[test]
fn one_column_is_read_as_text_whatever_stands_beside_it() {
    let folder = Folder::new(TABLE);
    let column = |name: &str| text_column(&folder.path("labels.csv"), None, name, Subject::ImageColumn);
    assert_eq!(column("photo").unwrap(), ["a.jpg", "b/c.png"]);
    assert!(
        column("file").unwrap_err().to_string().ends_with(
            "labels.csv: no column \"file\" (`image_column`); the columns are photo, age, who, note"
        )
    );
    assert!(column("note").unwrap_err().to_string().ends_with("column \"note\": the value is missing"));
}

#[test]
fn formats_without_named_columns_have_no_images() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("rows.svm");
    std::fs::write(&path, "0.5,0.5 1:2\n").unwrap();
    let options = ReadOptions { image_column: Some("photo".into()), ..ReadOptions::default() };
    let refused = read(&path, &options).unwrap_err().to_string();
    assert!(
        refused.ends_with(
            "`image_column` needs a table with named columns (csv, tsv, parquet, arrow, jsonl, xlsx), not svm"
        ),
        "{refused}"
    );
}
