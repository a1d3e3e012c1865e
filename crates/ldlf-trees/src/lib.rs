//! Trees grown greedily on label distributions: used by the random forests, by the boosters, and as a start of the
//! soft forest.
//!
//! Features by column ([`columns`]), the best split of some rows ([`split_search`]), one tree ([`tree_builder`], [`regression_tree`]),
//! and many of them, averaged ([`tree_forest`]).

pub mod columns;
pub mod regression_tree;
pub mod split_search;
pub mod tree_builder;
pub mod tree_forest;
