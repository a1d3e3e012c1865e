//! The vocabulary of `ldlf`, in the order of the flow:
//! `read -> dataset -> folds -> learner.fit -> model.predict -> measures -> report`.
//!
//! A **label distribution** says, for one row, how much each label describes it: non-negative numbers that
//! sum to 1. This crate holds everything that learners share and no learner but the floor, [`mean`].

pub mod answers;
pub mod checkpoint;
pub mod dataset;
pub mod early_stopping;
pub mod error;
pub mod evaluate;
pub mod features;
pub mod folds;
pub mod forest_view;
pub mod generate;
pub mod graph;
pub mod images;
pub mod input;
pub mod journal;
pub mod learner;
pub mod matrix;
pub mod mean;
pub mod measures;
pub mod memory;
pub mod model_file;
pub mod numeric;
pub mod optimise;
pub mod output;
pub mod parallel;
pub mod parameters;
pub mod product;
pub mod random;
pub mod read;
pub mod results;
pub mod simd;
pub mod targets;

pub use dataset::{Dataset, Schema};
pub use error::{Error, ErrorKind, Result};
pub use features::Features;
pub use images::Images;
pub use learner::{
    FitContext, FitEvent, Fitted, InProgress, Learner, LearnerEntry, Model, Observer, Prediction, Preset,
    StopReason, TrainedModel,
};
pub use matrix::{Csr, Matrix};
pub use parallel::Threads;
pub use parameters::{Settings, Value};
pub use random::Seed;
