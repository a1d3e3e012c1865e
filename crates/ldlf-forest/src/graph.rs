//! The forest as a graph of standard operators: level by level, all trees at once.
//!
//! A value of the graph has a column for every pair of a node and a tree, the trees of a node together. A level's shares `r` and
//! splits `s` make the next level's by `[r s, r - r s]`: all left children stand before all right ones, so that no number has to
//! move; the splits and leaves are put into that order beforehand.

use ldlf_core::graph::{Flow, Graph};

use crate::encoder::Encoder;
use crate::head::Head;
use crate::kernel::SimdFloat;
use crate::linear::LinearMap;
use crate::tree_shape::ForestShape;

/// The nodes of a level, counted from the left, in the order of the graph.
fn order(level: usize) -> Vec<usize> {
    (0..level).fold(vec![0], |nodes, _| {
        let children = |side: usize| nodes.iter().map(move |node| 2 * node + side);
        children(0).chain(children(1)).collect()
    })
}

/// The unit of every split in the order of the graph, level after level.
fn units_in_order(shape: &ForestShape, units: &[u32]) -> Vec<usize> {
    let mut ordered = Vec::with_capacity(units.len());
    for level in 0..shape.depth - 1 {
        for node in order(level) {
            let split = (1 << level) - 1 + node;
            ordered.extend((0..shape.trees).map(|tree| units[tree * shape.splits() + split] as usize));
        }
    }
    ordered
}

/// Adds the trees behind the activations of their splits, which come in the order of [`units_in_order`].
///
/// # Shapes
/// - `splits`: `[rows, trees splits]`; absent where the trees have none
fn add_trees<T: SimdFloat>(graph: &mut Graph, splits: Option<&Flow>, head: &Head<T>) -> Flow {
    let shape = *head.shape();
    let (trees, labels) = (shape.trees, shape.labels);
    // The mean over the trees is part of the leaves.
    let mut leaves = Vec::with_capacity(head.leaves().len());
    for leaf in order(shape.depth - 1) {
        for tree in 0..trees {
            let start = (tree * shape.leaves() + leaf) * labels;
            let shares = &head.leaves()[start..start + labels];
            leaves.extend(shares.iter().map(|q| (q.as_f64() / trees as f64) as f32));
        }
    }
    let Some(splits) = splits else {
        let mean = (0..labels).map(|label| leaves.iter().skip(label).step_by(labels).sum()).collect();
        return graph.f32s("leaves", &[1, labels], mean);
    };
    let leaves = graph.f32s("leaves", &[trees * shape.leaves(), labels], leaves);
    let splits = graph.node("Sigmoid", "splits", &[splits]);
    let widths: Vec<usize> = (0..shape.depth - 1).map(|level| trees << level).collect();
    let mut shares: Option<Flow> = None;
    for split in graph.cut("level", &splits, &widths) {
        let (left, right) = match &shares {
            None => {
                let one = graph.number("one", 1.0);
                let right = graph.node("Sub", "right", &[&one, &split]);
                (split, right)
            }
            Some(shares) => {
                let left = graph.node("Mul", "left", &[shares, &split]);
                let right = graph.node("Sub", "right", &[shares, &left]);
                (left, right)
            }
        };
        shares = Some(graph.beside("shares", &[&left, &right]));
    }
    let shares = shares.expect("trees with splits have a level");
    let mixed = graph.node("MatMul", "mixed", &[&shares, &leaves]);
    graph.normalise(&mixed)
}

/// Adds a linear map, whose outputs are put into the order of the splits, and the trees behind it.
///
/// # Shapes
/// - `inputs`: `[rows, weights / units]`; `weights`: `[inputs, units]`; `bias`: `[units]`
pub fn add_linear_forest<T: SimdFloat>(
    graph: &mut Graph,
    inputs: &Flow,
    weights: &[f32],
    bias: Option<&[f32]>,
    head: &Head<T>,
) -> Flow {
    let units = units_in_order(head.shape(), head.units());
    if units.is_empty() {
        return add_trees(graph, None, head);
    }
    let rows = weights.chunks_exact(head.shape().units);
    let chosen = |row: &[f32]| units.iter().map(|&unit| row[unit]).collect::<Vec<f32>>();
    let shape = [rows.len(), units.len()];
    let map = graph.f32s("weights", &shape, rows.flat_map(chosen).collect());
    let activations = match bias {
        Some(bias) => {
            let bias = graph.f32s("bias", &[units.len()], chosen(bias));
            graph.node("Gemm", "activations", &[inputs, &map, &bias])
        }
        None => graph.node("MatMul", "activations", &[inputs, &map]),
    };
    add_trees(graph, Some(&activations), head)
}

/// Adds the trees behind activations as they are.
///
/// # Shapes
/// - `activations`: `[rows, units]`
pub fn add_forest<T: SimdFloat>(graph: &mut Graph, activations: &Flow, head: &Head<T>) -> Flow {
    let units = units_in_order(head.shape(), head.units());
    if units.is_empty() {
        return add_trees(graph, None, head);
    }
    let splits = graph.columns_of("in_order", activations, units.iter().map(|&unit| unit as i64).collect());
    add_trees(graph, Some(&splits), head)
}

/// Adds a shallow forest: encoder, linear map, trees.
pub(crate) fn add_shallow(
    graph: &mut Graph,
    features: &Flow,
    encoder: &Encoder,
    map: &LinearMap,
    head: &Head<f32>,
) -> Flow {
    let (inputs, used) = encoder.add_to_graph(graph, features);
    let units = map.units();
    let row = |input: usize| &map.weights()[input * units..(input + 1) * units];
    let weights: Vec<f32> = used.iter().flat_map(|&input| row(input)).copied().collect();
    let bias = encoder.bias().then(|| row(encoder.inputs() - 1));
    add_linear_forest(graph, &inputs, &weights, bias, head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_children_stand_before_right_ones() {
        assert_eq!(order(0), [0]);
        assert_eq!(order(1), [0, 1]);
        assert_eq!(order(2), [0, 2, 1, 3]);
        assert_eq!(order(3), [0, 4, 2, 6, 1, 5, 3, 7]);
    }

    #[test]
    fn the_trees_of_a_node_stand_together() {
        let shape = ForestShape { trees: 2, depth: 3, units: 9, labels: 1 };
        let units = [0, 1, 2, 8, 7, 6];
        assert_eq!(units_in_order(&shape, &units), [0, 8, 1, 7, 2, 6]);
    }
}
