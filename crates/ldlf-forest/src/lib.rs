//! The label distribution learning forest.

use ldlf_core::LearnerEntry;

/// Every learner of this crate, in the order of `ldlf learners`.
pub fn entries() -> Vec<LearnerEntry> {
    vec![]
}
