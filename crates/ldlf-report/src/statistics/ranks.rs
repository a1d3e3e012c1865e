//! Ranks with ties.

use ldlf_core::measures::Direction;

/// The rank of every value, 1 for the best; ties share the mean of their ranks. Missing values come last.
///
/// ```
/// use ldlf_core::measures::Direction;
/// use ldlf_report::statistics::ranks;
/// let values = [Some(0.2), Some(0.1), Some(0.2), None];
/// assert_eq!(ranks(&values, Direction::LowerIsBetter), [2.5, 1.0, 2.5, 4.0]);
/// ```
pub fn ranks(values: &[Option<f64>], direction: Direction) -> Vec<f64> {
    let value = |value: &Option<f64>| value.filter(|value| !value.is_nan());
    let rank = |own: &Option<f64>| {
        let (mut better, mut equal) = (0usize, 0usize);
        for other in values {
            match (value(other), value(own)) {
                (Some(other), Some(own)) if direction.prefers(other, own) => better += 1,
                (Some(other), Some(own)) if other == own => equal += 1,
                (Some(_), None) => better += 1,
                (None, None) => equal += 1,
                _ => {}
            }
        }
        better as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// The mean over blocks (datasets) of each competitor's rank.
///
/// # Shapes
/// - `ranks`: `[blocks][competitors]`; result: `[competitors]`
pub fn average_ranks(ranks: &[Vec<f64>]) -> Vec<f64> {
    let competitors = ranks.first().map_or(0, Vec::len);
    let mean = |place: usize| ranks.iter().map(|block| block[place]).sum::<f64>() / ranks.len() as f64;
    (0..competitors).map(mean).collect()
}
