//! The rivals: what label distribution data was learnt with before the forest, and what a user would pick instead.
//! One file a rival, each with its parameters, its learner, its model and its entry for the registry.

use ldlf_core::LearnerEntry;

pub mod aoso_ldlogitboost;
mod boosting;
mod columns;
pub mod extra_trees;
pub mod ldlogitboost;
pub mod random_forest;
pub mod regression_tree;
mod split_search;
mod tree_builder;
pub mod tree_forest;

/// Every rival, in the order of `ldlf learners`.
pub fn entries() -> Vec<LearnerEntry> {
    vec![aoso_ldlogitboost::ENTRY, extra_trees::ENTRY, ldlogitboost::ENTRY, random_forest::ENTRY]
}
