//! The rivals: what label distribution data was learnt with before the forest, and what a user would pick instead.
//! One file a rival, each with its parameters, its learner, its model and its entry for the registry.

pub mod aa_bp;
pub mod aa_knn;
pub mod aas;
pub mod aoso_ldlogitboost;
pub mod bfgs_ldl;
mod boosting;
mod centring;
mod cholesky;
mod clusters;
pub mod cpnn;
pub mod d2ldl;
pub mod extra_trees;
mod full_batch;
pub mod iis_aldl;
pub mod iis_ldl;
mod irwls;
mod kernel;
pub mod larr;
pub mod ldlogitboost;
pub mod ldsvr;
mod maximum_entropy;
mod nearest;
mod network;
mod network_model;
mod ordered;
mod pairwise_probabilities;
mod problem_transformation;
mod progress;
pub mod pt_bayes;
pub mod pt_svm;
mod quadratic;
pub mod random_forest;
mod reference_rows;
pub mod scaling;
pub mod sce_ldl;
mod softmax_loss;
mod stages;
mod svc;
mod svr;

use ldlf_core::LearnerEntry;

/// Every rival, in the order of `ldlf learners`.
pub fn entries() -> Vec<LearnerEntry> {
    vec![
        aa_bp::ENTRY,
        aa_knn::ENTRY,
        aas::ENTRY,
        aoso_ldlogitboost::ENTRY,
        bfgs_ldl::ENTRY,
        cpnn::ENTRY,
        d2ldl::ENTRY,
        extra_trees::ENTRY,
        iis_aldl::ENTRY,
        iis_ldl::ENTRY,
        larr::ENTRY,
        ldlogitboost::ENTRY,
        ldsvr::ENTRY,
        pt_bayes::ENTRY,
        pt_svm::ENTRY,
        random_forest::ENTRY,
        sce_ldl::ENTRY,
    ]
}
