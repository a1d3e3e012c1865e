//! `ldlf`: label distribution learning forests and their rivals.
//!
//! This crate re-exports the parts and holds the [`registry`], which turns a name and settings into a learner.

pub use ldlf_baselines as baselines;
pub use ldlf_core::*;
pub use ldlf_forest as forest;

pub mod registry;
