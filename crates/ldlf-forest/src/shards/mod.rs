//! Training on rows that stand in several places: workers hold the rows, a coordinator holds the parameters, and what travels
//! between them is bytes.
//!
//! The rows are cut into **virtual shards**, ranges of row numbers that depend on the number of rows and on the number of shards
//! alone ([`division`]). A worker holds any of them ([`Holding`]) and answers questions ([`question`]) with sums over its rows; the sums of
//! virtual shards are added up in one fixed tree ([`sums`]), so that the model is the same to the bit whoever holds them. The
//! [`Coordinator`] asks, waits for every answer, and only then moves: a worker that is lost costs a repeated question and nothing else.
//!
//! ```
//! use ldlf_core::{Dataset, Features, Matrix, Settings, Threads};
//! use ldlf_forest::shards::{Coordinator, Holding, Table, division};
//! let features = Matrix::new(40, 1, (0..40).map(|i| i as f32).collect())?;
//! let targets = Matrix::new(40, 2, (0..40).flat_map(|i| if i < 20 { [0.9, 0.1] } else { [0.2, 0.8] }).collect())?;
//! let data = Dataset::new(Features::Dense(features), targets)?;
//! let settings = Settings::parse(&["trees=2", "depth=3", "epochs=30", "min_iterations=30"])?;
//! let mut coordinator = Coordinator::new(&settings, Table::of(&data, 4), 0, Threads::one())?;
//! let mut holding = Holding::new(Threads::one());
//! for (number, rows) in division(40, 4).enumerate() {
//!     holding.add(number, rows.start as u64, data.select(&rows.collect::<Vec<_>>()))?;
//! }
//! while let Some(question) = coordinator.question()? {
//!     let answer = holding.answer(&question)?.expect("it has heard every question");
//!     coordinator.hear(&[answer])?;
//! }
//! let model = coordinator.model()?;
//! assert_eq!(model.learner, "sldlf");
//! # Ok::<(), ldlf_core::Error>(())
//! ```

mod coordinator;
mod holding;
pub mod order;
pub mod question;
mod shard;
pub mod sums;

use std::ops::Range;

pub use coordinator::{Coordinator, Table};
pub use holding::Holding;

/// The rows of every virtual shard: ranges of the row numbers, as equal as they can be.
///
/// ```
/// use ldlf_forest::shards::division;
/// assert_eq!(division(10, 4).collect::<Vec<_>>(), [0..2, 2..5, 5..7, 7..10]);
/// ```
pub fn division(rows: usize, shards: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let at = move |shard: usize| (shard as u128 * rows as u128 / shards.max(1) as u128) as usize;
    (0..shards).map(move |shard| at(shard)..at(shard + 1))
}
