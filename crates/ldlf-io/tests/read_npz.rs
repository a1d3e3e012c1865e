//! Archives of arrays that cannot be used, and the sentence for each.

use std::io::{Cursor, Write};

use ldlf_core::targets::Spread;
use ldlf_core::{Dataset, ErrorKind, Features, Result, Schema};
use ldlf_io::read::{ReadOptions, read, stream};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A `.npy` array of doubles in C order whose header promises `shape`.
fn array(shape: &str, values: &[f64]) -> Vec<u8> {
    array_of("<f8", shape, &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

fn array_of(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn archive(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn load(bytes: &[u8], options: &ReadOptions) -> Result<Dataset> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("small.npz");
    std::fs::write(&path, bytes).unwrap();
    read(&path, options).map(|loaded| loaded.dataset)
}

/// The message about `small.npz`, without the folder.
fn refusal(arrays: &[(&str, Vec<u8>)]) -> String {
    let message = load(&archive(arrays), &ReadOptions::default()).unwrap_err().to_string();
    message.split_once("small.npz").map_or(message.clone(), |(_, rest)| format!("small.npz{rest}"))
}

#[test]
fn vectors_beside_the_matrices_take_their_roles() {
    let bytes = archive(&[
        ("features", array("(2, 1)", &[5.0, 6.0])),
        ("age", array("(2,)", &[31.0, 32.0])),
        ("w", array("(2, 1)", &[1.0, 3.0])),
        ("person", array("(2,)", &[7.0, 7.0])),
    ]);
    let options = ReadOptions {
        label_column: Some("age".into()),
        spread: Some(Spread::Gaussian { sigma: 0.0 }),
        sample_weights: Some("w".into()),
        group: Some("person".into()),
        ..ReadOptions::default()
    };
    let data = load(&bytes, &options).unwrap();
    assert_eq!(data.targets().as_slice(), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(data.schema().label_names, ["31", "32"]);
    assert_eq!(data.truth().unwrap(), [31.0, 32.0]);
    assert_eq!(data.weights().unwrap(), [1.0, 3.0]);
    assert_eq!(data.groups().unwrap(), [0, 0]);
}

#[test]
fn label_values_in_the_archive_name_and_order_the_labels() {
    let bytes = archive(&[
        ("features", array("(1, 1)", &[5.0])),
        ("labels", array("(1, 2)", &[0.5, 0.5])),
        ("label_values", array("(2,)", &[1.5, 2.5])),
    ]);
    let schema = load(&bytes, &ReadOptions::default()).unwrap().schema().clone();
    assert_eq!(schema.label_values.clone().unwrap(), [1.5, 2.5]);
    assert_eq!(schema.label_names, ["1.5", "2.5"]);
}

#[test]
fn unusable_arrays_are_refused_in_one_sentence() {
    let good = || array("(1, 2)", &[0.5, 0.5]);
    for (features, expected) in [
        (
            array("(4611686018427387904, 8)", &[1.0]),
            "small.npz: \"features\" is not a NumPy array (its shape is too large)",
        ),
        (
            array("(1000000000, 1000)", &[1.0]),
            "small.npz: the file is damaged or cut short (failed to fill whole buffer)",
        ),
        (array("(1, 0)", &[]), "small.npz: \"features\" has no columns"),
        (array("(0, 3)", &[]), "small.npz: there are no rows"),
        (
            array("(1,)", &[1.0]),
            "small.npz: \"features\" has 1 dimensions where rows and columns are expected",
        ),
        (
            array_of("|O", "(1, 1)", b"12345678"),
            "small.npz: \"features\" holds \"|O\", which is not read; save it as float32",
        ),
        (b"no array".to_vec(), "small.npz: \"features\" is not a NumPy array (its first bytes)"),
        (array("(1, 2)", &[1.0, f64::NAN]), "small.npz row 1, feature 2: the value is missing (NaN)"),
        (
            array("(1, 2)", &[1.0, -1e300]),
            "small.npz row 1, feature 2: -1e300 is outside the range of single precision; rescale the column",
        ),
        (array("(2, 1)", &[1.0, 2.0]), "small.npz: 1 rows of labels for 2 rows of features"),
    ] {
        assert_eq!(refusal(&[("features", features), ("labels", good())]), expected);
    }
    let labels = array("(1, 2)", &[0.5, -0.5]);
    assert_eq!(
        refusal(&[("features", good()), ("labels", labels)]),
        "small.npz row 1, label 2: the label -0.5 is negative; labels are shares or counts of at least 0"
    );
    assert_eq!(
        refusal(&[("features", good())]),
        "small.npz: no array \"labels\"; it holds features; name them features and labels"
    );
    assert_eq!(
        refusal(&[("X", good()), ("y", good())]),
        "small.npz: no array \"features\"; it holds X, y; name them features and labels"
    );
    assert_eq!(refusal(&[]), "small.npz: no array \"features\"; it holds none");
}

#[test]
fn sparse_parts_that_do_not_belong_together_are_refused() {
    let with = |shape: &[f64], indptr: &[f64], indices: &[f64], data: &[f64]| {
        let vector = |values: &[f64]| array(&format!("({},)", values.len()), values);
        refusal(&[
            ("features_shape", vector(shape)),
            ("features_indptr", vector(indptr)),
            ("features_indices", vector(indices)),
            ("features_data", vector(data)),
            ("labels", array("(1, 1)", &[1.0])),
        ])
    };
    let damaged = |reason| format!("small.npz: the sparse features are damaged ({reason})");
    assert_eq!(
        with(&[9e15, 2.0], &[0.0, 1.0], &[0.0], &[1.0]),
        damaged("the shape does not fit the offsets")
    );
    assert_eq!(with(&[1.0, 2.0], &[0.0, 9.0], &[0.0], &[1.0]), damaged("offsets or columns out of range"));
    assert_eq!(with(&[1.0, 2.0], &[0.0, 1.0], &[2.0], &[1.0]), damaged("offsets or columns out of range"));
    assert_eq!(
        with(&[1.0, 2.0], &[0.0, 2.0], &[1.0, 1.0], &[1.0, 1.0]),
        damaged("row 1 names a column twice; call sum_duplicates()")
    );
}

#[test]
fn a_file_that_is_no_archive_is_refused() {
    let error = load(b"not a zip", &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("small.npz: not a usable .npz archive"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Data);
}

#[test]
fn a_stream_of_a_cut_array_ends_with_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cut.npz");
    std::fs::write(&path, archive(&[("features", array("(3, 1)", &[1.0, 2.0]))])).unwrap();
    let mut rows = stream(&path, None, &Schema::default(), 1).unwrap();
    assert!(matches!(rows.next_block(2).unwrap(), Some(Features::Dense(m)) if m.as_slice() == [1.0, 2.0]));
    let error = rows.next_block(2).unwrap_err().to_string();
    assert!(
        error.ends_with("cut.npz: the file is damaged or cut short (failed to fill whole buffer)"),
        "{error}"
    );
}

/// The archive with one bit of the first array's last number turned.
fn damaged(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    let mut bytes = zip.finish().unwrap().into_inner();
    let first = &arrays[0].1;
    let end = bytes.windows(first.len()).position(|part| part == first).unwrap() + first.len();
    bytes[end - 2] ^= 1;
    bytes
}

const DAMAGE: &str = "small.npz: the file is damaged or cut short (Invalid checksum)";

#[test]
fn damaged_numbers_are_not_used() {
    let features = || ("features", array("(2, 1)", &[1.0, 2.0]));
    let labels = || ("labels", array("(2, 2)", &[0.5, 0.5, 0.5, 0.5]));
    let parts = || ("part", array_of("<U1", "(2,)", &[97, 0, 0, 0, 98, 0, 0, 0]));
    let options = ReadOptions { split_column: Some("part".into()), ..ReadOptions::default() };
    for arrays in
        [[features(), labels(), parts()], [labels(), features(), parts()], [parts(), features(), labels()]]
    {
        let error = load(&damaged(&arrays), &options).unwrap_err();
        assert!(error.to_string().ends_with(DAMAGE), "{}: {error}", arrays[0].0);
        assert_eq!(error.kind(), ErrorKind::Data);
    }
}

#[test]
fn a_stream_of_damaged_numbers_ends_with_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("small.npz");
    std::fs::write(&path, damaged(&[("features", array("(3, 1)", &[1.0, 2.0, 3.0]))])).unwrap();
    let mut rows = stream(&path, None, &Schema::default(), 1).unwrap();
    assert!(rows.next_block(2).is_ok());
    let error = rows.next_block(1).unwrap_err();
    assert!(error.to_string().ends_with(DAMAGE), "{error}");
    assert_eq!(error.kind(), ErrorKind::Data);
}

#[test]
fn an_empty_file_is_said_to_be_so() {
    let error = load(b"", &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("small.npz: the file is empty"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Data);
}

#[test]
fn one_label_a_row_is_no_distribution_but_an_ordered_label() {
    let ages = |shape| [("features", array("(2, 1)", &[1.0, 2.0])), ("labels", array(shape, &[5.0, 6.0]))];
    let expected = "small.npz: one label column is no distribution; for one ordered label use \
                    `label_column` labels `spread` S";
    let options = ReadOptions {
        label_column: Some("labels".into()),
        spread: Some(Spread::Gaussian { sigma: 0.0 }),
        ..ReadOptions::default()
    };
    for shape in ["(2,)", "(2, 1)"] {
        assert_eq!(refusal(&ages(shape)), expected);
        assert_eq!(load(&archive(&ages(shape)), &options).unwrap().truth().unwrap(), [5.0, 6.0]);
    }
}

#[test]
fn bad_weights_are_named_by_file_and_row() {
    let bytes = archive(&[
        ("features", array("(2, 1)", &[1.0, 2.0])),
        ("labels", array("(2, 2)", &[0.5, 0.5, 0.5, 0.5])),
        ("w", array("(2,)", &[1.0, -1.0])),
    ]);
    let options = ReadOptions { sample_weights: Some("w".into()), ..ReadOptions::default() };
    let error = load(&bytes, &options).unwrap_err().to_string();
    let expected = "small.npz row 2: the sample weight -1 is not a finite number of at least 0";
    assert!(error.ends_with(expected), "{error}");
}
