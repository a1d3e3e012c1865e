//! What is predicted, block by block: the rows of a table, or images.

use ldlf::internals::core::error::Message;
use ldlf::internals::io::fingerprint;
use ldlf::internals::io::read::{BadRow, RowBlock, RowStream};
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

/// Some rows to predict.
pub struct Block {
    /// The rows that could be read.
    pub inputs: Inputs,
    /// The texts of the columns that pass through, `[columns][rows]`, bad rows among them.
    pub kept: Vec<Vec<String>>,
    /// The rows of a table that could not be read.
    pub bad: Vec<BadRow>,
}

impl Block {
    /// The number of rows, bad ones included.
    pub fn rows(&self) -> usize {
        self.inputs.rows() + self.bad.len()
    }
}

impl Rows {
    /// The names of the columns that pass through.
    pub fn kept_names(&self) -> Vec<String> {
        match self {
            Rows::Table(table) => table.kept_names().to_vec(),
            Rows::Images { .. } => Vec::new(),
        }
    }

    /// At most `rows` further rows, or `None` after the last.
    pub fn next_block(&mut self, rows: usize) -> Result<Option<Block>> {
        match self {
            Rows::Table(table) => Ok(table.next_rows(rows)?.map(|RowBlock { features, kept, bad }| Block {
                inputs: Inputs::Table(features),
                kept,
                bad,
            })),
            Rows::Images { images, next } => {
                let block: Vec<usize> = (*next..images.rows()).take(rows.clamp(1, IMAGES)).collect();
                *next += block.len();
                let images = || Inputs::Images(images.select(&block));
                Ok((!block.is_empty()).then(|| Block { inputs: images(), kept: Vec::new(), bad: Vec::new() }))
            }
        }
    }

    /// Passes over the rows that an earlier run has done; `first` is the size of the block that an unbroken run begins with.
    pub fn skip(&mut self, done: usize, first: usize) -> Result<()> {
        match self {
            Rows::Table(table) => {
                // The first block settles whether rows are held dense or sparse, and must do so as in an unbroken run.
                let read = table.next_rows(first)?.map_or(0, |block| block.rows());
                table.skip(done.saturating_sub(read))
            }
            Rows::Images { images, next } => {
                *next = done.min(images.rows());
                Ok(())
            }
        }
    }

    /// What the user should know about the rows so far.
    pub fn notices(&self) -> Vec<Message> {
        match self {
            Rows::Table(table) => table.notices(),
            Rows::Images { .. } => Vec::new(),
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
