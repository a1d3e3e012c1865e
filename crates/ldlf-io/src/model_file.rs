//! Model files and checkpoints on the disk.

use std::io::Write;
use std::path::Path;

use ldlf_core::stored::Parts;
use ldlf_core::{Error, LearnerEntry, Result, TrainedModel};
use ldlf_math::memory;

use crate::input;
use crate::output::{Overwrite, write_atomically};

/// Files larger than this are refused before they are read into memory.
const LARGEST_FILE: u64 = 64 << 30;

/// Writes arrays and document to a file, whole or not at all.
pub fn write_parts(parts: &Parts, path: &Path, overwrite: Overwrite) -> Result<()> {
    let bytes = parts.to_bytes()?;
    write_atomically(path, overwrite, |out| out.write_all(&bytes))
}

/// Reads a file written by [`write_parts`].
pub fn read_parts(path: &Path) -> Result<Parts> {
    let wrong = |why: String| Error::model_file(why).in_file(path);
    let open = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::PermissionDenied => Error::io(path, e),
        _ => wrong(format!("cannot be opened: {e}")),
    };
    let meta = std::fs::metadata(path).map_err(open)?;
    if let Some(other) = input::what_else(path) {
        return Err(wrong(format!("is {other}")).with_remedy("name a model file"));
    }
    if meta.len() > LARGEST_FILE {
        return Err(wrong(format!("holds {} bytes, too many for a model file", meta.len())));
    }
    // The bytes, and the arrays made of them. A file may well be longer than the memory: it need not even be stored.
    let size = usize::try_from(meta.len()).unwrap_or(usize::MAX);
    let into_wrong = |e: Error| e.recast(Error::ModelFile).in_file(path);
    memory::check("its bytes and arrays", &[("bytes", size)], 2).map_err(|e| into_wrong(e.into()))?;
    let bytes = std::fs::read(path).map_err(open)?;
    Parts::from_bytes(&bytes).map_err(into_wrong)
}

/// Writes a model file, whole or not at all.
pub fn save(model: &TrainedModel, path: &Path, overwrite: Overwrite) -> Result<()> {
    write_parts(&model.to_parts(), path, overwrite)
}

/// Reads a model file; `learners` are those of this program.
pub fn load(path: &Path, learners: &[LearnerEntry]) -> Result<TrainedModel> {
    TrainedModel::from_parts(read_parts(path)?, learners)
        .map_err(|e| e.recast(Error::ModelFile).in_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Parts {
        let mut parts = Parts::new();
        parts.put_detail("name", "sample");
        parts
    }

    #[test]
    fn an_existing_file_stays_unless_it_may_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        write_parts(&sample(), &path, Overwrite::No).unwrap();
        let refused = write_parts(&Parts::new(), &path, Overwrite::No).unwrap_err();
        assert_eq!(refused.kind(), ldlf_core::ErrorKind::Usage);
        assert_eq!(read_parts(&path).unwrap(), sample());
        write_parts(&Parts::new(), &path, Overwrite::Yes).unwrap();
        assert_eq!(read_parts(&path).unwrap(), Parts::new());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
