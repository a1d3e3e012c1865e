//! What is written reads back to the same numbers, in every format.

use std::fs::File;

use ldlf_core::{Dataset, Features, Matrix};
use ldlf_io::Format;
use ldlf_io::output::Overwrite;
use ldlf_io::read::{ReadOptions, read};
use ldlf_io::write::{Column, Formulas, TableForm, dataset_format, dataset_formats, save_dataset};

fn names(prefix: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{prefix}_{number}")).collect()
}

#[test]
fn every_form_of_tables_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let features = Matrix::from_rows(&[[0.1, 2.0], [1e-8, -3.5], [4.0, 5.0]]);
    let labels = Matrix::from_rows(&[[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]);
    let (feature_names, label_names) = (names("x", 2), names("label", 2));
    for form in TableForm::all() {
        let path = folder.path().join("table").with_extension(form.extension);
        let mut writer = form.writer(File::create(&path).unwrap(), Formulas::Kept);
        for rows in [vec![0, 1], vec![2]] {
            let (features, labels) = (features.select(&rows), labels.select(&rows));
            writer
                .block(&[
                    Column::Matrix("features", &feature_names, &features),
                    Column::Matrix("labels", &label_names, &labels),
                ])
                .unwrap();
        }
        writer.finish().unwrap();
        // A form that is only written has no format to read it by.
        let Some(format) = Format::from_path(&path) else { continue };
        let named = format.names_columns();
        let labels_named = if named { vec!["label_*".into()] } else { Vec::new() };
        let options = ReadOptions { labels: labels_named, ..ReadOptions::default() };
        let data = read(&path, &options).unwrap().dataset;
        assert_eq!(data.features().unwrap(), &Features::Dense(features.clone()), "{}", form.extension);
        assert_eq!(data.targets(), &labels, "{}", form.extension);
    }
}

#[test]
fn every_format_of_datasets_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let features = Features::Dense(Matrix::from_rows(&[[0.1, 2.0], [1e-8, -3.5]]));
    let data = Dataset::new(features, Matrix::from_rows(&[[0.25, 0.75], [1.0, 0.0]])).unwrap();
    for format in dataset_formats() {
        let path = folder.path().join("data").with_extension(format.name());
        assert_eq!(dataset_format(&path).unwrap(), format);
        save_dataset(&data, None, format, &path, Overwrite::No).unwrap();
        let labels = if format.names_columns() { vec!["label_*".into()] } else { Vec::new() };
        let again = read(&path, &ReadOptions { labels, ..ReadOptions::default() }).unwrap().dataset;
        let mut row = [0.0; 2];
        for number in 0..2 {
            again.features().unwrap().copy_row_into(number, &mut row);
            let mut expected = [0.0; 2];
            data.features().unwrap().copy_row_into(number, &mut expected);
            assert_eq!(row, expected, "{format}");
        }
        assert_eq!(again.targets(), data.targets(), "{format}");
    }
}

#[test]
fn a_name_that_tells_no_form_is_refused_with_those_there_are() {
    let error = dataset_format("data.xls".as_ref()).unwrap_err().to_string();
    assert_eq!(error, "data.xls: datasets are written as .csv, .tsv or .svm; choose one of these");
    assert!(TableForm::of("table".as_ref()).is_err());
}
