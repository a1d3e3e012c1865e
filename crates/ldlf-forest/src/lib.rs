//! The label distribution learning forest: soft, differentiable decision trees whose leaves hold distributions
//! (Shen, Zhao, Guo, Yuille: Label Distribution Learning Forests, NIPS 2017).
//!
//! In the order of the paper: the shape of the trees and the unit behind each split ([`tree_shape`]), the way of a row to the
//! leaves ([`routing`]), what a tree predicts and how far off it is ([`loss`]), the leaf update ([`leaves`]); all of them together
//! on matrices of activations ([`head`], [`leaf_update`]); the scaled features and the linear map in front of them ([`encoder`],
//! [`linear`]) with its optimiser ([`lazy_optimizer`]); what a training repeats ([`stepper`]); Algorithm 1 ([`algorithm1`]) on rows in
//! memory ([`training`]) and on rows that stand in several places ([`shards`]); the model ([`shallow_forest`]), the learner
//! ([`shallow`]); single rows ([`single_row`]); and `view`, which lays a forest open for pictures.

pub mod algorithm1;
mod bins;
pub mod block;
pub mod boosted;
pub mod by_input;
pub mod choice;
mod columns;
pub mod complexity;
mod contributions;
mod dropout;
pub mod encoder;
pub mod graph;
pub mod greedy;
pub mod grown;
pub mod head;
pub mod kernel;
pub mod lazy_optimizer;
pub mod leaf_update;
pub mod leaves;
pub mod linear;
pub mod linear_member;
pub mod log_linear;
mod log_linear_contributions;
pub mod loss;
pub mod mini_batches;
pub mod mixed_forest;
mod model;
mod pass;
pub mod plan;
mod predict;
mod race;
mod ranks;
mod relevance;
pub mod routing;
pub mod shallow;
pub mod shallow_forest;
pub mod shards;
pub mod single_row;
pub mod stepper;
pub mod training;
pub mod tree_shape;
mod tree_variance;
mod view;
mod weighing;
mod weight_gradient;

pub use shallow::{Forest, NeuralDecisionForest};

use ldlf_core::LearnerEntry;

/// Every learner of this crate, in the order of `ldlf learners`.
pub fn entries() -> Vec<LearnerEntry> {
    vec![LearnerEntry::of::<Forest>(), LearnerEntry::of::<NeuralDecisionForest>()]
}
