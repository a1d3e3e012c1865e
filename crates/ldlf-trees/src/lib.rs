//! Trees grown greedily on label distributions: what the random forests and the boosters are made of, and what the soft forest may
//! start from.
//!
//! Features by column ([`columns`]), the best split of some rows ([`split_search`]), one tree ([`tree_builder`], [`regression_tree`]),
//! and many of them, averaged ([`tree_forest`]).

pub mod columns;
pub mod regression_tree;
pub mod split_search;
pub mod tree_builder;
pub mod tree_forest;
