//! Statistics over results, figures, and one self-contained HTML page.
//!
//! [`load`] reads the results of evaluations, [`statistics`] compares learners, [`plots`] has one file per figure, [`page`] makes the
//! HTML. Text from data enters a page or a figure only through `markup`, which escapes it.

mod figure;
pub mod load;
mod markup;
pub mod page;
mod palette;
pub mod plots;
#[cfg(feature = "png")]
pub mod png;
pub mod ranking;
pub mod rows;
pub mod statistics;
mod table;

pub use figure::Figure;
