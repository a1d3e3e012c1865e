//! What can go wrong with plain numbers.

/// The result of anything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A refusal, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes or offsets that do not fit the values they are given with.
    #[error("{0}")]
    Shape(String),
    /// More memory, or more threads, than there are.
    #[error("{0}")]
    Resources(String),
}
