//! Writing files whole or not at all, whenever the process is killed and whatever the disk says.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ldlf_core::error::Subject;
use ldlf_core::{Error, Result, message};

/// Whether an existing output may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// It may.
    Yes,
    /// It stays, and the call is refused.
    No,
}

/// Refuses an output that exists unless it may be replaced, that is no regular file, or whose folder cannot be written to; for a
/// check before the work starts.
pub fn check_output(path: &Path, overwrite: Overwrite) -> Result<()> {
    if overwrite == Overwrite::No && path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    temporary_beside(&destination(path)?).map(drop)
}

fn exists(path: &Path) -> Error {
    Error::usage(format!("{} exists", path.display()))
        .with_remedy(message!["choose another name or add ", Subject::Overwrite])
}

/// Where an output goes: behind a symbolic link, so that the link stays. Devices, pipes and folders are refused: they must not be
/// replaced by a file.
fn destination(path: &Path) -> Result<PathBuf> {
    match path.metadata() {
        Ok(found) if found.is_file() => std::fs::canonicalize(path).map_err(|e| Error::io(path, e)),
        Ok(found) if found.is_dir() => {
            Err(Error::usage(format!("{} is a folder", path.display())).with_remedy("name a file"))
        }
        Ok(_) => Err(Error::usage(format!("{} is not a regular file", path.display()))
            .with_remedy("name another output")),
        Err(_) => Ok(path.to_path_buf()),
    }
}

/// An empty temporary file in the folder of an output, with the permissions of any new file.
fn temporary_beside(path: &Path) -> Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Error::usage(format!("the folder {} does not exist", folder.display()))
            .with_remedy("make it first"));
    }
    remove_what_the_killed_left(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    loop {
        let temporary = builder.tempfile_in(folder).map_err(|e| Error::io(folder, not_writable(&e)))?;
        // A file system without locks keeps what a killed process leaves; that is no reason to fail.
        let locked = temporary.as_file().lock().is_ok();
        // Another process may have taken the new file for a leftover before it was locked.
        if !locked || temporary.path().exists() {
            return Ok(temporary);
        }
    }
}

/// What the system refused, without the name of the temporary file that the library gives.
fn not_writable(error: &std::io::Error) -> std::io::Error {
    let kind = error.kind();
    std::io::Error::new(kind, format!("no file can be written in this folder ({kind})"))
}

/// What temporary files are called, so that leftovers can be recognised.
const PREFIX: &str = ".ldlf-";
const SUFFIX: &str = ".tmp";

/// Removes temporary files whose process was killed: those that nobody holds a lock on. Each folder is searched once per
/// process, so that many small files do not slow down every checkpoint.
fn remove_what_the_killed_left(folder: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    if !SEEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(real) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // Whoever writes the file holds its lock until it has its final name.
            let abandoned = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
            if abandoned {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// What a writer may fail with: the system's refusal, which becomes an error about the file, or any error of ours.
pub trait WriteFailure {
    /// The error about the file that was being written.
    fn about(self, path: &Path) -> Error;
}

impl WriteFailure for std::io::Error {
    fn about(self, path: &Path) -> Error {
        Error::io(path, self)
    }
}

impl WriteFailure for Error {
    fn about(self, _: &Path) -> Error {
        self
    }
}

/// Writes a file whole or not at all: to a temporary file beside it, synced, then renamed.
pub fn write_atomically<E: WriteFailure>(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&mut std::io::BufWriter<&mut std::fs::File>) -> std::result::Result<(), E>,
) -> Result<()> {
    if overwrite == Overwrite::No && path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    let target = destination(path)?;
    let mut temporary = temporary_beside(&target)?;
    let io = |e| Error::io(path, e);
    {
        let mut out = std::io::BufWriter::new(temporary.as_file_mut());
        write(&mut out).map_err(|e| e.about(path))?;
        out.flush().map_err(io)?;
    }
    temporary.as_file().sync_all().map_err(io)?;
    if let Ok(existing) = target.metadata() {
        temporary.as_file().set_permissions(existing.permissions()).map_err(io)?;
    }
    let folder = temporary.path().parent().map(Path::to_path_buf);
    let renamed = match overwrite {
        Overwrite::Yes => temporary.persist(&target).map(drop),
        Overwrite::No => temporary.persist_noclobber(&target).map(drop),
    };
    renamed.map_err(|e| io(e.error))?;
    // Makes the rename itself durable; a file system that cannot sync a folder is no reason to fail.
    if let Some(Ok(folder)) = folder.map(std::fs::File::open) {
        let _ = folder.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_file::{read_parts, write_parts};
    use ldlf_core::stored::{Array, Parts};

    fn sample() -> Parts {
        let mut parts = Parts::new();
        parts.put("weights", Array::F32(vec![2], vec![1.0, 2.0]));
        parts
    }

    #[test]
    fn a_failed_write_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(write_atomically(&path, Overwrite::No, |_| Err(full())).is_err());
        let stopped = write_atomically(&path, Overwrite::No, |_| Err(Error::Interrupted));
        assert!(matches!(stopped, Err(Error::Interrupted)), "a writer's own error comes through");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_folders_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        for place in [Path::new("/dev/null"), folder.path()] {
            let refused = write_parts(&Parts::new(), place, Overwrite::Yes).unwrap_err();
            assert_eq!(refused.kind(), ldlf_core::ErrorKind::Usage, "{refused}");
        }
    }

    #[test]
    fn a_link_stays_when_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        write_parts(&Parts::new(), &target, Overwrite::No).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_parts(&sample(), &link, Overwrite::Yes).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(read_parts(&target).unwrap(), sample());
    }

    #[test]
    fn only_leftovers_of_killed_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for name in [".ldlf-abcdef.tmp", ".ldlf-notes", "model.tmp"] {
            std::fs::write(file(name), "x").unwrap();
        }
        let at_work = File::create(file(".ldlf-uvwxyz.tmp")).unwrap();
        at_work.lock().unwrap();
        write_parts(&sample(), &file("model"), Overwrite::No).unwrap();
        let mut left: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [".ldlf-notes", ".ldlf-uvwxyz.tmp", "model", "model.tmp"]);
    }
}
