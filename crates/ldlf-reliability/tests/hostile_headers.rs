//! Files with false headers, and models with impossible numbers: refused in a sentence, without allocating what they claim.

use std::path::PathBuf;

use ldlf::internals::core::stored::{Array, Parts};
use ldlf::internals::io::read::{Format, ReadOptions, read};
use ldlf::{TrainedModel, registry};
use ldlf_reliability::corpus::{Sample, arrow_tables, mat, npy, npz, parquet_tables, zipped};
use ldlf_reliability::learners::{checkpoint_settings, fit, small_data};
use ldlf_reliability::watched_memory::{WatchedMemory, peak_of};

#[global_allocator]
static MEMORY: WatchedMemory = WatchedMemory;

/// The error for a file, which may not take more than a megabyte.
fn refusal(format: Format, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("file");
    std::fs::write(&path, bytes).unwrap();
    let (labels, ignore) = match format {
        Format::Arrow => (vec!["label_*".into()], vec!["who".into()]),
        _ => (vec![], vec![]),
    };
    let options = ReadOptions { format: Some(format), labels, ignore, ..ReadOptions::default() };
    // A decoder's panic is caught, but with RUST_BACKTRACE its report takes more memory than the file.
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (outcome, peak) = peak_of(|| read(&path, &options));
    std::panic::set_hook(tell);
    assert!(peak < 1 << 20, "{peak} bytes were held");
    let error = outcome.expect_err("it is refused");
    assert_eq!(error.kind(), ldlf::internals::core::ErrorKind::Data, "{error}");
    error.to_string()
}

/// An archive with these features and the labels of the corpus.
fn with_features(features: Vec<u8>) -> Vec<u8> {
    let Sample::Archive(mut members) = npz().remove(0) else { unreachable!("an archive") };
    members[0].1 = features;
    zipped(&members, true)
}

#[test]
fn arrays_that_promise_more_than_they_hold_are_refused() {
    for shape in ["(4000000000, 3)", "(4, 1000000)", "(3000000000, 3000000000)"] {
        let text = refusal(Format::Npz, &with_features(npy("<f4", false, shape, &[0; 48])));
        assert!(text.contains("cut short"), "{shape}: {text}");
        let text = refusal(Format::Npz, &with_features(npy("<f4", true, shape, &[0; 48])));
        assert!(text.contains("cut short") || text.contains("too large"), "{shape}: {text}");
    }
    let overflow = "(18446744073709551615, 18446744073709551615)";
    let text = refusal(Format::Npz, &with_features(npy("<f4", false, overflow, &[0; 48])));
    assert!(text.contains("its shape is too large"), "{text}");
    let text = refusal(Format::Npz, &with_features(npy("<U4000000000", false, "(4000000000,)", &[0; 48])));
    assert!(text.contains("dimensions") || text.contains("not read"), "{text}");
}

#[test]
fn matrices_that_promise_more_than_they_hold_are_refused() {
    let whole = mat()[0].bytes();
    // The sizes 3 x 2 of the first variable follow its flags.
    let place = whole.windows(8).position(|bytes| bytes == [3, 0, 0, 0, 2, 0, 0, 0]).unwrap();
    for sizes in [[0x7fff_ffffu32, 0x7fff_ffff], [4_000_000, 1], [3, 0x7fff_ffff]] {
        let mut bytes = whole.clone();
        bytes[place..place + 4].copy_from_slice(&sizes[0].to_le_bytes());
        bytes[place + 4..place + 8].copy_from_slice(&sizes[1].to_le_bytes());
        let text = refusal(Format::Mat, &bytes);
        assert!(text.contains("promises") || text.contains("size"), "{sizes:?}: {text}");
    }
    let sparse = mat()[2].bytes();
    let place = sparse.windows(8).position(|bytes| bytes == [3, 0, 0, 0, 2, 0, 0, 0]).unwrap();
    let mut bytes = sparse.clone();
    bytes[place..place + 4].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    let text = refusal(Format::Mat, &bytes);
    assert!(text.contains("a sparse matrix of 2147483647 rows with 3 entries"), "{text}");
}

#[test]
fn a_parquet_footer_that_lies_about_its_length_is_refused() {
    let whole = parquet_tables()[0].bytes();
    for length in [0u32, 1, 0x7fff_ffff, u32::MAX] {
        let mut bytes = whole.clone();
        let end = bytes.len();
        bytes[end - 8..end - 4].copy_from_slice(&length.to_le_bytes());
        let text = refusal(Format::Parquet, &bytes);
        assert!(text.contains("not a usable Parquet file"), "{length}: {text}");
    }
}

