//! Numerics without a domain: what every learner of `ldlf` computes with, independent of labels and files.
//!
//! Matrices ([`matrix`]), numerically safe functions ([`numeric`], the only implementation of sigmoid and softmax), matrix
//! products ([`product`]), loops compiled for the instruction set of the processor ([`simd`]), threads that never change a result
//! ([`parallel`]), seeds ([`random`]), optimisers ([`optimise`]), and the available memory ([`memory`]).

mod error;
pub mod matrix;
pub mod memory;
pub mod numeric;
pub mod optimise;
pub mod parallel;
pub mod product;
pub mod random;
pub mod simd;
pub mod words;

pub use error::{Error, Result};
pub use matrix::{Csr, Matrix};
pub use parallel::Threads;
pub use random::Seed;
