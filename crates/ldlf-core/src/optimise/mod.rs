//! Optimisers that learners share.

pub mod step;
