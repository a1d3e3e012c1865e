//! The baselines: what label distribution data was learnt with before the forest, and what a user would pick instead.
//! One file per baseline, each with its parameters, its algorithm and its model.

pub mod aa_bp;
pub mod aa_knn;
pub mod aas;
pub mod aoso_ldlogitboost;
pub mod bfgs_ldl;
pub mod boosting;
mod centring;
mod cholesky;
mod clusters;
mod columns;
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
pub mod regression_tree;
pub mod scaling;
pub mod sce_ldl;
mod softmax_loss;
mod split_search;
mod stages;
mod svc;
mod svr;
mod tree_builder;
pub mod tree_forest;

pub use aa_bp::AaBp;
pub use aa_knn::AaKnn;
pub use aas::Aas;
pub use aoso_ldlogitboost::AosoLdLogitBoost;
pub use bfgs_ldl::BfgsLdl;
pub use cpnn::Cpnn;
pub use d2ldl::D2Ldl;
pub use extra_trees::ExtraTrees;
pub use iis_aldl::IisAldl;
pub use iis_ldl::IisLdl;
pub use larr::Larr;
pub use ldlogitboost::LdLogitBoost;
pub use ldsvr::Ldsvr;
pub use pt_bayes::PtBayes;
pub use pt_svm::PtSvm;
pub use random_forest::RandomForest;
pub use scaling::FeatureScaling;
pub use sce_ldl::SceLdl;

use ldlf_core::LearnerEntry;

/// Every baseline, in the order of `ldlf learners`.
pub fn entries() -> Vec<LearnerEntry> {
    vec![
        LearnerEntry::of::<AaBp>(),
        LearnerEntry::of::<AaKnn>(),
        LearnerEntry::of::<Aas>(),
        LearnerEntry::of::<AosoLdLogitBoost>(),
        LearnerEntry::of::<BfgsLdl>(),
        LearnerEntry::of::<Cpnn>(),
        LearnerEntry::of::<D2Ldl>(),
        LearnerEntry::of::<ExtraTrees>(),
        LearnerEntry::of::<IisAldl>(),
        LearnerEntry::of::<IisLdl>(),
        LearnerEntry::of::<Larr>(),
        LearnerEntry::of::<LdLogitBoost>(),
        LearnerEntry::of::<Ldsvr>(),
        LearnerEntry::of::<PtBayes>(),
        LearnerEntry::of::<PtSvm>(),
        LearnerEntry::of::<RandomForest>(),
        LearnerEntry::of::<SceLdl>(),
    ]
}
