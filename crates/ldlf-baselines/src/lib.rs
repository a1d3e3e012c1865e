//! The rivals: what label distribution data was learnt with before the forest, and what a user would pick instead.
//! One file a rival, each with its parameters, its learner, its model and its entry for the registry.

pub mod aa_bp;
pub mod bfgs_ldl;
mod centring;
pub mod cpnn;
mod full_batch;
pub mod iis_ldl;
mod maximum_entropy;
mod network;
mod network_model;
mod progress;
pub mod scaling;
pub mod sce_ldl;
mod softmax_loss;

use ldlf_core::LearnerEntry;

/// Every rival, in the order of `ldlf learners`.
pub fn entries() -> Vec<LearnerEntry> {
    vec![aa_bp::ENTRY, bfgs_ldl::ENTRY, cpnn::ENTRY, iis_ldl::ENTRY, sce_ldl::ENTRY]
}
