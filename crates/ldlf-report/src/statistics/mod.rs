//! Which learner is better, and whether the difference is significant: ranks, the Friedman test, pairwise Wilcoxon tests with Holm's correction,
//! and the critical difference of Nemenyi (J. Demsar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006).

mod friedman;
mod holm;
mod nemenyi;
mod ranks;
mod wilcoxon;

pub use friedman::{Friedman, friedman};
pub use holm::holm;
pub use nemenyi::{critical_difference, groups};
pub use ranks::{average_ranks, ranks};
pub use wilcoxon::{Wilcoxon, wilcoxon};
