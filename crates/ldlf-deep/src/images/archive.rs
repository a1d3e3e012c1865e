//! The images of a zip file.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ldlf_core::{Error, Result};
use ldlf_io::input;
use ldlf_math::memory;
use zip::ZipArchive;
use zip::result::ZipError;

use super::{MAGIC, is_hidden, is_image_by_content, is_image_by_name};

/// A zip file that several threads read through one locked reader: inflating an image takes a small part of the time of
/// decoding it, which happens outside the lock.
#[derive(Debug)]
pub(super) struct Archive {
    zip: Mutex<ZipArchive<BufReader<File>>>,
    /// The number in the archive of each image.
    entries: Vec<usize>,
}

impl Archive {
    /// Opens a zip file and gives the names of its images, sorted.
    pub(super) fn open(path: &Path) -> Result<(Vec<String>, Self)> {
        let file = input::open_file(path)?;
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|e| match e {
            ZipError::Io(e) if e.kind() != std::io::ErrorKind::UnexpectedEof => Error::io(path, e),
            other => Error::data(format!("neither a folder nor a usable zip file of images ({other})"))
                .in_file(path),
        })?;
        let mut found = Vec::new();
        for entry in 0..zip.len() {
            let Some(Ok(name)) = zip.name_for_index(entry) else { continue };
            let name = name.replace('\\', "/");
            if name.ends_with('/') || name.split('/').any(is_hidden) {
                continue;
            }
            if is_image_by_name(&name).unwrap_or_else(|| begins_as_image(&mut zip, entry)) {
                found.push((name, entry));
            }
        }
        found.sort();
        let (names, entries) = found.into_iter().unzip();
        Ok((names, Archive { zip: Mutex::new(zip), entries }))
    }

    /// The bytes of an image, or the reason why there are none.
    pub(super) fn bytes(&self, image: usize) -> std::result::Result<Vec<u8>, String> {
        // A reader that another thread left within an entry can still read the next one.
        let mut zip = self.zip.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entry = zip.by_index(self.entries[image]).map_err(|e| e.to_string())?;
        let size = usize::try_from(entry.size()).unwrap_or(usize::MAX);
        memory::check("it", &[("bytes", size)], 1).map_err(|e| e.to_string())?;
        let mut bytes = Vec::new();
        // The size that the archive states is not trusted: no more than that is read.
        entry.by_ref().take(size as u64).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        // The checksum is compared when the end is seen.
        match entry.read(&mut [0]) {
            Ok(0) => Ok(bytes),
            Ok(_) => Err("it is longer than the archive says".into()),
            Err(e) => Err(e.to_string()),
        }
    }
}

fn begins_as_image(zip: &mut ZipArchive<BufReader<File>>, entry: usize) -> bool {
    let mut start = Vec::new();
    let longest = MAGIC.iter().map(|magic| magic.len() as u64).max().unwrap_or(0);
    let Ok(entry) = zip.by_index(entry) else { return false };
    entry.take(longest).read_to_end(&mut start).is_ok() && is_image_by_content(&start)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(entries: &[(&str, &[u8])]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = zip::ZipWriter::new(file.reopen().unwrap());
        for (name, bytes) in entries {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        file
    }

    #[test]
    fn images_of_an_archive_are_listed_by_name() {
        let file = archive(&[
            ("b/2.png", b"two"),
            ("a.jpg", b"one"),
            ("__MACOSX/a.jpg", b"no"),
            ("b/.3.png", b"no"),
            ("labels.csv", b"no"),
            ("scan", b"\x89PNG\r\n\x1a\n"),
        ]);
        let (names, _) = Archive::open(file.path()).unwrap();
        assert_eq!(names, ["a.jpg", "b/2.png", "scan"]);
    }

    #[test]
    fn images_of_an_archive_are_read_by_number() {
        let file = archive(&[("b/2.png", b"two"), ("a.jpg", b"one")]);
        let (_, archive) = Archive::open(file.path()).unwrap();
        assert_eq!(
            (archive.bytes(0).unwrap(), archive.bytes(1).unwrap()),
            (b"one".to_vec(), b"two".to_vec())
        );
    }

    #[test]
    fn a_file_that_is_no_archive_is_refused_by_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "words").unwrap();
        let error = Archive::open(file.path()).unwrap_err();
        assert_eq!(error.kind(), ldlf_core::ErrorKind::Data, "{error}");
        assert!(error.to_string().contains("neither a folder nor a usable zip file of images"), "{error}");
    }

    #[test]
    fn a_changed_byte_in_an_entry_is_detected() {
        let file = archive(&[("a.png", &[7; 4000])]);
        let mut bytes = std::fs::read(file.path()).unwrap();
        bytes[40] ^= 0x55;
        std::fs::write(file.path(), bytes).unwrap();
        let (_, archive) = Archive::open(file.path()).unwrap();
        archive.bytes(0).unwrap_err();
    }

    #[test]
    fn a_damaged_archive_is_refused_or_read_but_never_ends_the_program() {
        let whole = std::fs::read(archive(&[("a.png", &[7; 400]), ("b.jpg", b"words")]).path()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut state = 1u64;
        for _ in 0..1000 {
            let mut bytes = whole.clone();
            for _ in 0..2 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (state >> 33) as usize % bytes.len();
                bytes[at] = (state >> 24) as u8;
                if state.is_multiple_of(11) {
                    bytes.truncate(at.max(1));
                }
            }
            std::fs::write(file.path(), bytes).unwrap();
            if let Ok((names, archive)) = Archive::open(file.path()) {
                // Damage may be noticed with each of them or with none.
                (0..names.len()).for_each(|image| drop(archive.bytes(image)));
            }
        }
    }
}
