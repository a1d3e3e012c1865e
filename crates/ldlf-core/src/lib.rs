//! The domain of `ldlf`, in the order of the flow: `dataset -> folds -> learner.fit -> model.predict -> measures`.
//!
//! A **label distribution** says, for one row, how much each label describes it: non-negative numbers that
//! sum to 1. This crate holds everything that learners share and no learner but the simplest baseline, [`mean`]. It opens no
//! file: that is `ldlf-io`.

pub mod algorithm;
pub mod bootstrap;
pub mod calibration;
pub mod checkpoint;
pub mod columns;
pub mod conformal;
pub mod context;
pub mod dataset;
pub mod early_stopping;
pub mod error;
pub mod estimates;
pub mod evaluate;
pub mod explain;
pub mod facts;
pub mod familiarity;
pub mod features;
mod fingerprint;
pub mod folds;
pub mod forest_view;
pub mod generate;
pub mod graph;
pub mod images;
pub mod inputs;
pub mod learner;
pub mod leave_out;
pub mod mean;
pub mod measures;
pub mod mixture;
pub mod model;
pub mod parameters;
pub mod prediction;
pub mod provenance;
pub mod split;
pub mod spread;
pub mod stored;
pub mod targets;
pub mod trained_model;
pub mod votes;

pub use algorithm::{Algorithm, Checked, Unchecked};
pub use context::{FitContext, FitEvent, InProgress, Observer, StopReason};
pub use dataset::{Dataset, Schema};
pub use error::{Error, ErrorKind, Result};
pub use facts::{Facts, Predicts, Reads};
pub use features::Features;
pub use images::Images;
pub use inputs::Inputs;
pub use ldlf_math::{Csr, Matrix, Seed, Threads};
pub use learner::{Fitted, Learner, LearnerEntry, Preset};
pub use model::{Model, RowPredictor};
pub use parameters::{Auto, Settings, Value};
pub use prediction::Prediction;
pub use provenance::Provenance;
pub use trained_model::TrainedModel;
