//! Quick checks on a small public set; the ten-fold tables are commands, not tests.

mod common;

use std::path::PathBuf;

use common::{fit, predict};
use ldlf_core::Dataset;
use ldlf_core::measures::{KL, kl, mean_over_rows};
use ldlf_io::read::{ReadOptions, read};

/// The rows of SJAFFE outside and inside its first fold, where the data is at hand.
fn sjaffe() -> Option<(Dataset, Dataset)> {
    let folder = std::env::var("LDLF_DATA")
        .map_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into(), PathBuf::from);
    let path = folder.join("ldl/SJAFFE.mat");
    if !path.exists() {
        println!("skipped: {} is not there (set LDLF_DATA)", path.display());
        return None;
    }
    let data = read(&path, &ReadOptions::default()).unwrap().dataset;
    let folds = std::fs::read_to_string(folder.join("folds/SJAFFE.txt")).unwrap();
    let (test, training): (Vec<_>, Vec<_>) =
        folds.lines().enumerate().partition(|(_, fold)| fold.trim() == "0");
    let rows =
        |side: Vec<(usize, &str)>| data.select(&side.into_iter().map(|(row, _)| row).collect::<Vec<_>>());
    Some((rows(training), rows(test)))
}

#[test]
fn linear_models_and_networks_stay_well_below_the_mean_on_facial_expressions() {
    let Some((training, test)) = sjaffe() else { return };
    let mean: Vec<f32> = training.mean_target().iter().map(|&m| m as f32).collect();
    let floor = test.targets().iter_rows().map(|d| kl(d, &mean)).sum::<f64>() / test.rows() as f64;
    // cpnn takes the six expressions for ordered labels, which they are not.
    for (name, share) in
        [("aa-bp", 0.6), ("bfgs-ldl", 0.6), ("cpnn", 0.9), ("iis-ldl", 0.6), ("sce-ldl", 0.6)]
    {
        let p = predict(&*fit(name, &[], &training).model, test.inputs());
        let kl = mean_over_rows(&KL, test.targets(), &p, None);
        assert!(kl < share * floor, "{name}: {kl}, the mean {floor}");
    }
}
