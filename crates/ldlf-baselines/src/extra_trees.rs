//! `extra-trees`: extremely randomised trees that split on the distribution vector.
//!
//! As [`random_forest`](crate::random_forest), but each feature that a split looks at gets one threshold, uniform
//! between its smallest and largest value in the node, and the best of these is taken; every tree sees all rows.
//!
//! Source: Geurts, Ernst, Wehenkel (2006), Extremely randomized trees, Machine Learning 63; several outputs as in
//! scikit-learn's `ExtraTreesRegressor`.

use ldlf_core::learner::{Abilities, Summary};
use ldlf_core::{Dataset, FitContext, Fitted, Learner, LearnerEntry, Result, Settings, memory};

use crate::columns;
use crate::split_search::Table;
use crate::tree_builder::Limits;
use crate::tree_forest::{ForestModel, Plan, fit_forest, load_forest};

ldlf_core::parameters! {
    /// What `extra-trees` can be told.
    pub struct ExtraTreesParameters {
        /// Number of trees.
        trees: usize = 200, at_least 1;
        /// Splits between the root and a leaf at most, or none for no limit.
        max_depth: Option<usize> = None, at_least 1;
        /// Least weight of the rows in a leaf (the number of rows when all weigh 1).
        min_leaf: f64 = 3.0, above 0;
        /// Share of the features that a split looks at.
        feature_share: f64 = 0.5, above 0, at_most 1;
        /// Whether each tree sees rows drawn with replacement (else all rows).
        bootstrap: bool = false;
    }
}

/// Grows trees with random thresholds on all rows.
pub struct ExtraTrees {
    parameters: ExtraTreesParameters,
}

impl ExtraTrees {
    /// The learner with the given parameters.
    pub fn new(parameters: ExtraTreesParameters) -> Self {
        ExtraTrees { parameters }
    }

    /// The forest itself, for whoever starts from its trees; `data` must have rows.
    pub fn grow(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<(ForestModel, Summary)> {
        let p = &self.parameters;
        let features = data.features()?;
        let values = columns::values(features);
        let limits = Limits {
            depth: p.max_depth.unwrap_or(usize::MAX),
            leaf_weight: p.min_leaf,
            feature_share: p.feature_share,
            penalty: 0.0,
        };
        let table = Table::Random(&values, features.cols());
        Ok(fit_forest(&table, Plan { trees: p.trees, bootstrap: p.bootstrap, limits }, data, context))
    }
}

impl Learner for ExtraTrees {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> Settings {
        self.parameters.to_settings()
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        context.refuse_resume(self.name())?;
        // A tree has at least one node and one leaf.
        let sizes = [("trees", self.parameters.trees), ("labels", data.labels())];
        memory::check("the trees", &sizes, size_of::<f32>())?;
        let (model, summary) = self.grow(data, context)?;
        Ok(Fitted { model: Box::new(model), summary })
    }
}

/// `extra-trees` for the registry.
pub const ENTRY: LearnerEntry = LearnerEntry {
    name: "extra-trees",
    summary: "trees with random thresholds that split on the whole distribution; leaves hold mean distributions",
    source: "Geurts, Ernst, Wehenkel 2006; several outputs as in scikit-learn",
    abilities: Abilities { sparse: true, weights: true, iterates: false, ordered: false, images: false },
    parameters: ExtraTreesParameters::declared,
    presets: Vec::new,
    build: |settings| Ok(Box::new(ExtraTrees::new(ExtraTreesParameters::from_settings(settings)?))),
    load: load_forest,
};
