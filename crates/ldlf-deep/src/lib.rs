//! The forest on a deep network.
