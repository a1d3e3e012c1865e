//! Features in the layout for growing trees: by column, or by row without the zeros.
//!
//! For the best thresholds, values are binned into codes of one byte: one per distinct value where a column has at most
//! 256 of them (splits are then exact), else 256 quantile bins of the training rows. For random thresholds the
//! values are not binned.

use ldlf_core::Features;

/// Maximum number of codes per column.
const CODES: usize = 256;

/// Below this fraction of non-zero values, sparse rows are faster than whole columns.
const SPARSE_BELOW: f64 = 0.2;

/// One cell per row and feature.
pub enum Cells<T> {
    /// Column after column.
    Dense {
        /// The number of rows: the length of a column.
        rows: usize,
        /// `[features, rows]`.
        columns: Vec<T>,
    },
    /// Row after row, only what differs from zero: features increase within a row.
    Sparse {
        /// Where each row starts; one more than there are rows.
        starts: Vec<usize>,
        /// The feature of every stored cell.
        features: Vec<u32>,
        /// The stored cells.
        cells: Vec<T>,
    },
}

impl<T: Copy> Cells<T> {
    /// A column; dense cells only.
    #[inline(always)]
    pub fn column(columns: &[T], rows: usize, feature: usize) -> &[T] {
        &columns[feature * rows..(feature + 1) * rows]
    }

    /// One cell, or `zero` where nothing is stored.
    pub fn get(&self, row: usize, feature: usize, zero: T) -> T {
        match self {
            Cells::Dense { rows, columns } => columns[feature * rows + row],
            Cells::Sparse { starts, features, cells } => {
                let range = starts[row]..starts[row + 1];
                match features[range.clone()].binary_search(&(feature as u32)) {
                    Ok(at) => cells[range.start + at],
                    Err(_) => zero,
                }
            }
        }
    }
}

/// The values themselves.
pub fn values(features: &Features) -> Cells<f32> {
    let (rows, cols) = (features.rows(), features.cols());
    let mut filled = 0usize;
    (0..rows).for_each(|row| features.for_each_in_row(row, |_, v| filled += usize::from(v != 0.0)));
    if (filled as f64) < SPARSE_BELOW * rows as f64 * cols as f64 {
        let mut starts = vec![0];
        let (mut names, mut cells) = (Vec::with_capacity(filled), Vec::with_capacity(filled));
        for row in 0..rows {
            features.for_each_in_row(row, |column, v| {
                if v != 0.0 {
                    names.push(column as u32);
                    cells.push(v);
                }
            });
            starts.push(cells.len());
        }
        return Cells::Sparse { starts, features: names, cells };
    }
    let mut columns = vec![0.0f32; rows * cols];
    for row in 0..rows {
        features.for_each_in_row(row, |column, v| columns[column * rows + row] = v);
    }
    Cells::Dense { rows, columns }
}

/// Codes in place of values, in the same order.
pub struct Codes {
    /// One code per row and feature.
    pub(crate) cells: Cells<u8>,
    /// Where the codes of each feature start in the three lists below; one more than there are features.
    pub(crate) first: Vec<u32>,
    /// The smallest value of each code.
    lowest: Vec<f32>,
    /// The largest value of each code.
    highest: Vec<f32>,
    /// The code of zero; meaningful for sparse cells.
    pub(crate) zero: Vec<u8>,
}

impl Codes {
    /// Bins every column.
    pub fn new(features: &Features) -> Self {
        let values = values(features);
        let cols = features.cols();
        let mut codes = Codes {
            cells: Cells::Dense { rows: 0, columns: vec![] },
            first: vec![0],
            lowest: vec![],
            highest: vec![],
            zero: vec![],
        };
        codes.cells = match &values {
            Cells::Dense { rows, columns } => {
                let mut coded = Vec::with_capacity(columns.len());
                for feature in 0..cols {
                    let column = Cells::column(columns, *rows, feature);
                    let ends = codes.add_feature(column.to_vec(), 0);
                    coded.extend(column.iter().map(|&v| code_of(&ends, v)));
                }
                Cells::Dense { rows: *rows, columns: coded }
            }
            Cells::Sparse { starts, features: names, cells } => {
                let zeros = |stored: usize| features.rows() - stored;
                let mut by_feature = vec![Vec::new(); cols];
                names.iter().zip(cells).for_each(|(&name, &v)| by_feature[name as usize].push(v));
                let ends: Vec<Vec<f32>> = by_feature
                    .into_iter()
                    .map(|stored| {
                        let zeros = zeros(stored.len());
                        codes.add_feature(stored, zeros.max(1))
                    })
                    .collect();
                let coded =
                    names.iter().zip(cells).map(|(&name, &v)| code_of(&ends[name as usize], v)).collect();
                Cells::Sparse { starts: starts.clone(), features: names.clone(), cells: coded }
            }
        };
        codes
    }

