//! What a fit that checks itself chooses among.

use ldlf_core::Features;
use serde::{Deserialize, Serialize};

use crate::encoder::Scaling;
use crate::loss::LossForm;
use crate::plan::Init;
use crate::shallow::{ForestParameters, MANY_FEATURES};

/// Values of the parameters that a fit may choose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// How features are scaled.
    #[serde(with = "ldlf_core::parameters::as_word")]
    pub scaling: Scaling,
    /// Depth of every tree.
    pub depth: usize,
    /// Loss of the gradient steps.
    #[serde(with = "ldlf_core::parameters::as_word")]
    pub loss: LossForm,
    /// Weight decay.
    pub weight_decay: f64,
    /// Fraction of the inputs dropped in each step.
    pub dropout: f64,
    /// How splits are initialised.
    #[serde(with = "ldlf_core::parameters::as_word")]
    pub init: Init,
}

/// Weight decay and dropout together, from the weakest regularisation to the strongest.
const STRENGTHS: [(f64, f64); 4] = [(0.2, 0.0), (0.5, 0.1), (1.0, 0.3), (4.0, 0.5)];

/// The strength that the first comparisons are made with.
const MIDDLE: usize = 1;

/// The depth that the first comparisons are made with.
pub const SHALLOW: usize = 5;

/// The depth of trees where rows are many enough for it.
const DEEP: usize = 7;

/// The depth of trees for the weakest signals.
const SHALLOWEST: usize = 3;

impl Choice {
    /// Fixed values, for fits that do not choose.
    pub fn fixed(features: usize) -> Self {
        // With many (redundant) features dropout helps; with few it hurts.
        let dropout = if features >= MANY_FEATURES { 0.1 } else { 0.0 };
        Choice {
            scaling: Scaling::Standard,
            depth: DEEP,
            loss: LossForm::Trees,
            weight_decay: 0.5,
            dropout,
            init: Init::Random,
        }
    }

    /// The same with what the parameters give.
    pub fn given(self, parameters: &ForestParameters) -> Self {
        Choice {
            scaling: parameters.scaling.unwrap_or(self.scaling),
            depth: parameters.depth.unwrap_or(self.depth),
            loss: parameters.loss.unwrap_or(self.loss),
            weight_decay: parameters.weight_decay.unwrap_or(self.weight_decay),
            dropout: parameters.dropout.unwrap_or(self.dropout),
            init: parameters.init.unwrap_or(self.init),
        }
    }

    fn with_strength(self, strength: usize) -> Self {
        let (weight_decay, dropout) = STRENGTHS[strength];
        Choice { weight_decay, dropout, ..self }
    }

    fn strength(&self) -> usize {
        let known = |(decay, dropout): &(f64, f64)| *decay == self.weight_decay && *dropout == self.dropout;
        STRENGTHS.iter().position(known).unwrap_or(MIDDLE)
    }

    /// A line for people.
    pub fn text(&self) -> String {
        let Choice { scaling, depth, loss, weight_decay, dropout, init } = self;
        format!(
            "scaling={scaling} depth={depth} loss={loss} weight_decay={weight_decay} dropout={dropout} init={init}"
        )
    }
}

/// A choice that was tried, with its score: the K-L divergence of left-out rows, as far as few trees and few iterations tell it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// What was tried.
    pub choice: Choice,
    /// Lower is better.
    pub score: f64,
    /// What is added to the score when settings are compared.
    pub handicap: f64,
}

impl Tried {
    fn compared(&self) -> f64 {
        self.score + self.handicap
    }
}

/// Stages of the race.
pub const STAGES: usize = 5;

/// The choices that come next, after some were tried; none when the race is over. Each stage depends on the best so far:
/// how features are scaled (for sparse features also which loss), then how strong the regularisation is, in two stages, then how deep trees
/// are, then how splits are initialised.
pub fn next_stage(
    stage: usize,
    tried: &[Tried],
    parameters: &ForestParameters,
    features: &Features,
) -> Vec<Choice> {
    let start = Choice { depth: SHALLOW, ..Choice::fixed(features.cols()) }.with_strength(MIDDLE);
    let best = best_of(tried).map_or(start, |tried| tried.choice);
    let proposals: Vec<Choice> = match (stage, features) {
        (0, Features::Dense(_)) => [Scaling::Ranks, Scaling::Relevance, Scaling::Standard, Scaling::Common]
            .map(|scaling| Choice { scaling, ..start })
            .to_vec(),
        // Sparse columns have no ranks of their own.
        (0, Features::Sparse(_)) => vec![
            start,
            Choice { loss: LossForm::Forest, ..start },
            Choice { scaling: Scaling::Common, ..start },
        ],
        (1, _) => vec![best.with_strength(MIDDLE - 1), best.with_strength(MIDDLE + 1)],
        // The strongest only where stronger is better.
        (2, _) if best.strength() == MIDDLE + 1 => vec![best.with_strength(STRENGTHS.len() - 1)],
        (3, _) => {
            let depth = if best.strength() == STRENGTHS.len() - 1 { SHALLOWEST } else { DEEP };
            let mut proposals = vec![Choice { depth, ..best }, Choice { depth: DEEP, ..best }];
            // Deeper trees may want the neighbouring strength that came second.
            proposals.extend(second_strength(best, tried).map(|choice| Choice { depth: DEEP, ..choice }));
            proposals
        }
        // Greedy splits need a unit each and a bias.
        (4, _) if parameters.units.is_auto() && parameters.bias => {
            vec![Choice { init: Init::Greedy, ..best }]
        }
        _ => Vec::new(),
    };
    let mut fresh: Vec<Choice> = Vec::new();
    for choice in proposals.into_iter().map(|choice| choice.given(parameters)) {
        if !fresh.contains(&choice) && tried.iter().all(|tried| tried.choice != choice) {
            fresh.push(choice);
        }
    }
    fresh
}

