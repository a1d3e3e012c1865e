//! The rivals: what label distribution data was learnt with before the forest, and what a user would pick instead.
//! One file a rival, each with its parameters, its learner, its model and its entry for the registry.

pub mod bfgs_ldl;
pub mod iis_ldl;
mod maximum_entropy;
mod progress;
pub mod scaling;

use ldlf_core::LearnerEntry;

/// Every rival, in the order of `ldlf learners`.
pub fn entries() -> Vec<LearnerEntry> {
    vec![bfgs_ldl::ENTRY, iis_ldl::ENTRY]
}
