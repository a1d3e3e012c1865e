//! What a user names as data: a file, a folder or pattern of files, a pipe or standard input; unpacked where it is compressed.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ldlf_core::error::{Subject, shown};
use ldlf_core::{Error, Result, message};

use super::joined::Joined;
use super::partitioned::{self, Partition};
use super::table::Table;
use super::{empty, no_pipe, read_error, unknown_extension};
use crate::format::{FORMATS, FileFormat, OpenTable};
use crate::input;
use crate::read::Format;

/// An input that is open, with what messages call it.
pub(crate) struct Source {
    /// What messages call it: the path as given.
    pub(super) file: String,
    /// The file's stem, the name of the dataset.
    pub(super) stem: String,
    pub(super) format: Format,
    handle: Handle,
}

enum Handle {
    File(File),
    Standard,
    /// What came from standard input or a pipe, to be read once more.
    Bytes(Arc<Vec<u8>>),
}

impl Source {
    pub(super) fn open(path: &Path, format: Option<Format>) -> Result<Self> {
        if path == Path::new("-") {
            let format = format.ok_or_else(|| {
                Error::usage(message!["standard input needs ", Subject::Format, " (one of {FORMATS})"])
            })?;
            return Ok(Source {
                file: "stdin".into(),
                stem: "stdin".into(),
                format,
                handle: Handle::Standard,
            });
        }
        let file = shown(&path.display().to_string());
        let format = format.or_else(|| Format::of_input(path));
        // A pipe that will not do is not waited for.
        if let Some(format) = format.filter(|format| format.seeks())
            && path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
        {
            return Err(no_pipe(&file, format));
        }
        let handle = Handle::File(input::open_stream(path)?);
        let format = format.ok_or_else(|| unknown_extension(path).in_file(&file))?;
        Ok(Source { stem: stem(path), file, format, handle })
    }

    /// What its format can do, in a build that reads it.
    pub(super) fn format(&self) -> Result<&'static FileFormat> {
        self.format.statement().map_err(|feature| {
            let format = self.format;
            Error::usage(format!("this build reads no {format}"))
                .with_remedy(format!("build it with the feature `{feature}`"))
                .in_file(&self.file)
        })
    }

    fn is_regular(&self) -> bool {
        matches!(&self.handle, Handle::File(file) if file.metadata().is_ok_and(|found| found.is_file()))
    }

    /// The bytes in order, unpacked where they are compressed by gzip, zstd or bzip2.
    pub(super) fn into_reader(self) -> Result<Box<dyn Read + Send>> {
        let file = self.file.clone();
        let mut reader: Box<dyn Read + Send> = match self.handle {
            Handle::File(file) => Box::new(file),
            Handle::Standard => Box::new(std::io::stdin()),
            Handle::Bytes(bytes) => Box::new(Cursor::new(SharedBytes(bytes))),
        };
        let mut front = Vec::new();
        (&mut reader).take(4).read_to_end(&mut front).map_err(|e| read_error(&file, e))?;
        let whole = Cursor::new(front.clone()).chain(reader);
        Ok(match front[..] {
            [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(whole)),
            [0x28, 0xb5, 0x2f, 0xfd] => {
                Box::new(zstd::Decoder::new(whole).map_err(|e| read_error(&file, e))?)
            }
            [b'B', b'Z', b'h', _] => Box::new(bzip2::read::MultiBzDecoder::new(whole)),
            _ => Box::new(whole),
        })
    }

    /// All bytes, for formats that are read as a whole.
    #[cfg(feature = "xlsx")]
    pub(super) fn into_bytes(self) -> Result<Vec<u8>> {
        let file = self.file.clone();
        let mut bytes = Vec::new();
        let mut growth = ldlf_math::memory::Growth::default();
        let mut reader = self.into_reader()?;
        while (&mut reader).take(1 << 20).read_to_end(&mut bytes).map_err(|e| read_error(&file, e))? > 0 {
            growth.reached(bytes.len()).map_err(|reason| Error::data(reason).in_file(&file))?;
        }
        Ok(bytes)
    }

    /// The file, for formats that are read from their end: neither standard input nor a pipe.
    pub(super) fn into_seekable(self) -> Result<File> {
        match self.handle {
            Handle::File(handle) if handle.metadata().is_ok_and(|m| m.is_file() && m.len() == 0) => {
                Err(empty(&self.file))
            }
            Handle::File(handle) if handle.metadata().is_ok_and(|m| m.is_file()) => Ok(handle),
            _ => Err(no_pipe(&self.file, self.format)),
        }
    }
}

