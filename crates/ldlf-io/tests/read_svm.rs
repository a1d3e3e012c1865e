//! svmlight lines with label distributions.

use std::path::PathBuf;

use ldlf_core::targets::Spread;
use ldlf_core::{Features, Schema};
use ldlf_io::read::{ReadOptions, read, stream};
use tempfile::TempDir;

fn file(content: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("votes.svm");
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn refusal(content: &str, options: &ReadOptions) -> String {
    let (folder, path) = file(content);
    let message = read(&path, options).unwrap_err().to_string();
    message.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn distributions_and_votes_stand_before_sparse_features() {
    let (_folder, path) = file("# two labels\n0.25,0.75 1:0.5 7:1 # first\n\n3,1 2:-1.5\n0,2\n");
    let loaded = read(&path, &ReadOptions::default()).unwrap();
    let Features::Sparse(csr) = loaded.dataset.features().unwrap() else { panic!("stored sparse") };
    assert_eq!((csr.rows(), csr.cols()), (3, 7));
    assert_eq!(csr.row(0), (&[0, 6][..], &[0.5, 1.0][..]));
    assert_eq!(csr.row(1), (&[1][..], &[-1.5][..]));
    assert_eq!(csr.row(2), (&[][..], &[][..]));
    assert_eq!(loaded.dataset.targets().as_slice(), [0.25, 0.75, 0.75, 0.25, 0.0, 1.0]);
    assert_eq!(loaded.notices.len(), 1);
}

#[test]
fn a_single_number_is_an_ordered_label() {
    let (_folder, path) = file("3 1:1\n5 1:2\n");
    let options = ReadOptions { spread: Some(Spread::Gaussian { sigma: 0.0 }), ..ReadOptions::default() };
    let data = read(&path, &options).unwrap().dataset;
    assert_eq!(data.schema().label_values.clone().unwrap(), [3.0, 4.0, 5.0]);
    assert_eq!(data.truth().unwrap(), [3.0, 5.0]);
    assert_eq!(data.targets().as_slice(), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn bad_lines_are_named() {
    for (line, expected) in [
        ("1,1 1:x", "votes.svm line 2: \"1:x\" is not index:value"),
        ("1,1 0:1", "votes.svm line 2: the index 0 does not rise (indices start at 1)"),
        ("1,1 2:1 2:1", "votes.svm line 2: the index 2 does not rise (indices start at 1)"),
        (
            "1,1 4000000000:1",
            "votes.svm line 2: the index 4000000000 is larger than 100000000; number the features anew",
        ),
        (
            "1,1 99999999999999999999:1",
            "votes.svm line 2: the index 99999999999999999999 is larger than 100000000; number the features anew",
        ),
        ("1,1 2:nan", "votes.svm line 2, feature 2: the value is missing (NaN)"),
        (
            "1,1 2:1e39",
            "votes.svm line 2, feature 2: 1e39 is outside the range of single precision; rescale the column",
        ),
        ("1,b 2:1", "votes.svm line 2, label 2: \"b\" is not a number"),
        ("1,1,1 2:1", "votes.svm line 2: 3 labels where the first row has 2"),
        (
            "1,-1 2:1",
            "votes.svm line 2, label 2: the label -1 is negative; labels are shares or counts of at least 0",
        ),
        (
            "0,0 2:1",
            "votes.svm line 2: every label is 0, so there is no distribution to learn; remove the row",
        ),
    ] {
        assert_eq!(refusal(&format!("0.5,0.5 1:1\n{line}\n"), &ReadOptions::default()), expected, "{line}");
    }
    let none = ReadOptions::default();
    assert_eq!(refusal("# nothing\n", &none), "votes.svm: the file is empty");
    assert_eq!(refusal("1,0\n", &none), "votes.svm: no row has a feature");
    assert_eq!(refusal("1:1\n", &none), "votes.svm line 1: no labels before the features");
    assert_eq!(
        refusal("3 1:1\n", &none),
        "votes.svm line 1: one label per row needs `spread`, the spread of the distribution around it \
         (0 puts everything on the label itself)"
    );
}

#[test]
fn a_stream_needs_no_labels() {
    let (_folder, path) = file("1:1\n0.5,0.5 2:4\n3:1\n");
    let mut rows = stream(&path, None, &Schema::default(), 2).unwrap();
    let Some(Features::Sparse(block)) = rows.next_block(2).unwrap() else { panic!("two rows") };
    assert_eq!((block.rows(), block.cols()), (2, 2));
    assert_eq!(block.row(1), (&[1][..], &[4.0][..]));
    let error = rows.next_block(2).unwrap_err().to_string();
    assert!(error.ends_with("votes.svm line 3: the index 3 where the model expects 2 features"), "{error}");
}
