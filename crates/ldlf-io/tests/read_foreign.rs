//! Files that SciPy, NumPy and pandas wrote (`fixtures/write_read_fixtures.py`): one matrix in every layout.

use std::path::PathBuf;

use ldlf_core::{ErrorKind, Features, Schema};
use ldlf_io::read::{ReadOptions, read, stream};

const FEATURES: [f32; 15] = [1.5, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0];

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures")).join(name)
}

fn dense(features: &Features) -> Vec<f32> {
    let mut all = vec![0.0; features.rows() * features.cols()];
    for row in 0..features.rows() {
        features.copy_row_into(row, &mut all[row * features.cols()..(row + 1) * features.cols()]);
    }
    all
}

#[test]
fn arrays_of_scipy_and_numpy_give_the_matrix_that_was_saved() {
    for (name, targets) in [
        ("scipy_sparse.mat", [0.75, 0.25, 0.5, 0.5, 0.0, 1.0]),
        ("scipy_dense.mat", [0.75, 0.25, 0.5, 0.5, 0.0, 1.0]),
        ("numpy.npz", [0.75, 0.25, 0.5, 0.5, 0.0, 1.0]),
        ("numpy_fortran.npz", [0.5, 0.5, 0.5, 0.5, 0.0, 1.0]),
        ("scipy_csr.npz", [0.75, 0.25, 0.5, 0.5, 0.0, 1.0]),
    ] {
        let loaded = read(&fixture(name), &ReadOptions::default()).unwrap();
        assert_eq!(dense(loaded.dataset.features().unwrap()), FEATURES, "{name}");
        assert!(
            matches!(loaded.dataset.features().unwrap(), Features::Sparse(_)),
            "{name}: one in five is not zero"
        );
        assert_eq!(loaded.dataset.targets().as_slice(), targets, "{name}");
        assert_eq!(loaded.notices.len(), 1, "{name}");
    }
}

#[test]
fn texts_of_numpy_name_labels_and_parts() {
    let options = ReadOptions { split_column: Some("part".into()), ..ReadOptions::default() };
    let data = read(&fixture("scipy_csr.npz"), &options).unwrap().dataset;
    assert_eq!(data.schema().label_names, ["low", "high"]);
    assert_eq!(data.split().unwrap(), ["train", "test", "train"]);
}

#[test]
fn streams_of_arrays_give_the_same_rows_in_blocks() {
    for name in ["scipy_sparse.mat", "numpy.npz", "numpy_fortran.npz", "scipy_csr.npz", "scipy_save_npz.npz"]
    {
        let mut rows = stream(&fixture(name), None, &Schema::default(), 5).unwrap();
        assert_eq!(rows.total_rows(), Some(3), "{name}");
        assert_eq!(dense(&rows.next_block(2).unwrap().unwrap()), FEATURES[..10], "{name}");
        assert_eq!(dense(&rows.next_block(2).unwrap().unwrap()), FEATURES[10..], "{name}");
        assert!(rows.next_block(2).unwrap().is_none(), "{name}");
    }
}

#[cfg(feature = "parquet")]
mod arrow {
    use ldlf_core::Error;
    use ldlf_io::output::Overwrite;
    use ldlf_io::read::{Wanted, stream_wanted};
    use ldlf_io::write::{Column, Formulas, TableForm, save_table};

    use super::*;

    const FILES: [&str; 3] = ["pandas_lz4.feather", "pyarrow_zstd.arrow", "pyarrow_plain.arrows"];

    fn votes() -> ReadOptions {
        ReadOptions {
            labels: vec!["r_*".into()],
            split_column: Some("part".into()),
            ..ReadOptions::default()
        }
    }

    #[test]
    fn files_and_streams_give_the_matrix_that_was_saved() {
        for name in FILES {
            let data = read(&fixture(name), &votes()).unwrap().dataset;
            assert_eq!(dense(data.features().unwrap()), FEATURES, "{name}");
            assert_eq!(data.targets().as_slice(), [0.75, 0.25, 0.5, 0.5, 0.0, 1.0], "{name}");
            assert_eq!(data.schema().feature_names.clone().unwrap(), ["a", "b", "c", "d", "e"], "{name}");
            assert_eq!(data.split().unwrap(), ["train", "test", "train"], "{name}");
        }
    }

