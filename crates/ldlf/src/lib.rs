#![doc = include_str!("../README.md")]

pub use ldlf_baselines as baselines;
pub use ldlf_core::*;
#[cfg(feature = "deep")]
pub use ldlf_deep as deep;
pub use ldlf_forest as forest;
pub use ldlf_io::{
    fingerprint, fold_file, for_model, input, journal, model_file, output, read, results, write,
};
pub use ldlf_math::{matrix, memory, numeric, optimise, parallel, product, random, simd};
pub use ldlf_onnx as onnx;

pub mod auto;
pub mod blend;
mod cross_validation;
mod model_files;
pub mod prelude;
mod reading;
pub mod registry;

pub use cross_validation::cross_validate;
pub use model_files::{SaveModel, load};
pub use reading::{Reading, read};

/// The README's examples, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
