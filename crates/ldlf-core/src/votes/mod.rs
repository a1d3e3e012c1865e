//! Votes as they are collected: who gave which label to which item.
//!
//! One vote per line becomes counts per item ([`Votes::counts`]). [`reliability`](annotators::reliability) estimates how far each annotator
//! can be trusted, and [`VoteWeights`] says how much a row of many votes weighs beside one of few.

pub mod annotators;
mod weights;

use std::collections::HashMap;

use crate::Matrix;
use crate::columns::parse_number;

pub use weights::{VoteWeights, agreement_within_rows};

/// Texts in the order in which they first came, each with its number.
#[derive(Clone, Debug, Default)]
struct Names {
    places: HashMap<String, u32>,
    list: Vec<String>,
}

impl Names {
    fn number_of(&mut self, name: &str) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.list.len() as u32;
        self.places.insert(name.to_string(), place);
        self.list.push(name.to_string());
        place
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.places.get(name).map(|&place| place as usize)
    }
}

/// One vote: numbers of an item, of an annotator and of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Vote {
    item: u32,
    annotator: u32,
    label: u32,
}

/// Votes on items.
///
/// ```
/// use ldlf_core::votes::Votes;
/// let mut votes = Votes::default();
/// for (item, annotator, label) in [("a", "Ann", "yes"), ("a", "Bob", "no"), ("b", "Ann", "yes")] {
///     assert!(votes.add(item, Some(annotator), label));
/// }
/// votes.sort_labels();
/// assert_eq!(votes.labels(), ["no", "yes"]);
/// assert_eq!(votes.counts(None).row(0), [1.0, 1.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Votes {
    items: Names,
    annotators: Names,
    labels: Names,
    /// Whether there are no labels but those given at the start.
    closed: bool,
    list: Vec<Vote>,
}

impl Votes {
    /// For these labels only, in their order.
    pub fn among(labels: &[String]) -> Self {
        let mut votes = Votes { closed: true, ..Votes::default() };
        labels.iter().for_each(|label| _ = votes.labels.number_of(label));
        votes
    }

    /// Adds a vote; `false` where the label is none of those that there are.
    #[must_use = "a vote for an unknown label is not added"]
    pub fn add(&mut self, item: &str, annotator: Option<&str>, label: &str) -> bool {
        let label = match self.labels.find(label) {
            Some(place) => place as u32,
            None if self.closed => return false,
            None => self.labels.number_of(label),
        };
        let item = self.items.number_of(item);
        let annotator = annotator.map_or(0, |annotator| self.annotators.number_of(annotator));
        self.list.push(Vote { item, annotator, label });
        true
    }

    /// The number of votes.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.items.list.len()
    }

    /// The number of an item, from 0 in the order in which they came.
    pub fn item(&self, name: &str) -> Option<usize> {
        self.items.find(name)
    }

    /// The annotators in the order in which they came; none where votes do not say.
    pub fn annotators(&self) -> &[String] {
        &self.annotators.list
    }

    /// The labels, in the order of the counts.
    pub fn labels(&self) -> &[String] {
        &self.labels.list
    }

    /// The numbers that the labels stand for, where all of them are numbers.
    pub fn label_values(&self) -> Option<Vec<f64>> {
        self.labels.list.iter().map(|label| parse_number(label)).collect()
    }

    /// Puts the labels in the order of the numbers that they are, or by the alphabet; labels that were given keep their order.
    pub fn sort_labels(&mut self) {
        if self.closed {
            return;
        }
        let mut order: Vec<u32> = (0..self.labels.list.len() as u32).collect();
        match self.label_values() {
            Some(values) => {
                order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
            }
            None => {
                order.sort_by(|&a, &b| self.labels.list[a as usize].cmp(&self.labels.list[b as usize]));
            }
        }
        let mut sorted = Names::default();
        let mut place_of = vec![0; order.len()];
        for &label in &order {
            place_of[label as usize] = sorted.number_of(&self.labels.list[label as usize]);
        }
        self.list.iter_mut().for_each(|vote| vote.label = place_of[vote.label as usize]);
        self.labels = sorted;
    }

    /// The votes of each item for each label, `[items, labels]`; with `weights` every vote counts as much as its annotator weighs.
    pub fn counts(&self, weights: Option<&[f64]>) -> Matrix<f64> {
        let mut counts = Matrix::zeros(self.items(), self.labels.list.len());
        for vote in &self.list {
            let weight = weights.map_or(1.0, |weights| weights[vote.annotator as usize]);
            counts.row_mut(vote.item as usize)[vote.label as usize] += weight;
        }
        counts
    }

    /// How many votes are a further one of the same annotator on the same item.
    pub fn repeated(&self) -> usize {
        if self.annotators.list.is_empty() {
            return 0;
        }
        let mut pairs: Vec<(u32, u32)> = self.list.iter().map(|vote| (vote.item, vote.annotator)).collect();
        pairs.sort_unstable();
        pairs.windows(2).filter(|pair| pair[0] == pair[1]).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_are_numbers_are_sorted_as_numbers() {
        let mut votes = Votes::default();
        for label in ["10", "9", "2"] {
            assert!(votes.add("item", None, label));
        }
        votes.sort_labels();
        assert_eq!(votes.labels(), ["2", "9", "10"]);
        assert_eq!(votes.label_values().unwrap(), [2.0, 9.0, 10.0]);
        assert_eq!(votes.counts(None).row(0), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn labels_of_a_model_keep_their_order_and_take_no_others() {
        let mut votes = Votes::among(&["yes".to_string(), "no".to_string()]);
        assert!(votes.add("a", None, "no"));
        assert!(!votes.add("a", None, "perhaps"));
        votes.sort_labels();
        assert_eq!(votes.labels(), ["yes", "no"]);
        assert_eq!(votes.counts(None).row(0), [0.0, 1.0]);
    }

    #[test]
    fn second_votes_of_an_annotator_on_an_item_are_counted() {
        let mut votes = Votes::default();
        for (item, annotator) in [("a", "Ann"), ("b", "Ann"), ("a", "Bob"), ("a", "Ann")] {
            assert!(votes.add(item, Some(annotator), "x"));
        }
        assert_eq!(votes.repeated(), 1);
    }
}
