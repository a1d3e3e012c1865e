//! `random-forest`: bagged trees that split on the distribution vector.
//!
//! Each tree sees a bootstrap sample and, at every split, a random share of the features. A split lowers the squared
//! error summed over the labels; a leaf holds the weighted mean of its rows' distributions; the forest predicts the mean
//! over its trees: `p(x) = 1/T sum_t mean{ d_i : i in leaf_t(x) }`.
//!
//! Source: Breiman (2001), Random forests, Machine Learning 45; several outputs as in scikit-learn's
//! `RandomForestRegressor`.

use ldlf_core::learner::{Abilities, Summary};
use ldlf_core::{Dataset, FitContext, Fitted, Learner, LearnerEntry, Result, Settings, memory};

use crate::columns::Codes;
use crate::split_search::Table;
use crate::tree_builder::Limits;
use crate::tree_forest::{ForestModel, Plan, fit_forest, load_forest};

ldlf_core::parameters! {
    /// What `random-forest` can be told.
    pub struct RandomForestParameters {
        /// Number of trees.
        trees: usize = 200, at_least 1;
        /// Splits between the root and a leaf at most, or none for no limit.
        max_depth: Option<usize> = None, at_least 1;
        /// Least weight of the rows in a leaf (the number of rows when all weigh 1).
        min_leaf: f64 = 3.0, above 0;
        /// Share of the features that a split looks at.
        feature_share: f64 = 0.2, above 0, at_most 1;
        /// Whether each tree sees rows drawn with replacement (else all rows).
        bootstrap: bool = true;
    }
}

/// Grows trees with the best thresholds on bootstrap samples.
pub struct RandomForest {
    parameters: RandomForestParameters,
}

impl RandomForest {
    /// The learner with the given parameters.
    pub fn new(parameters: RandomForestParameters) -> Self {
        RandomForest { parameters }
    }

    /// The forest itself, for whoever starts from its trees; `data` must have rows.
    pub fn grow(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<(ForestModel, Summary)> {
        let p = &self.parameters;
        let codes = Codes::new(data.features()?);
        let limits = Limits {
            depth: p.max_depth.unwrap_or(usize::MAX),
            leaf_weight: p.min_leaf,
            feature_share: p.feature_share,
            penalty: 0.0,
        };
        let plan = Plan { trees: p.trees, bootstrap: p.bootstrap, limits };
        Ok(fit_forest(&Table::Best(&codes), plan, data, context))
    }
}

impl Learner for RandomForest {
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

/// `random-forest` for the registry.
pub const ENTRY: LearnerEntry = LearnerEntry {
    name: "random-forest",
    summary: "bagged trees that split on the whole distribution; leaves hold mean distributions",
    source: "Breiman 2001; several outputs as in scikit-learn",
    abilities: Abilities { sparse: true, weights: true, iterates: false, ordered: false, images: false },
    parameters: RandomForestParameters::declared,
    presets: Vec::new,
    build: |settings| Ok(Box::new(RandomForest::new(RandomForestParameters::from_settings(settings)?))),
    load: load_forest,
};
