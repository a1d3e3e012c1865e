//! Images of a folder or a zip file, decoded on demand and cached in bounded memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ldlf_core::images::{Image, ImageSource, Images};
use ldlf_core::{Error, Result, Threads};
use ldlf_io::input;

use super::archive::Archive;
use super::cache::ImageCache;
use super::decode::decode;
use super::{folder, is_image_by_name};

/// The images of a folder or a zip file, sorted by name.
#[derive(Debug)]
pub struct ImageFiles {
    /// The folder or archive as messages name it.
    file: String,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    store: Store,
    cache: ImageCache,
}

#[derive(Debug)]
enum Store {
    Folder(Vec<PathBuf>),
    Archive(Archive),
}

/// Opens a folder, with the folders in it, a zip file, or a single image; at most `cache_bytes` of resized images are cached, so
/// that they are decoded once.
///
/// An image is named by its path from there (`train/0001.jpg`), and is JPEG or PNG by its extension, or by its content where it has
/// none. Hidden files are skipped. Nothing is decoded yet.
///
/// ```no_run
/// use ldlf_core::images::Images;
/// let files = ldlf_deep::images::open("faces.zip".as_ref(), 1 << 30)?;
/// let images = Images::all(files);
/// let first = images.resized(0, 64)?;
/// assert_eq!(first.width.min(first.height), 64);
/// # Ok::<(), ldlf_core::Error>(())
/// ```
pub fn open(path: &Path, cache_bytes: usize) -> Result<Arc<ImageFiles>> {
    let file = path.display().to_string();
    let found = match path.metadata() {
        Ok(found) => found,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::data("no such folder or zip file").in_file(path));
        }
        Err(e) => return Err(Error::io(path, e)),
    };
    let (names, store) = if found.is_dir() {
        let (names, paths) = folder::list(path)?.into_iter().unzip();
        (names, Store::Folder(paths))
    } else if is_image_by_name(&file) == Some(true) {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        (vec![name], Store::Folder(vec![path.to_path_buf()]))
    } else {
        let (names, archive) = Archive::open(path)?;
        (names, Store::Archive(archive))
    };
    if names.is_empty() {
        return Err(Error::data("there are no images (JPEG or PNG) in it").in_file(path));
    }
    let count = u32::try_from(names.len()).map_err(|_| {
        Error::data("more images than can be counted").with_remedy("cut it in parts").in_file(path)
    })?;
    let numbers = names.iter().cloned().zip(0..count).collect();
    let cache = ImageCache::new(names.len(), cache_bytes);
    Ok(Arc::new(ImageFiles { file, names, numbers, store, cache }))
}

impl ImageFiles {
    /// The images of these files, in their order; `what` is what messages call them together. Nothing is decoded yet.
    pub fn of_paths(paths: Vec<PathBuf>, what: &str, cache_bytes: usize) -> Result<Arc<Self>> {
        if let Some(lost) = paths.iter().find(|path| !path.is_file()) {
            return Err(Error::data("no such image").in_file(lost));
        }
        let count = u32::try_from(paths.len())
            .map_err(|_| Error::data("more images than can be counted").with_remedy("cut them in parts"))?;
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let numbers = names.iter().cloned().zip(0..count).collect();
        let cache = ImageCache::new(names.len(), cache_bytes);
        Ok(Arc::new(ImageFiles {
            file: what.to_string(),
            names,
            numbers,
            store: Store::Folder(paths),
            cache,
        }))
    }

    /// The number of the image of this name.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name.strip_prefix("./").unwrap_or(name)).copied()
    }

    /// The folder or archive as messages name it.
    pub fn file(&self) -> &str {
        &self.file
    }

    fn decoded(&self, image: usize, side: usize) -> std::result::Result<Image, String> {
        let bytes = match &self.store {
            Store::Folder(paths) => input::read_file(&paths[image]).map_err(|e| match e {
                Error::Io { source, .. } => source.to_string(),
                other => other.to_string(),
            }),
            Store::Archive(archive) => archive.bytes(image),
        }?;
        decode(&bytes, side)
    }
}

impl ImageSource for ImageFiles {
    fn len(&self) -> usize {
        self.names.len()
    }

    fn name(&self, image: usize) -> &str {
        &self.names[image]
    }

    fn resized(&self, image: usize, side: usize) -> Result<Arc<Image>> {
        if side == 0 {
            return Err(Error::parameter("side", "at least 1", 0));
        }
        if let Some(cached) = self.cache.get(image, side) {
            return Ok(cached);
        }
        let decoded = self.decoded(image, side).map_err(|reason| {
            Error::data(format!("the image {:?} cannot be read ({reason})", self.names[image]))
                .with_remedy("replace it or leave it out")
                .in_file(&self.file)
        })?;
        let decoded = Arc::new(decoded);
        self.cache.put(image, &decoded);
        Ok(decoded)
    }
}

