//! A model as a graph of standard operators (those of `ai.onnx`, for grown trees also of `ai.onnx.ml`), for runtimes without `ldlf`.
//!
//! A model adds nodes to a [`Graph`] and says which of its values are the distributions
//! ([`Model::add_to_graph`](crate::Model::add_to_graph)); [`TrainedModel::graph`] adds what all models have: the input,
//! the outputs and the rule about numbers that are not finite. [`TrainedModel::graph_of_columns`] takes the raw columns of a table
//! instead. The crate `ldlf-onnx` writes the graph as a file.

use std::collections::BTreeSet;

use crate::{Error, Result, TrainedModel};

/// The input of a graph that takes features: `[rows, features]`, single precision.
pub const FEATURES: &str = "features";
/// The input of a model of images: `[rows, 3, side, side]`, single precision, red, green and blue from 0 to 255.
pub const IMAGES: &str = "images";
/// The output of every graph: `[rows, labels]`.
pub const DISTRIBUTIONS: &str = "distributions";
/// The output of ordered labels: the value of the most probable label of every row, `[rows]`.
pub const MODE: &str = "mode";
/// The output of ordered labels: the expected value of every row, `[rows]`.
pub const MEAN: &str = "mean";

/// Numbers with a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Whole numbers.
    I64(Vec<i64>),
}

impl Numbers {
    fn len(&self) -> usize {
        match self {
            Numbers::F32(numbers) => numbers.len(),
            Numbers::F64(numbers) => numbers.len(),
            Numbers::I64(numbers) => numbers.len(),
        }
    }
}

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Whole numbers.
    I64,
    /// Texts.
    Text,
}

/// An attribute of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A whole number.
    Int(i64),
    /// A type of numbers.
    Kind(Kind),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Numbers of single precision.
    Floats(Vec<f32>),
    /// Words.
    Strings(Vec<&'static str>),
    /// Texts of the data.
    Texts(Vec<String>),
}

/// A set of operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// `ai.onnx`.
    Standard,
    /// `ai.onnx.ml`: operators of classical machine learning.
    MachineLearning,
}

/// The images that a graph takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphImages {
    /// The side of the square that is cut out of the centre of a resized image.
    pub side: usize,
    /// The shorter side of a resized image.
    pub resized: usize,
}

/// A value in the graph: the output of a node, or a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow(String);

impl Flow {
    /// Its name in the graph.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its shape; empty for a single number.
    pub shape: Vec<usize>,
    /// Its numbers in row-major order.
    pub numbers: Numbers,
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The set that the operator belongs to.
    pub domain: Domain,
    /// The operator, as its domain calls it.
    pub operator: &'static str,
    /// The names of its inputs.
    pub inputs: Vec<String>,
    /// The names of its outputs.
    pub outputs: Vec<String>,
    /// Its attributes.
    pub attributes: Vec<(&'static str, Attribute)>,
}

/// An input of the graph: `[rows, sizes]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The sizes of a row.
    pub sizes: Vec<usize>,
}

/// An output of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: &'static str,
    /// How many numbers per row; `None` for one number per row without a second dimension.
    pub width: Option<usize>,
}

/// Operators in topological order. Names are made unique here: a graph can hold the same model twice.
///
/// ```
/// use ldlf_core::graph::Graph;
/// let mut graph = Graph::new(2);
/// let features = graph.features();
/// let weights = graph.f32s("weights", &[2, 1], vec![0.5, -1.0]);
/// let scores = graph.node("MatMul", "scores", &[&features, &weights]);
/// assert_eq!(scores.name(), "scores");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    inputs: Vec<Input>,
    images: Option<GraphImages>,
    features: Flow,
    scope: String,
    names: BTreeSet<String>,
    constants: Vec<Constant>,
    nodes: Vec<Node>,
    outputs: Vec<Output>,
}

impl Graph {
    /// A graph with nothing but its input, of so many features.
    pub fn new(columns: usize) -> Self {
        let features = Input { name: FEATURES.into(), kind: Kind::F32, sizes: vec![columns] };
        Graph { inputs: vec![features], ..Graph::without_inputs() }
    }

    /// A graph with nothing but its input of images.
    pub fn of_images(images: GraphImages) -> Self {
        let pixels = Input { name: IMAGES.into(), kind: Kind::F32, sizes: vec![3, images.side, images.side] };
        let features = Flow(IMAGES.into());
        Graph { inputs: vec![pixels], images: Some(images), features, ..Graph::without_inputs() }
    }

