//! Models as ONNX files: the graph of [`ldlf_core::graph`] as the protocol buffers that onnxruntime and others read.
//!
//! Standard operators only (`ai.onnx`, opset 17, and for grown trees `ai.onnx.ml`, opset 3), a free number of rows, and as metadata: the learner, the version of `ldlf`, and as JSON the names of features and labels, the
//! values of ordered labels and, for a model of images, how they are cut.
//!
//! ```
//! use ldlf_core::{Dataset, Features, Matrix, mean::Mean};
//! let features = Features::Dense(Matrix::from_rows(&[[0.5], [1.5]]));
//! let data = Dataset::new(features, Matrix::from_rows(&[[0.2, 0.8], [0.4, 0.6]]))?;
//! let model = Mean::params().fit(&data)?;
//! let file = ldlf_onnx::to_bytes(&model, ldlf_onnx::Takes::Auto)?;
//! assert!(file.len() > 100);
//! # Ok::<(), ldlf_core::Error>(())
//! ```

mod messages;

use ldlf_core::columns::{Columns, Encoding};
use ldlf_core::graph::{Attribute, Constant, Domain, Graph, GraphImages, Kind, Node, Numbers};
use ldlf_core::{Error, Result, Schema, TrainedModel};
use prost::Message;
use serde_json::json;

use messages::{
    AttributeProto, Dimension, DimensionValue, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, TensorShape, TensorType, TypeProto, ValueInfoProto, ValueType,
};

/// The version of the file format, released with [`OPSET`].
const IR_VERSION: i64 = 8;

/// The version of the operators: old enough for runtimes of recent years, new enough for every operator used.
const OPSET: i64 = 17;

/// The version of the operators of `ai.onnx.ml`, as old as [`OPSET`] or older.
const MACHINE_LEARNING_OPSET: i64 = 3;

/// Maximum size of a message of protocol buffers.
const LARGEST_FILE: usize = i32::MAX as usize;

/// Metadata of the file: names with text.
pub type Facts = Vec<(&'static str, String)>;

/// What an exported model takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Takes {
    /// Columns where features are made of texts, dates, yes and no, or missing values; else features.
    #[default]
    Auto,
    /// An input for every column of a table, as the user has it.
    Columns,
    /// One matrix of features.
    Features,
}

impl Takes {
    /// Whether the file of this model has an input for every column.
    pub fn are_columns(self, model: &TrainedModel) -> bool {
        match self {
            Takes::Auto => model.schema.columns.as_ref().is_some_and(|columns| !columns.are_plain_numbers()),
            Takes::Columns => true,
            Takes::Features => false,
        }
    }
}

/// The bytes of a model's ONNX file, or an error that the model has none.
pub fn to_bytes(model: &TrainedModel, takes: Takes) -> Result<Vec<u8>> {
    let takes_columns = takes.are_columns(model);
    let graph = if takes_columns { model.graph_of_columns()? } else { model.graph()? };
    let Schema { feature_names, label_names, label_values, columns, .. } = &model.schema;
    let mut facts: Facts = vec![("learner", model.learner.clone())];
    facts.extend(feature_names.as_ref().map(|names| ("feature_names", json!(names).to_string())));
    if let Some(columns) = columns.as_ref().filter(|_| takes_columns) {
        facts.push(("columns", described(columns, &graph)));
    }
    facts.push(("label_names", json!(label_names).to_string()));
    facts.extend(label_values.as_ref().map(|values| ("label_values", json!(values).to_string())));
    if let Some(GraphImages { side, resized }) = graph.images() {
        let cut = json!({ "resize_shorter_side": resized, "center_crop": side, "channels": "RGB", "range": [0, 255] });
        facts.push(("images", cut.to_string()));
    }
    graph_to_bytes(&graph, facts)
}

/// The columns that a graph takes as JSON: their inputs, and the categories that it knows.
fn described(columns: &Columns, graph: &Graph) -> String {
    let each = columns.list.iter().zip(graph.inputs()).map(|(column, input)| {
        let mut one = json!({"input": input.name, "column": column.name, "holds": column.encoding.kind()});
        if let Encoding::Categories { values, .. } = &column.encoding {
            one["values"] = json!(values);
        }
        one
    });
    each.collect::<serde_json::Value>().to_string()
}

/// The bytes of the ONNX file of any graph; the version of `ldlf` joins the facts.
pub fn graph_to_bytes(graph: &Graph, mut facts: Facts) -> Result<Vec<u8>> {
    facts.push(("ldlf_version", env!("CARGO_PKG_VERSION").to_string()));
    let model = ModelProto {
        ir_version: IR_VERSION,
        producer_name: "ldlf".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        graph: Some(graph_message(graph)),
        opset_import: operator_sets(graph),
        metadata_props: facts
            .into_iter()
            .map(|(key, value)| StringStringEntryProto { key: key.into(), value })
            .collect(),
    };
    let size = model.encoded_len();
    if size > LARGEST_FILE {
        return Err(Error::usage(format!(
            "the model would be an ONNX file of {size} bytes, more than the {LARGEST_FILE} that the format allows"
        )));
    }
    Ok(model.encode_to_vec())
}

