//! The forest on a deep network, learnt end to end (dLDLF), with its rivals: a softmax (DLDL) and the rule of neural decision forests.
//!
//! Pictures go through a [backbone](backbones) and a linear layer; what stands on it sees activations and targets only. The learners of
//! the registry train through [`training`]; a network of one's own carries [`head::ForestHead`].

pub mod arrays;
pub mod backbones;
pub mod dropout;
pub mod head;
pub mod images;
pub mod initial;
mod kernels;
pub mod learners;
pub mod model;
pub mod network;
pub mod parameters;
pub mod plan;
mod softmax_head;
pub mod steps;
mod stored;
pub mod top;
pub mod training;
pub mod weights;

pub use learners::{DeepForest, DeepLdl, DeepNeuralDecisionForest, entries};
