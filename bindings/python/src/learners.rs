//! What there is, for the generator of the estimators: learners with their declared parameters.

use ldlf::registry;
use pyo3::prelude::*;
use serde_json::Value;

/// Every learner with its parameters, presets and abilities, as JSON.
#[pyfunction]
pub fn describe_learners() -> String {
    Value::from(
        registry::learners().iter().map(ldlf::internals::core::LearnerEntry::description).collect::<Vec<_>>(),
    )
    .to_string()
}

/// Whether this build has deep networks.
#[pyfunction]
pub fn has_deep_networks() -> bool {
    cfg!(feature = "deep")
}
