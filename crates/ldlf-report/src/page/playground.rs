//! A model to play with: a small one stands inside the page, and moving a feature of a row shows its distribution and its way through
//! the trees change.
//!
//! The page computes what ONNX runtimes compute, from the same [graph](ldlf_core::graph): one row at a time, in `playground.js`.

use ldlf_core::forest_view::ForestView;
use ldlf_core::graph::{Attribute, Constant, Graph, Node, Numbers};
use ldlf_core::{Dataset, Features, Prediction, TrainedModel};
use serde_json::{Value, json};

use super::feature_name;
use crate::markup::Element;

const SCRIPT: &str = include_str!("playground.js");

/// Numbers that a page holds at most: with more it would be slow to open.
const MOST_NUMBERS: usize = 200_000;
/// Rows to choose from.
const ROWS: usize = 30;
/// Features that can be moved.
const FEATURES: usize = 20;

/// The operators that the script knows.
const OPERATORS: [&str; 16] = [
    "Add",
    "ArgMax",
    "Cast",
    "Clip",
    "Concat",
    "Div",
    "Gather",
    "Gemm",
    "MatMul",
    "Mul",
    "ReduceSum",
    "Sigmoid",
    "Softmax",
    "Split",
    "Squeeze",
    "Sub",
];
const TREES: &str = "TreeEnsembleRegressor";

/// A model and some rows, as the script reads them.
pub struct Playground(Value);

impl Playground {
    /// Of a model that is small enough and predicts tables by operators that the script knows; of others there is none.
    pub fn of(model: &TrainedModel, data: &Dataset, view: Option<&ForestView>) -> Option<Self> {
        let features = data.features().ok()?;
        let graph = model.graph().ok()?;
        if data.rows() == 0 || !playable(&graph) {
            return None;
        }
        let step = data.rows().div_ceil(ROWS);
        let chosen: Vec<usize> = (0..data.rows()).step_by(step).collect();
        let rows = features.select(&chosen);
        let inputs = ldlf_core::Inputs::Table(rows.clone());
        let Ok(Prediction::Distributions(predicted)) = model.predict(&inputs) else { return None };
        let dense: Vec<Value> = (0..rows.rows()).map(|row| short(&dense_row(&rows, row))).collect();
        Some(Playground(json!({
            "features": moved(features, view).map(|feature| {
                let (low, high) = range(features, feature);
                json!({"place": feature, "name": feature_name(&model.schema, feature), "low": low, "high": high})
            }).collect::<Vec<_>>(),
            "all": features.cols(),
            "labels": model.schema.label_names,
            "rows": chosen,
            "inputs": dense,
            "predicted": predicted.iter_rows().map(short).collect::<Vec<_>>(),
            "constants": graph.constants().iter().map(constant).collect::<serde_json::Map<_, _>>(),
            "nodes": graph.nodes().iter().map(node).collect::<Vec<_>>(),
        })))
    }

    /// The place that the script fills, with what it needs.
    pub(super) fn html(&self) -> Element {
        // Within a script element nothing but its end tag is read as markup.
        let data = self.0.to_string().replace('<', "\\u003c");
        let place = Element::new("div").attr("id", "playground").class("playground");
        let without = Element::new("noscript").text("This part needs the script of the page.");
        place
            .child(without)
            .child(Element::new("script").attr("type", "application/json").constant(&data))
            .child(Element::new("script").constant(SCRIPT))
    }
}

fn playable(graph: &Graph) -> bool {
    let known = |node: &Node| OPERATORS.contains(&node.operator) || node.operator == TREES;
    let numbers: usize = graph.constants().iter().map(|constant| count(&constant.numbers)).sum();
    let listed: usize =
        graph.nodes().iter().flat_map(|node| &node.attributes).map(|(_, value)| listed(value)).sum();
    graph.nodes().iter().all(known) && numbers + listed <= MOST_NUMBERS
}

