//! `ldlf`: label distribution learning forests and their baselines.
//!
//! This crate re-exports the parts and holds the [`registry`], which turns a name and settings into a learner.

pub use ldlf_baselines as baselines;
pub use ldlf_core::*;
#[cfg(feature = "deep")]
pub use ldlf_deep as deep;
pub use ldlf_forest as forest;
pub use ldlf_onnx as onnx;

pub mod auto;
pub mod blend;
pub mod registry;

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
