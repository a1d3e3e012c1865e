//! Missing values filled with the means of training rows.

use std::collections::BTreeMap;

use crate::columns::{Columns, Fill};
use crate::{Csr, Dataset, Features, Inputs, Result};

impl Dataset {
    /// Fills missing values anew with the weighted means of these rows, and remembers the means: for training rows, of which there may
    /// be fewer than were read. Rows that have no raw columns stay as they are.
    pub fn refilled(self) -> Result<Self> {
        let Some(mut columns) = self.schema.columns.clone() else { return Ok(self) };
        let mut sums = vec![(0.0f64, 0.0f64); columns.width()];
        let features = self.features()?;
        let fills: Vec<_> = columns.fills().collect();
        let mut values = vec![0f32; features.cols()];
        for row in 0..features.rows() {
            features.copy_row_into(row, &mut values);
            let weight = f64::from(self.weight(row));
            for fill in &fills {
                if fill.indicator.is_none_or(|at| values[at] == 0.0) {
                    let (sum, total) = &mut sums[fill.feature];
                    *sum += weight * f64::from(values[fill.feature]);
                    *total += weight;
                }
            }
        }
        for fill in &fills {
            let (sum, total) = sums[fill.feature];
            let mean = if total > 0.0 { sum / total } else { 0.0 };
            // In single precision, as the features are.
            columns.list[fill.column].fill[fill.place] = f64::from(mean as f32);
        }
        self.filled_with(columns)
    }

    /// Fills missing values with the means of training rows that were read in the same way: for test rows.
    pub fn filled_like(self, training: &Dataset) -> Result<Self> {
        match &training.schema.columns {
            Some(columns) if self.schema.columns.is_some() => self.filled_with(columns.clone()),
            _ => Ok(self),
        }
    }

    fn filled_with(mut self, columns: Columns) -> Result<Self> {
        let value = |fill: &Fill| columns.list[fill.column].fill[fill.place] as f32;
        let fills: Vec<(usize, usize, f32)> =
            columns.fills().filter_map(|fill| Some((fill.feature, fill.indicator?, value(&fill)))).collect();
        if let (Inputs::Table(features), false) = (&mut self.inputs, fills.is_empty()) {
            match features {
                Features::Dense(matrix) => {
                    for row in 0..matrix.rows() {
                        let row = matrix.row_mut(row);
                        for &(feature, indicator, value) in &fills {
                            if row[indicator] != 0.0 {
                                row[feature] = value;
                            }
                        }
                    }
                }
                Features::Sparse(narrow) => {
                    let mut filled = Csr::with_columns(narrow.cols());
                    for row in 0..narrow.rows() {
                        let (places, values) = narrow.row(row);
                        let mut entries: BTreeMap<u32, f32> =
                            places.iter().copied().zip(values.iter().copied()).collect();
                        for &(feature, indicator, value) in &fills {
                            if entries.contains_key(&(indicator as u32)) {
                                entries.insert(feature as u32, value);
                            }
                        }
                        filled.push_row(entries.into_iter().filter(|(_, value)| *value != 0.0));
                    }
                    *narrow = filled;
                }
            }
        }
        self.schema.columns = Some(columns);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::columns::{Cells, Columns, Wishes};
    use crate::{Dataset, Features, Matrix, Schema};

    fn data(year: &[f64], sparse: bool) -> Dataset {
        let zeros = vec![0.0; year.len()];
        let mut frame: Vec<(&str, &dyn Cells)> = vec![("year", &year)];
        let names: Vec<String> = (0..if sparse { 8 } else { 0 }).map(|n| format!("z{n}")).collect();
        frame.extend(names.iter().map(|name| (name.as_str(), &zeros as &dyn Cells)));
        let columns = Columns::infer(&frame, &Wishes::default()).unwrap().columns;
        let features = columns.encode(&frame).unwrap().features;
        assert_eq!(matches!(features, Features::Sparse(_)), sparse);
        let targets = Matrix::new(year.len(), 2, [0.5, 0.5].repeat(year.len())).unwrap();
        let data = Dataset::new(features, targets).unwrap();
        let schema = Schema { columns: Some(columns), ..data.schema().clone() };
        data.with_schema(schema).unwrap()
    }

    fn year(data: &Dataset, row: usize) -> (f32, f32) {
        let features = data.features().unwrap();
        let mut values = vec![0.0; features.cols()];
        features.copy_row_into(row, &mut values);
        (values[0], values[1])
    }

    #[test]
    fn missing_values_become_the_weighted_mean_of_the_rows() {
        for sparse in [false, true] {
            let data = data(&[1950.0, f64::NAN, 2010.0], sparse);
            let plain = data.clone().refilled().unwrap();
            assert_eq!([0, 1, 2].map(|row| year(&plain, row)), [(1950.0, 0.0), (1980.0, 1.0), (2010.0, 0.0)]);
            let weighed = data.with_weights(vec![3.0, 100.0, 1.0]).unwrap().refilled().unwrap();
            assert_eq!(year(&weighed, 1), (1965.0, 1.0));
            assert_eq!(weighed.schema().columns.as_ref().unwrap().list[0].fill, [1965.0]);
        }
    }

    #[test]
    fn test_rows_are_filled_with_what_training_rows_say() {
        let all = data(&[1950.0, 1960.0, f64::NAN, 3000.0], false).refilled().unwrap();
        let training = all.select(&[0, 1]).refilled().unwrap();
        let test = all.select(&[2, 3]).filled_like(&training).unwrap();
        assert_eq!([year(&test, 0), year(&test, 1)], [(1955.0, 1.0), (3000.0, 0.0)]);
    }
}
