//! The rivals: what label distribution data was learnt with before the forest, and what a user would pick instead.
//! One file a rival, each with its parameters, its learner, its model and its entry for the registry.

pub mod aa_bp;
pub mod aa_knn;
pub mod bfgs_ldl;
mod centring;
mod cholesky;
pub mod cpnn;
mod full_batch;
pub mod iis_ldl;
mod irwls;
mod kernel;
pub mod ldsvr;
mod maximum_entropy;
mod nearest;
mod network;
mod network_model;
mod pairwise_probabilities;
mod problem_transformation;
mod progress;
pub mod pt_bayes;
pub mod pt_svm;
mod reference_rows;
pub mod scaling;
pub mod sce_ldl;
mod softmax_loss;
mod svc;

use ldlf_core::LearnerEntry;

/// Every rival, in the order of `ldlf learners`.
#[rustfmt::skip] // One line each: branches that add a rival do not meet.
pub fn entries() -> Vec<LearnerEntry> {
    vec![
        aa_bp::ENTRY,
        aa_knn::ENTRY,
        bfgs_ldl::ENTRY,
        cpnn::ENTRY,
        iis_ldl::ENTRY,
        ldsvr::ENTRY,
        pt_bayes::ENTRY,
        pt_svm::ENTRY,
        sce_ldl::ENTRY,
    ]
}