    /// Adds the codes of one column, given its values and the number of its implicit zeros, and gives the largest
    /// value of each. Values on both sides of zero never share a code with it when zeros are implicit.
    fn add_feature(&mut self, mut stored: Vec<f32>, zeros: usize) -> Vec<f32> {
        stored.sort_unstable_by(f32::total_cmp);
        let mut runs: Vec<(f32, usize)> = Vec::new();
        for v in stored {
            // -0.0 sorts before 0.0 and is equal to it.
            match runs.last_mut() {
                Some((value, count)) if *value == v => *count += 1,
                _ => runs.push((v, 1)),
            }
        }
        if zeros > 0 {
            let at = runs.partition_point(|&(v, _)| v < 0.0);
            runs.insert(at, (0.0, zeros));
        }
        let (mut ends, start) = (Vec::new(), self.lowest.len());
        if runs.len() <= CODES {
            self.lowest.extend(runs.iter().map(|&(v, _)| v));
            ends.extend(runs.iter().map(|&(v, _)| v));
        } else {
            // Equal bins of the remaining rows: a value with many rows gets a code of its own, and the rest is divided again.
            // Up to two codes are reserved to keep zero separate.
            let reserve = if zeros > 0 { 2 } else { 0 };
            let mut left: usize = runs.iter().map(|&(_, count)| count).sum();
            let mut budget = CODES - reserve;
            let mut at = 0;
            while at < runs.len() {
                let bin_size = left.div_ceil(budget.max(1));
                self.lowest.push(runs[at].0);
                let mut taken = runs[at].1;
                let alone = zeros > 0 && runs[at].0 == 0.0;
                while !alone
                    && at + 1 < runs.len()
                    && taken + runs[at + 1].1 <= bin_size
                    && !(zeros > 0 && runs[at + 1].0 == 0.0)
                {
                    at += 1;
                    taken += runs[at].1;
                }
                ends.push(runs[at].0);
                left -= taken;
                budget = budget.saturating_sub(1).max(1);
                at += 1;
            }
        }
        self.highest.extend_from_slice(&ends);
        debug_assert!(ends.len() <= CODES && self.lowest.len() == start + ends.len());
        self.zero.push(if zeros > 0 { code_of(&ends, 0.0) } else { 0 });
        self.first.push(self.lowest.len() as u32);
        ends
    }

    /// The number of codes of all features together.
    pub fn total(&self) -> usize {
        self.lowest.len()
    }

    /// The middle between two neighbouring codes of a feature; the lower one stays on the left.
    pub fn threshold(&self, feature: usize, below: usize, above: usize) -> f32 {
        let first = self.first[feature] as usize;
        midpoint(self.highest[first + below], self.lowest[first + above])
    }
}

/// A value `t` with `low <= t < high`, the middle where rounding allows it.
fn midpoint(low: f32, high: f32) -> f32 {
    let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
    if middle < high { middle } else { low }
}

/// The first code whose largest value reaches `v`.
fn code_of(ends: &[f32], v: f32) -> u8 {
    ends.partition_point(|&end| end < v).min(CODES - 1) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::{Csr, Matrix};

    #[test]
    fn few_distinct_values_get_a_code_each() {
        let codes = Codes::new(&Features::Dense(Matrix::from_rows(&[[3.0f32], [1.0], [3.0], [-2.0]])));
        let Cells::Dense { columns, .. } = &codes.cells else { panic!("dense stays dense") };
        assert_eq!(columns, &[2, 1, 2, 0]);
    }

    #[test]
    fn thresholds_lie_between_two_values() {
        let codes = Codes::new(&Features::Dense(Matrix::from_rows(&[[3.0f32], [1.0], [3.0], [-2.0]])));
        assert_eq!((codes.threshold(0, 0, 1), codes.threshold(0, 1, 2)), (-0.5, 2.0));
    }

    #[test]
    fn many_distinct_values_are_binned_evenly() {
        let column: Vec<f32> = (0..1000).map(|i| (i as f32).sqrt()).collect();
        let codes = Codes::new(&Features::Dense(Matrix::new(1000, 1, column).unwrap()));
        let Cells::Dense { columns, .. } = &codes.cells else { panic!("dense stays dense") };
        assert!(columns.windows(2).all(|w| w[0] <= w[1]));
        assert_eq!(columns[999], 255);
        let mut sizes = [0; 256];
        columns.iter().for_each(|&c| sizes[c as usize] += 1);
        assert!(sizes.iter().all(|&n| (3..=4).contains(&n)), "{sizes:?}");
    }

    #[test]
    fn a_value_that_most_rows_have_leaves_the_codes_to_the_others() {
        let column: Vec<f32> = (0..2000).map(|i| if i < 1000 { 5.0 } else { i as f32 }).collect();
        let codes = Codes::new(&Features::Dense(Matrix::new(2000, 1, column).unwrap()));
        assert!(codes.total() > 240, "{}", codes.total());
    }

    #[test]
    fn implicit_zeros_keep_a_code_of_their_own_between_both_signs() {
        let mut rows = Csr::with_columns(10);
        for i in 0..600 {
            rows.push_row([(4, (i as f32 - 300.5) / 7.0)]);
        }
        let codes = Codes::new(&Features::Sparse(rows));
        let zero = usize::from(codes.zero[4]);
        let first = codes.first[4] as usize;
        assert_eq!((codes.lowest[first + zero], codes.highest[first + zero]), (0.0, 0.0));
        assert!(codes.highest[first + zero - 1] < 0.0 && codes.lowest[first + zero + 1] > 0.0);
        assert!((codes.first[5] - codes.first[4]) as usize <= 256);
        let Cells::Sparse { cells, .. } = &codes.cells else { panic!("sparse stays sparse") };
        assert!(cells.iter().all(|&c| usize::from(c) != zero));
        assert!(cells.windows(2).all(|w| w[0] <= w[1]));
    }

    #[test]
    fn a_threshold_never_reaches_the_value_above() {
        let high = f32::from_bits(1.0f32.to_bits() + 1);
        assert_eq!(midpoint(1.0, high), 1.0);
        assert_eq!(midpoint(f32::MIN, f32::MAX), 0.0);
    }
}
