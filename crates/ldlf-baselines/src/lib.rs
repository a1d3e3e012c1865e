//! The baselines: published label distribution learners, and general ones that a user may choose instead of the forest.
//! One file and one line per baseline; a file has its parameters, its algorithm and its model.

pub mod boosting;
mod centring;
mod cholesky;
mod clusters;
mod full_batch;
mod irwls;
mod kernel;
mod kernel_search;
mod maximum_entropy;
mod nearest;
mod network;
mod network_model;
mod ordered;
mod pairwise_probabilities;
mod problem_transformation;
mod progress;
mod quadratic;
mod reference_graph;
mod reference_rows;
pub mod scaling;
mod softmax_loss;
mod stages;
mod svc;
mod svr;

pub use scaling::FeatureScaling;

/// Declares the modules, [`learners`] and [`entries`] from lines `module::Learner`.
macro_rules! baselines {
    ($( $module:ident::$learner:ident, )*) => {
        $( pub mod $module; )*

        pub use learners::*;

        /// Every baseline.
        pub mod learners {
            $( pub use crate::$module::$learner; )*
        }

        /// Every baseline for the registry, in the order of `ldlf learners`.
        pub fn entries() -> Vec<ldlf_core::LearnerEntry> {
            vec![$( ldlf_core::LearnerEntry::of::<$learner>() ),*]
        }
    };
}

baselines! {
    aa_bp::AaBp,
    aa_knn::AaKnn,
    aas::Aas,
    aoso_ldlogitboost::AosoLdLogitBoost,
    bfgs_ldl::BfgsLdl,
    cpnn::Cpnn,
    d2ldl::D2Ldl,
    extra_trees::ExtraTrees,
    iis_aldl::IisAldl,
    iis_ldl::IisLdl,
    kernel_ridge::KernelRidge,
    larr::Larr,
    ldlogitboost::LdLogitBoost,
    ldsvr::Ldsvr,
    pt_bayes::PtBayes,
    pt_svm::PtSvm,
    random_forest::RandomForest,
    sce_ldl::SceLdl,
}
