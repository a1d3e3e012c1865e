//! What there is, for the generator of the estimators: learners with their declared parameters, and measures.

use ldlf::measures::{Direction, all};
use ldlf::registry;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Every learner with its parameters, presets and abilities, as JSON.
#[pyfunction]
pub fn describe_learners() -> String {
    Value::from(registry::learners().iter().map(ldlf::LearnerEntry::description).collect::<Vec<_>>())
        .to_string()
}

/// Every measure of distributions: name, title, and whether a higher value is better, as JSON.
#[pyfunction]
pub fn describe_measures() -> String {
    let described = |measure: &ldlf::measures::Measure| {
        let higher = measure.direction == Direction::HigherIsBetter;
        json!({"name": measure.name, "title": measure.title, "higher_is_better": higher})
    };
    Value::from(all().iter().map(described).collect::<Vec<_>>()).to_string()
}