/// The best so far; of equals the first.
pub fn best_of(tried: &[Tried]) -> Option<&Tried> {
    tried.iter().min_by(|a, b| a.compared().total_cmp(&b.compared()))
}

fn second_strength(best: Choice, tried: &[Tried]) -> Option<Choice> {
    let next_to = |tried: &&Tried| {
        let other = tried.choice;
        other.strength().abs_diff(best.strength()) == 1 && other.with_strength(best.strength()) == best
    };
    tried
        .iter()
        .filter(next_to)
        .min_by(|a, b| a.compared().total_cmp(&b.compared()))
        .map(|tried| tried.choice)
}

/// How far above the best a score may be and count as nearly as good.
const NEARLY: f64 = 1.03;

/// Those that go on: the best, and the same with the scaling that came second, where that was nearly as good: two forests that see the
/// features in different ways are better together than two that hardly differ. Else the next best of all, where it is nearly as good.
pub fn finalists(tried: &[Tried], most: usize) -> Vec<Tried> {
    let Some(best) = best_of(tried).copied() else { return Vec::new() };
    let second = match second_scaling(tried, &best.choice) {
        Some((scaling, ratio)) => {
            Some(Tried { choice: Choice { scaling, ..best.choice }, score: best.score * ratio, ..best })
        }
        None => {
            let others = tried.iter().filter(|tried| tried.choice != best.choice).copied();
            let near = others.filter(|tried| tried.compared() <= best.compared().max(0.0) * NEARLY);
            near.min_by(|a, b| a.compared().total_cmp(&b.compared()))
        }
    };
    std::iter::once(best).chain(second).take(most).collect()
}

/// The scaling that came nearest to the best one with all else equal, and the ratio of their scores; none where that is not nearly as good.
fn second_scaling(tried: &[Tried], best: &Choice) -> Option<(Scaling, f64)> {
    let like_best = tried.iter().filter(|tried| tried.choice.scaling == best.scaling);
    let pairs = like_best.flat_map(|own| {
        let others = tried.iter().filter(|other| other.choice.scaling != best.scaling);
        let others = others.filter(|other| Choice { scaling: best.scaling, ..other.choice } == own.choice);
        others.map(|other| (other.choice.scaling, other.compared() / own.compared().max(f64::MIN_POSITIVE)))
    });
    pairs.filter(|(_, ratio)| *ratio <= NEARLY).min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(scaling: Scaling, depth: usize, strength: usize, score: f64) -> Tried {
        let choice = Choice { scaling, depth, ..Choice::fixed(200) }.with_strength(strength);
        Tried { choice, score, handicap: 0.0 }
    }

    #[test]
    fn the_second_finalist_sees_the_features_in_another_way() {
        let all = [
            tried(Scaling::Ranks, 5, 1, 0.50),
            tried(Scaling::Standard, 5, 1, 0.51),
            tried(Scaling::Common, 5, 1, 0.60),
            tried(Scaling::Ranks, 5, 2, 0.52),
            tried(Scaling::Ranks, 7, 1, 0.45),
            tried(Scaling::Ranks, 7, 0, 0.455),
        ];
        let finalists = finalists(&all, 2);
        assert_eq!(finalists[0].choice, all[4].choice);
        assert_eq!(finalists[1].choice, tried(Scaling::Standard, 7, 1, 0.0).choice);
    }

    #[test]
    fn a_clear_winner_goes_on_alone() {
        let all = [tried(Scaling::Ranks, 5, 1, 0.5), tried(Scaling::Standard, 5, 1, 0.6)];
        assert_eq!(finalists(&all, 2).len(), 1);
    }

    #[test]
    fn few_trees_go_to_one_setting() {
        let all = [tried(Scaling::Ranks, 5, 1, 0.5), tried(Scaling::Standard, 5, 1, 0.5)];
        assert_eq!(finalists(&all, 1).len(), 1);
    }
}
