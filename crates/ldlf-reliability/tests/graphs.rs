//! Which models can be exported: what learners state is true.

use ldlf::registry;
use ldlf_reliability::learners::small_models;

#[test]
fn exactly_the_learners_that_state_it_can_be_exported() {
    let said = registry::names(|facts| facts.exports);
    for (name, model) in small_models() {
        // A mixture can be exported when all its members can, whichever the search has chosen.
        if name == "sldlf-auto" {
            continue;
        }
        match ldlf::internals::onnx::to_bytes(&model, ldlf::internals::onnx::Takes::Auto) {
            Ok(_) => assert!(said.contains(&name), "{name} can be exported and does not state it"),
            Err(error) => {
                assert!(!said.contains(&name), "{name}: {error}");
                let begins = format!("a model of {name} cannot be exported to ONNX");
                assert!(error.to_string().starts_with(&begins), "{error}");
                assert_eq!(error.kind(), ldlf::internals::core::ErrorKind::Usage);
            }
        }
    }
}
