//! How far annotators can be trusted: the model of Dawid and Skene.
//!
//! Every item has one true label, and every annotator a confusion matrix: how often a label is called what. Both are unknown and are
//! estimated together by expectation maximisation (A. Dawid, A. Skene, Maximum likelihood estimation of observer error-rates using the EM
//! algorithm, Applied Statistics 1979). An annotator who votes without looking has rows that are all alike, whatever the items.
//!
//! The one true label is an assumption of this estimate alone: targets stay the distributions of votes. Where people rightly disagree, all
//! annotators look less reliable, and their order still tells who answers at random.

use ldlf_math::numeric::softmax_and_log_sum;
use serde::Serialize;

use super::Votes;
use crate::{Error, Result};

/// What was estimated about annotators.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// The annotators, in the order of [`Votes::annotators`].
    pub annotators: Vec<Annotator>,
    /// How often each label is the true one.
    pub label_shares: Vec<f64>,
    /// Rounds of the estimation.
    pub rounds: usize,
    /// The logarithm of the posterior density after each round, up to a constant; it never falls.
    #[serde(skip)]
    pub progress: Vec<f64>,
}

/// An annotator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Annotator {
    /// What the votes call them.
    pub annotator: String,
    /// How many votes they gave.
    pub votes: usize,
    /// How often they said what is most probably true.
    pub accuracy: f64,
    /// The same beyond chance (Cohen's kappa against the true labels): 1 for who is always right, 0 for who votes without looking.
    pub reliability: f64,
    /// How often a label, by row, was called what, by column.
    #[serde(skip)]
    pub confusion: Vec<f64>,
}

/// Votes that everybody is taken to have given on each label beforehand: half of them right, the rest on any label. They keep who gave few
/// votes near the others, and the labels in their places.
const PRIOR_VOTES: f64 = 1.0;

/// The fraction of these that is right.
const PRIOR_RIGHT: f64 = 0.5;

/// Maximum number of rounds.
const ROUNDS: usize = 200;

/// The estimation ends when the log-density rises by less than this per vote.
const LEAST_RISE: f64 = 1e-8;

/// Maximum number of entries of all confusion matrices: 400 MB.
const LARGEST: usize = 50_000_000;

/// Estimates how reliable annotators are.
pub fn reliability(votes: &Votes) -> Result<Reliability> {
    let (items, labels, annotators) = (votes.items(), votes.labels().len(), votes.annotators().len());
    if annotators == 0 {
        return Err(Error::data("the votes do not say who gave them"));
    }
    if annotators.saturating_mul(labels * labels) > LARGEST {
        return Err(Error::data(format!(
            "the reliability of {annotators} annotators cannot be estimated for {labels} labels: there are too many"
        )));
    }
    let prior: Vec<f64> = (0..labels * labels)
        .map(|at| {
            let right = if at / labels == at % labels { PRIOR_RIGHT } else { 0.0 };
            PRIOR_VOTES * (right + (1.0 - PRIOR_RIGHT) / labels as f64)
        })
        .collect();
    // The first guess is what the votes say.
    let counts = votes.counts(None);
    let mut truth: Vec<f64> = Vec::with_capacity(items * labels);
    for row in counts.iter_rows() {
        let sum: f64 = row.iter().sum();
        truth.extend(row.iter().map(|count| count / sum));
    }
    let mut progress: Vec<f64> = Vec::new();
    loop {
        let (shares, confusion) = maximise(votes, &truth, &prior);
        let density = expect(votes, &shares, &confusion, &prior, &mut truth);
        let rise = progress.last().map_or(f64::INFINITY, |before| density - before);
        progress.push(density);
        if rise < LEAST_RISE * votes.len() as f64 || progress.len() == ROUNDS {
            let annotators = described(votes, &shares, &confusion);
            return Ok(Reliability { annotators, label_shares: shares, rounds: progress.len(), progress });
        }
    }
}

/// The shares of the labels and the confusion matrices, given how probable each label of each item is.
fn maximise(votes: &Votes, truth: &[f64], prior: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let labels = votes.labels().len();
    // One item beforehand keeps labels that nobody holds for true from vanishing.
    let mut shares = vec![1.0 / labels as f64; labels];
    for item in truth.chunks_exact(labels) {
        shares.iter_mut().zip(item).for_each(|(share, p)| *share += p);
    }
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= total);
    let mut confusion = prior.repeat(votes.annotators().len());
    for vote in &votes.list {
        let (item, annotator) = (vote.item as usize * labels, vote.annotator as usize * labels * labels);
        for (label, p) in truth[item..item + labels].iter().enumerate() {
            confusion[annotator + label * labels + vote.label as usize] += p;
        }
    }
    for row in confusion.chunks_exact_mut(labels) {
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|entry| *entry /= total);
    }
    (shares, confusion)
}