    #[test]
    fn columns_pass_through_as_text_and_a_missing_value_is_a_bad_row() {
        let schema = Schema { feature_names: Some(vec!["x".into()]), ..Schema::default() };
        let ids = ["a", "b", "c"].map(String::from);
        for extension in ["parquet", "arrow", "arrows"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("table").with_extension(extension);
            let columns = [Column::Names("id", &ids), Column::Numbers("x", vec![0.5, f64::NAN, 2.0])];
            save_table(&path, Overwrite::No, TableForm::of(&path).unwrap(), Formulas::Kept, |mut writer| {
                writer.block(&columns).and_then(|()| writer.finish()).map_err(|e| Error::io(&path, e))
            })
            .unwrap();
            let keep = ["x".to_string(), "id".to_string()];
            let wanted = Wanted { schema: &schema, features: 1, keep: &keep, tolerant: true };
            let mut rows = stream_wanted(&path, None, &wanted).unwrap();
            assert_eq!(rows.kept_names(), ["x", "id"]);
            let block = rows.next_rows(9).unwrap().unwrap();
            assert_eq!(dense(&block.features), [0.5, 2.0], "{extension}");
            assert_eq!(block.kept, [["0.5", "", "2"].map(String::from), ids.clone()], "{extension}");
            let bad: Vec<(usize, Option<u64>)> =
                block.bad.iter().map(|bad| (bad.row, bad.error.place().unwrap().row)).collect();
            assert_eq!(bad, [(1, Some(2))], "{extension}");
            assert!(rows.next_rows(9).unwrap().is_none());
            let mut strict = stream_wanted(&path, None, &Wanted { tolerant: false, ..wanted }).unwrap();
            assert!(strict.next_rows(9).unwrap_err().to_string().contains("row 2, column \"x\""));
        }
    }

    #[test]
    fn streams_take_the_columns_of_the_model() {
        let names = Some(vec!["d".to_string(), "a".to_string()]);
        let schema = Schema { feature_names: names, ..Schema::default() };
        for name in FILES.iter().chain(&["pandas.parquet"]) {
            let mut rows = stream(&fixture(name), None, &schema, 2).unwrap();
            assert_eq!(dense(&rows.next_block(1).unwrap().unwrap()), [0.0, 1.5], "{name}");
            rows.skip(1).unwrap();
            assert_eq!(dense(&rows.next_block(9).unwrap().unwrap()), [3.0, 0.0], "{name}");
            assert!(rows.next_block(1).unwrap().is_none(), "{name}");
            let mut rows = stream(&fixture(name), None, &schema, 2).unwrap();
            rows.skip(9).unwrap();
            assert!(rows.next_block(1).unwrap().is_none(), "{name}: there are no nine rows");
        }
    }

    #[test]
    fn a_file_that_is_cut_short_is_refused() {
        let bytes = std::fs::read(fixture("pandas_lz4.feather")).unwrap();
        let path = tempfile::Builder::new().suffix(".feather").tempfile().unwrap();
        // The table of contents at the end is not needed, all before it is.
        for end in (0..bytes.len() / 2).step_by(7) {
            std::fs::write(&path, &bytes[..end]).unwrap();
            let error = read(path.path(), &votes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Data, "{end}: {error}");
        }
        for (text, said) in [
            ("", ": the file is empty"),
            ("FEA1....", "(Feather version 1; save it anew as version 2)"),
            ("a,b\n1,2\n", "not a usable Arrow file (it begins neither as a file nor as a stream)"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read(path.path(), &votes()).unwrap_err();
            assert!(error.to_string().ends_with(said), "{error}");
        }
    }
}

#[cfg(feature = "parquet")]
mod parquet {
    use super::*;

    fn votes() -> ReadOptions {
        ReadOptions { labels: vec!["r_*".into()], ignore: vec!["part".into()], ..ReadOptions::default() }
    }

