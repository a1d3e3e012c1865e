//! What scaling needs to know of every column: sums over rows, so that rows may stand anywhere and be added up.

use ldlf_core::Features;

/// What is known of all columns over some rows.
pub(crate) struct Columns {
    /// The weight of all rows: their number where all weigh 1.
    pub weight: f64,
    /// Whether only some entries are stored.
    pub sparse: bool,
    /// The mean of every column, zeros included.
    pub mean: Vec<f64>,
    /// The squared distances of stored entries from the mean, summed.
    pub squares: Vec<f64>,
    /// How many entries are stored.
    pub stored: Vec<f64>,
}

/// Rows that count by their weights.
#[derive(Clone, Copy)]
pub(crate) struct WeightedRows<'a> {
    /// Which rows are meant.
    pub rows: &'a [usize],
    /// One weight per row of the data; 1 where absent.
    pub weights: Option<&'a [f32]>,
}

impl WeightedRows<'_> {
    fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.rows.iter().map(|&row| (row, self.weight(row)))
    }

    /// The weight of a row.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| f64::from(weights[row]))
    }

    /// The weight of all rows.
    pub fn total(&self) -> f64 {
        self.iter().map(|(_, weight)| weight).sum()
    }
}

/// The weighted sum of every column over some rows.
pub(crate) fn column_sums(features: &Features, rows: WeightedRows<'_>) -> Vec<f64> {
    let mut sums = vec![0.0f64; features.cols()];
    for (row, weight) in rows.iter() {
        features.for_each_in_row(row, |col, v| sums[col] += weight * f64::from(v));
    }
    sums
}

/// Of every column the squared distances of its stored entries from the mean, and their number, by weight.
pub(crate) fn column_squares(
    features: &Features,
    rows: WeightedRows<'_>,
    mean: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let (mut squares, mut stored) = (vec![0.0f64; mean.len()], vec![0.0f64; mean.len()]);
    for (row, weight) in rows.iter() {
        features.for_each_in_row(row, |col, v| {
            squares[col] += weight * (f64::from(v) - mean[col]).powi(2);
            stored[col] += weight;
        });
    }
    (squares, stored)
}

/// The columns that are stored in at least half of the rows, by weight.
pub(crate) fn numeric_columns(stored: &[f64], weight: f64) -> Vec<u32> {
    let half = if weight > 0.0 { 0.5 * weight } else { f64::MIN_POSITIVE };
    (0..stored.len() as u32).filter(|&column| stored[column as usize] >= half).collect()
}

/// The values of some columns, in rising order of the columns, in some rows: one list per column, zeros included, each value with the
/// weight of its row.
pub(crate) fn column_values(
    features: &Features,
    rows: WeightedRows<'_>,
    columns: &[u32],
) -> Vec<Vec<(f32, f32)>> {
    let place: Vec<Option<usize>> =
        (0..features.cols() as u32).map(|column| columns.binary_search(&column).ok()).collect();
    let zeros: Vec<(f32, f32)> = rows.iter().map(|(_, weight)| (0.0, weight as f32)).collect();
    let mut values = vec![zeros; columns.len()];
    for (index, (row, _)) in rows.iter().enumerate() {
        features.for_each_in_row(row, |column, value| {
            if let Some(place) = place[column] {
                values[place][index].0 = value;
            }
        });
    }
    values
}
