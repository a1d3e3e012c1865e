//! Our sentences as Python exceptions: `OSError` for what the system refused, `KeyboardInterrupt` for Ctrl-C, `ValueError` for
//! the rest. (`TypeError` is raised where a parameter is of the wrong kind, see `training`.)

use ldlf::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};

/// The exception of an error.
pub fn raise(error: impl Into<Error>) -> PyErr {
    match error.into() {
        Error::Io { path, source } => match source.raw_os_error() {
            // With a number, Python itself picks the subclass: PermissionError, FileNotFoundError, ...
            Some(number) => {
                let reason = source.to_string();
                let reason = reason.split(" (os error").next().unwrap_or(&reason).to_string();
                PyOSError::new_err((number, reason, path))
            }
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        other => PyValueError::new_err(in_python(&other.to_string())),
    }
}

/// A sentence with the command line's options spelt as Python spells parameters: `--label-values` is `label_values`.
fn in_python(sentence: &str) -> String {
    let sentence = sentence.replace("--label-column", "a 1-D y");
    let mut parts = sentence.split("--");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(part.len());
        let (option, rest) = part.split_at(end);
        text += &option.replace('-', "_");
        text += rest;
    }
    text
}
