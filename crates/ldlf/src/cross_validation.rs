//! Learners side by side on folds of one dataset.

use ldlf_core::evaluate::{self, Build, CrossValidation, Plan, Protocol};
use ldlf_core::{Dataset, Learner, Result, folds};

/// Cross-validates learners on the same clean, disjoint folds, drawn by `seed`, with one thread per core.
///
/// Whatever a learner chooses, it chooses inside the training rows. Journals, given folds and watchers are for
/// [`evaluate::cross_validate`].
///
/// ```
/// use ldlf::prelude::*;
/// let data = ldlf::generate::artificial(200, 0)?;
/// let learners: [Box<dyn Learner>; 2] =
///     [Box::new(BfgsLdl::params().check()?), Box::new(Mean::params().check()?)];
/// let table = ldlf::cross_validate(&data, &learners, 5, 0)?;
/// let kl = |learner: usize| table.results[learner].mean.get("kl").unwrap();
/// assert!(kl(0) < kl(1), "the features say something");
/// # Ok::<(), ldlf::Error>(())
/// ```
pub fn cross_validate(
    data: &Dataset,
    learners: &[Box<dyn Learner>],
    folds: usize,
    seed: u64,
) -> Result<CrossValidation> {
    let folds = folds::seeded(data, folds, seed)?;
    let plan = Plan {
        data,
        learners,
        folds: &folds,
        protocol: Protocol::Clean,
        seed,
        threads: 0,
        journal: None,
        build: Build::VERSION,
    };
    evaluate::cross_validate(&plan, &())
}
