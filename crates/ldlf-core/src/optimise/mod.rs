//! Minimising a smooth function: what learners share when they have a loss and its gradient.

pub mod lbfgs;

pub use lbfgs::{Iterate, Lbfgs, Minimum};
