//! `aoso-ldlogitboost`: logistic boosting of label distributions with adaptive one-versus-one trees.
//!
//! The model is `p = softmax(F)`. Each round grows one tree; each node sets one pair of labels apart. With
//! `G_j = sum (d_j - p_j)` over the node's rows and `H_rs = sum p_r (1 - p_r) + p_s (1 - p_s) + 2 p_r p_s`, the node takes
//! the label `r` with the largest `|G_r|` and the partner `s` with the largest `(G_r - G_s)^2 / H_rs`. Splits gain in that
//! pair's direction, and a leaf adds `rate (G_r - G_s) / (penalty + H_rs)` to `F_r` and subtracts it from `F_s`.
//!
//! Source: Xing, Geng, Xue (2016), Logistic boosting regression for label distribution learning, CVPR; after Sun, Reid,
//! Zhou (2012), AOSO-LogitBoost, ICML, whose choice of the pair this is.

use ldlf_core::learner::Abilities;
use ldlf_core::{Dataset, FitContext, Fitted, Learner, LearnerEntry, Result, Settings};

use crate::boosting::{Booster, LEAST_CURVATURE, LONGEST_STEP, Plan, Round, fit_boosted, load_boosted};
use ldlf_trees::regression_tree::Tree;
use ldlf_trees::tree_builder::{Limits, Objective, grow};

ldlf_core::parameters! {
    /// What `aoso-ldlogitboost` can be told.
    pub struct AosoLdLogitBoostParameters {
        /// Rounds at most.
        rounds: usize = 3000, at_least 1;
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
        patience: usize = 100, at_least 1;
        /// Whether the model is built anew from all rows with the chosen number of rounds.
        refit: bool = true;
    }
}

/// Grows one vector tree a round.
pub struct AosoLdLogitBoost {
    parameters: AosoLdLogitBoostParameters,
}

impl AosoLdLogitBoost {
    /// The learner with the given parameters.
    pub fn new(parameters: AosoLdLogitBoostParameters) -> Self {
        AosoLdLogitBoost { parameters }
    }
}

impl Learner for AosoLdLogitBoost {
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

/// Sets a pair of labels apart.
struct AdaptivePair<'a> {
    round: &'a Round<'a>,
}

impl AdaptivePair<'_> {
    /// The pair that a node's rows want apart most.
    fn choose(&self, rows: &[u32]) -> (usize, usize) {
        let Round { targets, predicted, weights, .. } = self.round;
        let labels = targets.cols();
        let mut gradient = vec![0.0f64; labels];
        for &row in rows {
            let row = row as usize;
            let w = f64::from(weights[row]);
            for ((g, &d), &p) in gradient.iter_mut().zip(targets.row(row)).zip(predicted.row(row)) {
                *g += w * (f64::from(d) - f64::from(p));
            }
        }
        let first_largest = |values: &mut dyn Iterator<Item = (usize, f64)>| {
            values.fold((0, f64::NEG_INFINITY), |best, at| if at.1 > best.1 { at } else { best }).0
        };
        let r = first_largest(&mut gradient.iter().map(|g| g.abs()).enumerate());
        let mut curvature = vec![0.0f64; labels];
        for &row in rows {
            let p = predicted.row(row as usize);
            for (h, &p_s) in curvature.iter_mut().zip(p) {
                *h += f64::from(weights[row as usize] * pair_curvature(p[r], p_s));
            }
        }
        let penalty = self.round.limits.penalty;
        let gains = (0..labels).filter(|&s| s != r).map(|s| {
            let apart = gradient[r] - gradient[s];
            (s, apart * apart / (curvature[s] + penalty))
        });
        (r, first_largest(&mut { gains }))
    }
}

/// The second derivative of the loss along `F_r + t, F_s - t`.
fn pair_curvature(p_r: f32, p_s: f32) -> f32 {
    (p_r * (1.0 - p_r) + p_s * (1.0 - p_s) + 2.0 * p_r * p_s).max(LEAST_CURVATURE)
}

impl Objective for AdaptivePair<'_> {
    type Focus = (usize, usize);

    fn numerators(&self) -> usize {
        1
    }

    fn outputs(&self) -> usize {
        self.round.targets.cols()
    }

    fn statistics(&self, rows: &[u32], width: usize, out: &mut [f32]) -> (usize, usize) {
        let (r, s) = self.choose(rows);
        let Round { targets, predicted, weights, .. } = self.round;
        for (&row, out) in rows.iter().zip(out.chunks_exact_mut(width)) {
            let row = row as usize;
            let (w, d, p) = (weights[row], targets.row(row), predicted.row(row));
            out[0] = w;
            out[1] = w * pair_curvature(p[r], p[s]);
            out[2] = w * ((d[r] - p[r]) - (d[s] - p[s]));
        }
        (r, s)
    }

    fn leaf(&self, &(r, s): &(usize, usize), sums: &[f64], out: &mut [f32]) {
        let step = sums[2] / (sums[1] + self.round.limits.penalty);
        let step = (self.round.learning_rate * step.clamp(-LONGEST_STEP, LONGEST_STEP)) as f32;
        out[r] += step;
        out[s] -= step;
    }
}

impl Booster for AosoLdLogitBoost {
    /// At the mean all gradient sums of the root are zero, and no pair of labels would stand out.
    fn starts_at_mean(&self) -> bool {
        false
    }

    fn grow_round(&self, round: &Round<'_>) -> Vec<Tree> {
        let mut generator = round.seed.named("tree").generator();
        vec![grow(&round.table, &AdaptivePair { round }, &round.limits, round.rows.clone(), &mut generator)]
    }
}

/// `aoso-ldlogitboost` for the registry.
pub const ENTRY: LearnerEntry = LearnerEntry {
    name: "aoso-ldlogitboost",
    summary: "boosted trees whose leaves set one adaptively chosen pair of labels apart",
    source: "Xing, Geng, Xue 2016",
    abilities: Abilities { sparse: true, weights: true, iterates: true, ordered: false, images: false },
    parameters: AosoLdLogitBoostParameters::declared,
    presets: Vec::new,
    build: |settings| {
        Ok(Box::new(AosoLdLogitBoost::new(AosoLdLogitBoostParameters::from_settings(settings)?)))
    },
    load: |parts, shape| load_boosted(parts, shape, shape.labels),
};