    #[test]
    fn a_table_of_pandas_gives_the_matrix_that_was_saved() {
        let options = ReadOptions { ignore: Vec::new(), split_column: Some("part".into()), ..votes() };
        let data = read(&fixture("pandas.parquet"), &options).unwrap().dataset;
        assert_eq!(dense(data.features().unwrap()), FEATURES);
        assert_eq!(data.targets().as_slice(), [0.75, 0.25, 0.5, 0.5, 0.0, 1.0]);
        assert_eq!(data.schema().feature_names.clone().unwrap(), ["a", "b", "c", "d", "e"]);
        assert_eq!(data.schema().label_names, ["r_1", "r_2"]);
        assert_eq!(data.split().unwrap(), ["train", "test", "train"]);
    }

    #[test]
    fn every_common_codec_is_read() {
        for codec in ["gzip", "brotli", "lz4"] {
            let data = read(&fixture(&format!("pandas_{codec}.parquet")), &votes()).unwrap().dataset;
            assert_eq!(dense(data.features().unwrap()), FEATURES, "{codec}");
        }
    }

    #[test]
    fn a_codec_that_is_not_read_is_named_with_a_remedy() {
        let mut bytes = std::fs::read(fixture("pandas.parquet")).unwrap();
        // The codec stands after the path of its column, as a signed number: 2 is Snappy, 6 is LZO.
        let codec = bytes.windows(6).position(|part| part == b"\x19\x18\x01a\x15\x02").unwrap() + 5;
        bytes[codec] = 6;
        let path = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
        std::fs::write(&path, bytes).unwrap();
        let error = read(path.path(), &votes()).unwrap_err();
        let expected = ": compressed by LZO, which is not read; save it with the compression zstd";
        assert!(error.to_string().ends_with(expected), "{error}");
        assert_eq!(error.kind(), ErrorKind::Data);
    }

    #[test]
    fn an_empty_file_is_said_to_be_so() {
        let path = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
        let error = read(path.path(), &votes()).unwrap_err();
        assert!(error.to_string().ends_with(".parquet: the file is empty"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Data);
    }

    #[test]
    fn a_stream_does_not_advise_to_leave_out_what_the_model_needs() {
        let schema = Schema { feature_names: Some(vec!["part".into()]), ..Schema::default() };
        let mut rows = stream(&fixture("pandas.parquet"), None, &schema, 1).unwrap();
        let error = rows.next_block(2).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "row 1, column \"part\": \"train\" is not a number; the model needs a number here"
            ),
            "{error}"
        );
    }

    #[test]
    fn categories_and_nulls_become_features_of_their_own() {
        for name in ["pandas_missing.parquet", "pandas_missing.feather"] {
            let options = ReadOptions { ignore: Vec::new(), ..votes() };
            let data = read(&fixture(name), &options).unwrap().dataset;
            let names = data.schema().feature_names.clone().unwrap();
            assert_eq!(names, ["a", "a is missing", "b", "c", "d", "e", "part=test", "part=train"], "{name}");
            let mut row = [0.0; 8];
            data.features().unwrap().copy_row_into(1, &mut row);
            assert_eq!(row[1..], [1.0, -2.0, 0.0, 0.0, 0.0, 1.0, 0.0], "{name}");
            assert!(row[0] != 0.0, "{name}: filled with the mean of the others");
            let mut rows = stream(&fixture(name), None, data.schema(), 8).unwrap();
            assert_eq!(&rows.next_block(9).unwrap().unwrap(), data.features().unwrap(), "{name}");
        }
    }

    #[test]
    fn a_file_that_is_no_parquet_is_refused() {
        let path = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
        std::fs::write(&path, b"PAR1 and nothing else PAR1").unwrap();
        let error = read(path.path(), &votes()).unwrap_err();
        assert!(error.to_string().contains("not a usable Parquet file"), "{error}");
    }

    #[test]
    fn a_stream_takes_the_columns_of_the_model_in_its_order() {
        let names = Some(vec!["d".to_string(), "a".to_string()]);
        let schema = Schema { feature_names: names, ..Schema::default() };
        let mut rows = stream(&fixture("pandas.parquet"), None, &schema, 2).unwrap();
        assert_eq!(rows.total_rows(), Some(3));
        assert_eq!(dense(&rows.next_block(2).unwrap().unwrap()), [0.0, 1.5, 0.0, 0.0]);
        assert_eq!(dense(&rows.next_block(2).unwrap().unwrap()), [3.0, 0.0]);
        assert!(rows.next_block(2).unwrap().is_none());
    }
}
