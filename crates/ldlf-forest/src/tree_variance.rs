//! How much the soft trees of a forest differ on a row.

use ldlf_core::{Features, Matrix, Result, Threads};
use ldlf_math::parallel::chunks;

use crate::head::CHUNK;
use crate::shallow_forest::ShallowForest;

/// The variance of every share over the trees, `1/K sum_k g_kc^2 - (1/K sum_k g_kc)^2`, `[rows, labels]`.
pub(crate) fn of_forest(
    forest: &ShallowForest,
    features: &Features,
    threads: &Threads,
) -> Result<Matrix<f32>> {
    let shape = *forest.head.shape();
    let (leaves, labels, count) = (shape.leaves(), shape.labels, shape.trees as f64);
    let tasks = threads.map(chunks(features.rows(), CHUNK), |rows| {
        let routes = forest.route(features, rows.clone(), None);
        let mut variances = Vec::with_capacity(rows.len() * labels);
        let mut output = vec![0.0f32; labels];
        for row in routes.chunks_exact(shape.trees * leaves) {
            let mut sums = vec![(0.0f64, 0.0f64); labels];
            for (tree, shares) in row.chunks_exact(leaves).enumerate() {
                output.fill(0.0);
                for (&share, leaf) in shares.iter().zip(forest.head.leaves_of(tree).chunks_exact(labels)) {
                    output.iter_mut().zip(leaf).for_each(|(g, &q)| *g += share * q);
                }
                for ((sum, squares), &g) in sums.iter_mut().zip(&output) {
                    *sum += f64::from(g);
                    *squares += f64::from(g).powi(2);
                }
            }
            let variance = |(sum, squares): (f64, f64)| squares / count - (sum / count).powi(2);
            variances.extend(sums.into_iter().map(|sums| variance(sums).max(0.0) as f32));
        }
        variances
    });
    Ok(Matrix::new(features.rows(), labels, tasks.concat())?)
}

#[cfg(test)]
mod tests {
    use ldlf_core::{Dataset, FitContext, Learner, Model, Settings};

    use super::*;
    use crate::head::Head;

    #[test]
    fn the_variance_is_that_of_every_tree_as_a_forest_of_its_own() {
        let rows: Vec<[f32; 2]> = (0..60).map(|i| [(i as f32 * 0.7).sin(), (i as f32 * 1.3).cos()]).collect();
        let targets: Vec<[f32; 2]> =
            rows.iter().map(|row| if row[0] > 0.0 { [0.9, 0.1] } else { [0.2, 0.8] }).collect();
        let features = Features::Dense(Matrix::from_rows(&rows));
        let data = Dataset::new(features.clone(), Matrix::from_rows(&targets)).unwrap();
        let settings = [
            "choose=false",
            "leave_out=0",
            "trees=3",
            "depth=2",
            "iterations=50",
            "min_iterations=0",
            "early_stopping=false",
        ];
        let learner =
            ldlf_core::Checked::<crate::shallow::Forest>::from_settings(&Settings::parse(settings).unwrap())
                .unwrap();
        let model = learner.fit(&data, &mut FitContext::new(1, Threads::one(), &mut ())).unwrap().model;
        let mut parts = ldlf_core::stored::Parts::new();
        model.store(&mut parts);
        let shape = ldlf_core::stored::ModelShape { features: 2, labels: 2 };
        let forest = ShallowForest::load(&parts, &shape).unwrap();
        let found = of_forest(&forest, &features, &Threads::one()).unwrap();
        // Every tree alone, as a forest of its own.
        let full = *forest.head.shape();
        let alone: Vec<Matrix<f32>> = (0..3)
            .map(|tree| {
                let one = crate::tree_shape::ForestShape { trees: 1, ..full };
                let head = Head::from_parts(
                    one,
                    forest.head.units_of(tree).to_vec(),
                    forest.head.leaves_of(tree).to_vec(),
                );
                let lone = ShallowForest { encoder: forest.encoder.clone(), map: forest.map.clone(), head };
                Model::predict(&lone, &features.clone().into(), &Threads::one())
                    .unwrap()
                    .into_distributions()
                    .unwrap()
            })
            .collect();
        for place in 0..120 {
            let said: Vec<f64> = alone.iter().map(|p| f64::from(p.as_slice()[place])).collect();
            let mean = said.iter().sum::<f64>() / 3.0;
            let variance = said.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / 3.0;
            assert!((f64::from(found.as_slice()[place]) - variance).abs() < 1e-5, "{place}");
        }
        assert!(found.as_slice().iter().any(|variance| *variance > 1e-4));
    }
}
