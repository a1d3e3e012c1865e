//! What is predicted, block by block: the rows of a table, or images.

use ldlf::internals::io::fingerprint;
use ldlf::internals::io::read::RowStream;
use ldlf::{Images, Inputs, Result};

/// Images of a block: enough for all cores, and few enough to show progress.
const IMAGES: usize = 128;

/// Rows to predict, in their order.
pub enum Rows {
    /// Of a table.
    Table(Box<dyn RowStream>),
    /// One image per row; nothing is decoded before it is predicted.
    Images {
        /// All of them.
        images: Images,
        /// The first that was not given out yet.
        next: usize,
    },
}

impl Rows {
    /// At most `rows` further rows, or `None` after the last.
    pub fn next_block(&mut self, rows: usize) -> Result<Option<Inputs>> {
        match self {
            Rows::Table(table) => Ok(table.next_block(rows)?.map(Inputs::Table)),
            Rows::Images { images, next } => {
                let block: Vec<usize> = (*next..images.rows()).take(rows.clamp(1, IMAGES)).collect();
                *next += block.len();
                Ok((!block.is_empty()).then(|| Inputs::Images(images.select(&block))))
            }
        }
    }

    /// Passes over the rows that an earlier run has done; `first` is the size of the block that an unbroken run begins with.
    pub fn skip(&mut self, done: usize, first: usize) -> Result<()> {
        match self {
            Rows::Table(table) => {
                // The first block settles whether rows are held dense or sparse, and must do so as in an unbroken run.
                let read = table.next_block(first)?.map_or(0, |block| block.rows());
                table.skip(done.saturating_sub(read))
            }
            Rows::Images { images, next } => {
                *next = done.min(images.rows());
                Ok(())
            }
        }
    }

    /// The number of rows in all, where it is known beforehand.
    pub fn total(&self) -> Option<usize> {
        match self {
            Rows::Table(table) => table.total_rows(),
            Rows::Images { images, .. } => Some(images.rows()),
        }
    }

    /// What a row is called.
    pub fn noun(&self) -> &'static str {
        match self {
            Rows::Table(_) => "row",
            Rows::Images { .. } => "image",
        }
    }

    /// The number of the images and a checksum of their names, which identify them; none for a table.
    pub fn fingerprint(&self) -> Option<(u64, u32)> {
        let Rows::Images { images, .. } = self else { return None };
        Some(fingerprint::of_names(images.names()))
    }
}
