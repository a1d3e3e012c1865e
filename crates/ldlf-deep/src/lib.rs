//! The forest on a deep network.

pub mod backbones;
pub mod dropout;
pub mod head;
pub mod initial;
mod softmax_head;
pub mod weights;
