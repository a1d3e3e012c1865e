//! The features of a table: dense or sparse rows, one type for both.

use crate::{Csr, Error, Matrix, Result};

/// The features of some rows. Sparse features are never made dense.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// Every value stored.
    Dense(Matrix<f32>),
    /// Only the entries that are stored; the rest is zero.
    Sparse(Csr),
}

/// The features of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Row<'a> {
    /// Every value.
    Dense(&'a [f32]),
    /// The columns that may differ from zero, in rising order, and their values.
    Sparse(&'a [u32], &'a [f32]),
}

/// A number as a feature: finite and within single precision, or the reason why not.
#[inline]
pub fn single_precision(value: f64) -> Result<f32> {
    let single = value as f32;
    if single.is_finite() { Ok(single) } else { Err(no_feature(value)) }
}

#[cold]
fn no_feature(value: f64) -> Error {
    if value.is_nan() {
        Error::data("the value is missing (NaN)")
    } else if value.is_infinite() {
        Error::data("the value is infinite")
    } else {
        Error::data(format!("{value:e} is outside the range of single precision"))
            .with_remedy("rescale the column")
    }
}

/// Whether `stored` entries out of `all` are few enough to be kept sparse: fewer than one in four.
pub fn is_sparse(stored: usize, all: usize) -> bool {
    (stored as u128) * 4 < all as u128
}

impl Features {
    /// A dense matrix, kept sparse while fewer than one in four of its entries differ from zero: the rule of the readers.
    ///
    /// ```
    /// use ldlf_core::{Features, Matrix};
    /// assert!(matches!(Features::by_density(Matrix::from_rows(&[[0.0, 0.0, 0.0, 0.0, 1.0]])), Features::Sparse(_)));
    /// assert!(matches!(Features::by_density(Matrix::from_rows(&[[0.0, 0.0, 0.0, 1.0]])), Features::Dense(_)));
    /// ```
    pub fn by_density(matrix: Matrix<f32>) -> Self {
        let stored = matrix.as_slice().iter().filter(|v| **v != 0.0).count();
        let all = matrix.as_slice().len();
        if is_sparse(stored, all) {
            Features::Sparse(Csr::from_dense(&matrix))
        } else {
            Features::Dense(matrix)
        }
    }

    /// Sparse rows of a table that stores every value, made dense unless the rule keeps them sparse.
    pub fn by_density_of_rows(rows: Csr) -> Self {
        if is_sparse(rows.stored(), rows.rows() * rows.cols()) {
            Features::Sparse(rows)
        } else {
            Features::Dense(rows.to_dense())
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Features::Dense(m) => m.rows(),
            Features::Sparse(m) => m.rows(),
        }
    }

    /// The number of features.
    pub fn cols(&self) -> usize {
        match self {
            Features::Dense(m) => m.cols(),
            Features::Sparse(m) => m.cols(),
        }
    }

    /// One row.
    pub fn row(&self, row: usize) -> Row<'_> {
        match self {
            Features::Dense(m) => Row::Dense(m.row(row)),
            Features::Sparse(m) => {
                let (columns, values) = m.row(row);
                Row::Sparse(columns, values)
            }
        }
    }

    /// A copy of the given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Features::Dense(m) => Features::Dense(m.select(rows)),
            Features::Sparse(m) => Features::Sparse(m.select(rows)),
        }
    }

    /// Calls `visit(column, value)` for the entries of a row that may differ from zero.
    #[inline]
    pub fn for_each_in_row(&self, row: usize, mut visit: impl FnMut(usize, f32)) {
        match self {
            Features::Dense(m) => m.row(row).iter().enumerate().for_each(|(column, &v)| visit(column, v)),
            Features::Sparse(m) => {
                let (columns, values) = m.row(row);
                columns.iter().zip(values).for_each(|(&column, &v)| visit(column as usize, v));
            }
        }
    }

    /// Writes one row into `out`, zeros included. For learners whose mathematics needs the whole row, one at a time.
    pub fn copy_row_into(&self, row: usize, out: &mut [f32]) {
        match self {
            Features::Dense(m) => out.copy_from_slice(m.row(row)),
            Features::Sparse(m) => {
                out.fill(0.0);
                let (columns, values) = m.row(row);
                columns.iter().zip(values).for_each(|(&column, &v)| out[column as usize] = v);
            }
        }
    }
}
