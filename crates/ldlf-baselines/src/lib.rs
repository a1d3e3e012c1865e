//! The rivals: what label distribution data was learnt with before the forest, and what a user would pick instead.
//! One file a rival, each with its parameters, its learner, its model and its entry for the registry.

pub mod aa_knn;

mod cholesky;
mod irwls;
mod kernel;
pub mod ldsvr;
mod nearest;
mod reference_rows;
pub mod scaling;

use ldlf_core::LearnerEntry;

/// Every rival, in the order of `ldlf learners`.
pub fn entries() -> Vec<LearnerEntry> {
    vec![aa_knn::ENTRY]
}
