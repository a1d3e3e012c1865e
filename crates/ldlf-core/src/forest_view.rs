//! A forest inspected on some rows: plain data, so that figures of it do not depend on a learner.
//!
//! Trees are full and binary. Splits are numbered level by level from the root, 0; the children of split `n` are `2n + 1` (left) and
//! `2n + 2` (right); leaves are numbered from the left.

/// The effect of one feature in a split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitFeature {
    /// The feature's number.
    pub feature: usize,
    /// Its effect in units of the split's input: weight times standard deviation. Above 0: larger values go left.
    pub strength: f64,
}

/// One tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeView {
    /// The features with the largest effect in each split, the strongest first; `2^(h-1) - 1` splits.
    pub splits: Vec<Vec<SplitFeature>>,
    /// The distribution of each leaf; `2^(h-1)` leaves.
    pub leaves: Vec<Vec<f32>>,
    /// The mean probability, over the rows, of reaching each leaf.
    pub mass: Vec<f64>,
    /// For every chosen row, the probability of reaching each leaf.
    pub routes: Vec<Vec<f64>>,
    /// For every leaf, the rows that reach it with the largest probability, the likeliest first. Empty where rows are not images.
    pub examples: Vec<Vec<usize>>,
}

/// A forest over some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestView {
    /// Its trees.
    pub trees: Vec<TreeView>,
    /// How many rows it was evaluated on.
    pub rows: usize,
    /// The chosen rows, in the order of [`TreeView::routes`].
    pub chosen: Vec<usize>,
}

impl ForestView {
    /// A leaf whose mean probability is less than this fraction of an even spread is dead: hardly any row reaches it.
    pub const DEAD_BELOW: f64 = 0.01;

    /// The mean probability of every leaf, times the number of leaves of its tree: 1 is an even spread.
    pub fn usage(&self) -> Vec<f64> {
        self.trees
            .iter()
            .flat_map(|tree| tree.mass.iter().map(|mass| mass * tree.mass.len() as f64))
            .collect()
    }

    /// How many leaves are dead.
    pub fn dead_leaves(&self) -> usize {
        self.usage().iter().filter(|usage| **usage < Self::DEAD_BELOW).count()
    }
}