/// Bytes that several readers share.
struct SharedBytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The name of a file without its extension, and without that of its compression.
fn stem(path: &Path) -> String {
    let whole = || path.display().to_string();
    let unpacked = if Format::is_packed(path) { path.with_extension("") } else { path.to_path_buf() };
    unpacked.file_stem().map_or_else(whole, |stem| stem.to_string_lossy().into_owned())
}

/// Files with the same columns, and how each of them is opened.
#[derive(Clone)]
pub(super) struct Files {
    pub paths: Vec<PathBuf>,
    pub format: Option<Format>,
    open: OpenTable,
    /// The folder that the user named, or that stands before the first star of a pattern: the folders below it may name columns.
    pub root: PathBuf,
}

impl Files {
    /// Opens one of them.
    pub fn open(&self, path: &Path) -> Result<Box<dyn Table>> {
        self.open_source(Source::open(path, self.format)?, path)
    }

    fn open_source(&self, source: Source, path: &Path) -> Result<Box<dyn Table>> {
        Partition::of((self.open)(source)?, &self.root, path)
    }
}

/// One table: a file, or several with the same columns, which can be opened more than once.
pub(super) struct Tables {
    files: Files,
    stem: String,
    /// What is not a regular file is read into memory before it is read twice.
    bytes: OnceLock<Arc<Vec<u8>>>,
}

impl Tables {
    /// The tables of a path, or an open file of a format without names.
    pub fn find(path: &Path, format: Option<Format>) -> Result<std::result::Result<Self, Source>> {
        let paths = match files_of(path, format)? {
            Some(paths) => paths,
            None => vec![path.to_path_buf()],
        };
        // Opening a pipe would take its bytes.
        let known = format.or_else(|| Format::of_input(&paths[0]));
        let open = match known {
            Some(known) if known.names_columns() => known.statement().ok().and_then(FileFormat::open_table),
            _ => None,
        };
        match open {
            Some(open) => {
                let stem = if path == Path::new("-") { "stdin".into() } else { stem(path) };
                let root = Pattern::of(path).map_or_else(|| path.to_path_buf(), |pattern| pattern.root);
                let files = Files { paths, format, open, root };
                Ok(Ok(Tables { files, stem, bytes: OnceLock::new() }))
            }
            None => Source::open(&paths[0], format).map(Err),
        }
    }

    pub fn stem(&self) -> String {
        self.stem.clone()
    }

    /// Opens the table, for the only time.
    pub fn open(&self) -> Result<Box<dyn Table>> {
        self.with_rest(self.files.open(&self.files.paths[0])?)
    }

    /// Opens the table, as may be done again.
    pub fn open_again(&self) -> Result<Box<dyn Table>> {
        let path = &self.files.paths[0];
        let first = match self.bytes.get() {
            Some(bytes) => self.in_memory(bytes),
            None => {
                let source = Source::open(path, self.files.format)?;
                if source.is_regular() {
                    source
                } else {
                    let (file, mut bytes) = (source.file.clone(), Vec::new());
                    source.into_reader()?.read_to_end(&mut bytes).map_err(|e| read_error(&file, e))?;
                    self.in_memory(self.bytes.get_or_init(|| Arc::new(bytes)))
                }
            }
        };
        self.with_rest(self.files.open_source(first, path)?)
    }

    fn in_memory(&self, bytes: &Arc<Vec<u8>>) -> Source {
        let path = &self.files.paths[0];
        let format = self.files.format.or_else(|| Format::of_input(path)).unwrap_or(Format::Csv);
        let file = if self.stem == "stdin" { "stdin".into() } else { shown(&path.display().to_string()) };
        Source { file, stem: self.stem.clone(), format, handle: Handle::Bytes(Arc::clone(bytes)) }
    }

    fn with_rest(&self, first: Box<dyn Table>) -> Result<Box<dyn Table>> {
        if self.files.paths.len() == 1 {
            return Ok(first);
        }
        Ok(Box::new(Joined::new(first, self.files.clone())))
    }
}

