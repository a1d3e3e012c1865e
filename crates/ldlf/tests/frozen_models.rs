//! Every released format stays readable: model files written once (`frozen/make`) predict what they predicted then.

use std::path::{Path, PathBuf};

use ldlf::internals::io::read::stream;
use ldlf::{Matrix, Prediction, Threads, TrainedModel, registry};

fn models() -> Vec<PathBuf> {
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen");
    let mut found: Vec<PathBuf> = std::fs::read_dir(frozen)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ldlf"))
        .collect();
    found.sort();
    found
}

fn predicted_then(path: &Path) -> Matrix<f32> {
    let text = std::fs::read_to_string(path.with_extension("csv")).unwrap();
    let rows: Vec<Vec<f32>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    Matrix::new(rows.len(), rows[0].len(), rows.concat()).unwrap()
}

#[test]
fn frozen_models_predict_what_they_predicted_when_they_were_written() {
    let learners = registry::learners();
    for path in models() {
        let model = ldlf::internals::io::model_file::load(&path, &learners).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let data = if name.ends_with("-sparse") { "sparse.svm" } else { "rows.csv" };
        let mut rows = stream(&path.with_file_name(data), None, &model.schema, model.features).unwrap();
        let features = rows.next_block(1000).unwrap().unwrap().into();
        let now = match model.predict_with(&features, &Threads::one()).unwrap() {
            Prediction::Distributions(rows) => rows,
            Prediction::Values(v) => Matrix::new(v.len(), 1, v.iter().map(|&v| v as f32).collect()).unwrap(),
        };
        let then = predicted_then(&path);
        assert_eq!((now.rows(), now.cols()), (then.rows(), then.cols()), "{name}");
        for (now, then) in now.as_slice().iter().zip(then.as_slice()) {
            assert!((now - then).abs() < 1e-5, "{name}: {now} {then}");
        }
    }
}

#[test]
fn every_learner_has_a_frozen_model() {
    let frozen: Vec<String> =
        models().iter().map(|path| path.file_stem().unwrap().to_str().unwrap().to_string()).collect();
    for learner in registry::learners() {
        assert!(
            frozen.contains(&format!("{}-rows", learner.name())),
            "{} has none: see frozen/make",
            learner.name()
        );
    }
}

#[test]
fn a_model_file_cut_at_any_byte_or_changed_in_any_byte_never_panics() {
    let learners = registry::learners();
    let path = models().into_iter().find(|path| path.ends_with("sldlf-rows.ldlf")).unwrap();
    let whole = std::fs::read(path).unwrap();
    let load = |bytes: &[u8]| {
        ldlf::internals::core::stored::Parts::from_bytes(bytes)
            .and_then(|parts| TrainedModel::from_parts(parts, &learners))
    };
    assert!(load(&whole).is_ok());
    for end in 0..whole.len() {
        assert!(load(&whole[..end]).is_err(), "cut at {end}");
    }
    for place in 0..whole.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[place] ^= change;
            // Some changes still make a model; none may do worse than fail.
            let _ = load(&bytes);
        }
    }
}

#[test]
fn a_future_format_says_that_a_newer_program_is_needed() {
    let path = models().into_iter().find(|path| path.ends_with("mean-rows.ldlf")).unwrap();
    let mut parts = ldlf::internals::io::model_file::read_parts(&path).unwrap();
    parts.put_detail("format_version", 99);
    let error = TrainedModel::from_parts(parts, &registry::learners()).err().unwrap();
    assert_eq!(error.kind(), ldlf::internals::core::ErrorKind::ModelFile);
    assert!(error.to_string().contains("a newer ldlf is needed"), "{error}");
}
