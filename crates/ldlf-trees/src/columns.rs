//! Features in the layout for growing trees: row after row, all of them or without the zeros.
//!
//! For the best thresholds, values are binned into codes of one byte: one per distinct value where a column has at most
//! 256 of them (splits are then exact), else 256 quantile bins of the training rows. For random thresholds the
//! values are not binned, and dense ones are not copied.

use std::borrow::Cow;

use ldlf_core::Features;
use ldlf_math::Threads;
use ldlf_math::parallel::chunks;

/// Maximum number of codes per column.
pub(crate) const CODES: usize = 256;

/// Below this fraction of non-zero values, sparse rows are faster than whole rows.
const SPARSE_BELOW: f64 = 0.2;

/// Columns that are binned together: as many as share a cache line of their rows.
const COLUMNS_TOGETHER: usize = 16;

/// Rows whose codes one task writes.
const ROWS_TOGETHER: usize = 4096;

/// Of more rows than this, every n-th is looked at for the bins of dense columns.
const ROWS_FOR_BINS: usize = 200_000;

/// One cell per row and feature, row after row.
pub enum Cells<'a, T: Clone> {
    /// All cells.
    Dense {
        /// The number of features: the length of a row.
        features: usize,
        /// `[rows, features]`.
        cells: Cow<'a, [T]>,
    },
    /// Only what differs from zero: features increase within a row.
    Sparse {
        /// Where each row starts; one more than there are rows.
        starts: Vec<usize>,
        /// The feature of every stored cell.
        features: Vec<u32>,
        /// The stored cells.
        cells: Vec<T>,
    },
}

