//! A dense row-major matrix and compressed sparse rows. Their fields are private so that the invariants below always hold.

use crate::{Error, Result};

/// A dense matrix, row after row in one slice.
///
/// ```
/// use ldlf_math::Matrix;
/// let m = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]);
/// assert_eq!(m.row(1), &[3.0, 4.0]);
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Matrix<T> {
    rows: usize,
    cols: usize,
    data: Vec<T>,
}

impl<T: Copy + Default> Matrix<T> {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { rows, cols, data: vec![T::default(); rows * cols] }
    }

    /// Wraps `data`, which must hold `rows * cols` values in row order.
    pub fn new(rows: usize, cols: usize, data: Vec<T>) -> Result<Self> {
        if rows.checked_mul(cols) != Some(data.len()) {
            return Err(Error::Shape(format!("a {rows} x {cols} matrix cannot hold {} values", data.len())));
        }
        Ok(Matrix { rows, cols, data })
    }

    /// Copies rows of equal length.
    pub fn from_rows<const N: usize>(rows: &[[T; N]]) -> Self {
        Matrix { rows: rows.len(), cols: N, data: rows.iter().flatten().copied().collect() }
    }

    /// The number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One row.
    #[inline]
    pub fn row(&self, row: usize) -> &[T] {
        &self.data[row * self.cols..(row + 1) * self.cols]
    }

    /// One row, to change.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        &mut self.data[row * self.cols..(row + 1) * self.cols]
    }

    /// Every row in turn. A matrix without columns has rows of length zero.
    #[inline]
    pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = &[T]> {
        (0..self.rows).map(|row| self.row(row))
    }

    /// All values, row after row.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// All values, row after row, to change.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The values without their shape.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// A copy of the given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut data = Vec::with_capacity(rows.len() * self.cols);
        for &row in rows {
            data.extend_from_slice(self.row(row));
        }
        Matrix { rows: rows.len(), cols: self.cols, data }
    }
}

/// Compressed sparse rows: of every row only the entries that are stored, ordered by column.
///
/// Row `i` holds `indices[indptr[i]..indptr[i + 1]]` and the values beside them; within a row the columns are
/// strictly increasing.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    cols: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl Csr {
    /// The entries of a dense matrix that differ from zero.
    pub fn from_dense(dense: &Matrix<f32>) -> Self {
        let mut csr = Csr::with_columns(dense.cols());
        for row in dense.iter_rows() {
            csr.push_row(row.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(c, v)| (c as u32, *v)));
        }
        csr
    }

    /// The same matrix with every value stored.
    pub fn to_dense(&self) -> Matrix<f32> {
        let mut dense = Matrix::zeros(self.rows(), self.cols());
        for (row, (columns, values)) in self.iter_rows().enumerate() {
            let out = dense.row_mut(row);
            columns.iter().zip(values).for_each(|(&column, &v)| out[column as usize] = v);
        }
        dense
    }

    /// A matrix without rows, ready for [`Csr::push_row`].
    pub fn with_columns(cols: usize) -> Self {
        Csr { cols, indptr: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    /// Wraps the three arrays after checking that they are consistent.
    pub fn new(cols: usize, indptr: Vec<usize>, indices: Vec<u32>, values: Vec<f32>) -> Result<Self> {
        let whole = indptr.first() == Some(&0)
            && indptr.last() == Some(&indices.len())
            && indices.len() == values.len()
            && indptr.windows(2).all(|w| w[0] <= w[1]);
        if !whole {
            return Err(Error::Shape("sparse rows whose offsets do not fit their entries".into()));
        }
        let ordered = indptr.windows(2).all(|w| {
            let row = &indices[w[0]..w[1]];
            row.windows(2).all(|c| c[0] < c[1]) && row.last().is_none_or(|&c| (c as usize) < cols)
        });
        if !ordered {
            return Err(Error::Shape(format!(
                "sparse rows must list columns below {cols} in rising order, without repeats"
            )));
        }
        Ok(Csr { cols, indptr, indices, values })
    }

    /// Adds a row. The columns must be strictly increasing and below [`Csr::cols`].
    #[inline]
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, f32)>) {
        let start = self.indices.len();
        // Chained iterators run fastest from within.
        entries.into_iter().for_each(|(column, value)| {
            debug_assert!((column as usize) < self.cols);
            debug_assert!(self.indices.len() == start || self.indices[self.indices.len() - 1] < column);
            self.indices.push(column);
            self.values.push(value);
        });
        self.indptr.push(self.indices.len());
    }

    /// Removes all rows and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.indptr.truncate(1);
        self.indices.clear();
        self.values.clear();
    }

    /// The number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// The number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The number of stored entries.
    #[inline]
    pub fn stored(&self) -> usize {
        self.indices.len()
    }

    /// The columns and the values of one row.
    #[inline]
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.indptr[row]..self.indptr[row + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Every row in turn.
    #[inline]
    pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = (&[u32], &[f32])> {
        (0..self.rows()).map(|row| self.row(row))
    }

    /// The offsets, the columns and the values.
    #[inline]
    pub fn parts(&self) -> (&[usize], &[u32], &[f32]) {
        (&self.indptr, &self.indices, &self.values)
    }

    /// A copy of the given rows, in the given order.
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut out = Csr::with_columns(self.cols);
        for &row in rows {
            let (columns, values) = self.row(row);
            out.indices.extend_from_slice(columns);
            out.values.extend_from_slice(values);
            out.indptr.push(out.indices.len());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_selected_in_the_given_order() {
        let dense = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(dense.select(&[1, 0, 1]).as_slice(), &[3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
        let sparse = Csr::new(3, vec![0, 1, 3], vec![2, 0, 1], vec![5.0, 6.0, 7.0]).unwrap();
        let picked = sparse.select(&[1, 0]);
        assert_eq!(picked.row(0), (&[0, 1][..], &[6.0, 7.0][..]));
        assert_eq!(picked.row(1), (&[2][..], &[5.0][..]));
    }

    #[test]
    fn a_shape_that_does_not_fit_is_refused() {
        assert!(Matrix::new(2, 2, vec![1.0; 3]).is_err());
        assert!(Matrix::<f32>::new(usize::MAX, 2, vec![]).is_err());
        assert!(Csr::new(2, vec![0, 1], vec![2], vec![1.0]).is_err(), "column out of range");
        assert!(Csr::new(2, vec![0, 2], vec![1, 1], vec![1.0, 2.0]).is_err(), "repeated column");
        assert!(Csr::new(2, vec![0, 3], vec![0], vec![1.0]).is_err(), "offsets past the end");
    }
}
