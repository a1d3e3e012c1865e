//! `ldlogitboost`: logistic boosting of label distributions, one regression tree a label and round.
//!
//! The model is `p = softmax(F)`. Each round fits, for every label `j`, a regression tree `f_j` to the working response
//! `z = (d_j - p_j) / (p_j (1 - p_j))` with weights `p_j (1 - p_j)`, both sides clipped, and adds
//! `rate (C - 1)/C (f_j - 1/C sum_k f_k)` to `F_j`. The mean over `k` shifts all scores of a row alike, which softmax does
//! not see; so it is left out. A leaf holds `f_j = sum (d_j - p_j) / (penalty + sum p_j (1 - p_j))`.
//!
//! Source: Xing, Geng, Xue (2016), Logistic boosting regression for label distribution learning, CVPR; after Friedman,
//! Hastie, Tibshirani (2000), Additive logistic regression, Annals of Statistics 28.

use ldlf_core::learner::Abilities;
use ldlf_core::{Dataset, FitContext, Fitted, Learner, LearnerEntry, Result, Settings};

use crate::boosting::{Booster, LEAST_CURVATURE, LONGEST_STEP, Plan, Round, fit_boosted, load_boosted};
use ldlf_trees::regression_tree::Tree;
use ldlf_trees::tree_builder::{Limits, Objective, grow};

ldlf_core::parameters! {
    /// What `ldlogitboost` can be told.
    pub struct LdLogitBoostParameters {
        /// Rounds at most.
        rounds: usize = 1000, at_least 1;
        /// What every step is multiplied by.
        learning_rate: f64 = 0.05, above 0, at_most 1;
        /// Splits between the root and a leaf at most.
        max_depth: usize = 6, at_least 1;
        /// Least weight of the rows in a leaf (the number of rows when all weigh 1).
        min_leaf: f64 = 10.0, above 0;
        /// Added to every sum of second derivatives: draws steps towards zero.
        penalty: f64 = 1.0, at_least 0;
        /// Share of the features that a split looks at.
        feature_share: f64 = 0.2, above 0, at_most 1;
        /// Share of the rows that a round sees.
        row_share: f64 = 0.7, above 0, at_most 1;
        /// Share of the training rows held back to choose the number of rounds; 0 runs all rounds.
        validation_share: f64 = 0.1, at_least 0, below 1;
        /// Rounds without improvement on the rows held back before stopping.
        patience: usize = 40, at_least 1;
        /// Whether the model is built anew from all rows with the chosen number of rounds.
        refit: bool = true;
    }
}

/// Grows one tree a label and round.
pub struct LdLogitBoost {
    parameters: LdLogitBoostParameters,
}

impl LdLogitBoost {
    /// The learner with the given parameters.
    pub fn new(parameters: LdLogitBoostParameters) -> Self {
        LdLogitBoost { parameters }
    }
}

impl Learner for LdLogitBoost {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> Settings {
        self.parameters.to_settings()
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        context.refuse_resume(self.name())?;
        let p = &self.parameters;
        let plan = Plan {
            rounds: p.rounds,
            learning_rate: p.learning_rate,
            limits: Limits {
                depth: p.max_depth,
                leaf_weight: p.min_leaf,
                feature_share: p.feature_share,
                penalty: p.penalty,
            },
            row_share: p.row_share,
            validation_share: p.validation_share,
            patience: p.patience,
            refit: p.refit,
        };
        fit_boosted(self, &plan, data, context)
    }
}

/// The working response of one label.
struct OneLabel<'a> {
    round: &'a Round<'a>,
    label: usize,
}

impl Objective for OneLabel<'_> {
    type Focus = ();

    fn numerators(&self) -> usize {
        1
    }

    fn outputs(&self) -> usize {
        1
    }

    fn statistics(&self, rows: &[u32], width: usize, out: &mut [f32]) {
        let Round { targets, predicted, weights, .. } = self.round;
        for (&row, out) in rows.iter().zip(out.chunks_exact_mut(width)) {
            let row = row as usize;
            let (w, p) = (weights[row], predicted.row(row)[self.label]);
            out[0] = w;
            out[1] = w * (p * (1.0 - p)).max(LEAST_CURVATURE);
            out[2] = w * (targets.row(row)[self.label] - p);
        }
    }

    fn leaf(&self, (): &(), sums: &[f64], out: &mut [f32]) {
        let labels = self.round.targets.cols() as f64;
        let step = sums[2] / (sums[1] + self.round.limits.penalty);
        let scale = self.round.learning_rate * (labels - 1.0) / labels;
        out[0] = (scale * step.clamp(-LONGEST_STEP, LONGEST_STEP)) as f32;
    }
}

impl Booster for LdLogitBoost {
    fn starts_at_mean(&self) -> bool {
        true
    }

    fn grow_round(&self, round: &Round<'_>) -> Vec<Tree> {
        round.threads.map(0..round.targets.cols(), |label: usize| {
            let mut generator = round.seed.named("label").numbered(label as u64).generator();
            grow(&round.table, &OneLabel { round, label }, &round.limits, round.rows.clone(), &mut generator)
        })
    }
}

/// `ldlogitboost` for the registry.
pub const ENTRY: LearnerEntry = LearnerEntry {
    name: "ldlogitboost",
    summary: "boosted regression trees, one a label and round, on the K-L divergence",
    source: "Xing, Geng, Xue 2016",
    abilities: Abilities { sparse: true, weights: true, iterates: true, ordered: false, images: false },
    parameters: LdLogitBoostParameters::declared,
    presets: Vec::new,
    build: |settings| Ok(Box::new(LdLogitBoost::new(LdLogitBoostParameters::from_settings(settings)?))),
    load: |parts, shape| load_boosted(parts, shape, 1),
};
