//! Checks that come before any work: inputs that are there, outputs that may be written.

use std::path::Path;

use ldlf::model_file::{Overwrite, check_output};
use ldlf::{Error, Result, TrainedModel, registry};

/// Whether a path stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses an input that is not there; `-` always is.
pub fn check_input(path: &Path) -> Result<()> {
    if is_standard(path) {
        return Ok(());
    }
    match path.metadata() {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::data(format!("{} does not exist", path.display())))
        }
        Err(e) => Err(Error::io(path, e)),
    }
}

/// Refuses an output that exists, unless `force`; `-` never does.
pub fn check_destination(path: &Path, force: bool) -> Result<Overwrite> {
    let overwrite = if force { Overwrite::Yes } else { Overwrite::No };
    if !is_standard(path) {
        check_output(path, overwrite)?;
        if path.is_dir() {
            return Err(Error::usage(format!("{} is a folder; name a file", path.display())));
        }
    }
    Ok(overwrite)
}

/// Reads a model file.
pub fn load_model(path: &Path) -> Result<TrainedModel> {
    check_input(path)?;
    TrainedModel::load(path, &registry::learners())
}

/// What messages and results call the data in a file: its stem.
pub fn data_name(path: &Path) -> String {
    if is_standard(path) {
        return "standard input".into();
    }
    path.file_stem().map_or_else(|| path.display().to_string(), |stem| stem.to_string_lossy().into_owned())
}
