//! The images of a folder and of the folders in it.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use ldlf_core::{Error, Result};

use super::{MAGIC, is_hidden, is_image_by_content, is_image_by_name};

/// Every image below `root`: its path from there, with `/` between the parts, and where it lies. Sorted by name.
pub(super) fn list(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    // Links may form a cycle.
    let mut seen = HashSet::new();
    let mut open = vec![(String::new(), root.to_path_buf())];
    while let Some((prefix, folder)) = open.pop() {
        if !seen.insert(folder.canonicalize().map_err(|e| Error::io(&folder, e))?) {
            continue;
        }
        let mut folders = Vec::new();
        for entry in folder.read_dir().map_err(|e| Error::io(&folder, e))? {
            let entry = entry.map_err(|e| Error::io(&folder, e))?;
            let part = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            // A broken link is skipped.
            let Ok(kind) = path.metadata() else { continue };
            if is_hidden(&part) {
                continue;
            } else if kind.is_dir() {
                folders.push((format!("{prefix}{part}/"), path));
            } else if kind.is_file() && is_image_by_name(&part).unwrap_or_else(|| begins_as_image(&path)) {
                found.push((format!("{prefix}{part}"), path));
            }
        }
        // Sorted, because of two paths to one folder the first counts.
        folders.sort_by(|a, b| b.cmp(a));
        open.extend(folders);
    }
    found.sort();
    Ok(found)
}

fn begins_as_image(path: &Path) -> bool {
    let mut start = Vec::new();
    let longest = MAGIC.iter().map(|magic| magic.len() as u64).max().unwrap_or(0);
    let read = File::open(path).and_then(|file| file.take(longest).read_to_end(&mut start));
    read.is_ok() && is_image_by_content(&start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path) -> Vec<String> {
        list(root).unwrap().into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn images_of_nested_folders_are_sorted_by_name() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("b/c")).unwrap();
        for name in ["z.png", "b/2.JPG", "b/1.jpeg", "b/c/x.jpg", "notes.txt", "labels.csv"] {
            std::fs::write(root.path().join(name), "").unwrap();
        }
        assert_eq!(names(root.path()), ["b/1.jpeg", "b/2.JPG", "b/c/x.jpg", "z.png"]);
    }

    #[test]
    fn hidden_files_are_skipped() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("__MACOSX")).unwrap();
        std::fs::create_dir_all(root.path().join(".thumbnails")).unwrap();
        for name in ["a.png", ".b.png", "__MACOSX/a.png", ".thumbnails/a.png"] {
            std::fs::write(root.path().join(name), "").unwrap();
        }
        assert_eq!(names(root.path()), ["a.png"]);
    }

    #[test]
    fn a_file_without_extension_is_an_image_when_it_begins_like_one() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("scan"), b"\x89PNG\r\n\x1a\nrest").unwrap();
        std::fs::write(root.path().join("words"), "words").unwrap();
        assert_eq!(names(root.path()), ["scan"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_back_does_not_lead_on_for_ever() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("a")).unwrap();
        std::fs::write(root.path().join("a/1.png"), "").unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("a/back")).unwrap();
        std::os::unix::fs::symlink(root.path().join("a/1.png"), root.path().join("link.png")).unwrap();
        std::os::unix::fs::symlink("nowhere.png", root.path().join("lost.png")).unwrap();
        assert_eq!(names(root.path()), ["a/1.png", "link.png"]);
    }
}