impl<T: Copy> Cells<'_, T> {
    /// One cell, or `zero` where nothing is stored.
    #[inline(always)]
    pub fn get(&self, row: usize, feature: usize, zero: T) -> T {
        match self {
            Cells::Dense { features, cells } => cells[row * features + feature],
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

/// The values themselves; dense ones are borrowed.
pub fn values(features: &Features) -> Cells<'_, f32> {
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
    let cells = match features {
        Features::Dense(matrix) => Cow::Borrowed(matrix.as_slice()),
        Features::Sparse(_) => {
            let mut cells = vec![0.0f32; rows * cols];
            (0..rows).for_each(|row| features.copy_row_into(row, &mut cells[row * cols..(row + 1) * cols]));
            Cow::Owned(cells)
        }
    };
    Cells::Dense { features: cols, cells }
}

/// Codes in place of values, in the same order.
pub struct Codes {
    /// One code per row and feature.
    pub(crate) cells: Cells<'static, u8>,
    /// Where the codes of each feature start in the lists below; one more than there are features.
    pub(crate) first: Vec<u32>,
    /// The smallest value of each code.
    lowest: Vec<f32>,
    /// The largest value of each code.
    highest: Vec<f32>,
    /// The code of zero; meaningful for sparse cells.
    pub(crate) zero: Vec<u8>,
    /// Whether the bins come from some of the rows, so that others may have values between two bins.
    sampled: bool,
}

impl Codes {
    /// Bins every column.
    pub fn new(features: &Features, threads: &Threads) -> Self {
        let values = values(features);
        let (rows, cols) = (features.rows(), features.cols());
        let mut codes = Codes {
            cells: Cells::Dense { features: cols, cells: Cow::Owned(vec![]) },
            first: vec![0],
            lowest: vec![],
            highest: vec![],
            zero: vec![],
            sampled: false,
        };
        codes.cells = match &values {
            Cells::Dense { cells, .. } => {
                let step = rows.div_ceil(ROWS_FOR_BINS).max(1);
                codes.sampled = step > 1;
                let bins = threads.map(chunks(cols, COLUMNS_TOGETHER), |columns| {
                    let mut stored = vec![Vec::with_capacity(rows / step + 1); columns.len()];
                    for row in cells.chunks_exact(cols.max(1)).step_by(step) {
                        stored.iter_mut().zip(&row[columns.clone()]).for_each(|(to, &v)| to.push(v));
                    }
                    stored.into_iter().map(|stored| Bins::new(stored, 0)).collect::<Vec<_>>()
                });
                let bins: Vec<Bins> = bins.into_iter().flatten().collect();
                let mut coded = vec![0u8; rows * cols];
                threads.for_each_chunk([&mut coded[..]], ROWS_TOGETHER * cols, |task, [coded]| {
                    let first = task * ROWS_TOGETHER * cols;
                    let values = &cells[first..first + coded.len()];
                    for (coded, values) in coded.chunks_exact_mut(cols).zip(values.chunks_exact(cols)) {
                        for ((code, &v), bins) in coded.iter_mut().zip(values).zip(&bins) {
                            *code = bins.code_of(v);
                        }
                    }
                });
                bins.iter().for_each(|bins| codes.add(bins));
                Cells::Dense { features: cols, cells: Cow::Owned(coded) }
            }
            Cells::Sparse { starts, features: names, cells } => {
                let mut by_feature = vec![Vec::new(); cols];
                names.iter().zip(cells).for_each(|(&name, &v)| by_feature[name as usize].push(v));
                let bins = threads.map(by_feature, |stored: Vec<f32>| {
                    let zeros = rows - stored.len();
                    Bins::new(stored, zeros.max(1))
                });
                bins.iter().for_each(|bins| codes.add(bins));
                let coded =
                    names.iter().zip(cells).map(|(&name, &v)| bins[name as usize].code_of(v)).collect();
                Cells::Sparse { starts: starts.clone(), features: names.clone(), cells: coded }
            }
        };
        codes
    }

    fn add(&mut self, bins: &Bins) {
        self.lowest.extend_from_slice(&bins.lowest);
        self.highest.extend_from_slice(&bins.highest);
        self.zero.push(bins.zero);
        self.first.push(self.lowest.len() as u32);
    }

    /// The number of codes of all features together.
    pub fn total(&self) -> usize {
        self.lowest.len()
    }

    /// The middle between two neighbouring codes of a feature; the lower one stays on the left.
    pub fn threshold(&self, feature: usize, below: usize, above: usize) -> f32 {
        let first = self.first[feature] as usize;
        let low = self.highest[first + below];
        // Values between two bins of some rows have the upper code.
        if self.sampled { low } else { midpoint(low, self.lowest[first + above]) }
    }
}

/// The codes of one column.
struct Bins {
    lowest: Vec<f32>,
    highest: Vec<f32>,
    /// The code of zero, where zeros are implicit.
    zero: u8,
}

impl Bins {
    /// The codes of a column, given its values and the number of its implicit zeros. Values on both sides of zero never share a
    /// code with it when zeros are implicit.
    fn new(mut stored: Vec<f32>, zeros: usize) -> Self {
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
        let mut bins = Bins { lowest: Vec::new(), highest: Vec::new(), zero: 0 };
        if runs.len() <= CODES {
            bins.lowest.extend(runs.iter().map(|&(v, _)| v));
            bins.highest.extend(runs.iter().map(|&(v, _)| v));
        } else {
            // Equal bins of the remaining rows: a value with many rows gets a code of its own, and the rest is divided again.
            // Up to two codes are reserved to keep zero separate.
            let reserve = if zeros > 0 { 2 } else { 0 };
            let mut left: usize = runs.iter().map(|&(_, count)| count).sum();
            let mut budget = CODES - reserve;
            let mut at = 0;
            while at < runs.len() {
                let bin_size = left.div_ceil(budget.max(1));
                bins.lowest.push(runs[at].0);
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
                bins.highest.push(runs[at].0);
                left -= taken;
                budget = budget.saturating_sub(1).max(1);
                at += 1;
            }
        }
        debug_assert!(bins.lowest.len() <= CODES && bins.lowest.len() == bins.highest.len());
        if zeros > 0 {
            bins.zero = bins.code_of(0.0);
        }
        bins
    }

    /// The first code whose largest value reaches `v`, or the last one.
    #[inline]
    fn code_of(&self, v: f32) -> u8 {
        self.highest.partition_point(|&end| end < v).min(self.highest.len().saturating_sub(1)) as u8
    }
}

/// A value `t` with `low <= t < high`, the middle where rounding allows it.
fn midpoint(low: f32, high: f32) -> f32 {
    let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
    if middle < high { middle } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::{Csr, Matrix};

    fn codes(features: &Features) -> Codes {
        Codes::new(features, &Threads::one())
    }

    #[test]
    fn few_distinct_values_get_a_code_each() {
        let codes = codes(&Features::Dense(Matrix::from_rows(&[[3.0f32], [1.0], [3.0], [-2.0]])));
        let Cells::Dense { cells, .. } = &codes.cells else { panic!("dense stays dense") };
        assert_eq!(**cells, [2, 1, 2, 0]);
    }

    #[test]
    fn thresholds_lie_between_two_values() {
        let codes = codes(&Features::Dense(Matrix::from_rows(&[[3.0f32], [1.0], [3.0], [-2.0]])));
        assert_eq!((codes.threshold(0, 0, 1), codes.threshold(0, 1, 2)), (-0.5, 2.0));
    }

    #[test]
    fn many_distinct_values_are_binned_evenly() {
        let column: Vec<f32> = (0..1000).map(|i| (i as f32).sqrt()).collect();
        let codes = codes(&Features::Dense(Matrix::new(1000, 1, column).unwrap()));
        let Cells::Dense { cells, .. } = &codes.cells else { panic!("dense stays dense") };
        assert!(cells.windows(2).all(|w| w[0] <= w[1]));
        assert_eq!(cells[999], 255);
        let mut sizes = [0; 256];
        cells.iter().for_each(|&c| sizes[c as usize] += 1);
        assert!(sizes.iter().all(|&n| (3..=4).contains(&n)), "{sizes:?}");
    }

    #[test]
    fn a_value_that_most_rows_have_leaves_the_codes_to_the_others() {
        let column: Vec<f32> = (0..2000).map(|i| if i < 1000 { 5.0 } else { i as f32 }).collect();
        let codes = codes(&Features::Dense(Matrix::new(2000, 1, column).unwrap()));
        assert!(codes.total() > 240, "{}", codes.total());
    }

    #[test]
    fn implicit_zeros_keep_a_code_of_their_own_between_both_signs() {
        let mut rows = Csr::with_columns(10);
        for i in 0..600 {
            rows.push_row([(4, (i as f32 - 300.5) / 7.0)]);
        }
        let codes = codes(&Features::Sparse(rows));
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
    fn bins_of_some_rows_serve_all_of_them() {
        let rows = 2 * ROWS_FOR_BINS + 1;
        let column: Vec<f32> = (0..rows).map(|i| (i * 7919 % rows) as f32).collect();
        let codes = codes(&Features::Dense(Matrix::new(rows, 1, column.clone()).unwrap()));
        let Cells::Dense { cells, .. } = &codes.cells else { panic!("dense stays dense") };
        for below in [0, 100, 254] {
            let threshold = codes.threshold(0, below, below + 1);
            assert!(
                column
                    .iter()
                    .zip(&**cells)
                    .all(|(&v, &code)| (v <= threshold) == (usize::from(code) <= below))
            );
        }
    }

    #[test]
    fn a_threshold_never_reaches_the_value_above() {
        let high = f32::from_bits(1.0f32.to_bits() + 1);
        assert_eq!(midpoint(1.0, high), 1.0);
        assert_eq!(midpoint(f32::MIN, f32::MAX), 0.0);
    }
}