/// Writes how probable each label of each item is; the log-density of the parameters.
fn expect(votes: &Votes, shares: &[f64], confusion: &[f64], prior: &[f64], truth: &mut [f64]) -> f64 {
    let labels = shares.len();
    for item in truth.chunks_exact_mut(labels) {
        item.iter_mut().zip(shares).for_each(|(p, share)| *p = share.ln());
    }
    for vote in &votes.list {
        let (item, annotator) = (vote.item as usize * labels, vote.annotator as usize * labels * labels);
        for (label, p) in truth[item..item + labels].iter_mut().enumerate() {
            *p += confusion[annotator + label * labels + vote.label as usize].ln();
        }
    }
    let mut density: f64 = shares.iter().map(|share| share.ln() / labels as f64).sum();
    for matrix in confusion.chunks_exact(prior.len()) {
        density += matrix.iter().zip(prior).map(|(entry, prior)| prior * entry.ln()).sum::<f64>();
    }
    for item in truth.chunks_exact_mut(labels) {
        density += softmax_and_log_sum(item);
    }
    density
}

/// The annotators in a few numbers.
fn described(votes: &Votes, shares: &[f64], confusion: &[f64]) -> Vec<Annotator> {
    let labels = shares.len();
    let mut given = vec![0; votes.annotators().len()];
    votes.list.iter().for_each(|vote| given[vote.annotator as usize] += 1);
    let of = |(annotator, name): (usize, &String)| {
        let confusion = confusion[annotator * labels * labels..][..labels * labels].to_vec();
        let accuracy: f64 = (0..labels).map(|label| shares[label] * confusion[label * labels + label]).sum();
        let chance: f64 = (0..labels)
            .map(|called| {
                let how_often: f64 =
                    (0..labels).map(|label| shares[label] * confusion[label * labels + called]).sum();
                shares[called] * how_often
            })
            .sum();
        let reliability = if chance < 1.0 { (accuracy - chance) / (1.0 - chance) } else { 0.0 };
        Annotator { annotator: name.clone(), votes: given[annotator], accuracy, reliability, confusion }
    };
    votes.annotators().iter().enumerate().map(of).collect()
}

impl Reliability {
    /// How much a vote of each annotator counts: the reliability, at least 0.
    pub fn weights(&self) -> Vec<f64> {
        self.annotators.iter().map(|annotator| annotator.reliability.max(0.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use ldlf_math::Seed;
    use rand::RngExt;

    use super::*;

    /// Votes of annotators who are right so often, and otherwise say any other of three labels.
    fn drawn(accuracies: &[f64], items: usize) -> Votes {
        let mut generator = Seed::new(1).generator();
        let mut votes = Votes::default();
        for item in 0..items {
            let truth = generator.random_range(0..3u64);
            for (annotator, &accuracy) in accuracies.iter().enumerate() {
                let right = generator.random::<f64>() < accuracy;
                let label = if right { truth } else { (truth + generator.random_range(1..3u64)) % 3 };
                let added = votes.add(&item.to_string(), Some(&format!("a{annotator}")), &label.to_string());
                assert!(added);
            }
        }
        votes.sort_labels();
        votes
    }

    #[test]
    fn the_accuracy_that_votes_were_drawn_with_is_found() {
        let accuracies = [0.95, 0.8, 0.6, 1.0 / 3.0];
        let found = reliability(&drawn(&accuracies, 3000)).unwrap();
        for (annotator, accuracy) in found.annotators.iter().zip(accuracies) {
            assert!((annotator.accuracy - accuracy).abs() < 0.03, "{annotator:?}");
            let beyond_chance = (accuracy - 1.0 / 3.0) / (2.0 / 3.0);
            assert!((annotator.reliability - beyond_chance).abs() < 0.05, "{annotator:?}");
        }
        assert!(found.label_shares.iter().all(|share| (share - 1.0 / 3.0).abs() < 0.03));
    }

    #[test]
    fn no_round_lowers_the_density() {
        for items in [3, 40] {
            let found = reliability(&drawn(&[0.9, 0.4, 0.7], items)).unwrap();
            assert!(found.progress.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9), "{:?}", found.progress);
        }
    }

    #[test]
    fn votes_without_annotators_say_nothing_about_them() {
        let mut votes = Votes::default();
        assert!(votes.add("a", None, "x"));
        assert!(reliability(&votes).is_err());
    }

    #[test]
    fn a_constant_voter_weighs_nothing_beside_careful_ones() {
        let mut votes = Votes::default();
        for item in 0..60 {
            let truth = ["x", "y"][item % 2];
            for annotator in ["Ann", "Bob"] {
                assert!(votes.add(&item.to_string(), Some(annotator), truth));
            }
            assert!(votes.add(&item.to_string(), Some("Cem"), "x"));
        }
        votes.sort_labels();
        let weights = reliability(&votes).unwrap().weights();
        assert!(weights[0] > 0.9 && weights[1] > 0.9 && weights[2] < 0.05, "{weights:?}");
        assert!(votes.counts(Some(&weights)).row(1)[0] < 0.05);
    }
}
