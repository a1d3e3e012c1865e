//! Errors of the numerics.

/// The result of operations that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes or offsets that do not fit the values they are given with.
    #[error("{0}")]
    Shape(String),
    /// More memory, or more threads, than are available.
    #[error("{0}")]
    Resources(String),
}
