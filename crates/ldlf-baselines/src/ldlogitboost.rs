//! `ldlogitboost`: logistic boosting of label distributions, one regression tree per label and round.
//!
//! The model is `p = softmax(F)`. Each round fits, for every label `j`, a regression tree `f_j` to the working response
//! `z = (d_j - p_j) / (p_j (1 - p_j))` with weights `p_j (1 - p_j)`, both sides clipped, and adds
//! `learning_rate (C - 1)/C (f_j - 1/C sum_k f_k)` to `F_j`. The mean over `k` shifts all scores of a row by the same amount, which softmax
//! ignores; so it is left out. A leaf holds `f_j = sum (d_j - p_j) / (l2 + sum p_j (1 - p_j))`.
//!
//! Source: Xing, Geng, Xue (2016), Logistic boosting regression for label distribution learning, CVPR; after Friedman,
//! Hastie, Tibshirani (2000), Additive logistic regression, Annals of Statistics 28.

use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Dataset, Facts, FitContext, Fitted, Model, Preset, Result};
use ldlf_trees::regression_tree::Tree;
use ldlf_trees::tree_builder::{Objective, grow};

use crate::boosting::{
    Booster, BoostingParameters, LEAST_CURVATURE, LONGEST_STEP, Round, fit_boosted, load_boosted,
};

/// Grows one tree per label and round.
pub struct LdLogitBoost;

impl Algorithm for LdLogitBoost {
    type Parameters = BoostingParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        exports: true,
        ..Facts::new(
            "ldlogitboost",
            "boosted regression trees, one per label and round, on the K-L divergence",
            "Xing, Geng, Xue 2016",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: every tree sees all rows and features, no penalty; rounds are chosen on held-out rows, depth and learning rate are ours, the publication's are not known here",
            ["l2=0", "max_features=1", "subsample=1"],
        )]
    }

    fn fit(parameters: &BoostingParameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        fit_boosted(&LdLogitBoost, parameters, data, context)
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load_boosted(parts, shape, 1)
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
            grow(
                &round.columns,
                &OneLabel { round, label },
                &round.limits,
                round.rows.clone(),
                &mut generator,
            )
        })
    }
}
