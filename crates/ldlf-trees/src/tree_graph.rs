//! Grown trees in a graph: one operator, `TreeEnsembleRegressor` of `ai.onnx.ml`, for all of them.

use ldlf_core::graph::{Attribute, Flow, Graph};

use crate::regression_tree::{Split, Tree, first_label};

/// Adds `start + sum of trees` to a graph: what [`sum_over_trees`](crate::regression_tree::sum_over_trees) computes, in single
/// precision.
///
/// `BRANCH_LEQ` compares single precision as [`Tree`] does, so that every row comes to the same leaves. Trees without a split are
/// added to `start`; without any other tree the sum is a constant row.
///
/// # Shapes
/// - `rows`: `[rows, features]`
/// - `start`: `[labels]`
/// - out: `[rows, labels]`, or `[1, labels]` where no tree has a split
pub fn add_sum(graph: &mut Graph, rows: &Flow, trees: &[Tree], start: &[f32]) -> Flow {
    let labels = start.len();
    let mut constant: Vec<f64> = start.iter().copied().map(f64::from).collect();
    let mut ensemble = Ensemble::default();
    for (number, tree) in trees.iter().enumerate() {
        let first = first_label(tree, number, labels);
        match tree.leaf(0) {
            Some(leaf) => constant[first..].iter_mut().zip(leaf).for_each(|(sum, &v)| *sum += f64::from(v)),
            None => ensemble.add(tree, first),
        }
    }
    let some = constant.iter().any(|&number| number != 0.0);
    let constant = constant.into_iter().map(|number| number as f32).collect();
    if ensemble.trees == 0 {
        return graph.f32s("start", &[1, labels], constant);
    }
    let sums =
        graph.machine_learning_node("TreeEnsembleRegressor", "trees", &[rows], ensemble.attributes(labels));
    if !some {
        return sums;
    }
    let start = graph.f32s("start", &[labels], constant);
    graph.node("Add", "sums", &[&sums, &start])
}

/// The lists of the operator: an entry for every node, and one for every number of a leaf.
#[derive(Default)]
struct Ensemble {
    trees: i64,
    node_tree: Vec<i64>,
    node: Vec<i64>,
    mode: Vec<&'static str>,
    feature: Vec<i64>,
    threshold: Vec<f32>,
    left: Vec<i64>,
    right: Vec<i64>,
    leaf_tree: Vec<i64>,
    leaf: Vec<i64>,
    label: Vec<i64>,
    value: Vec<f32>,
}

impl Ensemble {
    /// Adds a tree whose leaves begin at label `first`.
    fn add(&mut self, tree: &Tree, first: usize) {
        for node in 0..tree.node_count() {
            let split = tree.split(node);
            self.node_tree.push(self.trees);
            self.node.push(node as i64);
            self.mode.push(if split.is_some() { "BRANCH_LEQ" } else { "LEAF" });
            // What a leaf says here is read by nobody.
            let Split { feature, threshold, left, right } =
                split.unwrap_or(Split { feature: 0, threshold: 0.0, left: 0, right: 0 });
            self.feature.push(feature as i64);
            self.threshold.push(threshold);
            self.left.push(left as i64);
            self.right.push(right as i64);
            for (label, &value) in tree.leaf(node).into_iter().flatten().enumerate() {
                // Zeros add nothing, but every leaf has a number.
                if label == 0 || value != 0.0 {
                    self.leaf_tree.push(self.trees);
                    self.leaf.push(node as i64);
                    self.label.push((first + label) as i64);
                    self.value.push(value);
                }
            }
        }
        self.trees += 1;
    }

