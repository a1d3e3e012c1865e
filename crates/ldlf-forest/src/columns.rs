//! What scaling needs to know of every column: sums over rows, so that rows may stand anywhere and be added up.

use ldlf_core::Features;

/// What is known of all columns over some rows.
pub(crate) struct Columns {
    /// How many rows.
    pub rows: usize,
    /// Whether only some entries are stored.
    pub sparse: bool,
    /// The mean of every column, zeros included.
    pub mean: Vec<f64>,
    /// The squared distances of stored entries from the mean, summed.
    pub squares: Vec<f64>,
    /// How many entries are stored.
    pub stored: Vec<f64>,
}

/// The sum of every column over some rows.
pub(crate) fn column_sums(features: &Features, rows: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0f64; features.cols()];
    for &row in rows {
        features.for_each_in_row(row, |col, v| sums[col] += f64::from(v));
    }
    sums
}

/// Of every column the squared distances of its stored entries from the mean, and their number.
pub(crate) fn column_squares(features: &Features, rows: &[usize], mean: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut squares, mut stored) = (vec![0.0f64; mean.len()], vec![0.0f64; mean.len()]);
    for &row in rows {
        features.for_each_in_row(row, |col, v| {
            squares[col] += (f64::from(v) - mean[col]).powi(2);
            stored[col] += 1.0;
        });
    }
    (squares, stored)
}

/// The columns that are stored in at least half of the rows.
pub(crate) fn numeric_columns(stored: &[f64], rows: usize) -> Vec<u32> {
    (0..stored.len() as u32).filter(|&column| 2.0 * stored[column as usize] >= rows.max(1) as f64).collect()
}

/// The values of some columns, which rise, in some rows: one list a column, zeros included.
pub(crate) fn column_values(features: &Features, rows: &[usize], columns: &[u32]) -> Vec<Vec<f32>> {
    let place: Vec<Option<usize>> =
        (0..features.cols() as u32).map(|column| columns.binary_search(&column).ok()).collect();
    let mut values = vec![vec![0.0; rows.len()]; columns.len()];
    for (index, &row) in rows.iter().enumerate() {
        features.for_each_in_row(row, |column, value| {
            if let Some(place) = place[column] {
                values[place][index] = value;
            }
        });
    }
    values
}
