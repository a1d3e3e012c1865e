//! Optimisers that learners share.

pub mod lbfgs;
pub mod step;

pub use lbfgs::{Iterate, Lbfgs, Minimum};
