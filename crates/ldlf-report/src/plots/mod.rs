//! One file per figure.

mod axes;
mod coverage;
mod critical_difference;
mod cumulative_score;
mod distributions;
mod explanation;
mod folds;
mod importance;
mod label_error;
mod leaf_usage;
mod learning_curve;
mod legend;
mod pit;
mod reliability;
mod sweep;
mod tree;

pub use coverage::coverage;
pub use critical_difference::critical_difference;
pub use cumulative_score::cumulative_score;
pub use distributions::distributions;
pub use explanation::explanation;
pub use folds::folds;
pub use importance::importance;
pub use label_error::label_error;
pub use leaf_usage::leaf_usage;
pub use learning_curve::learning_curve;
pub use pit::pit;
pub use reliability::reliability;
pub use sweep::{PublishedPoint, Series, SweepCurves, sweep};
pub use tree::{Thumbnail, TreeFigure, rows_with_images, tree};

/// A number in the words of a description: four significant digits.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}
