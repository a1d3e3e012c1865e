//! Quick checks on a small public set; the ten-fold tables are commands, not tests.

use ldlf_core::measures::{KL, kl, mean_over_rows};
use ldlf_testing::first_fold;

use crate::support::{fitted, predicted};

#[test]
fn linear_models_and_networks_stay_well_below_the_mean_on_facial_expressions() {
    let Some((training, test)) = first_fold("SJAFFE") else { return };
    let mean: Vec<f32> = training.mean_target().iter().map(|&m| m as f32).collect();
    let of_mean = test.targets().iter_rows().map(|d| kl(d, &mean)).sum::<f64>() / test.rows() as f64;
    // cpnn takes the six expressions for ordered labels, which they are not.
    for (name, factor) in
        [("aa-bp", 0.6), ("bfgs-ldl", 0.6), ("cpnn", 0.9), ("iis-ldl", 0.6), ("sce-ldl", 0.6)]
    {
        let p = predicted(&*fitted(name, &[], &training).model, test.inputs());
        let kl = mean_over_rows(&KL, test.targets(), &p, None);
        assert!(kl < factor * of_mean, "{name}: {kl}, the mean {of_mean}");
    }
}