/// The sets of operators that a graph needs: not every runtime has those of machine learning.
fn operator_sets(graph: &Graph) -> Vec<OperatorSetIdProto> {
    let in_use = |domain: Domain| graph.nodes().iter().any(|node| node.domain == domain);
    let set = |domain: Domain, version| OperatorSetIdProto { domain: domain_name(domain).into(), version };
    let learning =
        in_use(Domain::MachineLearning).then(|| set(Domain::MachineLearning, MACHINE_LEARNING_OPSET));
    [set(Domain::Standard, OPSET)].into_iter().chain(learning).collect()
}

/// A set's name in the file; that of the standard operators is empty.
fn domain_name(domain: Domain) -> &'static str {
    match domain {
        Domain::Standard => "",
        Domain::MachineLearning => "ai.onnx.ml",
    }
}

fn graph_message(graph: &Graph) -> GraphProto {
    GraphProto {
        node: graph.nodes().iter().map(node).collect(),
        name: "ldlf".into(),
        initializer: graph.constants().iter().map(tensor).collect(),
        input: graph
            .inputs()
            .iter()
            .map(|input| value(&input.name, element_type(input.kind), &input.sizes))
            .collect(),
        output: graph
            .outputs()
            .iter()
            .map(|output| value(output.name, messages::FLOAT, output.width.as_slice()))
            .collect(),
    }
}

/// The number of a type of values in the file.
fn element_type(kind: Kind) -> i32 {
    match kind {
        Kind::F32 => messages::FLOAT,
        Kind::F64 => messages::DOUBLE,
        Kind::I64 => messages::INT64,
        Kind::Text => messages::STRING,
    }
}

/// An input or output: a free number of rows, and the sizes of a row where it has any.
fn value(name: &str, elem_type: i32, sizes: &[usize]) -> ValueInfoProto {
    let rows = Dimension { value: Some(DimensionValue::Param("rows".into())) };
    let sizes = sizes.iter().map(|&size| Dimension { value: Some(DimensionValue::Value(size as i64)) });
    let shape = TensorShape { dim: [rows].into_iter().chain(sizes).collect() };
    let tensor = TensorType { elem_type, shape: Some(shape) };
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { value: Some(ValueType::Tensor(tensor)) }) }
}

fn node(node: &Node) -> NodeProto {
    NodeProto {
        input: node.inputs.clone(),
        output: node.outputs.clone(),
        name: node.outputs[0].clone(),
        op_type: node.operator.into(),
        attribute: node.attributes.iter().map(|(name, value)| attribute(name, value)).collect(),
        domain: domain_name(node.domain).into(),
    }
}

fn attribute(name: &str, value: &Attribute) -> AttributeProto {
    let typed = |r#type| AttributeProto { name: name.into(), r#type, ..AttributeProto::default() };
    let whole = |i: i64| AttributeProto { i: Some(i), ..typed(messages::INT) };
    match value {
        Attribute::Int(number) => whole(*number),
        Attribute::Kind(kind) => whole(element_type(*kind).into()),
        Attribute::Ints(ints) => AttributeProto { ints: ints.clone(), ..typed(messages::INTS) },
        Attribute::Floats(floats) => AttributeProto { floats: floats.clone(), ..typed(messages::FLOATS) },
        Attribute::Strings(words) => {
            let strings = words.iter().map(|word| word.as_bytes().to_vec()).collect();
            AttributeProto { strings, ..typed(messages::STRINGS) }
        }
        Attribute::Texts(texts) => {
            let strings = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
            AttributeProto { strings, ..typed(messages::STRINGS) }
        }
    }
}

