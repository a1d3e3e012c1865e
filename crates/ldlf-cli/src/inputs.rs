//! Checks that come before any work: inputs that exist, outputs that may be written.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Id};
use ldlf::internals::io::output::{Overwrite, check_output};
use ldlf::internals::io::read::{is_file_of, is_pattern};
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
        Err(_) if is_pattern(path) => Ok(()),
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

/// The options that name what a call writes; every other path is read.
const OUTPUTS: [&str; 6] = ["out", "onnx", "per_row", "bad_rows_out", "checkpoint", "out_of_fold"];

/// Refuses an output that is also another file of the same call, whatever the verb: `--force` must not cost anybody their data.
pub fn check_apart(verb: &str, call: &ArgMatches) -> Result<()> {
    let is_output = |id: &str| OUTPUTS.contains(&id) && (verb, id) != ("report", "out_of_fold");
    let paths = |id: &Id| -> Vec<PathBuf> {
        let given = call.try_get_many::<PathBuf>(id.as_str()).ok().flatten().into_iter().flatten();
        given.filter(|path| !is_standard(path)).cloned().collect()
    };
    let named: Vec<(&str, PathBuf)> =
        call.ids().flat_map(|id| paths(id).into_iter().map(|path| (id.as_str(), path))).collect();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    for (at, (id, output)) in named.iter().enumerate().filter(|(_, (id, _))| is_output(id)) {
        let others = named.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
        for (other_id, other) in others {
            // A training goes on from its own checkpoint.
            if (*id, *other_id) == ("checkpoint", "resume") {
                continue;
            }
            let is_part = *other_id == "data" && output.is_file() && is_file_of(other, output);
            if is_part || real(output) == real(other) {
                return Err(Error::usage(format!(
                    "{} would overwrite {}, which this call also uses; name another output",
                    output.display(),
                    if is_part { "a file of ".to_string() } else { String::new() }
                        + &other.display().to_string()
                )));
            }
        }
    }
    Ok(())
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
    if is_standard(path) {
        return Err(Error::usage("a model is not read from standard input").with_remedy("name its file"));
    }
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
