//! MATLAB files, written here byte by byte, and the real ones.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use ldlf_core::targets::Spread;
use ldlf_core::{ErrorKind, Features, Result, Schema};
use ldlf_io::read::{Loaded, ReadOptions, read, stream};
use ldlf_testing::real_file;
use proptest::prelude::*;
use tempfile::TempDir;

/// Writes elements in one byte order.
#[derive(Clone, Copy)]
struct Writer {
    big_endian: bool,
    compressed: bool,
}

const LITTLE: Writer = Writer { big_endian: false, compressed: false };
const COMPRESSED: Writer = Writer { big_endian: false, compressed: true };

impl Writer {
    fn word(self, value: u32) -> [u8; 4] {
        if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn file(self, variables: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = b"MATLAB 5.0 MAT-file, written by a test".to_vec();
        bytes.resize(124, b' ');
        bytes.extend(if self.big_endian { b"\x01\x00MI" } else { b"\x00\x01IM" });
        variables.iter().for_each(|variable| bytes.extend(variable));
        bytes
    }

    fn element(self, kind: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        if (1..=4).contains(&data.len()) {
            bytes.extend(self.word((data.len() as u32) << 16 | kind));
        } else {
            bytes.extend(self.word(kind));
            bytes.extend(self.word(data.len() as u32));
        }
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn doubles(self, values: &[f64]) -> Vec<u8> {
        let bytes = |v: &f64| if self.big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
        self.element(9, &values.iter().flat_map(bytes).collect::<Vec<_>>())
    }

    fn words(self, values: &[u32]) -> Vec<u8> {
        self.element(5, &values.iter().flat_map(|&v| self.word(v)).collect::<Vec<_>>())
    }

    fn variable(self, name: &str, class: u32, sizes: [u32; 2], parts: &[Vec<u8>]) -> Vec<u8> {
        let flags = [self.word(class), self.word(0)].concat();
        let mut body = self.element(6, &flags);
        body.extend(self.words(&sizes));
        body.extend(self.element(1, name.as_bytes()));
        parts.iter().for_each(|part| body.extend(part));
        let whole = self.element(14, &body);
        if !self.compressed {
            return whole;
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&whole).unwrap();
        let data = encoder.finish().unwrap();
        [&self.word(15)[..], &self.word(data.len() as u32)[..], &data].concat()
    }

    /// A dense matrix of doubles, given by columns.
    fn matrix(self, name: &str, rows: usize, columns: &[f64]) -> Vec<u8> {
        let sizes = [rows as u32, (columns.len() / rows.max(1)) as u32];
        self.variable(name, 6, sizes, &[self.doubles(columns)])
    }

    /// The same matrix as only the entries that differ from zero.
    fn sparse(self, name: &str, rows: usize, columns: &[f64]) -> Vec<u8> {
        let (mut places, mut starts, mut values) = (Vec::new(), vec![0], Vec::new());
        for column in columns.chunks(rows) {
            for (row, &value) in column.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                places.push(row as u32);
                values.push(value);
            }
            starts.push(places.len() as u32);
        }
        let sizes = [rows as u32, (columns.len() / rows) as u32];
        self.variable(name, 5, sizes, &[self.words(&places), self.words(&starts), self.doubles(&values)])
    }
}

fn load(bytes: &[u8], options: &ReadOptions) -> Result<Loaded> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("small.mat");
    std::fs::write(&path, bytes).unwrap();
    read(&path, options)
}

/// The message about `small.mat`, without the folder.
fn refusal(bytes: &[u8], options: &ReadOptions) -> String {
    let error = load(bytes, options).unwrap_err();
    assert!(error.kind() == ErrorKind::Data || error.kind() == ErrorKind::Usage, "{error}");
    let message = error.to_string();
    message.split_once("small.mat").map_or(message.clone(), |(_, rest)| format!("small.mat{rest}"))
}

fn dense(features: &Features) -> Vec<f32> {
    let mut all = vec![0.0; features.rows() * features.cols()];
    for row in 0..features.rows() {
        features.copy_row_into(row, &mut all[row * features.cols()..(row + 1) * features.cols()]);
    }
    all
}

