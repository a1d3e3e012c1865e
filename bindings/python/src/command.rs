//! The command `ldlf` within Python's process.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a call of the command, whose first word is its name, and gives the exit code. `--help` and calls that cannot be parsed end the
/// process.
#[pyfunction]
pub fn command(py: Python<'_>, call: Vec<OsString>) -> u8 {
    py.detach(|| ldlf_cli::run(call))
}
