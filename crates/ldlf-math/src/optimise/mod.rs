//! Optimisers that learners share.

pub mod lbfgs;
pub mod rprop;
pub mod step;

pub use lbfgs::{Ending, Iterate, Lbfgs, Minimum};
pub use rprop::Rprop;
