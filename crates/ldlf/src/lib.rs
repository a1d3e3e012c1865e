#![doc = include_str!("../README.md")]

pub mod auto;
pub mod blend;
mod cross_validation;
mod model_files;
pub mod prelude;
mod reading;
pub mod registry;

pub use cross_validation::cross_validate;
pub use ldlf_core::evaluate::{CrossValidation, Protocol};
pub use ldlf_core::targets::Spread;
pub use ldlf_core::{
    Auto, Csr, Dataset, Error, Facts, Features, FitContext, FitEvent, Images, InProgress, Inputs, Learner,
    Matrix, Observer, Prediction, Result, Schema, Seed, Settings, StopReason, Threads, TrainedModel, Value,
    estimates, folds, generate, measures,
};
pub use ldlf_io::Format;
pub use model_files::{SaveModel, load};
pub use reading::{Reading, read};

/// The crates behind this API, for the command, the Python package and programs that need their internals. They may change with every
/// release.
pub mod internals {
    pub use ldlf_baselines as baselines;
    pub use ldlf_core as core;
    #[cfg(feature = "deep")]
    pub use ldlf_deep as deep;
    pub use ldlf_forest as forest;
    pub use ldlf_io as io;
    pub use ldlf_math as math;
    pub use ldlf_onnx as onnx;
}

/// The Rust examples of the guide, run as tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/start.md")]
    pub struct Start;

    #[doc = include_str!("../../../docs/serving.md")]
    pub struct Serving;
}
