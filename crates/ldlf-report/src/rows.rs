//! Predictions row by row and label by label.

use ldlf_core::measures::kl;

use crate::load::PredictedRow;

/// A row that is shown as an example.
#[derive(Clone, Debug)]
pub struct ExampleRow {
    /// Why: `best`, `median`, `worst`, or `chosen`.
    pub why: &'static str,
    /// The row.
    pub row: PredictedRow,
    /// Its K-L divergence.
    pub kl: f64,
}

/// The best, the median and the worst row by K-L, then the chosen ones; a chosen row that was not tested is skipped.
pub fn example_rows(rows: &[PredictedRow], chosen: &[usize]) -> Vec<ExampleRow> {
    let mut measured: Vec<(f64, usize)> =
        rows.iter().enumerate().map(|(place, row)| (kl(&row.truth, &row.predicted), place)).collect();
    measured.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let Some(last) = measured.len().checked_sub(1) else { return Vec::new() };
    let mut shown: Vec<ExampleRow> = [("best", 0), ("median", last / 2), ("worst", last)]
        .map(|(why, at)| ExampleRow { why, row: rows[measured[at].1].clone(), kl: measured[at].0 })
        .into();
    for number in chosen {
        if let Some((kl, place)) = measured.iter().find(|(_, place)| rows[*place].row == *number) {
            shown.push(ExampleRow { why: "chosen", row: rows[*place].clone(), kl: *kl });
        }
    }
    shown
}

/// The mean absolute error of every label.
pub fn label_errors(rows: &[PredictedRow], labels: usize) -> Vec<f64> {
    let mut sums = vec![0.0; labels];
    for row in rows {
        for (sum, (truth, predicted)) in sums.iter_mut().zip(row.truth.iter().zip(&row.predicted)) {
            *sum += f64::from((truth - predicted).abs());
        }
    }
    sums.iter().map(|sum| sum / rows.len().max(1) as f64).collect()
}

/// The absolute error of each row's mode, for ordered labels. Rows without a single true value are
/// compared with the mode of their true distribution.
pub fn mode_errors(rows: &[PredictedRow], values: &[f64]) -> Vec<f64> {
    let mode = |distribution: &[f32]| values[ldlf_core::estimates::mode(distribution).min(values.len() - 1)];
    rows.iter()
        .map(|row| (mode(&row.predicted) - row.value.unwrap_or_else(|| mode(&row.truth))).abs())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(row: usize, predicted: [f32; 2]) -> PredictedRow {
        PredictedRow { row, fold: 0, truth: vec![0.5, 0.5], predicted: predicted.to_vec(), value: None }
    }

    #[test]
    fn best_median_worst_rows_come_before_chosen_ones() {
        let rows = [row(7, [0.9, 0.1]), row(3, [0.5, 0.5]), row(5, [0.6, 0.4])];
        let shown: Vec<(&str, usize)> =
            example_rows(&rows, &[5, 99]).iter().map(|r| (r.why, r.row.row)).collect();
        assert_eq!(shown, [("best", 3), ("median", 5), ("worst", 7), ("chosen", 5)]);
        assert!(example_rows(&[], &[]).is_empty());
    }

    #[test]
    fn errors_are_means_over_the_rows_of_each_label() {
        let errors = label_errors(&[row(0, [0.75, 0.25]), row(1, [0.5, 0.5])], 2);
        assert_eq!(errors, [0.125, 0.125]);
    }
}
