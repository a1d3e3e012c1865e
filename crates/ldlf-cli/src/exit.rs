//! Exit codes.

use ldlf::Error;
use ldlf::internals::core::ErrorKind;

/// How the process ends, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Completed.
    Done = 0,
    /// The system refused, or anything else.
    Failed = 1,
    /// A call that cannot work; also what the parser of arguments refuses.
    Usage = 2,
    /// Bad data.
    Data = 3,
    /// A bad model file.
    ModelFile = 4,
    /// A training that failed.
    Training = 5,
    /// Ctrl-C ended it.
    Interrupted = 130,
}

impl Exit {
    /// The code of an error.
    pub fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Data => Exit::Data,
            ErrorKind::ModelFile => Exit::ModelFile,
            ErrorKind::Training => Exit::Training,
            ErrorKind::Io => Exit::Failed,
            ErrorKind::Interrupted => Exit::Interrupted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_error_has_the_code_that_the_help_promises() {
        let refused = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let errors = [
            Error::io("m.ldlf", refused),
            Error::usage("x"),
            Error::data("x"),
            Error::model_file("x"),
            Error::training("x"),
            Error::Interrupted,
        ];
        assert_eq!(errors.map(|error| Exit::of(&error) as u8), [1, 2, 3, 4, 5, 130]);
    }
}
