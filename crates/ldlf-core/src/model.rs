//! What a fit leaves behind: a model that predicts, can be stored, and never changes.

use crate::explain::Contributions;
use crate::features::Row;
use crate::forest_view::ForestView;
use crate::graph::{Flow, Graph, GraphImages};
use crate::stored::Parts;
use crate::{Features, Images, Inputs, Matrix, Prediction, Result, Threads, Value};

/// What was learnt: predicts, and can be stored.
pub trait Model: Send + Sync {
    /// The prediction for every row. The caller has checked the number of features.
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction>;

    /// Adds arrays and details from which [`Algorithm::load`](crate::Algorithm::load) rebuilds the model.
    fn store(&self, parts: &mut Parts);

    /// A predictor for one row at a time, where the model has one.
    fn row_predictor(&self) -> Option<Box<dyn RowPredictor + '_>> {
        None
    }

    /// What `ldlf inspect` shows beside the document: sizes and facts, names with values.
    fn inspect(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Adds the model to a graph of standard operators and gives its distributions, `[rows, labels]` or one row for all. `None` where
    /// the operators do not say what the model does; what was added then counts for nothing.
    fn add_to_graph(&self, _graph: &mut Graph, _features: &Flow) -> Option<Flow> {
        None
    }

    /// The images that the model's graph takes; `None` where it takes rows of a table.
    fn images_of_graph(&self) -> Option<GraphImages> {
        None
    }

    /// How much the model's trees differ: for every share the variance of what they say, each by its weight, `[rows, labels]`. `None` where
    /// there are no trees.
    fn variance_between_trees(&self, _inputs: &Inputs, _threads: &Threads) -> Result<Option<Matrix<f32>>> {
        Ok(None)
    }

    /// How much every feature moves the predictions of `rows` away from the mean prediction over `background`; they sum to the
    /// predictions. `None` where the model has no way of its own, and [`explain`](crate::explain) replaces columns.
    fn contributions(&self, _background: &Features, _rows: &Features, _: &Threads) -> Option<Contributions> {
        None
    }

    /// The model's trees over some rows, with the routes of `chosen` ones: what figures of a forest show. `None` where there are
    /// no soft trees. The caller has checked the number of features and that the chosen rows are there.
    fn look_inside(&self, _features: &Features, _chosen: &[usize], _threads: &Threads) -> Option<ForestView> {
        None
    }

    /// The same of a model of images: its splits name no features, and its leaves name the images that reach them. The caller has checked
    /// that the chosen rows are there.
    fn look_inside_images(
        &self,
        _images: &Images,
        _chosen: &[usize],
        _threads: &Threads,
    ) -> Result<Option<ForestView>> {
        Ok(None)
    }
}

/// Predicts one row at a time, with work buffers of its own: for services with one row per request.
pub trait RowPredictor {
    /// The distribution of one row. The caller has checked the number of features.
    fn predict(&mut self, row: Row<'_>) -> Result<&[f32]>;
}