/// The tables of the corpus with every place that holds `from` changed to `to`; at least one has such a place.
fn changed(from: &[u8], to: &[u8]) -> Vec<Vec<u8>> {
    let files = arrow_tables().into_iter().map(|sample| sample.bytes());
    let changed: Vec<Vec<u8>> = files
        .filter_map(|mut bytes| {
            let places: Vec<usize> = (0..bytes.len() - from.len())
                .filter(|&start| bytes[start..].starts_with(from) && start > 8)
                .collect();
            places.iter().for_each(|&start| bytes[start..start + to.len()].copy_from_slice(to));
            (!places.is_empty()).then_some(bytes)
        })
        .collect();
    assert!(!changed.is_empty());
    changed
}

#[test]
fn arrow_columns_that_claim_to_unpack_to_more_than_the_memory_are_refused() {
    // The compressed column x_2 of the first batch: 25 whole numbers of four bytes, as its prefix says.
    for claimed in [1u64 << 45, i64::MAX as u64] {
        for bytes in changed(&100u64.to_le_bytes(), &claimed.to_le_bytes()) {
            let text = refusal(Format::Arrow, &bytes);
            assert!(text.contains("would take") || text.contains("not a usable Arrow file"), "{text}");
        }
    }
}

#[test]
fn arrow_messages_that_claim_more_than_the_file_holds_are_refused() {
    for length in [[0xff, 0xff, 0xff, 0x7f], [0xff, 0xff, 0xff, 0xfe]] {
        let marked = [0xff; 4];
        for mut bytes in changed(&marked, &marked) {
            let start = bytes.windows(4).position(|part| part == marked).unwrap();
            bytes[start + 4..start + 8].copy_from_slice(&length);
            let text = refusal(Format::Arrow, &bytes);
            assert!(text.contains("it ends within a batch"), "{text}");
        }
    }
}

fn forest() -> Parts {
    let learner = registry::build("sldlf", None, &checkpoint_settings()).unwrap();
    fit(&*learner, &small_data()).unwrap().to_parts()
}

fn model_refusal(bytes: &[u8]) -> String {
    let (outcome, peak) = peak_of(|| {
        Parts::from_bytes(bytes).and_then(|parts| TrainedModel::from_parts(parts, &registry::learners()))
    });
    assert!(peak < 4 << 20, "{peak} bytes were held");
    let error = outcome.err().expect("it is refused");
    assert_eq!(error.kind(), ldlf::internals::core::ErrorKind::ModelFile, "{error}");
    error.to_string()
}

#[test]
fn a_model_header_that_lies_is_refused() {
    let whole = forest().to_bytes().unwrap();
    for length in [0u64, 1, whole.len() as u64, 100_000_001, u64::MAX] {
        let mut bytes = whole.clone();
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        assert!(model_refusal(&bytes).contains("not an ldlf model file, or a damaged one"));
    }
    // The first digit of the first shape, as the header writes it.
    let shape = whole.windows(9).position(|bytes| bytes == b"\"shape\":[").unwrap() + 9;
    for digit in (b'0'..=b'9').filter(|digit| *digit != whole[shape]) {
        let mut bytes = whole.clone();
        bytes[shape] = digit;
        model_refusal(&bytes);
    }
}

#[test]
fn models_whose_numbers_cannot_be_are_refused_by_name() {
    let changed = |name: &str, change: &dyn Fn(&mut Array)| {
        let mut parts = forest();
        let mut array = parts.arrays().find(|(known, _)| *known == name).unwrap().1.clone();
        change(&mut array);
        parts.put(name, array);
        model_refusal(&parts.to_bytes().unwrap())
    };
    let first = |value: f32| {
        move |array: &mut Array| match array {
            Array::F32(_, data) => data[0] = value,
            _ => unreachable!("single precision"),
        }
    };
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let text = changed("weights", &first(odd));
        assert_eq!(text, "the model file's array \"weights\" holds a number that is not finite");
    }
    for odd in [-0.5, 2.0] {
        let text = changed("leaves", &first(odd));
        assert!(text.contains("distribution") || text.contains("simplex"), "{text}");
    }
    let text = changed("units", &|array| match array {
        Array::U32(_, data) => data[0] = u32::MAX,
        _ => unreachable!("whole numbers"),
    });
    assert_eq!(text, "the model file's \"units\" names a unit that does not exist");
    for depth in [0u64, 31, 64, u64::MAX] {
        let mut parts = forest();
        parts.details["model"]["depth"] = depth.into();
        model_refusal(&parts.to_bytes().unwrap());
    }
}