    fn attributes(self, labels: usize) -> Vec<(&'static str, Attribute)> {
        vec![
            ("n_targets", Attribute::Int(labels as i64)),
            ("nodes_treeids", Attribute::Ints(self.node_tree)),
            ("nodes_nodeids", Attribute::Ints(self.node)),
            ("nodes_modes", Attribute::Strings(self.mode)),
            ("nodes_featureids", Attribute::Ints(self.feature)),
            ("nodes_values", Attribute::Floats(self.threshold)),
            ("nodes_truenodeids", Attribute::Ints(self.left)),
            ("nodes_falsenodeids", Attribute::Ints(self.right)),
            ("target_treeids", Attribute::Ints(self.leaf_tree)),
            ("target_nodeids", Attribute::Ints(self.leaf)),
            ("target_ids", Attribute::Ints(self.label)),
            ("target_weights", Attribute::Floats(self.value)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regression_tree::Sketch;

    /// `x_1 <= 0.5` leads to `left`, everything else to `right`.
    fn stump(left: &[f32], right: &[f32]) -> Tree {
        let mut sketch = Sketch::new(left.len());
        let child = sketch.split(0, 1, 0.5);
        sketch.leaf(child).copy_from_slice(left);
        sketch.leaf(child + 1).copy_from_slice(right);
        sketch.finish()
    }

    fn lone_leaf(values: &[f32]) -> Tree {
        let mut sketch = Sketch::new(values.len());
        sketch.leaf(0).copy_from_slice(values);
        sketch.finish()
    }

    fn graph_of(trees: &[Tree], start: &[f32]) -> (Graph, Flow) {
        let mut graph = Graph::new(2);
        let features = graph.features();
        let sum = add_sum(&mut graph, &features, trees, start);
        (graph, sum)
    }

    fn attribute<'a>(graph: &'a Graph, name: &str) -> &'a Attribute {
        let found = graph.nodes()[0].attributes.iter().find(|(own, _)| *own == name);
        &found.expect("the operator has that attribute").1
    }

    #[test]
    fn a_tree_becomes_lists_of_nodes_and_of_leaf_values() {
        let (graph, sum) = graph_of(&[stump(&[0.25, 0.75], &[1.0, 0.0])], &[0.0, 0.0]);
        assert_eq!((sum.name(), graph.nodes().len()), ("trees", 1));
        let ints = |numbers: &[i64]| Attribute::Ints(numbers.to_vec());
        for (name, expected) in [
            ("n_targets", Attribute::Int(2)),
            ("nodes_treeids", ints(&[0, 0, 0])),
            ("nodes_nodeids", ints(&[0, 1, 2])),
            ("nodes_modes", Attribute::Strings(vec!["BRANCH_LEQ", "LEAF", "LEAF"])),
            ("nodes_featureids", ints(&[1, 0, 0])),
            ("nodes_values", Attribute::Floats(vec![0.5, 0.0, 0.0])),
            ("nodes_truenodeids", ints(&[1, 0, 0])),
            ("nodes_falsenodeids", ints(&[2, 0, 0])),
            ("target_treeids", ints(&[0, 0, 0])),
            // The zero of the right leaf adds nothing and is left out.
            ("target_nodeids", ints(&[1, 1, 2])),
            ("target_ids", ints(&[0, 1, 0])),
            ("target_weights", Attribute::Floats(vec![0.25, 0.75, 1.0])),
        ] {
            assert_eq!(*attribute(&graph, name), expected, "{name}");
        }
    }

    #[test]
    fn trees_with_one_output_take_turns_at_the_labels() {
        let trees = [1.0, 2.0, 3.0, 4.0].map(|value| stump(&[value], &[-value]));
        let (graph, _) = graph_of(&trees, &[0.0, 0.0]);
        assert_eq!(*attribute(&graph, "target_ids"), Attribute::Ints(vec![0, 0, 1, 1, 0, 0, 1, 1]));
        assert_eq!(*attribute(&graph, "target_treeids"), Attribute::Ints(vec![0, 0, 1, 1, 2, 2, 3, 3]));
    }

    #[test]
    fn a_tree_without_a_split_is_added_to_the_start() {
        let (graph, sum) = graph_of(&[lone_leaf(&[2.0]), stump(&[1.0], &[0.0])], &[0.5, -1.0]);
        let operators: Vec<&str> = graph.nodes().iter().map(|node| node.operator).collect();
        assert_eq!((operators, sum.name()), (vec!["TreeEnsembleRegressor", "Add"], "sums"));
        assert_eq!(graph.constants()[0].numbers, ldlf_core::graph::Numbers::F32(vec![2.5, -1.0]));
        // The stump is the second tree, so that it speaks of the second label.
        assert_eq!(*attribute(&graph, "target_ids"), Attribute::Ints(vec![1, 1]));
    }

    #[test]
    fn trees_without_any_split_are_one_constant_row() {
        let (graph, sum) = graph_of(&[lone_leaf(&[0.25, 0.75]), lone_leaf(&[0.5, 0.5])], &[0.0, 0.0]);
        assert!(graph.nodes().is_empty());
        assert_eq!((&*graph.constants()[0].name, &*graph.constants()[0].shape), (sum.name(), &[1, 2][..]));
        assert_eq!(graph.constants()[0].numbers, ldlf_core::graph::Numbers::F32(vec![0.75, 1.25]));
    }
}
