//! The vocabulary of `ldlf`, in the order of the flow:
//! `read -> dataset -> folds -> learner.fit -> model.predict -> measures -> report`.
//!
//! A **label distribution** says, for one row, how much each label describes it: non-negative numbers that
//! sum to 1. This crate holds everything that learners share and no learner but the simplest baseline, [`mean`].

pub mod algorithm;
pub mod answers;
pub mod checkpoint;
pub mod context;
pub mod dataset;
pub mod early_stopping;
pub mod error;
pub mod evaluate;
pub mod facts;
pub mod features;
pub mod folds;
pub mod forest_view;
pub mod generate;
pub mod graph;
pub mod images;
pub mod input;
pub mod inputs;
pub mod journal;
pub mod learner;
pub mod matrix;
pub mod mean;
pub mod measures;
pub mod memory;
pub mod model;
pub mod model_file;
pub mod numeric;
pub mod optimise;
pub mod output;
pub mod parallel;
pub mod parameters;
pub mod prediction;
pub mod product;
pub mod random;
pub mod read;
pub mod results;
pub mod simd;
pub mod targets;
pub mod trained_model;

pub use algorithm::{Algorithm, Checked, Unchecked};
pub use context::{FitContext, FitEvent, InProgress, Observer, StopReason};
pub use dataset::{Dataset, Schema};
pub use error::{Error, Result};
pub use facts::{Facts, Predicts, Reads};
pub use features::Features;
pub use images::Images;
pub use inputs::Inputs;
pub use learner::{Fitted, Learner, LearnerEntry, Preset};
pub use matrix::{Csr, Matrix};
pub use model::{Model, RowPredictor};
pub use parallel::Threads;
pub use parameters::{Auto, Settings, Value};
pub use prediction::Prediction;
pub use random::Seed;
pub use trained_model::TrainedModel;
