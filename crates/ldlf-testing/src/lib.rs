//! What tests of several crates share: real data beside the checkout, and skips that CI does not let pass.

use std::path::PathBuf;

use ldlf_core::Dataset;
use ldlf_io::fold_file;
use ldlf_io::read::{ReadOptions, read};

/// Says that a test did not run and why.
///
/// # Panics
/// In CI (`CI` is set), which has what every test needs: a test that is skipped there has failed.
pub fn skipped(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "CI must not skip this test: {reason}");
    println!("skipped: {reason}");
}

/// A file of the real data, in the folder that `LDLF_DATA` names or beside the checkout; none, with [`skipped`], where it is absent.
pub fn real_file(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let path = PathBuf::from(std::env::var_os("LDLF_DATA").unwrap_or_else(|| beside.into())).join(name);
    if path.exists() {
        return Some(path);
    }
    skipped(&format!("{name} is neither in LDLF_DATA nor in shared/data beside the checkout"));
    None
}

/// The training and the test rows of fold 0 of a real set.
///
/// # Panics
/// When the set cannot be read.
pub fn first_fold(name: &str) -> Option<(Dataset, Dataset)> {
    let file = real_file(&format!("ldl/{name}.mat"))?;
    let data = read(&file, &ReadOptions::default()).expect("the set is read").dataset;
    let folds =
        fold_file::read(&real_file(&format!("folds/{name}.txt"))?, &data).expect("its folds are read");
    Some((data.select(&folds[0].training), data.select(&folds[0].test)))
}