    /// A graph whose inputs are to be added, and its features then to be made of them.
    pub(crate) fn without_inputs() -> Self {
        let taken = [FEATURES, IMAGES, DISTRIBUTIONS, MODE, MEAN].map(String::from);
        Graph {
            inputs: Vec::new(),
            images: None,
            features: Flow(FEATURES.into()),
            scope: String::new(),
            names: taken.into(),
            constants: Vec::new(),
            nodes: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// The features or pixels: the input, or what was made of the inputs.
    pub fn features(&self) -> Flow {
        self.features.clone()
    }

    /// The inputs.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The images that it takes, where it takes images.
    pub fn images(&self) -> Option<GraphImages> {
        self.images
    }

    /// Adds an input of one value per row. It has the given name unless something in the graph has it already.
    pub(crate) fn add_input(&mut self, name: &str, kind: Kind) -> Flow {
        let name = self.unique(name);
        self.inputs.push(Input { name: name.clone(), kind, sizes: vec![1] });
        Flow(name)
    }

    /// Says what the features are, where they are no input.
    pub(crate) fn set_features(&mut self, features: Flow) {
        self.features = features;
    }

    /// The constants.
    pub fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// The operations, each after those that it depends on.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The outputs.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Adds nodes whose names all begin with `scope`, such as a member of a mixture.
    pub fn within<T>(&mut self, scope: &str, add: impl FnOnce(&mut Graph) -> T) -> T {
        let outer = self.scope.clone();
        self.scope = format!("{outer}{scope}/");
        let added = add(self);
        self.scope = outer;
        added
    }

    fn unique(&mut self, name: &str) -> String {
        let wanted = format!("{}{name}", self.scope);
        let free = |names: &BTreeSet<String>, name: &String| !names.contains(name);
        let name = std::iter::once(wanted.clone())
            .chain((2..).map(|number| format!("{wanted}_{number}")))
            .find(|name| free(&self.names, name))
            .expect("there is always a further number");
        self.names.insert(name.clone());
        name
    }

    /// Adds a constant.
    ///
    /// # Panics
    /// When the numbers do not fit the shape.
    pub fn constant(&mut self, name: &str, shape: &[usize], numbers: Numbers) -> Flow {
        assert_eq!(shape.iter().product::<usize>(), numbers.len(), "{name} does not fit its shape");
        let name = self.unique(name);
        self.constants.push(Constant { name: name.clone(), shape: shape.to_vec(), numbers });
        Flow(name)
    }

    /// Adds a constant of single precision.
    pub fn f32s(&mut self, name: &str, shape: &[usize], numbers: Vec<f32>) -> Flow {
        self.constant(name, shape, Numbers::F32(numbers))
    }

    /// Adds a constant of double precision.
    pub fn f64s(&mut self, name: &str, shape: &[usize], numbers: Vec<f64>) -> Flow {
        self.constant(name, shape, Numbers::F64(numbers))
    }

    /// Adds a list of whole numbers.
    pub fn i64s(&mut self, name: &str, numbers: Vec<i64>) -> Flow {
        let shape = [numbers.len()];
        self.constant(name, &shape, Numbers::I64(numbers))
    }

    /// Adds a single number.
    pub fn number(&mut self, name: &str, number: f32) -> Flow {
        self.f32s(name, &[], vec![number])
    }

    /// Adds an operation with one output.
    pub fn node(&mut self, operator: &'static str, name: &str, inputs: &[&Flow]) -> Flow {
        self.node_with(operator, name, inputs, &[])
    }

    /// Adds an operation with attributes and one output.
    pub fn node_with(
        &mut self,
        operator: &'static str,
        name: &str,
        inputs: &[&Flow],
        attributes: &[(&'static str, Attribute)],
    ) -> Flow {
        self.nodes_of((Domain::Standard, operator), &[name], inputs, attributes.to_vec()).remove(0)
    }

    /// Adds an operation of `ai.onnx.ml` with one output.
    pub fn machine_learning_node(
        &mut self,
        operator: &'static str,
        name: &str,
        inputs: &[&Flow],
        attributes: Vec<(&'static str, Attribute)>,
    ) -> Flow {
        self.nodes_of((Domain::MachineLearning, operator), &[name], inputs, attributes).remove(0)
    }

    /// Adds an operation with one output per name.
    fn nodes_of(
        &mut self,
        (domain, operator): (Domain, &'static str),
        names: &[&str],
        inputs: &[&Flow],
        attributes: Vec<(&'static str, Attribute)>,
    ) -> Vec<Flow> {
        let outputs: Vec<String> = names.iter().map(|name| self.unique(name)).collect();
        let inputs = inputs.iter().map(|flow| flow.0.clone()).collect();
        self.nodes.push(Node { domain, operator, inputs, outputs: outputs.clone(), attributes });
        outputs.into_iter().map(Flow).collect()
    }

    /// `(x - shift) factor`, column by column; operations without effect are left out.
    pub fn scale(&mut self, rows: &Flow, shift: &[f32], factor: &[f32]) -> Flow {
        let mut scaled = rows.clone();
        if shift.iter().any(|&shift| shift != 0.0) {
            let shift = self.f32s("shift", &[shift.len()], shift.to_vec());
            scaled = self.node("Sub", "shifted", &[&scaled, &shift]);
        }
        if factor.iter().any(|&factor| factor != 1.0) {
            let factor = self.f32s("factor", &[factor.len()], factor.to_vec());
            scaled = self.node("Mul", "scaled", &[&scaled, &factor]);
        }
        scaled
    }

    /// `min(max(x, low), high)`.
    pub fn clip(&mut self, rows: &Flow, low: f32, high: f32) -> Flow {
        let (low, high) = (self.number("low", low), self.number("high", high));
        self.node("Clip", "clipped", &[rows, &low, &high])
    }

    /// The columns of several values, concatenated.
    pub fn beside(&mut self, name: &str, parts: &[&Flow]) -> Flow {
        match parts {
            [one] => (*one).clone(),
            _ => self.node_with("Concat", name, parts, &[("axis", Attribute::Int(1))]),
        }
    }

    /// The given columns, in the given order.
    pub fn columns_of(&mut self, name: &str, rows: &Flow, columns: Vec<i64>) -> Flow {
        let which = self.i64s("columns", columns);
        self.node_with("Gather", name, &[rows, &which], &[("axis", Attribute::Int(1))])
    }

    /// `if_true` where a condition holds, else `if_false`.
    pub fn choose(&mut self, name: &str, condition: &Flow, if_true: &Flow, if_false: &Flow) -> Flow {
        self.node("Where", name, &[condition, if_true, if_false])
    }

    /// The columns, split into parts of the given widths.
    pub fn cut(&mut self, name: &str, rows: &Flow, widths: &[usize]) -> Vec<Flow> {
        if widths.len() == 1 {
            return vec![rows.clone()];
        }
        let sizes = self.i64s("widths", widths.iter().map(|&width| width as i64).collect());
        let split = (Domain::Standard, "Split");
        self.nodes_of(split, &vec![name; widths.len()], &[rows, &sizes], vec![("axis", Attribute::Int(1))])
    }

    /// The places of the `count` smallest numbers of every row; of equal numbers the first come first.
    pub fn smallest(&mut self, name: &str, rows: &Flow, count: &Flow) -> Flow {
        let attributes = vec![("axis", Attribute::Int(1)), ("largest", Attribute::Int(0))];
        self.nodes_of((Domain::Standard, "TopK"), &["smallest", name], &[rows, count], attributes).remove(1)
    }

    /// The same numbers in another precision.
    pub fn cast(&mut self, name: &str, rows: &Flow, kind: Kind) -> Flow {
        self.node_with("Cast", name, &[rows], &[("to", Attribute::Kind(kind))])
    }

    /// `softmax` of every row.
    pub fn softmax(&mut self, scores: &Flow) -> Flow {
        self.node_with("Softmax", "softmax", &[scores], &[("axis", Attribute::Int(-1))])
    }

    /// The sum of every row, as a column.
    pub fn row_sums(&mut self, name: &str, rows: &Flow) -> Flow {
        let axis = self.i64s("axis", vec![1]);
        self.node("ReduceSum", name, &[rows, &axis])
    }

    /// Every row divided by its sum.
    pub fn normalise(&mut self, rows: &Flow) -> Flow {
        let sums = self.row_sums("sums", rows);
        self.node("Div", "normalised", &[rows, &sums])
    }

    /// `sum_i share_i rows_i`: a mixture of members.
    pub fn mix(&mut self, members: &[(f32, Flow)]) -> Option<Flow> {
        let mut mixed: Option<Flow> = None;
        for (share, member) in members {
            let share = self.number("share", *share);
            let part = self.node("Mul", "part", &[member, &share]);
            mixed = Some(match mixed {
                None => part,
                Some(before) => self.node("Add", "mixed", &[&before, &part]),
            });
        }
        mixed
    }

    /// Adds the outputs that all models have.
    ///
    /// `x - x` is 0 for a finite number and not a number otherwise: a row with a missing value, which `ldlf` itself refuses, gives
    /// no distribution instead of a wrong one. The same term gives a constant model one output per row.
    pub fn finish(&mut self, distributions: &Flow, labels: usize, label_values: Option<&[f64]>) {
        let mut features = self.features();
        if self.images.is_some() {
            features = self.node_with("Flatten", "pixels", &[&features], &[("axis", Attribute::Int(1))]);
        }
        let zeros = self.node("Sub", "zeros", &[&features, &features]);
        let finite = self.row_sums("finite", &zeros);
        self.add_output(DISTRIBUTIONS, Some(labels), "Add", &[distributions, &finite]);
        let Some(values) = label_values else { return };
        let distributions = Flow(DISTRIBUTIONS.into());
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<_>>();
        let values = self.f32s("label_values", &[values.len()], single(values));
        self.add_output(MEAN, None, "MatMul", &[&distributions, &values]);
        let first = [("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(0))];
        let places = self.node_with("ArgMax", "places", &[&distributions], &first);
        let modes = self.node("Gather", "modes", &[&values, &places]);
        let axis = self.i64s("axis", vec![1]);
        let finite = self.node("Squeeze", "finite", &[&finite, &axis]);
        self.add_output(MODE, None, "Add", &[&modes, &finite]);
    }

    fn add_output(&mut self, name: &'static str, width: Option<usize>, operator: &'static str, of: &[&Flow]) {
        let inputs = of.iter().map(|flow| flow.0.clone()).collect();
        let (domain, attributes) = (Domain::Standard, Vec::new());
        self.nodes.push(Node { domain, operator, inputs, outputs: vec![name.into()], attributes });
        self.outputs.push(Output { name, width });
    }
}

impl TrainedModel {
    /// The model as a graph of standard operators, or a sentence that it is none.
    ///
    /// # Shapes
    /// - in: `features` `[rows, features]`, or `images` `[rows, 3, side, side]`
    /// - out: `distributions` `[rows, labels]`; for ordered labels `mode` and `mean` `[rows]`
    pub fn graph(&self) -> Result<Graph> {
        self.graph_behind(match self.model.images_of_graph() {
            Some(images) => Graph::of_images(images),
            None => Graph::new(self.features),
        })
    }

    /// The model as a graph that takes the raw columns of a table, one input per column, and makes features of them as the model does;
    /// an error where the model does not know its columns.
    ///
    /// # Shapes
    /// - in: every column `[rows, 1]`: numbers, and yes and no as 1 and 0, in single precision, NaN where missing; categories as texts, empty
    ///   where missing; dates as whole seconds since the beginning of 1970, the least whole number where missing
    /// - out: as those of [`TrainedModel::graph`]
    pub fn graph_of_columns(&self) -> Result<Graph> {
        let columns = self.schema.columns.as_ref().filter(|columns| columns.width() == self.features);
        let Some(columns) = columns else {
            return Err(Error::usage("the model does not know from which columns its features are made"));
        };
        let mut graph = Graph::without_inputs();
        columns.add_to_graph(&mut graph);
        self.graph_behind(graph)
    }

    fn graph_behind(&self, mut graph: Graph) -> Result<Graph> {
        let features = graph.features();
        let Some(distributions) = self.model.add_to_graph(&mut graph, &features) else {
            return Err(Error::usage(format!("a model of {} cannot be exported to ONNX", self.learner)));
        };
        graph.finish(&distributions, self.schema.label_names.len(), self.schema.label_values.as_deref());
        Ok(graph)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_within_their_scope() {
        let mut graph = Graph::new(1);
        let x = graph.features();
        let names: Vec<String> = ["first", "first", "second"]
            .iter()
            .map(|scope| graph.within(scope, |graph| graph.node("Sigmoid", "s", &[&x]).name().to_string()))
            .collect();
        assert_eq!(names, ["first/s", "first/s_2", "second/s"]);
        assert_eq!(graph.node("Sigmoid", "distributions", &[&x]).name(), "distributions_2");
    }

    #[test]
    fn scaling_that_changes_nothing_adds_nothing() {
        let mut graph = Graph::new(2);
        let x = graph.features();
        assert_eq!(graph.scale(&x, &[0.0, 0.0], &[1.0, 1.0]), x);
        assert!(graph.nodes().is_empty());
        graph.scale(&x, &[0.0, 1.0], &[1.0, 2.0]);
        let operators: Vec<&str> = graph.nodes().iter().map(|node| node.operator).collect();
        assert_eq!(operators, ["Sub", "Mul"]);
    }

    #[test]
    fn every_node_stands_after_what_it_needs() {
        let mut graph = Graph::new(2);
        let x = graph.features();
        let members = ["a", "b"].map(|scope| (0.5, graph.within(scope, |graph| graph.softmax(&x))));
        let mixed = graph.mix(&members).unwrap();
        graph.finish(&mixed, 2, Some(&[1.0, 2.0]));
        let mut known: BTreeSet<&str> = graph.constants().iter().map(|constant| &*constant.name).collect();
        known.insert(FEATURES);
        for node in graph.nodes() {
            assert!(node.inputs.iter().all(|input| known.contains(&**input)), "{node:?}");
            known.extend(node.outputs.iter().map(|name| &**name));
        }
        let outputs: Vec<&str> = graph.outputs().iter().map(|output| output.name).collect();
        assert_eq!(outputs, [DISTRIBUTIONS, MEAN, MODE]);
        assert!(outputs.iter().all(|output| known.contains(output)));
    }
}
