//! Images, one per row, decoded on demand: the input of a deep network in place of a table of features.

use std::fmt::Debug;
use std::sync::Arc;

use crate::{Error, Result};

/// A decoded image in three channels of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels from left to right.
    pub width: usize,
    /// Pixels from top to bottom.
    pub height: usize,
    /// `[height, width, 3]`: red, green and blue of every pixel, row by row.
    pub rgb: Vec<u8>,
}

/// Where images come from: a folder, an archive, a camera. The source decodes, and caches what it decoded.
pub trait ImageSource: Debug + Send + Sync {
    /// The number of images.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What messages and predictions call an image: its path within the folder or archive.
    fn name(&self, image: usize) -> &str;

    /// An image, upright, resized so that its shorter side has `side` pixels. The error names the image.
    fn resized(&self, image: usize, side: usize) -> Result<Arc<Image>>;
}

/// One image per row: some of the images of a source, in the order of the rows.
#[derive(Clone, Debug)]
pub struct Images {
    source: Arc<dyn ImageSource>,
    rows: Vec<u32>,
}

impl Images {
    /// Every image of a source.
    pub fn all(source: Arc<dyn ImageSource>) -> Self {
        let rows = (0..source.len() as u32).collect();
        Images { source, rows }
    }

    /// The images of the given numbers, one per row.
    ///
    /// # Panics
    /// When the source has no image of such a number.
    pub fn of(source: Arc<dyn ImageSource>, rows: Vec<u32>) -> Self {
        assert!(rows.iter().all(|&image| (image as usize) < source.len()), "an image is not there");
        Images { source, rows }
    }

    /// Images known by name alone, as a table names them: to be found in a folder or an archive before they are read.
    pub fn named(names: Vec<String>) -> Self {
        Images::all(Arc::new(Names(names)))
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// What the image of a row is called.
    pub fn name(&self, row: usize) -> &str {
        self.source.name(self.rows[row] as usize)
    }

    /// What the images of all rows are called.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.rows()).map(|row| self.name(row))
    }

    /// The image of a row, resized so that its shorter side has `side` pixels.
    pub fn resized(&self, row: usize, side: usize) -> Result<Arc<Image>> {
        self.source.resized(self.rows[row] as usize, side)
    }

    /// The given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Self {
        Images { source: Arc::clone(&self.source), rows: rows.iter().map(|&row| self.rows[row]).collect() }
    }
}

/// The same images of the same source.
impl PartialEq for Images {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.rows == other.rows
    }
}

/// What to do with a row whose image is missing or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BadImages {
    /// Refuse it with an error.
    #[default]
    Fail,
    /// Leave the row out, with a notice.
    Skip,
}

/// Names without images.
#[derive(Debug)]
struct Names(Vec<String>);

impl ImageSource for Names {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn name(&self, image: usize) -> &str {
        &self.0[image]
    }

    fn resized(&self, image: usize, _: usize) -> Result<Arc<Image>> {
        Err(Error::data(format!("the image {:?} was named but not opened", self.0[image]))
            .with_remedy("give the folder or zip file that holds it"))
    }
}
