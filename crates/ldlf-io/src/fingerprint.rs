//! Fingerprints that show whether inputs are still those of an earlier run, without reading them whole.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ldlf_core::{Error, Result};

/// Bytes at the front and at the end of a file that are hashed.
const LOOKED_AT: u64 = 1 << 16;

/// The length of a file and a checksum of its front and its end; zeros for a pipe.
pub fn of_file(path: &Path) -> Result<(u64, u32)> {
    let read = || -> std::io::Result<(u64, u32)> {
        let mut file = File::open(path)?;
        let found = file.metadata()?;
        let mut sum = flate2::Crc::new();
        // A pipe cannot be read without consuming it.
        if !found.is_file() {
            return Ok((0, 0));
        }
        for start in [0, found.len().saturating_sub(LOOKED_AT)] {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(start))?;
            (&mut file).take(LOOKED_AT).read_to_end(&mut bytes)?;
            sum.update(&bytes);
        }
        Ok((found.len(), sum.sum()))
    };
    read().map_err(|e| Error::io(path, e))
}

/// The length of some files together and a checksum of their fingerprints; of a single file its own.
pub fn of_files(paths: &[PathBuf]) -> Result<(u64, u32)> {
    if let [path] = paths {
        return of_file(path);
    }
    let (mut sum, mut length) = (flate2::Crc::new(), 0u64);
    for path in paths {
        let (bytes, own) = of_file(path)?;
        length = length.saturating_add(bytes);
        sum.update(&bytes.to_le_bytes());
        sum.update(&own.to_le_bytes());
    }
    Ok((length, sum.sum()))
}

/// The number of some names and a checksum of them in their order.
pub fn of_names<'a>(names: impl Iterator<Item = &'a str>) -> (u64, u32) {
    let (mut sum, mut count) = (flate2::Crc::new(), 0);
    for name in names {
        sum.update(name.as_bytes());
        sum.update(&[0]);
        count += 1;
    }
    (count, sum.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_equal_length_have_different_fingerprints() {
        let folder = tempfile::tempdir().unwrap();
        let print = |text: &str| {
            std::fs::write(folder.path().join("file"), text).unwrap();
            of_file(&folder.path().join("file")).unwrap()
        };
        assert_eq!(print("a,b\n"), print("a,b\n"));
        assert_ne!(print("a,b\n"), print("a,c\n"));
    }

    #[test]
    fn names_are_separated_in_their_fingerprint() {
        assert_eq!(of_names(["a", "b"].into_iter()).0, 2);
        assert_ne!(of_names(["ab", "c"].into_iter()), of_names(["a", "bc"].into_iter()));
    }
}
