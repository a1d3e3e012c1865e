//! The rivals: what label distribution data was learnt with before the forest, and what a user would pick instead.
//! One file a rival, each with its parameters, its learner, its model and its entry for the registry.

pub mod aa_knn;
pub mod bfgs_ldl;
mod cholesky;
mod irwls;
mod kernel;
pub mod ldsvr;
mod maximum_entropy;
mod nearest;
mod pairwise_probabilities;
mod problem_transformation;
mod progress;
pub mod pt_bayes;
pub mod pt_svm;
mod reference_rows;
pub mod scaling;
mod svc;

use ldlf_core::LearnerEntry;

/// Every rival, in the order of `ldlf learners`.
#[rustfmt::skip] // One line each: branches that add a rival do not meet.
pub fn entries() -> Vec<LearnerEntry> {
    vec![
        aa_knn::ENTRY,
        bfgs_ldl::ENTRY,
        ldsvr::ENTRY,
        pt_bayes::ENTRY,
        pt_svm::ENTRY,
    ]
}