fn count(numbers: &Numbers) -> usize {
    match numbers {
        Numbers::F32(numbers) => numbers.len(),
        Numbers::F64(numbers) => numbers.len(),
        Numbers::I64(numbers) => numbers.len(),
    }
}

fn listed(value: &Attribute) -> usize {
    match value {
        Attribute::Ints(numbers) => numbers.len(),
        Attribute::Floats(numbers) => numbers.len(),
        Attribute::Strings(words) => words.len(),
        Attribute::Texts(texts) => texts.len(),
        Attribute::Int(_) | Attribute::Kind(_) => 1,
    }
}

fn dense_row(features: &Features, row: usize) -> Vec<f32> {
    let mut dense = vec![0.0; features.cols()];
    features.copy_row_into(row, &mut dense);
    dense
}

/// The features that can be moved: those with the largest effects in the splits, or the first.
fn moved(features: &Features, view: Option<&ForestView>) -> impl Iterator<Item = usize> {
    let mut effects = vec![0.0; features.cols()];
    for split in view.iter().flat_map(|view| &view.trees).flat_map(|tree| &tree.splits).flatten() {
        effects[split.feature] += split.strength.abs();
    }
    let mut order: Vec<usize> = (0..features.cols()).collect();
    order.sort_by(|&a, &b| effects[b].total_cmp(&effects[a]));
    order.into_iter().take(FEATURES)
}

/// The least and the largest value of a feature.
fn range(features: &Features, feature: usize) -> (f32, f32) {
    let mut row = vec![0.0; features.cols()];
    (0..features.rows()).fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), number| {
        features.copy_row_into(number, &mut row);
        (low.min(row[feature]), high.max(row[feature]))
    })
}

/// Numbers with as many digits as single precision has: in double precision they would be twice as long.
fn short(numbers: &[f32]) -> Value {
    numbers.iter().map(|number| number.to_string().parse::<f64>().unwrap_or_default()).collect()
}

fn constant(constant: &Constant) -> (String, Value) {
    let numbers = match &constant.numbers {
        Numbers::F32(numbers) => short(numbers),
        Numbers::F64(numbers) => json!(numbers),
        Numbers::I64(numbers) => json!(numbers),
    };
    (constant.name.clone(), json!({"shape": constant.shape, "numbers": numbers}))
}

fn node(node: &Node) -> Value {
    let attributes: serde_json::Map<String, Value> = node
        .attributes
        .iter()
        .filter_map(|(name, value)| {
            let value = match value {
                Attribute::Int(number) => json!(number),
                Attribute::Ints(numbers) => json!(numbers),
                Attribute::Floats(numbers) => short(numbers),
                Attribute::Strings(words) => json!(words),
                Attribute::Texts(texts) => json!(texts),
                Attribute::Kind(_) => return None,
            };
            Some((name.to_string(), value))
        })
        .collect();
    json!({"operator": node.operator, "inputs": node.inputs, "outputs": node.outputs, "attributes": attributes})
}

#[cfg(test)]
mod tests {
    use ldlf_core::generate;
    use ldlf_core::mean::Mean;

    use super::*;

    #[test]
    fn names_cannot_end_the_script() {
        let hostile = vec!["</script><script>alert(1)</script>".to_string(), "b".into(), "c".into()];
        let data = generate::artificial(40, 0).unwrap().with_label_names(hostile).unwrap();
        let model = Mean::params().fit(&data).unwrap();
        let html = Playground::of(&model, &data, None).unwrap().html().to_string();
        assert_eq!(html.matches("</script>").count(), 2, "the data and the program");
    }

    #[test]
    fn rows_are_spread_over_the_data() {
        let data = generate::artificial(100, 0).unwrap();
        let model = Mean::params().fit(&data).unwrap();
        let Playground(value) = Playground::of(&model, &data, None).unwrap();
        let rows = value["rows"].as_array().unwrap();
        assert_eq!((rows.len(), &rows[1]), (25, &json!(4)));
    }
}