fn tensor(constant: &Constant) -> TensorProto {
    let (data_type, raw_data) = match &constant.numbers {
        Numbers::F32(numbers) => (messages::FLOAT, numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Numbers::F64(numbers) => (messages::DOUBLE, numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Numbers::I64(numbers) => (messages::INT64, numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
    };
    let dims = constant.shape.iter().map(|&size| size as i64).collect();
    TensorProto { dims, data_type, name: constant.name.clone(), raw_data }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_graph() -> Graph {
        let mut graph = Graph::new(3);
        let x = graph.features();
        let weights = graph.f32s("weights", &[3, 2], vec![0.5; 6]);
        let scores = graph.node("MatMul", "scores", &[&x, &weights]);
        let softmax = graph.softmax(&scores);
        graph.finish(&softmax, 2, None);
        graph
    }

    #[test]
    fn a_file_reads_back_to_its_graph() {
        let bytes = graph_to_bytes(&a_graph(), vec![("learner", "sldlf".into())]).unwrap();
        let model = ModelProto::decode(&*bytes).unwrap();
        assert_eq!((model.ir_version, model.opset_import[0].version, model.opset_import.len()), (8, 17, 1));
        let keys: Vec<&str> = model.metadata_props.iter().map(|fact| &*fact.key).collect();
        assert_eq!(keys, ["learner", "ldlf_version"]);
        let graph = model.graph.unwrap();
        let operators: Vec<&str> = graph.node.iter().map(|node| &*node.op_type).collect();
        assert_eq!(operators, ["MatMul", "Softmax", "Sub", "ReduceSum", "Add"]);
        assert_eq!(graph.node[1].attribute[0].i, Some(-1));
        let weights = &graph.initializer[0];
        assert_eq!((&*weights.dims, weights.data_type), (&[3, 2][..], messages::FLOAT));
        assert_eq!(weights.raw_data, 0.5f32.to_le_bytes().repeat(6));
        assert_eq!((&*graph.input[0].name, &*graph.output[0].name), ("features", "distributions"));
    }

    #[test]
    fn only_the_number_of_rows_is_free() {
        let graph = graph_message(&a_graph());
        let Some(ValueType::Tensor(tensor)) = graph.input[0].r#type.clone().unwrap().value else {
            panic!("the input is a tensor")
        };
        let sizes: Vec<DimensionValue> =
            tensor.shape.unwrap().dim.into_iter().map(|size| size.value.unwrap()).collect();
        assert_eq!(sizes, [DimensionValue::Param("rows".into()), DimensionValue::Value(3)]);
    }

    #[test]
    fn a_graph_of_images_takes_their_pixels() {
        let mut graph = Graph::of_images(GraphImages { side: 8, resized: 10 });
        let x = graph.features();
        let means = [("axes", Attribute::Ints(vec![2, 3])), ("keepdims", Attribute::Int(0))];
        let means = graph.node_with("ReduceMean", "means", &[&x], &means);
        graph.finish(&means, 3, None);
        let message = graph_message(&graph);
        assert_eq!(message.input[0].name, "images");
        let Some(ValueType::Tensor(tensor)) = message.input[0].r#type.clone().unwrap().value else {
            panic!("the input is a tensor")
        };
        let sizes: Vec<DimensionValue> =
            tensor.shape.unwrap().dim.into_iter().map(|size| size.value.unwrap()).collect();
        let [rows, pixels @ ..] = &sizes[..] else { panic!("four sizes") };
        assert_eq!(rows, &DimensionValue::Param("rows".into()));
        assert_eq!(pixels, [3, 8, 8].map(DimensionValue::Value));
    }

    #[test]
    fn operators_of_machine_learning_bring_their_domain_and_lists_as_attributes() {
        let mut graph = Graph::new(1);
        let attributes = vec![
            ("target_ids", Attribute::Ints(vec![0, 0])),
            ("target_weights", Attribute::Floats(vec![0.25, -1.0])),
            ("nodes_modes", Attribute::Strings(vec!["LEAF", "BRANCH_LEQ"])),
        ];
        let x = graph.features();
        let sums = graph.machine_learning_node("TreeEnsembleRegressor", "sums", &[&x], attributes);
        graph.finish(&sums, 1, None);
        let model = ModelProto::decode(&*graph_to_bytes(&graph, Facts::new()).unwrap()).unwrap();
        let sets: Vec<(&str, i64)> =
            model.opset_import.iter().map(|set| (&*set.domain, set.version)).collect();
        assert_eq!(sets, [("", 17), ("ai.onnx.ml", 3)]);
        let nodes = model.graph.unwrap().node;
        let domains: Vec<&str> = nodes.iter().map(|node| &*node.domain).collect();
        assert_eq!(domains, ["ai.onnx.ml", "", "", ""]);
        let [ids, weights, modes] = &nodes[0].attribute[..] else { panic!("three attributes") };
        assert_eq!((&*ids.name, ids.r#type, &*ids.ints), ("target_ids", 7, &[0, 0][..]));
        assert_eq!((weights.r#type, &*weights.floats), (6, &[0.25, -1.0][..]));
        assert_eq!((modes.r#type, &*modes.strings[1]), (8, &b"BRANCH_LEQ"[..]));
    }

    #[test]
    fn equal_graphs_give_equal_bytes() {
        let bytes = || graph_to_bytes(&a_graph(), Facts::new()).unwrap();
        assert_eq!(bytes(), bytes());
    }
}
