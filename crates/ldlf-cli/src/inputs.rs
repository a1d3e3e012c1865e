//! Checks that come before any work: inputs that exist, outputs that may be written.

use std::path::Path;

use ldlf::internals::io::output::{Overwrite, check_output};
use ldlf::{Error, Result, TrainedModel, registry};

/// Whether a path stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses an input that does not exist; `-` always does.
pub fn check_input(path: &Path) -> Result<()> {
    if is_standard(path) {
        return Ok(());
    }
    match path.metadata() {
        Ok(_) => Ok(()),
        // The reader looks for the files of a pattern.
        Err(_) if path.file_name().is_some_and(|name| name.to_string_lossy().contains('*')) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::data(format!("{} does not exist", path.display())))
        }
        Err(e) => Err(Error::io(path, e)),
    }
}

/// Refuses an output that exists, unless `force`, and whatever cannot be written; `-` always can.
pub fn check_destination(path: &Path, force: bool) -> Result<Overwrite> {
    let overwrite = if force { Overwrite::Yes } else { Overwrite::No };
    if !is_standard(path) {
        check_output(path, overwrite)?;
    }
    Ok(overwrite)
}

/// Refuses an output that is also another file of the same call: `--force` must not cost anybody their data.
pub fn check_apart(output: &Path, others: &[&Path]) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    match others.iter().find(|other| !is_standard(output) && real(output) == real(other)) {
        None => Ok(()),
        Some(other) => Err(Error::usage(format!(
            "{} would overwrite {}, which this call also uses; name another output",
            output.display(),
            other.display()
        ))),
    }
}

/// Refuses to write checkpoints over a file that is no checkpoint, unless `force`.
pub fn check_checkpoint(path: &Path, force: bool) -> Result<()> {
    let replaces_checkpoint = || {
        ldlf::internals::io::model_file::read_parts(path)
            .is_ok_and(|parts| parts.details.contains_key("checkpoint"))
    };
    check_destination(path, force || replaces_checkpoint()).map(drop)
}

/// Reads a model file.
pub fn load_model(path: &Path) -> Result<TrainedModel> {
    check_input(path)?;
    ldlf::internals::io::model_file::load(path, &registry::learners())
}

/// What messages and results call the data in a file: its stem.
pub fn data_name(path: &Path) -> String {
    if is_standard(path) {
        return "standard input".into();
    }
    path.file_stem().map_or_else(|| path.display().to_string(), |stem| stem.to_string_lossy().into_owned())
}
