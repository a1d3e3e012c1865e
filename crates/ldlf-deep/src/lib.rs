//! The forest on a deep network, trained end to end (dLDLF), with its baselines: a softmax (DLDL) and the rule of neural decision forests.
//!
//! Images go through a [backbone](backbones) and a linear projection to activations, from which trees or a softmax predict.
//! [`learners`] has the three learners; a network of your own can end in a [`head::ForestHead`].

mod arrays;
pub mod backbones;
pub mod dense;
mod dropout;
mod frozen;
pub mod head;
pub mod images;
mod initial;
mod kernels;
mod layers;
pub mod learners;
pub mod model;
mod network;
mod output_layer;
pub mod parameters;
mod plan;
mod softmax_head;
mod start;
pub mod steps;
mod stored;
mod training;
mod view;
pub mod weights;

pub use learners::entries;
pub use network::device;