#[test]
fn both_byte_orders_compressed_or_not_give_the_same_dataset() {
    for big_endian in [false, true] {
        for compressed in [false, true] {
            let writer = Writer { big_endian, compressed };
            let bytes = writer.file(&[
                writer.matrix("Features", 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
                writer.matrix("LABELS", 2, &[0.25, 1.0, 0.75, 0.0]),
            ]);
            let loaded = load(&bytes, &ReadOptions::default()).unwrap();
            assert_eq!(dense(loaded.dataset.features().unwrap()), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
            assert_eq!(loaded.dataset.targets().as_slice(), [0.25, 0.75, 1.0, 0.0]);
            assert_eq!(loaded.dataset.schema().label_names, ["label_0", "label_1"]);
            assert!(loaded.notices.is_empty());
        }
    }
}

#[test]
fn numbers_stored_in_fewer_bytes_than_their_class_are_read() {
    let w = LITTLE;
    let bytes = w.file(&[
        w.variable("features", 6, [3, 1], &[w.element(2, &[1, 200, 3])]),
        w.variable("labels", 6, [3, 2], &[w.element(4, &[1, 0, 2, 0, 0, 1, 3, 0, 2, 0, 0, 0])]),
    ]);
    let data = load(&bytes, &ReadOptions::default()).unwrap().dataset;
    assert_eq!(dense(data.features().unwrap()), [1.0, 200.0, 3.0]);
    assert_eq!(data.targets().as_slice(), [0.25, 0.75, 0.5, 0.5, 1.0, 0.0]);
}

#[test]
fn sparse_matrices_stay_sparse() {
    let w = COMPRESSED;
    // [0 7; 0 0; 5 6], with one place reserved and not used.
    let parts = [w.words(&[2, 0, 2, 0]), w.words(&[0, 1, 3]), w.doubles(&[5.0, 7.0, 6.0, 0.0])];
    let bytes = w.file(&[w.variable("features", 5, [3, 2], &parts), w.matrix("labels", 3, &[0.5; 6])]);
    let data = load(&bytes, &ReadOptions::default()).unwrap().dataset;
    let Features::Sparse(csr) = data.features().unwrap() else { panic!("stored sparse") };
    assert_eq!(csr.parts(), (&[0, 1, 1, 3][..], &[1, 0, 1][..], &[7.0, 5.0, 6.0][..]));
}

#[test]
fn other_variables_are_passed_over_whatever_they_hold() {
    let w = LITTLE;
    let bytes = w.file(&[
        w.variable("note", 4, [1, 2], &[w.element(16, b"hi")]),
        w.variable("cells", 1, [1, 1], &[w.element(14, &[])]),
        w.matrix("features", 1, &[1.0]),
        w.matrix("labels", 1, &[0.5, 0.5]),
    ]);
    assert_eq!(load(&bytes, &ReadOptions::default()).unwrap().dataset.rows(), 1);
}

#[test]
fn one_label_a_row_is_no_distribution_but_an_ordered_label() {
    let w = LITTLE;
    let bytes = w.file(&[w.matrix("features", 2, &[1.0, 2.0]), w.matrix("labels", 2, &[5.0, 6.0])]);
    let expected = "small.mat: one label column is no distribution; for one ordered label use \
                    `label_column` labels `spread` S";
    assert_eq!(refusal(&bytes, &ReadOptions::default()), expected);
    let options = ReadOptions {
        label_column: Some("labels".into()),
        spread: Some(Spread::Gaussian { sigma: 0.0 }),
        ..ReadOptions::default()
    };
    assert_eq!(load(&bytes, &options).unwrap().dataset.truth().unwrap(), [5.0, 6.0]);
}

#[test]
fn a_vector_is_the_truth_or_makes_the_targets() {
    let w = LITTLE;
    let bytes = w.file(&[
        w.matrix("features", 2, &[1.0, 2.0]),
        w.matrix("labels", 2, &[0.5, 0.2, 0.5, 0.8, 0.0, 0.0]),
        w.variable("age", 9, [1, 2], &[w.element(2, &[10, 20])]),
        w.matrix("x", 1, &[10.0, 15.0, 20.0]),
    ]);
    let options = ReadOptions { label_column: Some("age".into()), ..ReadOptions::default() };
    let data = load(&bytes, &options).unwrap().dataset;
    assert_eq!(data.truth(), Some(&[10.0, 20.0][..]));
    assert_eq!(data.schema().label_values.as_deref(), Some(&[10.0, 15.0, 20.0][..]));
    assert_eq!(data.schema().label_names, ["10", "15", "20"]);
    assert_eq!(data.targets().row(1), [0.2, 0.8, 0.0]);
    let options = ReadOptions { spread: Some(Spread::Gaussian { sigma: 0.0 }), ..options };
    let data = load(&bytes, &options).unwrap().dataset;
    assert_eq!(data.targets().as_slice(), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn bad_numbers_are_named_by_row_and_column() {
    let w = COMPRESSED;
    let with = |features: &[f64], labels: &[f64]| {
        let bytes = w.file(&[w.matrix("features", 2, features), w.matrix("labels", 2, labels)]);
        refusal(&bytes, &ReadOptions::default())
    };
    let (good, even) = ([1.0; 4], [0.5; 4]);
    assert_eq!(
        with(&[1.0, 1.0, 1.0, f64::NAN], &even),
        "small.mat row 2, feature 2: the value is missing (NaN)"
    );
    assert_eq!(
        with(&[1.0, 1e300, 1.0, 1.0], &even),
        "small.mat row 2, feature 1: 1e300 is outside the range of single precision; rescale the column"
    );
    assert_eq!(
        with(&good, &[0.5, -0.5, 0.5, 1.5]),
        "small.mat row 2, label 1: the label -0.5 is negative; labels are shares or counts of at least 0"
    );
    assert_eq!(
        with(&good, &[0.5, f64::NAN, 0.5, 1.5]),
        "small.mat row 2, label 1: the label is missing (NaN)"
    );
    assert_eq!(
        with(&good, &[0.0, 0.5, 0.0, 0.5]),
        "small.mat row 1: every label is 0, so there is no distribution to learn; remove the row"
    );
}

#[test]
fn files_that_are_something_else_are_refused_with_the_remedy() {
    let none = ReadOptions::default();
    assert_eq!(refusal(b"", &none), "small.mat: the file is empty");
    assert_eq!(refusal(&[7; 300], &none), "small.mat: not a MATLAB v5 or v7 file; save it with -v7");
    let mut newer = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".to_vec();
    newer.resize(600, 0);
    assert_eq!(
        refusal(&newer, &none),
        "small.mat: a MATLAB v7.3 (HDF5) file, which is not read; save it with -v7"
    );
    let bytes = LITTLE.file(&[LITTLE.matrix("data", 1, &[1.0]), LITTLE.matrix("labels", 1, &[1.0])]);
    assert_eq!(
        refusal(&bytes, &none),
        "small.mat: no numeric variable \"features\"; it holds data, labels; name them features and labels"
    );
    let bytes = LITTLE.file(&[LITTLE.matrix("features", 2, &[1.0, 1.0]), LITTLE.matrix("labels", 1, &[1.0])]);
    assert_eq!(refusal(&bytes, &none), "small.mat: 1 rows of labels for 2 rows of features");
    let ignore = ReadOptions { ignore: vec!["id".into()], ..none };
    assert_eq!(
        refusal(&bytes, &ignore),
        "small.mat: `ignore` needs columns with names, which mat files do not have"
    );
}

#[test]
fn sizes_that_the_file_does_not_hold_reserve_nothing() {
    let none = ReadOptions::default();
    for w in [LITTLE, COMPRESSED] {
        let labels = w.matrix("labels", 1, &[1.0]);
        let huge = w.variable("features", 6, [i32::MAX as u32, i32::MAX as u32], &[w.doubles(&[1.0])]);
        assert_eq!(
            refusal(&w.file(&[huge, labels.clone()]), &none),
            "small.mat: the file is damaged (\"features\" promises 2147483647 x 2147483647 numbers and holds 1)"
        );
        // The tag promises what the size promises; the bytes do not come.
        let tag = [w.word(9), w.word(0xffff_fff8)].concat();
        let cut = w.variable("features", 6, [0x1fff_ffff, 1], &[tag]);
        assert!(refusal(&w.file(&[cut, labels.clone()]), &none).contains("damaged or cut short"));
        let negative = w.variable("features", 6, [0x8000_0000, 2], &[w.doubles(&[1.0])]);
        assert_eq!(
            refusal(&w.file(&[negative, labels.clone()]), &none),
            "small.mat: the file is damaged (the size of \"features\")"
        );
        let empty = w.variable("features", 6, [i32::MAX as u32, 0], &[w.doubles(&[])]);
        assert_eq!(
            refusal(&w.file(&[empty, labels.clone()]), &none),
            "small.mat: \"features\" has no columns"
        );
        let parts = [w.words(&[0]), w.words(&[0, 1]), w.doubles(&[5.0])];
        let tall = w.variable("features", 5, [i32::MAX as u32, 1], &parts);
        assert_eq!(
            refusal(&w.file(&[tall, labels.clone()]), &none),
            "small.mat: the file is damaged (a sparse matrix of 2147483647 rows with 1 entries)"
        );
        let parts = [w.words(&[9]), w.words(&[0, 1]), w.doubles(&[5.0])];
        let outside = w.variable("features", 5, [2, 1], &parts);
        assert_eq!(
            refusal(&w.file(&[outside, labels]), &none),
            "small.mat: a sparse entry lies in row 10 of 2"
        );
    }
}

#[test]
fn no_cut_and_no_flipped_byte_makes_the_reader_panic() {
    for w in [LITTLE, COMPRESSED] {
        let parts = [w.words(&[2, 0, 2]), w.words(&[0, 1, 3]), w.doubles(&[5.0, 7.0, 6.0])];
        let bytes = w.file(&[w.variable("features", 5, [3, 2], &parts), w.matrix("labels", 3, &[0.5; 6])]);
        for length in 0..bytes.len() {
            assert!(load(&bytes[..length], &ReadOptions::default()).is_err(), "cut to {length}");
        }
        for place in 124..bytes.len() {
            let mut bad = bytes.clone();
            bad[place] ^= 0x5a;
            let _ = load(&bad, &ReadOptions::default());
        }
    }
}

#[test]
fn a_stream_cuts_the_features_into_blocks() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("new.mat");
    std::fs::write(&path, LITTLE.file(&[LITTLE.matrix("features", 3, &[1.0, 2.0, 3.0])])).unwrap();
    let mut rows = stream(&path, None, &Schema::default(), 1).unwrap();
    assert_eq!(rows.total_rows(), Some(3));
    assert_eq!(dense(&rows.next_block(2).unwrap().unwrap()), [1.0, 2.0]);
    assert_eq!(dense(&rows.next_block(2).unwrap().unwrap()), [3.0]);
    assert!(rows.next_block(2).unwrap().is_none());
    let error = stream(&path, None, &Schema::default(), 4).err().unwrap().to_string();
    assert!(error.ends_with("new.mat: 1 features where the model expects 4"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn matrices_survive_dense_or_sparse_by_the_rule(
        rows in 1usize..12,
        columns in prop::collection::vec(prop::collection::vec(
            prop_oneof![4 => Just(0.0f32), 1 => -9f32..9.0], 12), 1..6),
        big_endian: bool,
        compressed: bool,
        stored_sparse: bool,
    ) {
        let w = Writer { big_endian, compressed };
        let values: Vec<f64> = columns.iter().flat_map(|c| c[..rows].iter().map(|&v| f64::from(v))).collect();
        let features =
            if stored_sparse { w.sparse("features", rows, &values) } else { w.matrix("features", rows, &values) };
        let bytes = w.file(&[features, w.matrix("labels", rows, &vec![1.0; 2 * rows])]);
        let data = load(&bytes, &ReadOptions::default()).unwrap().dataset;
        let expected: Vec<f32> = (0..rows).flat_map(|r| columns.iter().map(move |c| c[r])).collect();
        prop_assert_eq!(dense(data.features().unwrap()), expected);
        let stored = values.iter().filter(|v| **v != 0.0).count();
        let sparse = stored_sparse || stored * 4 < values.len();
        prop_assert_eq!(matches!(data.features().unwrap(), Features::Sparse(_)), sparse);
    }
}

#[test]
fn dense_movie_is_read_sparse() {
    let Some(path) = real_file("ldl/Movie.mat") else { return };
    let loaded = read(&path, &ReadOptions::default()).unwrap();
    let Features::Sparse(csr) = loaded.dataset.features().unwrap() else {
        panic!("1.1 % of the entries are not zero")
    };
    assert_eq!((csr.rows(), csr.cols(), loaded.dataset.labels()), (7755, 1869, 5));
    assert!(csr.stored() * 50 < 7755 * 1869, "{} entries", csr.stored());
    assert_eq!(loaded.dataset.name(), "Movie");
    assert!(loaded.dataset.targets().iter_rows().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-4));
}

#[test]
fn fg_net_has_ages_label_values_and_rows_that_need_normalising() {
    let Some(path) = real_file("ldl/FG-Net.mat") else { return };
    let options = ReadOptions { label_column: Some("age".into()), ..ReadOptions::default() };
    let loaded = read(&path, &options).unwrap();
    assert_eq!(loaded.notices.len(), 1);
    assert!(
        loaded.notices[0].to_string().contains("of 1002 rows of labels did not sum to 1 (sums from 0.5"),
        "{}",
        loaded.notices[0]
    );
    let data = loaded.dataset;
    assert_eq!((data.rows(), data.features().unwrap().cols(), data.labels()), (1002, 251, 70));
    assert_eq!(data.schema().label_values.clone().unwrap().len(), 70);
    assert_eq!(data.truth().unwrap().len(), 1002);
}
