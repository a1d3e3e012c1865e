//! The head against the paper's equations in NumPy (`oracles/head.py`); the PyTorch module is held to the same file.

use ldlf_core::{Threads, Value};
use ldlf_forest::head::{Examples, Given, Head, LeafUpdate};
use ldlf_forest::leaves::LeafPrior;
use ldlf_forest::tree_shape::ForestShape;
use ldlf_math::product::View;

/// All numbers of a nested array, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("the fixture holds numbers")],
    }
}

struct Fixture(Value);

impl Fixture {
    fn read() -> Self {
        Fixture(serde_json::from_str(include_str!("oracles/head.json")).expect("the fixture is JSON"))
    }

    fn get(&self, name: &str) -> Vec<f64> {
        numbers(&self.0[name])
    }

    fn count(&self, name: &str) -> usize {
        self.0[name].as_array().expect("the fixture has it").len()
    }

    fn head(&self) -> Head<f64> {
        let width = self.get("activations").len() / self.count("activations");
        let shape = ForestShape {
            trees: self.count("leaves"),
            depth: self.0["depth"].as_u64().expect("a whole number") as usize,
            units: width,
            labels: self.count("base"),
        };
        let units = self.get("units").iter().map(|&unit| unit as u32).collect();
        Head::from_parts(shape, units, self.get("leaves"))
    }
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-13, "{found} {expected}");
    }
}

#[test]
fn routing_predictions_loss_and_gradients_are_those_of_the_paper() {
    let fixture = Fixture::read();
    let head = fixture.head();
    let (activations, targets, weights) =
        (fixture.get("activations"), fixture.get("targets"), fixture.get("weights"));
    let view = View::row_major(&activations, weights.len(), head.shape().units);
    close(&head.route(view), &fixture.get("shares"));
    let mut predictions = vec![0.0; targets.len()];
    head.predict(view, &mut predictions);
    close(&predictions, &fixture.get("predictions"));
    let examples = Examples {
        targets: &targets,
        labels: head.shape().labels,
        weights: Some(&weights),
        rows: None,
        leave_out: None,
    };
    let mut gradient = vec![0.0; activations.len()];
    let loss = head.loss_and_grad(view, &examples, &mut gradient);
    close(&[loss], &fixture.get("loss"));
    close(&gradient, &fixture.get("loss_gradient"));
    head.predict_grad(view, &fixture.get("above"), &mut gradient);
    close(&gradient, &fixture.get("prediction_gradient"));
}

#[test]
fn leaf_updates_are_those_of_the_paper() {
    let fixture = Fixture::read();
    let (activations, targets, weights) =
        (fixture.get("activations"), fixture.get("targets"), fixture.get("weights"));
    for (iterations, strength, expected) in [(1, 0.0, "updated_once"), (3, 0.5, "updated_with_prior")] {
        let mut head = fixture.head();
        let view = View::row_major(&activations, weights.len(), head.shape().units);
        let examples = Examples {
            targets: &targets,
            labels: head.shape().labels,
            weights: Some(&weights),
            rows: None,
            leave_out: None,
        };
        let update = LeafUpdate { iterations, prior: LeafPrior { strength, base: fixture.get("base") } };
        head.update_leaves(&Given(view), &examples, &update, &Threads::one());
        close(head.leaves(), &fixture.get(expected));
    }
}
