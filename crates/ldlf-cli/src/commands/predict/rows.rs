//! What is predicted, block by block: the rows of a table, or pictures.

use ldlf::read::RowStream;
use ldlf::{Features, Images, Result, fingerprint};

/// Pictures of a block: enough for all cores, and few enough to show that something moves.
const PICTURES: usize = 128;

/// Rows to predict, in their order.
pub enum Rows {
    /// Of a table.
    Table(Box<dyn RowStream>),
    /// One picture a row; nothing is decoded before it is predicted.
    Pictures {
        /// All of them.
        images: Images,
        /// The first that was not given out yet.
        next: usize,
    },
}

/// Some rows.
pub enum Block {
    /// Of a table.
    Table(Features),
    /// Pictures.
    Pictures(Images),
}

impl Rows {
    /// At most `rows` further rows, or `None` after the last.
    pub fn next_block(&mut self, rows: usize) -> Result<Option<Block>> {
        match self {
            Rows::Table(table) => Ok(table.next_block(rows)?.map(Block::Table)),
            Rows::Pictures { images, next } => {
                let block: Vec<usize> = (*next..images.rows()).take(rows.clamp(1, PICTURES)).collect();
                *next += block.len();
                Ok((!block.is_empty()).then(|| Block::Pictures(images.select(&block))))
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
            Rows::Pictures { images, next } => {
                *next = done.min(images.rows());
                Ok(())
            }
        }
    }

    /// The number of rows in all, where it is known beforehand.
    pub fn total(&self) -> Option<usize> {
        match self {
            Rows::Table(table) => table.total_rows(),
            Rows::Pictures { images, .. } => Some(images.rows()),
        }
    }

    /// What a row is called.
    pub fn noun(&self) -> &'static str {
        match self {
            Rows::Table(_) => "row",
            Rows::Pictures { .. } => "picture",
        }
    }

    /// The number of the pictures and a checksum of their names, which tell them from others; none for a table.
    pub fn fingerprint(&self) -> Option<(u64, u32)> {
        let Rows::Pictures { images, .. } = self else { return None };
        Some(fingerprint::of_names((0..images.rows()).map(|row| images.name(row))))
    }
}

impl Block {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Block::Table(features) => features.rows(),
            Block::Pictures(images) => images.rows(),
        }
    }
}
