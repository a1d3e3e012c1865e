//! Layers by kernels of our own, where the network runs on the processor.
//!
//! What the `flex` backend of burn does for a convolution costs up to twice PyTorch's time: its columns are built pixel by pixel, and it has no
//! gradient of its own but turns to convolutions with kernels as large as images. Here a convolution is [`columns`] and
//! matrix products of `ldlf-core`, one channel at a time is a plain [loop](depthwise), and a [batch normalisation](normalise) passes over
//! its numbers twice. [`operations`] makes them operations of burn; on other devices burn's own are used.
//!
//! Work is cut by the sizes alone, so that the bytes are the same for any number of threads.

mod columns;
mod depthwise;
mod geometry;
mod normalise;
mod operations;
mod pool;

pub use operations::{convolve, is_on_processor, max_pool, normalise};
