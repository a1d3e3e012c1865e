//! Trees grown greedily on label distributions: used by the random forests, by the boosters, and as a start of the
//! soft forest.
//!
//! Features as splits read them ([`columns`]), the best split of some rows ([`split_search`]), one tree ([`tree_builder`], [`regression_tree`]),
//! many of them, averaged ([`tree_forest`]) or added up ([`boosted_model`]), and any list of them in a graph for other runtimes ([`tree_graph`]).

mod best_split;
pub mod boosted_model;
pub mod columns;
pub mod contributions;
mod random_split;
pub mod regression_tree;
pub mod split_search;
pub mod tree_builder;
pub mod tree_forest;
pub mod tree_graph;
