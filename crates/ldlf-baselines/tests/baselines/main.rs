//! The baselines against their oracles, their theorems and each other.

mod aa_knn;
mod ages;
mod kernel_baselines;
mod kernel_ridge;
mod ldsvr;
mod maximum_entropy;
mod networks;
mod params;
mod pt_bayes;
mod pt_svm;
mod published_rows;
mod real_data;
mod support;
mod trees;