/// Decodes every row's image once, in parallel, and returns the rows whose image cannot be read, each with the reason, so that a bad
/// image is reported before training starts. The others are cached for the first epoch.
pub fn unreadable(images: &Images, side: usize, threads: &Threads) -> Vec<(usize, Error)> {
    let tried =
        threads.map(0..images.rows(), |row| images.resized(row, side).err().map(|error| (row, error)));
    tried.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    fn folder_of(images: &[(&str, [u8; 3])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, colour) in images {
            RgbImage::from_pixel(12, 10, Rgb(*colour)).save(folder.path().join(name)).unwrap();
        }
        folder
    }

    #[test]
    fn images_are_found_by_name() {
        let folder = folder_of(&[("b.png", [9, 8, 7]), ("a.png", [1, 2, 3])]);
        let files = open(folder.path(), 0).unwrap();
        assert_eq!(
            (files.len(), files.name(0), files.find("b.png"), files.find("./b.png")),
            (2, "a.png", Some(1), Some(1))
        );
        assert_eq!(files.find("c.png"), None);
    }

    #[test]
    fn images_are_decoded_in_the_requested_size() {
        let folder = folder_of(&[("a.png", [9, 8, 7])]);
        let image = open(folder.path(), 0).unwrap().resized(0, 5).unwrap();
        assert_eq!((image.width, image.height, &image.rgb[..3]), (6, 5, &[9, 8, 7][..]));
    }

    #[test]
    fn an_image_is_decoded_once_where_there_is_room_in_the_cache() {
        let folder = folder_of(&[("a.png", [1, 2, 3])]);
        let files = open(folder.path(), 1 << 20).unwrap();
        let first = files.resized(0, 5).unwrap();
        std::fs::remove_file(folder.path().join("a.png")).unwrap();
        assert!(Arc::ptr_eq(&first, &files.resized(0, 5).unwrap()));
        assert!(files.resized(0, 6).is_err(), "another size needs the file");
    }

    #[test]
    fn unreadable_images_are_named_with_their_rows() {
        let folder = folder_of(&[("a.png", [1, 2, 3]), ("c.png", [4, 5, 6])]);
        std::fs::write(folder.path().join("b.jpg"), "words").unwrap();
        let files = open(folder.path(), 0).unwrap();
        let bad = unreadable(&Images::all(files), 4, &Threads::new(2).unwrap());
        let [(1, error)] = &bad[..] else { panic!("{bad:?}") };
        let sentence =
            "the image \"b.jpg\" cannot be read (it is neither JPEG nor PNG); replace it or leave it out";
        assert!(error.to_string().ends_with(sentence), "{error}");
    }

    #[test]
    fn a_single_image_is_a_folder_of_one() {
        let folder = folder_of(&[("a.png", [9, 8, 7]), ("b.png", [1, 2, 3])]);
        let files = open(&folder.path().join("a.png"), 0).unwrap();
        assert_eq!((files.len(), files.name(0)), (1, "a.png"));
        assert_eq!(files.resized(0, 5).unwrap().rgb[..3], [9, 8, 7]);
    }

    #[test]
    fn files_come_in_their_order_and_as_often_as_they_are_named() {
        let folder = folder_of(&[("a.png", [9, 8, 7]), ("b.png", [1, 2, 3])]);
        let path = |name: &str| folder.path().join(name);
        let files = ImageFiles::of_paths(vec![path("b.png"), path("a.png"), path("b.png")], "X", 0).unwrap();
        let reds: Vec<u8> = (0..files.len()).map(|image| files.resized(image, 5).unwrap().rgb[0]).collect();
        assert_eq!(reds, [1, 9, 1]);
        let refused = ImageFiles::of_paths(vec![path("a.png"), path("lost.png")], "X", 0).unwrap_err();
        assert!(refused.to_string().ends_with("lost.png: no such image"), "{refused}");
    }

    #[test]
    fn an_empty_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = open(folder.path(), 0).unwrap_err().to_string();
        assert!(refused.ends_with("there are no images (JPEG or PNG) in it"), "{refused}");
    }

    #[test]
    fn a_missing_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = open(&folder.path().join("lost"), 0).unwrap_err().to_string();
        assert!(refused.ends_with("lost: no such folder or zip file"), "{refused}");
    }
}
