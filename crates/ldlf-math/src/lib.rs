//! Numbers without a domain: what every learner of `ldlf` computes with, and nothing that knows of labels or files.
//!
//! Matrices ([`matrix`]), functions that are safe at their limits ([`numeric`], the only home of sigmoid and softmax), matrix
//! products ([`product`]), loops compiled for the processor at hand ([`simd`]), threads that never change a result
//! ([`parallel`]), seeds ([`random`]), optimisers ([`optimise`]), and how much memory there is ([`memory`]).

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
