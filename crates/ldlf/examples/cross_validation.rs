//! Learners side by side on the same folds. `cargo run --example cross_validation`

use ldlf::prelude::*;

/// Compares a forest with two baselines by five-fold cross-validation.
pub fn main() -> ldlf::Result<()> {
    let data = ldlf::generate::artificial(300, 0)?;
    let learners: [Box<dyn Learner>; 3] = [
        Box::new(Forest::params().trees(5).depth(4).min_iterations(200).epochs(1.0).check()?),
        Box::new(BfgsLdl::params().check()?),
        Box::new(Mean::params().check()?),
    ];
    let table = ldlf::cross_validate(&data, &learners, 5, 0)?;
    for result in &table.results {
        let kl = |scores: &ldlf::measures::Scores| {
            scores.get("kl").expect("every learner here predicts distributions")
        };
        println!("{:10} K-L {:.4} ± {:.4}", result.learner, kl(&result.mean), kl(&result.std));
    }
    Ok(())
}
