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

#[test]
fn labels_with_the_names_of_unnamed_ones_are_matched_by_name_too() {
    let folder = TempDir::new().unwrap();
    let labels = ReadOptions { labels: vec!["label_*".into()], ..ReadOptions::default() };
    let model = model_of(&file(&folder, "a.csv", "x,label_0,label_1,label_2\n1,5,3,2\n"), &labels);
    let turned = file(&folder, "b.csv", "label_2,x,label_0,label_1\n0.2,1,0.5,0.3\n");
    for options in [&labels, &ReadOptions::default()] {
        let data = read_for_model(&turned, &model, options).unwrap().dataset;
        assert_eq!(data.schema().label_names, model.schema.label_names);
        assert_eq!(data.targets().as_slice(), [0.5, 0.3, 0.2]);
    }
    // Where the source has no names, or the model, the order is all there is.
    let features = ReadOptions { features: vec!["x".into()], ..ReadOptions::default() };
    let unnamed = file(&folder, "c.svm", "2,3,5 1:1\n");
    let of_named = read_for_model(&unnamed, &model, &features).unwrap().dataset;
    assert_eq!(of_named.targets().as_slice(), [0.2, 0.3, 0.5]);
    let of_unnamed = model_of(&unnamed, &features);
    let other = ReadOptions { labels: vec!["b".into(), "a".into(), "c".into()], ..features.clone() };
    let named = file(&folder, "d.csv", "x,a,b,c\n1,0.5,0.3,0.2\n");
    assert_eq!(
        read_for_model(&named, &of_unnamed, &other).unwrap().dataset.targets().as_slice(),
        [0.3, 0.5, 0.2]
    );
    // A model of a table has names.
    let others =
        read_for_model(&named, &model, &ReadOptions { labels: other.labels.clone(), ..labels.clone() });
    assert!(
        others.unwrap_err().to_string().contains("\"b\" is no label of the model; its labels are label_0, ")
    );
    // Some of the names, but not all, are of other labels.
    let some = ReadOptions {
        labels: vec!["label_1".into(), "label_2".into(), "x".into()],
        ..ReadOptions::default()
    };
    let error = read_for_model(
        &file(&folder, "e.csv", "x,label_1,label_2,z\n1,1,1,1\n"),
        &of_unnamed,
        &ReadOptions { features: vec!["z".into()], ..some },
    );
    assert!(error.unwrap_err().to_string().contains("\"x\" is no label of the model"));
}
