//! Pictures, one a row, decoded when they are asked for: what a deep network reads in place of a table of features.

use std::fmt::Debug;
use std::sync::Arc;

use crate::Result;

/// A decoded picture in three channels of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels from left to right.
    pub width: usize,
    /// Pixels from top to bottom.
    pub height: usize,
    /// `[height, width, 3]`: red, green and blue of every pixel, row by row.
    pub rgb: Vec<u8>,
}

/// Where pictures come from: a folder, an archive, a camera. Decoding is the source's business, and so is keeping what was decoded.
pub trait Pictures: Debug + Send + Sync {
    /// The number of pictures.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What messages and predictions call a picture: its path within the folder or archive.
    fn name(&self, picture: usize) -> &str;

    /// A picture, upright, resized so that its shorter side has `side` pixels. The error names the picture.
    fn resized(&self, picture: usize, side: usize) -> Result<Arc<Picture>>;
}

/// One picture a row: some of the pictures of a source, in the order of the rows.
#[derive(Clone, Debug)]
pub struct Images {
    source: Arc<dyn Pictures>,
    rows: Vec<u32>,
}

impl Images {
    /// Every picture of a source.
    pub fn all(source: Arc<dyn Pictures>) -> Self {
        let rows = (0..source.len() as u32).collect();
        Images { source, rows }
    }

    /// The pictures of the given numbers, one a row.
    ///
    /// # Panics
    /// When the source has no picture of such a number.
    pub fn of(source: Arc<dyn Pictures>, rows: Vec<u32>) -> Self {
        assert!(rows.iter().all(|&picture| (picture as usize) < source.len()), "a picture is not there");
        Images { source, rows }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// What the picture of a row is called.
    pub fn name(&self, row: usize) -> &str {
        self.source.name(self.rows[row] as usize)
    }

    /// The picture of a row, resized so that its shorter side has `side` pixels.
    pub fn resized(&self, row: usize, side: usize) -> Result<Arc<Picture>> {
        self.source.resized(self.rows[row] as usize, side)
    }

    /// The given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Self {
        Images { source: Arc::clone(&self.source), rows: rows.iter().map(|&row| self.rows[row]).collect() }
    }
}

/// The same pictures of the same source.
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
