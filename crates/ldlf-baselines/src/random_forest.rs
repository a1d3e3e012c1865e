//! `random-forest`: bagged trees that split on the distribution vector.
//!
//! Each tree sees a bootstrap sample and, at every split, a random fraction of the features. A split lowers the squared
//! error summed over the labels; a leaf holds the weighted mean of its rows' distributions; the forest predicts the mean
//! over its trees: `p(x) = 1/T sum_t mean{ d_i : i in leaf_t(x) }`.
//!
//! Source: Breiman (2001), Random forests, Machine Learning 45; several outputs as in scikit-learn's
//! `RandomForestRegressor`.

use ldlf_core::learner::Summary;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Dataset, Facts, FitContext, Fitted, Matrix, Model, Preset, Result};
use ldlf_math::memory;
use ldlf_trees::columns::Codes;
use ldlf_trees::split_search::SplitColumns;
use ldlf_trees::tree_builder::Limits;
use ldlf_trees::tree_forest::{ForestModel, Plan, Sampling, fit_forest, load_forest, predict_unseen};

use crate::extra_trees::ExtraTrees;

ldlf_core::parameters! {
    /// Parameters of `random-forest` and `extra-trees`.
    pub struct TreeForestParameters, builder TreeForestParams for RandomForest, ExtraTrees {
        /// Number of trees.
        trees: usize = 200, at_least 1, known_as "n_estimators";
        /// Maximum depth of a tree; none is no limit.
        max_depth: Option<usize> = None, at_least 1;
        /// Minimum weight of the rows in a leaf (their number where all weigh 1).
        min_leaf_weight: f64 = 3.0, above 0, known_as "min_samples_leaf";
        /// Fraction of the features tried at each split.
        max_features: f64 = 0.2, above 0, at_most 1, except "0.5 for `ExtraTrees`";
        /// Whether each tree sees rows drawn with replacement (else all rows).
        bootstrap: bool = true, except "false for `ExtraTrees`";
    }
}

impl TreeForestParameters {
    pub(crate) fn plan(&self) -> Plan {
        let limits = Limits {
            depth: self.max_depth.unwrap_or(usize::MAX),
            leaf_weight: self.min_leaf_weight,
            feature_share: self.max_features,
            penalty: 0.0,
        };
        Plan {
            trees: self.trees,
            sampling: Sampling { bootstrap: self.bootstrap, ..Sampling::default() },
            limits,
        }
    }

    /// Refuses trees that do not fit into memory: a tree has at least one node and one leaf.
    pub(crate) fn check_memory(&self, data: &Dataset) -> Result<()> {
        let sizes = [("trees", self.trees), ("labels", data.labels())];
        Ok(memory::check("the trees", &sizes, size_of::<f32>())?)
    }
}

/// A grown forest as a learner gives it.
pub(crate) fn fitted((model, summary): (ForestModel, Summary)) -> Fitted {
    Fitted::new(Box::new(model), summary)
}

/// What trees say about the rows that they did not draw. None where all rows are drawn, where trees are so few that a row may have been
/// drawn by all, and where rows belong together: a tree then knows a row by the others of its group.
fn out_of_bag(
    parameters: &TreeForestParameters,
    forest: &ForestModel,
    data: &Dataset,
    context: &FitContext<'_>,
) -> Result<Option<Matrix<f32>>> {
    /// A row is drawn by so many trees with a probability of about 1 in 10,000.
    const FEWEST_TREES: usize = 20;
    if !parameters.bootstrap || forest.trees().len() < FEWEST_TREES || data.groups().is_some() {
        return Ok(None);
    }
    let sampling = parameters.plan().sampling;
    Ok(Some(predict_unseen(forest, &sampling, data, context.seed, &context.threads)?.predicted))
}

/// Grows trees with the best thresholds on bootstrap samples.
pub struct RandomForest;

impl RandomForest {
    /// The forest itself, for learners that start from its trees; `data` must have rows.
    pub fn grow(
        parameters: &TreeForestParameters,
        data: &Dataset,
        context: &mut FitContext<'_>,
    ) -> Result<(ForestModel, Summary)> {
        let codes = Codes::new(data.features()?, &context.threads);
        Ok(fit_forest(&SplitColumns::Best(&codes), &parameters.plan(), data, context))
    }
}

impl Algorithm for RandomForest {
    type Parameters = TreeForestParameters;

    const FACTS: Facts = Facts {
        exports: true,
        out_of_fold: true,
        ..Facts::new(
            "random-forest",
            "bagged trees that split on the whole distribution; leaves hold mean distributions",
            "Breiman 2001; several outputs as in scikit-learn",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: 100 trees on bootstrap samples, grown to the end; a third of the features per split, as the author's package has for regression",
            ["trees=100", "max_depth=none", "min_leaf_weight=1", "max_features=0.333", "bootstrap=true"],
        )]
    }

    fn fit(p: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        p.check_memory(data)?;
        let (model, summary) = RandomForest::grow(p, data, context)?;
        let out_of_fold = out_of_bag(p, &model, data, context)?;
        Ok(Fitted { out_of_fold, ..fitted((model, summary)) })
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load_forest(parts, shape)
    }
}
