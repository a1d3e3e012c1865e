//! `extra-trees`: extremely randomised trees that split on the distribution vector.
//!
//! As [`random_forest`](crate::random_forest), but each feature tried at a split gets one threshold, uniform
//! between its smallest and largest value in the node, and the best of these is taken; every tree sees all rows.
//!
//! Source: Geurts, Ernst, Wehenkel (2006), Extremely randomized trees, Machine Learning 63; several outputs as in
//! scikit-learn's `ExtraTreesRegressor`.

use ldlf_core::learner::Summary;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Dataset, Facts, FitContext, Fitted, Model, Preset, Result};
use ldlf_trees::columns;
use ldlf_trees::split_search::SplitColumns;
use ldlf_trees::tree_forest::{ForestModel, fit_forest, load_forest};

use crate::random_forest::{TreeForestParameters, fitted};

/// Grows trees with random thresholds on all rows.
pub struct ExtraTrees;

impl ExtraTrees {
    /// The forest itself, for learners that start from its trees; `data` must have rows.
    pub fn grow(
        parameters: &TreeForestParameters,
        data: &Dataset,
        context: &mut FitContext<'_>,
    ) -> Result<(ForestModel, Summary)> {
        let features = data.features()?;
        let values = columns::values(features);
        let columns = SplitColumns::Random(&values, features.cols());
        Ok(fit_forest(&columns, &parameters.plan(), data, context))
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

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published for regression: 100 trees on all rows, all features per split; leaves of two rows stand for its least size of a split, five rows",
            ["trees=100", "max_depth=none", "min_leaf_weight=2", "max_features=1", "bootstrap=false"],
        )]
    }

    fn fit(p: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        p.check_memory(data)?;
        ExtraTrees::grow(p, data, context).map(fitted)
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load_forest(parts, shape)
    }
}
