//! The domain of `ldlf`, in the order of the flow: `dataset -> folds -> learner.fit -> model.predict -> measures`.
//!
//! A **label distribution** says, for one row, how much each label describes it: non-negative numbers that
//! sum to 1. This crate holds everything that learners share and no learner but the simplest baseline, [`mean`]. It opens no
//! file: that is `ldlf-io`.

pub mod checkpoint;
pub mod dataset;
pub mod early_stopping;
pub mod error;
pub mod estimates;
pub mod evaluate;
pub mod features;
pub mod folds;
pub mod forest_view;
pub mod generate;
pub mod graph;
pub mod images;
pub mod learner;
pub mod mean;
pub mod measures;
pub mod parameters;
pub mod split;
pub mod stored;
pub mod targets;

pub use dataset::{Dataset, Schema};
pub use error::{Error, Result};
pub use features::Features;
pub use images::Images;
pub use ldlf_math::{Csr, Matrix, Seed, Threads};
pub use learner::{
    FitContext, FitEvent, Fitted, InProgress, Learner, LearnerEntry, Model, Observer, Prediction, Preset,
    StopReason, TrainedModel,
};
pub use parameters::{Settings, Value};
