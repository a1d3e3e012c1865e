//! The shallow forest as a [`Model`]: predictions, single rows, graphs, views.

use ldlf_core::explain::Contributions;
use ldlf_core::forest_view::ForestView;
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Features, Inputs, Matrix, Model, Prediction, Result, RowPredictor, Threads, Value};

use crate::mixed_forest::MixedForest;
use crate::predict::predict;
use crate::shallow_forest::ShallowForest;
use crate::single_row::SingleRow;

impl Model for ShallowForest {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        predict(&self.encoder, &self.map, &self.head, inputs, threads)
    }

    fn row_predictor(&self) -> Option<Box<dyn RowPredictor + '_>> {
        Some(Box::new(SingleRow::new(self)))
    }

    fn store(&self, parts: &mut Parts) {
        ShallowForest::store(self, parts);
    }

    fn variance_between_trees(&self, inputs: &Inputs, threads: &Threads) -> Result<Option<Matrix<f32>>> {
        crate::tree_variance::of_forest(self, inputs.table()?, threads).map(Some)
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        Some(crate::graph::add_shallow(graph, features, &self.encoder, &self.map, &self.head))
    }

    fn contributions(
        &self,
        background: &Features,
        rows: &Features,
        threads: &Threads,
    ) -> Option<Contributions> {
        Some(crate::contributions::of_forest(self, background, rows, threads))
    }

    fn look_inside(&self, features: &Features, chosen: &[usize], threads: &Threads) -> Option<ForestView> {
        Some(crate::view::look_inside(self, features, chosen, threads))
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        let shape = self.head.shape();
        [
            ("trees", shape.trees),
            ("depth", shape.depth),
            ("leaves a tree", shape.leaves()),
            ("units", shape.units),
            ("weights", self.map.weights().len()),
        ]
        .map(|(name, value)| (name.to_string(), Value::from(value)))
        .into()
    }
}

/// Rebuilds a model from its file.
pub(crate) fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
    match MixedForest::is_in(parts) {
        true => Ok(Box::new(MixedForest::load(parts, shape)?)),
        false => Ok(Box::new(ShallowForest::load(parts, shape)?)),
    }
}
