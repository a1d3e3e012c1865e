//! What a person looks at: statistics over results, pictures, and one self-contained HTML page.
//!
//! [`load`] reads what evaluations left behind, [`statistics`] compares learners, [`plots`] holds a file a picture, [`table`] and
//! [`page`] make the HTML. Text from data enters a page or a picture only through [`markup`], which escapes it.

pub mod importance;
pub mod load;
pub mod markup;
pub mod page;
pub mod palette;
pub mod picture;
pub mod plots;
#[cfg(feature = "png")]
pub mod png;
pub mod ranking;
pub mod rows;
pub mod statistics;
pub mod table;

pub use picture::Picture;
