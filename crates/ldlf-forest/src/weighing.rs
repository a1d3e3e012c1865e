//! The members of a forest that checks itself, weighed by what each says about rows that it did not see, and the model that they make.

use ldlf_core::early_stopping::HeldOutKl;
use ldlf_core::learner::Summary;
use ldlf_core::mixture::{Candidate, mix, mixture_weights};
use ldlf_core::{Auto, Dataset, Fitted, Matrix, Result, Threads};

use crate::boosted::Boosted;
use crate::choice::Tried;
use crate::grown::Grown;
use crate::linear_member::LinearMember;
use crate::mixed_forest::{BOOSTED, GrownForest, GrownPart, MixedForest, Part};
use crate::training::Outcome;

/// The part of the gain to come that counts when members are weighed: with all of it weights run to corners, and a member with half of
/// the trees is lost.
const SURE: f64 = 0.5;

/// Grown trees are added until they err by less than this part of the mixture's divergence, as far as that is for want of trees.
const WANT_OF_TREES: f64 = 0.002;

/// Soft forests, grown ones, boosted trees, a linear model; the mean is always one more.
pub struct Members<'a> {
    /// What all learn from.
    pub data: &'a Dataset,
    /// Soft forests with what their trees said about the rows that they left out.
    pub soft: Vec<Outcome>,
    /// Grown forests with what their trees said about rows that they did not see.
    pub grown: Vec<Grown>,
    /// Boosted trees, where they come near the others.
    pub boosted: Option<Boosted>,
    /// A linear model, where it comes near the others.
    pub linear: Option<LinearMember>,
}

/// The lowest divergence that a soft or a grown forest will have by itself, as far as rows tell that it did not see.
pub fn lowest(data: &Dataset, soft: &[Outcome], grown: &[Grown]) -> f64 {
    let soft = soft.iter().filter_map(|outcome| {
        let checked = outcome.checked.as_ref()?;
        Some(checked.kl - checked.gain(outcome.forest.head.shape().trees))
    });
    let grown = grown.iter().map(|grown| {
        HeldOutKl::of(data, 0..data.rows(), grown.unseen.predicted.as_slice()).mean() - grown.gain()
    });
    soft.chain(grown).fold(f64::INFINITY, f64::min)
}

impl Members<'_> {
    /// What every member says about rows that it did not see: soft forests, grown ones, boosted trees, the linear model, the mean.
    fn candidates<'c>(&'c self, mean: &'c Matrix<f32>) -> Vec<Candidate<'c>> {
        let soft = self.soft.iter().filter_map(|outcome| {
            let checked = outcome.checked.as_ref()?;
            let gain = SURE * checked.gain(outcome.forest.head.shape().trees);
            Some(Candidate { predicted: &checked.out_of_fold, gain })
        });
        let grown = self
            .grown
            .iter()
            .map(|grown| Candidate { predicted: &grown.unseen.predicted, gain: SURE * grown.gain() });
        let boosted =
            self.boosted.iter().map(|boosted| Candidate { predicted: &boosted.out_of_fold, gain: 0.0 });
        let linear = self.linear.iter().map(|linear| Candidate { predicted: &linear.out_of_fold, gain: 0.0 });
        soft.chain(grown)
            .chain(boosted)
            .chain(linear)
            .chain([Candidate { predicted: mean, gain: 0.0 }])
            .collect()
    }

    /// The weights of all members; none where trees were too few to leave out rows.
    fn weigh(&self) -> Vec<f64> {
        if self.soft.iter().any(|outcome| outcome.checked.is_none()) {
            return Vec::new();
        }
        let mean = self.data.mean_of_others();
        mixture_weights(self.data, &self.candidates(&mean))
    }

    /// Drops grown trees that do not help so far, and grows the others to the number that is given, or as many as pay.
    pub fn finish_grown(&mut self, given: Auto<usize>, threads: &Threads) -> Result<()> {
        let weights = self.weigh();
        let own = weights.get(self.soft.len()..).unwrap_or_default();
        let weights: Vec<f64> = (0..self.grown.len()).map(|at| own.get(at).copied().unwrap_or(0.0)).collect();
        let reached = lowest(self.data, &self.soft, &self.grown).max(0.0);
        let mut kept = Vec::new();
        for (mut grown, weight) in std::mem::take(&mut self.grown).into_iter().zip(weights) {
            if weight > 0.0 {
                if given.is_auto() {
                    grown.want(weight, WANT_OF_TREES * reached);
                }
                grown.finish(self.data, threads)?;
                kept.push(grown);
            }
        }
        self.grown = kept;
        Ok(())
    }

    /// Puts the model together.
    pub fn assemble(self, tried: Vec<Tried>, chosen: &[Tried], mut summary: Summary) -> Result<Fitted> {
        let weights = self.weigh();
        let mut out_of_fold = None;
        if !weights.is_empty() {
            let mean = self.data.mean_of_others();
            let candidates = self.candidates(&mean);
            let predictions: Vec<&Matrix<f32>> = candidates.iter().map(|one| one.predicted).collect();
            let mixed = mix(&weights, &predictions)?;
            let gain: f64 = weights.iter().zip(&candidates).map(|(w, one)| w.powi(2) * one.gain).sum();
            let kl = HeldOutKl::of(self.data, 0..self.data.rows(), mixed.as_slice()).mean();
            summary.validation_kl = Some(kl - gain);
            out_of_fold = Some(mixed);
        }
        let Members { data, soft: finished, grown, boosted, linear } = self;
        let mut weights = weights.into_iter().map(|weight| weight as f32);
        let mut soft = Vec::new();
        for (outcome, tried) in finished.into_iter().zip(chosen) {
            let prior = outcome.checked.map(|checked| checked.prior);
            let weight = weights.next().unwrap_or(1.0);
            soft.push(Part { forest: outcome.forest, choice: tried.choice, prior, weight });
        }
        let averaged =
            grown.into_iter().map(|grown| (grown.kind.name(), GrownForest::Averaged(grown.forest)));
        let boosted = boosted.into_iter().map(|boosted| (BOOSTED, GrownForest::Boosted(boosted.model)));
        let grown = averaged
            .chain(boosted)
            .zip(weights.by_ref())
            .map(|((kind, forest), weight)| GrownPart { kind: kind.into(), forest, weight })
            .collect();
        let linear = linear.map(|linear| (linear.model, weights.next().unwrap_or(0.0)));
        let distribution = data.mean_target().iter().map(|&share| share as f32).collect();
        let mean = weights.next().map(|weight| (distribution, weight));
        let model = MixedForest { soft, grown, linear, mean, tried }.without_idle();
        Ok(Fitted { model: Box::new(model), summary, out_of_fold })
    }
}
