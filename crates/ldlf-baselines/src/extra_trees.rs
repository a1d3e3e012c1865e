//! `extra-trees`: extremely randomised trees that split on the distribution vector.
//!
//! As [`random_forest`](crate::random_forest), but each feature that a split looks at gets one threshold, uniform
//! between its smallest and largest value in the node, and the best of these is taken; every tree sees all rows.
//!
//! Source: Geurts, Ernst, Wehenkel (2006), Extremely randomized trees, Machine Learning 63; several outputs as in
//! scikit-learn's `ExtraTreesRegressor`.

use ldlf_core::learner::Summary;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Dataset, Facts, FitContext, Fitted, Model, Result};
use ldlf_trees::columns;
use ldlf_trees::split_search::Table;
use ldlf_trees::tree_forest::{ForestModel, fit_forest, load_forest};

use crate::random_forest::TreeForestParameters;

/// Grows trees with random thresholds on all rows.
pub struct ExtraTrees;

impl ExtraTrees {
    /// The forest itself, for whoever starts from its trees; `data` must have rows.
    pub fn grow(
        parameters: &TreeForestParameters,
        data: &Dataset,
        context: &mut FitContext<'_>,
    ) -> Result<(ForestModel, Summary)> {
        let features = data.features()?;
        let values = columns::values(features);
        let table = Table::Random(&values, features.cols());
        Ok(fit_forest(&table, parameters.plan(), data, context))
    }
}

impl Algorithm for ExtraTrees {
    type Parameters = TreeForestParameters;

    const FACTS: Facts = Facts {
        exports: true,
        ..Facts::new(
            "extra-trees",
            "trees with random thresholds that split on the whole distribution; leaves hold mean distributions",
            "Geurts, Ernst, Wehenkel 2006; several outputs as in scikit-learn",
        )
    };

    fn defaults() -> TreeForestParameters {
        TreeForestParameters { max_features: 0.5, bootstrap: false, ..TreeForestParameters::default() }
    }

    fn fit(
        parameters: &TreeForestParameters,
        data: &Dataset,
        context: &mut FitContext<'_>,
    ) -> Result<Fitted> {
        parameters.check_memory(data)?;
        let (model, summary) = ExtraTrees::grow(parameters, data, context)?;
        Ok(Fitted { model: Box::new(model), summary })
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load_forest(parts, shape)
    }
}