/// A pattern such as `days/*/votes.csv`: the folder before its first star, and the names from there on.
struct Pattern {
    root: PathBuf,
    names: Vec<String>,
}

impl Pattern {
    /// None where the path is there, or has no star.
    fn of(path: &Path) -> Option<Self> {
        let has_star = |part: &Component<'_>| part.as_os_str().to_string_lossy().contains('*');
        let parts: Vec<Component<'_>> = path.components().collect();
        let first = parts.iter().position(has_star).filter(|_| !path.exists())?;
        let root: PathBuf = if first == 0 { ".".into() } else { parts[..first].iter().collect() };
        let names =
            parts[first..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        Some(Pattern { root, names })
    }

    /// The files that fit and of which `is_table` holds.
    fn files(&self, is_table: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
        let mut found = vec![self.root.clone()];
        for (at, name) in self.names.iter().enumerate() {
            let is_last = at + 1 == self.names.len();
            let fits = |path: &Path| match is_last {
                true => is_table(path),
                false => path.is_dir() && (!name.contains('*') || !is_hidden(path)),
            };
            let mut next = Vec::new();
            for folder in found {
                if name.contains('*') {
                    let inside = entries(&folder)?.into_iter();
                    next.extend(inside.filter(|path| super::roles::fits(name, &name_of(path)) && fits(path)));
                } else {
                    next.extend(Some(folder.join(name)).filter(|path| fits(path)));
                }
            }
            found = next;
        }
        Ok(found)
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_hidden(path: &Path) -> bool {
    name_of(path).starts_with(['.', '_'])
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |e| Error::io(folder, e);
    std::fs::read_dir(folder).map_err(io)?.map(|entry| Ok(entry.map_err(io)?.path())).collect()
}

/// Whether a path is a pattern of files, such as `parts/*.csv` or `days/*/votes.csv`, and not a file or folder of that name.
pub fn is_pattern(path: &Path) -> bool {
    Pattern::of(path).is_some()
}

/// The files that a path means: those of a folder or of a pattern, or the file itself.
pub fn files_meant(path: &Path) -> Vec<PathBuf> {
    files_of(path, None).ok().flatten().unwrap_or_else(|| vec![path.to_path_buf()])
}

/// The files of a folder or of a pattern such as `parts/*.csv`, by name; none where the path is a file.
fn files_of(path: &Path, format: Option<Format>) -> Result<Option<Vec<PathBuf>>> {
    let pattern = Pattern::of(path);
    let is_table = |found: &Path| {
        let known = format.is_some() || Format::of_input(found).is_some();
        known && !is_hidden(found) && found.is_file()
    };
    let mut paths = match &pattern {
        Some(pattern) => pattern.files(&is_table)?,
        None if !path.is_dir() => return Ok(None),
        None => entries(path)?.into_iter().filter(|found| is_table(found)).collect(),
    };
    if paths.is_empty() && pattern.is_none() {
        paths = partitioned::files_below(path, &is_table)?;
    }
    paths.sort();
    let known = |path: &PathBuf| format.or_else(|| Format::of_input(path));
    match paths.iter().find(|other| known(other) != known(&paths[0])) {
        _ if paths.is_empty() && pattern.is_some() => {
            Err(Error::data("no table fits the pattern").in_file(path))
        }
        _ if paths.is_empty() => {
            Err(Error::data("is a folder without tables where data are expected").in_file(path))
        }
        Some(other) => Err(Error::data(format!(
            "holds tables of several formats, such as {} and {}",
            shown(&paths[0].display().to_string()),
            shown(&other.display().to_string())
        ))
        .with_remedy("name one of them with a pattern such as \"folder/*.csv\"")
        .in_file(path)),
        None => Ok(Some(paths)),
    }
}

/// Whether a folder holds a table.
pub fn is_folder_of_tables(path: &Path) -> bool {
    path.is_dir() && matches!(files_of(path, None), Ok(Some(_)))
}

/// Whether a file is one of those that a folder or a pattern means.
pub fn is_file_of(path: &Path, file: &Path) -> bool {
    let Ok(Some(files)) = files_of(path, None) else { return false };
    let real = |path: &Path| path.canonicalize().ok();
    let wanted = real(file);
    wanted.is_some() && files.iter().any(|found| real(found) == wanted)
}
