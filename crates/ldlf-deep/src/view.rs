//! The forest of a deep model as plain data for figures: where images go, and which images reach a leaf most surely.

use ldlf_core::forest_view::{ForestView, TreeView};
use ldlf_core::{Images, Result, Threads};
use ldlf_forest::head::{CHUNK, Head};
use ldlf_math::parallel::chunks;
use ldlf_math::product::View;

use crate::backbones::Mode;
use crate::model::DeepModel;
use crate::network::{Compute, pass};
use crate::output_layer::OutputLayer;

/// Images that are named for a leaf.
const EXAMPLES: usize = 6;

/// Sends all images through the network and the trees.
pub(crate) fn look_inside(
    model: &DeepModel,
    images: &Images,
    chosen: &[usize],
    threads: &Threads,
) -> Result<Option<ForestView>> {
    let OutputLayer::Forest(head) = &model.output else { return Ok(None) };
    let rows: Vec<usize> = (0..images.rows()).collect();
    let compute = Compute::new(threads)?;
    let inputs = images.clone().into();
    let activations = pass(&inputs, &rows, &model.preprocessing, &model.device, &compute, |x| {
        model.network.activations(x, &Mode::Predict)
    })?;
    Ok(Some(of_activations(head, &activations, chosen, threads)))
}

/// The trees over rows whose activations are known, `[rows, units]`.
fn of_activations(head: &Head<f32>, activations: &[f32], chosen: &[usize], threads: &Threads) -> ForestView {
    let shape = *head.shape();
    let (trees, leaves) = (shape.trees, shape.leaves());
    let rows = activations.len() / shape.units;
    let routed = threads.map(chunks(rows, CHUNK), |rows| {
        let own = &activations[rows.start * shape.units..rows.end * shape.units];
        head.route(View::row_major(own, rows.len(), shape.units))
    });
    let shares: Vec<f32> = routed.concat();
    let share =
        |row: usize, tree: usize, leaf: usize| f64::from(shares[(row * trees + tree) * leaves + leaf]);
    let tree = |tree: usize| {
        let own = tree * leaves * shape.labels..(tree + 1) * leaves * shape.labels;
        let likeliest = |leaf: usize| {
            let mut order: Vec<usize> = (0..rows).collect();
            order.sort_by(|&a, &b| share(b, tree, leaf).total_cmp(&share(a, tree, leaf)).then(a.cmp(&b)));
            order.truncate(EXAMPLES);
            order
        };
        TreeView {
            splits: vec![Vec::new(); shape.splits()],
            leaves: head.leaves()[own].chunks(shape.labels).map(<[f32]>::to_vec).collect(),
            mass: (0..leaves)
                .map(|leaf| (0..rows).map(|row| share(row, tree, leaf)).sum::<f64>() / rows.max(1) as f64)
                .collect(),
            routes: chosen
                .iter()
                .map(|&row| (0..leaves).map(|leaf| share(row, tree, leaf)).collect())
                .collect(),
            examples: threads.map(0..leaves, likeliest),
        }
    };
    ForestView { trees: (0..trees).map(tree).collect(), rows, chosen: chosen.to_vec() }
}

#[cfg(test)]
mod tests {
    use ldlf_forest::tree_shape::ForestShape;

    use super::*;

    #[test]
    fn a_leaf_names_the_rows_that_reach_it_most_surely() {
        let shape = ForestShape { trees: 1, depth: 2, units: 1, labels: 2 };
        let head = Head::from_parts(shape, vec![0], vec![1.0, 0.0, 0.0, 1.0]);
        // A positive activation goes left.
        let view = of_activations(&head, &[-3.0, 2.0, 5.0, -1.0], &[2], &Threads::one());
        let tree = &view.trees[0];
        assert_eq!(tree.examples, [vec![2, 1, 3, 0], vec![0, 3, 1, 2]]);
        assert_eq!((view.rows, tree.leaves.len(), tree.splits.len()), (4, 2, 1));
        assert!((tree.mass.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        assert!((tree.routes[0][0] - 1.0 / (1.0 + (-5.0f64).exp())).abs() < 1e-6);
    }
}
