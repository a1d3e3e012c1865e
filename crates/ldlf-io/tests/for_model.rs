//! Tables read as a model wants them.

use std::path::{Path, PathBuf};

use ldlf_core::TrainedModel;
use ldlf_core::mean::Mean;
use ldlf_core::targets::Spread;
use ldlf_io::for_model::{read_for_model, stream_for_model};
use ldlf_io::read::{ReadOptions, read};
use tempfile::TempDir;

fn file(folder: &TempDir, name: &str, content: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn model_of(path: &Path, options: &ReadOptions) -> TrainedModel {
    let data = read(path, options).unwrap().dataset;
    Mean::params().fit(&data).unwrap()
}

#[test]
fn columns_are_those_the_model_names_in_its_order() {
    let folder = TempDir::new().unwrap();
    let votes = ReadOptions { labels: vec!["no".into(), "yes".into()], ..ReadOptions::default() };
    let model = model_of(&file(&folder, "a.csv", "x,y,no,yes\n1,2,0.5,0.5\n"), &votes);
    let other = file(&folder, "b.csv", "yes,y,extra,no,x\n0.25,4,9,0.75,3\n");
    let data = read_for_model(&other, &model, &ReadOptions::default()).unwrap().dataset;
    assert_eq!(data.schema().feature_names, Some(vec!["x".into(), "y".into()]));
    assert_eq!(data.targets().as_slice(), [0.75, 0.25]);
    let mut rows = stream_for_model(&other, &model, &ReadOptions::default(), &[], false).unwrap();
    assert_eq!(rows.next_block(10).unwrap(), Some(data.features().unwrap().clone()));
}

#[test]
fn a_single_label_is_spread_as_the_model_remembers() {
    let folder = TempDir::new().unwrap();
    let ages = ReadOptions {
        label_column: Some("age".into()),
        spread: Some(Spread::Gaussian { sigma: 1.0 }),
        ..ReadOptions::default()
    };
    let model = model_of(&file(&folder, "a.csv", "x,age\n1,3\n2,5\n"), &ages);
    let other = file(&folder, "b.csv", "age,x\n4,1\n");
    let data = read_for_model(&other, &model, &ReadOptions::default()).unwrap().dataset;
    assert_eq!(data.schema().label_values, Some(vec![3.0, 4.0, 5.0]));
    assert_eq!(data.truth(), Some(&[4.0][..]));
}

#[test]
fn svmlight_rows_get_the_columns_that_their_file_does_not_reach() {
    let folder = TempDir::new().unwrap();
    let model = model_of(&file(&folder, "a.svm", "1,1 1:1 7:2\n"), &ReadOptions::default());
    let narrow = file(&folder, "b.svm", "1,3 2:1\n");
    assert_eq!(read(&narrow, &ReadOptions::default()).unwrap().dataset.features().unwrap().cols(), 2);
    let data = read_for_model(&narrow, &model, &ReadOptions::default()).unwrap().dataset;
    assert_eq!(data.features().unwrap().cols(), 7);
}

#[test]
fn another_number_of_labels_is_refused() {
    let folder = TempDir::new().unwrap();
    let model = model_of(&file(&folder, "a.svm", "1,1 1:1\n"), &ReadOptions::default());
    let other = file(&folder, "b.svm", "1,1,1 1:1\n");
    let error = read_for_model(&other, &model, &ReadOptions::default()).unwrap_err().to_string();
    assert!(
        error.ends_with("b.svm: 3 labels where the model has 2; give the labels it was trained on"),
        "{error}"
    );
}
