//! `aoso-ldlogitboost`: logistic boosting of label distributions with adaptive one-versus-one trees.
//!
//! The model is `p = softmax(F)`. Each round grows one tree; each node separates one pair of labels. With
//! `G_j = sum (d_j - p_j)` over the node's rows and `H_rs = sum p_r (1 - p_r) + p_s (1 - p_s) + 2 p_r p_s`, the node takes
//! the label `r` with the largest `|G_r|` and the partner `s` with the largest `(G_r - G_s)^2 / H_rs`. Splits gain in that
//! pair's direction, and a leaf adds `learning_rate (G_r - G_s) / (l2 + H_rs)` to `F_r` and subtracts it from `F_s`.
//!
//! Source: Xing, Geng, Xue (2016), Logistic boosting regression for label distribution learning, CVPR; after Sun, Reid,
//! Zhou (2012), AOSO-LogitBoost, ICML, whose choice of the pair this is.

use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Algorithm, Dataset, Facts, FitContext, Fitted, Model, Preset, Result};
use ldlf_trees::regression_tree::Tree;
use ldlf_trees::tree_builder::{Objective, grow};

use crate::boosting::{
    Booster, BoostingParameters, LEAST_CURVATURE, LONGEST_STEP, Round, fit_boosted, load_boosted,
};

/// Grows one tree per round, with one output per label.
pub struct AosoLdLogitBoost;

impl Algorithm for AosoLdLogitBoost {
    type Parameters = BoostingParameters;

    const FACTS: Facts = Facts {
        iterates: true,
        exports: true,
        ..Facts::new(
            "aoso-ldlogitboost",
            "boosted trees whose leaves separate one adaptively chosen pair of labels",
            "Xing, Geng, Xue 2016",
        )
    };

    fn defaults() -> BoostingParameters {
        BoostingParameters { rounds: 3000, patience: 100, ..BoostingParameters::default() }
    }

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: every tree sees all rows and features, no penalty; rounds are chosen on held-out rows, depth and learning rate are ours, the publication's are not known here",
            ["l2=0", "max_features=1", "subsample=1"],
        )]
    }

    fn fit(parameters: &BoostingParameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        fit_boosted(&AosoLdLogitBoost, parameters, data, context)
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        load_boosted(parts, shape, shape.labels)
    }
}

/// Separates a pair of labels.
struct AdaptivePair<'a> {
    round: &'a Round<'a>,
}

impl AdaptivePair<'_> {
    /// The pair of labels whose separation lowers the loss of a node's rows most.
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
    /// At the mean all gradient sums of the root are zero, so that no pair of labels could be chosen.
    fn starts_at_mean(&self) -> bool {
        false
    }

    fn grow_round(&self, round: &Round<'_>) -> Vec<Tree> {
        let mut generator = round.seed.named("tree").generator();
        vec![grow(&round.columns, &AdaptivePair { round }, &round.limits, round.rows.clone(), &mut generator)]
    }
}
