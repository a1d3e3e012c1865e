//! The forest on a deep network.

pub mod images;
