//! Opening what a user names: regular files at once, pipes with a timeout, and nothing else.

use std::fs::{File, FileType, Metadata};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use ldlf_core::{Error, Result};
use ldlf_math::memory;

/// How long a pipe may stay without a writer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a path leads to, in words, where it is no regular file.
fn odd_kind(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a folder" } else { "no regular file" }
}

/// What stands at a path, in words (`a folder`, `a pipe`), where it is no regular file.
pub fn what_else(path: &Path) -> Option<&'static str> {
    let kind = path.metadata().ok()?.file_type();
    (!kind.is_file()).then(|| odd_kind(kind))
}

fn is_pipe(kind: FileType) -> bool {
    odd_kind(kind) == "a pipe"
}

/// The paths under which a system gives a process its own open files: whoever names one means what is behind it.
fn is_own_handle(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

fn metadata(path: &Path) -> Result<Metadata> {
    std::fs::metadata(path).map_err(|e| refused(path, e))
}

fn refused(path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => Error::data("no such file").in_file(path),
        _ => Error::io(path, error),
    }
}

/// Opens a regular file. Folders, pipes, sockets and devices are refused before they are opened: opening a pipe may wait for
/// ever, and a device may have no end.
pub fn open_file(path: &Path) -> Result<File> {
    let kind = metadata(path)?.file_type();
    if !kind.is_file() {
        let found = format!("{} is {}, where a file is expected", path.display(), odd_kind(kind));
        return Err(Error::data(found).with_remedy("name a file"));
    }
    File::open(path).map_err(|e| refused(path, e))
}

/// The bytes of a regular file.
pub fn read_file(path: &Path) -> Result<Vec<u8>> {
    let mut file = open_file(path)?;
    let size = file.metadata().map_or(0, |found| usize::try_from(found.len()).unwrap_or(usize::MAX));
    memory::check("the file", &[("bytes", size)], 1)
        .map_err(|e| Error::from(e).recast(Error::Data).in_file(path))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
    Ok(bytes)
}

/// Opens what is read once from its start to its end: a regular file, a pipe, or one of the process's own open files
/// (`/dev/stdin`, `/dev/fd/63`). A pipe that nobody writes to is given up after ten seconds.
pub fn open_stream(path: &Path) -> Result<File> {
    let kind = metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(Error::data("is a folder where a data file is expected").in_file(path));
    }
    if is_own_handle(path) {
        return File::open(path).map_err(|e| refused(path, e));
    }
    if is_pipe(kind) {
        return open_pipe(path);
    }
    open_file(path)
}

/// Opening a pipe waits for its writer without a timeout: it is done on a thread that is abandoned if nobody writes.
fn open_pipe(path: &Path) -> Result<File> {
    let (send, receive) = mpsc::channel();
    let owned = path.to_path_buf();
    std::thread::spawn(move || send.send(File::open(owned)));
    match receive.recv_timeout(PATIENCE) {
        Ok(opened) => opened.map_err(|e| refused(path, e)),
        Err(_) => {
            let waited = PATIENCE.as_secs();
            Err(Error::data(format!("{} is a pipe, and nobody wrote to it for {waited} s", path.display()))
                .with_remedy("start its writer first"))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn pipe(folder: &tempfile::TempDir) -> std::path::PathBuf {
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    #[test]
    fn folders_pipes_and_devices_are_refused_by_name_where_a_file_is_expected() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _bound = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let pipe = pipe(&folder);
        for (path, kind) in [
            (folder.path(), "a folder"),
            (&pipe, "a pipe"),
            (&socket, "a socket"),
            (Path::new("/dev/zero"), "a device"),
        ] {
            let error = open_file(path).unwrap_err().to_string();
            assert!(error.ends_with(&format!("is {kind}, where a file is expected; name a file")), "{error}");
        }
        assert!(open_stream(Path::new("/dev/zero")).is_err(), "it has no end");
    }

    #[test]
    fn a_pipe_without_a_writer_times_out() {
        let folder = tempfile::tempdir().unwrap();
        let refused = open_stream(&pipe(&folder)).unwrap_err().to_string();
        assert!(refused.contains("nobody wrote to it for 10 s"), "{refused}");
    }

    #[test]
    fn a_pipe_with_a_writer_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(&folder);
        let writer = {
            let path = path.clone();
            std::thread::spawn(move || std::fs::write(path, "words"))
        };
        let mut text = String::new();
        open_stream(&path).unwrap().read_to_string(&mut text).unwrap();
        writer.join().unwrap().unwrap();
        assert_eq!(text, "words");
    }

    #[test]
    fn a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "words").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_file(&link).unwrap(), b"words");
    }

    #[test]
    fn a_link_to_nowhere_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let lost = folder.path().join("lost");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &lost).unwrap();
        let error = open_stream(&lost).unwrap_err();
        assert_eq!(error.kind(), ldlf_core::ErrorKind::Data);
        assert!(error.to_string().ends_with("lost: no such file"), "{error}");
    }

    #[test]
    fn a_file_that_may_not_be_read_is_an_error_of_the_system() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, "words").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
        match read_file(&path) {
            Ok(_) => println!("skipped: this user may read everything"),
            Err(error) => assert_eq!(error.kind(), ldlf_core::ErrorKind::Io, "{error}"),
        }
    }
}
