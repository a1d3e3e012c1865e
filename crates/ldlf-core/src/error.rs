//! One error type for the whole project: what went wrong, where, and what to do about it.

use std::path::{Path, PathBuf};

/// The result of anything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. Each variant holds one sentence for a person; the kind decides the exit code of the command
/// line and the exception in Python.
///
/// ```
/// use ldlf_core::Error;
/// let error = Error::data("movies.csv line 18, column \"rating_3\": \"n/a\" is not a number");
/// assert_eq!(error.exit_code(), 3);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call that cannot work whatever the data: a bad parameter, an unknown learner, an output that exists.
    #[error("{0}")]
    Usage(String),
    /// Data that cannot be used; the sentence names the place.
    #[error("{0}")]
    Data(String),
    /// A model file or checkpoint that cannot be used.
    #[error("{0}")]
    ModelFile(String),
    /// A fit that failed; the sentence says what to try.
    #[error("{0}")]
    Training(String),
    /// The operating system refused: no space, no permission.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The user stopped the run before there was anything to keep.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// A [`Error::Usage`] from anything that reads as a sentence.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::Usage(message.into())
    }

    /// A [`Error::Data`] from anything that reads as a sentence.
    pub fn data(message: impl Into<String>) -> Self {
        Error::Data(message.into())
    }

    /// A [`Error::ModelFile`] from anything that reads as a sentence.
    pub fn model_file(message: impl Into<String>) -> Self {
        Error::ModelFile(message.into())
    }

    /// A [`Error::Training`] from anything that reads as a sentence.
    pub fn training(message: impl Into<String>) -> Self {
        Error::Training(message.into())
    }

    /// An [`Error::Io`] about `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().to_path_buf(), source }
    }

    /// The exit code of the command line: 2 usage, 3 data, 4 model file, 5 training, 130 interrupted, 1 the rest.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            Error::Data(_) => 3,
            Error::ModelFile(_) => 4,
            Error::Training(_) => 5,
            Error::Io { .. } => 1,
            Error::Interrupted => 130,
        }
    }
}

impl From<ldlf_math::Error> for Error {
    fn from(error: ldlf_math::Error) -> Self {
        match error {
            ldlf_math::Error::Shape(message) => Error::data(message),
            other => Error::usage(other.to_string()),
        }
    }
}
