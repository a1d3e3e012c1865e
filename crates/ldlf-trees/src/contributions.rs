//! Along the path of a row through a grown tree: every split moves the expected leaf, and the move belongs to its feature.

use ldlf_core::Features;
use ldlf_core::explain::Contributions;
use ldlf_math::Threads;

use crate::regression_tree::{Split, Tree};

/// The contributions to the mean over trees whose leaves are distributions.
///
/// The value of a node is the mean of the leaves that background rows reach through it, so that the root's is the mean prediction, and
/// a step from a node to its child changes the value by what the split's feature contributes (T. S. Saabas, 2014).
pub fn of_forest(trees: &[Tree], background: &Features, rows: &Features, threads: &Threads) -> Contributions {
    let (features, labels) = (rows.cols(), trees.first().map_or(0, Tree::outputs));
    let share = 1.0 / trees.len().max(1) as f64;
    let parts = threads.map(trees.iter(), |tree: &Tree| {
        let values = node_values(tree, background);
        // Only what the paths of these rows touch is kept: `(row, feature, change)`.
        let mut steps: Vec<(usize, usize, Vec<f64>)> = Vec::new();
        for row in 0..rows.rows() {
            walk(tree, rows, row, |split, from, to| {
                let change = values[to].iter().zip(&values[from]).map(|(to, from)| share * (to - from));
                steps.push((row, split.feature, change.collect()));
            });
        }
        let base: Vec<f64> = values[0].iter().map(|value| share * value).collect();
        (base, steps)
    });
    let mut base = vec![0.0; labels];
    let mut values = vec![0.0; rows.rows() * features * labels];
    for (own, steps) in parts {
        base.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        for (row, feature, change) in steps {
            let at = (row * features + feature) * labels;
            values[at..at + labels].iter_mut().zip(change).for_each(|(sum, value)| *sum += value);
        }
    }
    Contributions { base, values }
}

/// Follows a row from the root to its leaf; `step` sees every split, its node and the child that the row goes to. Gives the leaf.
fn walk(tree: &Tree, features: &Features, row: usize, mut step: impl FnMut(Split, usize, usize)) -> usize {
    let value = |feature: usize| match features {
        Features::Dense(matrix) => matrix.row(row)[feature],
        Features::Sparse(matrix) => {
            let (columns, values) = matrix.row(row);
            columns.binary_search(&(feature as u32)).map_or(0.0, |at| values[at])
        }
    };
    let mut node = 0;
    while let Some(split) = tree.split(node) {
        let next = if value(split.feature) > split.threshold { split.right } else { split.left };
        step(split, node, next);
        node = next;
    }
    node
}

/// The value of every node. Where no background row comes by, children count alike.
fn node_values(tree: &Tree, background: &Features) -> Vec<Vec<f64>> {
    let mut counts = vec![0.0f64; tree.node_count()];
    for row in 0..background.rows() {
        counts[walk(tree, background, row, |_, _, _| ())] += 1.0;
    }
    let mut values = vec![Vec::new(); tree.node_count()];
    // Children come after their parents.
    for node in (0..tree.node_count()).rev() {
        match (tree.leaf(node), tree.split(node)) {
            (Some(leaf), _) => values[node] = leaf.iter().map(|&p| f64::from(p)).collect(),
            (None, Some(Split { left, right, .. })) => {
                counts[node] = counts[left] + counts[right];
                let to_left = if counts[node] > 0.0 { counts[left] / counts[node] } else { 0.5 };
                let mixed =
                    values[left].iter().zip(&values[right]).map(|(l, r)| to_left * l + (1.0 - to_left) * r);
                values[node] = mixed.collect();
            }
            (None, None) => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use ldlf_core::Matrix;

    use super::*;
    use crate::regression_tree::Sketch;

    #[test]
    fn the_steps_of_a_path_sum_to_its_leaf() {
        // x0 <= 0: (1, 0); else x1 <= 0: (0.5, 0.5), else (0, 1).
        let mut sketch = Sketch::new(2);
        let left = sketch.split(0, 0, 0.0);
        sketch.leaf(left).copy_from_slice(&[1.0, 0.0]);
        let below = sketch.split(left + 1, 1, 0.0);
        sketch.leaf(below).copy_from_slice(&[0.5, 0.5]);
        sketch.leaf(below + 1).copy_from_slice(&[0.0, 1.0]);
        let tree = sketch.finish();
        let features =
            Features::Dense(Matrix::from_rows(&[[-1.0, 0.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]));
        let found = of_forest(&[tree], &features, &features, &Threads::new(1).unwrap());
        assert_eq!(found.base, [0.625, 0.375]);
        // The last row: the right half has the mean (0.25, 0.75), its leaf (0, 1).
        assert_eq!(found.values[12..], [-0.375, 0.375, -0.25, 0.25]);
        assert_eq!(found.values[..4], [0.375, -0.375, 0.0, 0.0]);
    }
}
