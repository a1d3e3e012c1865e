//! CPU kernels for layers.
//!
//! A convolution of burn's `flex` backend takes up to twice PyTorch's time: its columns are built pixel by pixel, and its
//! gradient is a convolution with kernels as large as images. Here a convolution is [`columns`] and
//! matrix products of `ldlf-math`, a depthwise one is a plain [loop](depthwise), and a [batch normalisation](normalise) passes over
//! its numbers twice. [`operations`] makes them operations of burn; other devices use burn's.
//!
//! Work is divided by the sizes alone, so that the bytes are the same for any number of threads.

mod columns;
mod depthwise;
mod geometry;
mod normalise;
mod operations;
mod pool;

pub use operations::{convolve, is_on_processor, max_pool, normalise};
