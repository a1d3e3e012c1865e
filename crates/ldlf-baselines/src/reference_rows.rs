//! The training rows that a model keeps, and dot products of other rows with them. Nearest neighbours and kernels both
//! use these: `|x - y|^2 = |x|^2 - 2 x.y + |y|^2`.
//!
//! Dense rows are multiplied in blocks by a matrix product. Sparse rows are kept a second time column by column: an entry of
//! a query is then multiplied only with the rows that have its column, and the rows are never made dense. Of sparse rows, columns that a
//! quarter of the rows hold are kept whole, because adding a whole column takes fewer instructions than scattering it.

use std::ops::Range;

use ldlf_core::stored::{Array, Parts};
use ldlf_core::{Csr, Error, Features, Matrix, Result};
use ldlf_math::product::{Accumulate, View, ViewMut, product};

/// The squared distance, as a part of the squared norms, below which the difference of norms and products is not precise.
const NEARLY_EQUAL: f32 = 1e-2;

/// Rows to compare with, their squared norms, and the layout for fast products.
#[derive(Clone, Debug)]
pub(crate) struct ReferenceRows {
    rows: Features,
    columns: Option<Columns>,
    squared_norms: Vec<f32>,
}

impl ReferenceRows {
    /// Keeps the rows.
    pub(crate) fn new(rows: Features) -> Self {
        let columns = match &rows {
            Features::Dense(_) => None,
            Features::Sparse(m) => Some(Columns::of(m)),
        };
        let squared_norms = (0..rows.rows()).map(|row| squared_norm(&rows, row)).collect();
        ReferenceRows { rows, columns, squared_norms }
    }

    /// The rows themselves.
    pub(crate) fn features(&self) -> &Features {
        &self.rows
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.rows()
    }

    /// `|y_j|^2` of every row.
    pub(crate) fn squared_norms(&self) -> &[f32] {
        &self.squared_norms
    }

    /// Writes `x_i . y_j` for the queries of a range (rows of `out`) and the first `among` rows kept (columns of `out`).
    pub(crate) fn products(&self, queries: &Features, range: Range<usize>, among: usize, out: &mut [f32]) {
        let (count, width) = (range.len(), self.rows.cols());
        match (&self.rows, queries, &self.columns) {
            (Features::Dense(y), Features::Dense(x), _) => {
                let x = &x.as_slice()[range.start * width..range.end * width];
                multiply(x, y, count, among, out);
            }
            (Features::Dense(y), Features::Sparse(_), _) => {
                // Only a block of queries is made dense.
                let mut x = vec![0.0; count * width];
                for (row, x) in range.zip(x.chunks_exact_mut(width.max(1))) {
                    queries.copy_row_into(row, x);
                }
                multiply(&x, y, count, among, out);
            }
            (Features::Sparse(_), _, Some(columns)) => {
                for (row, out) in range.zip(out.chunks_exact_mut(among.max(1))) {
                    out.fill(0.0);
                    queries.for_each_in_row(row, |column, value| {
                        if value != 0.0 {
                            columns.add(column, value, out);
                        }
                    });
                }
            }
            (Features::Sparse(_), _, None) => unreachable!("sparse rows are kept with their columns"),
        }
    }

    /// Writes `|x_i - y_j|^2`, not below 0, in the layout of [`ReferenceRows::products`].
    pub(crate) fn squared_distances(
        &self,
        queries: &Features,
        range: Range<usize>,
        among: usize,
        out: &mut [f32],
    ) {
        self.products(queries, range.clone(), among, out);
        for (row, out) in range.zip(out.chunks_exact_mut(among.max(1))) {
            let x = squared_norm(queries, row);
            ldlf_math::vectorise!({
                for (d, &y) in out.iter_mut().zip(&self.squared_norms) {
                    *d = (x - 2.0 * *d + y).max(0.0);
                }
            },);
        }
    }

    /// Writes `|x_i - y_j|` in the layout of [`ReferenceRows::products`].
    ///
    /// The root enlarges what rounding leaves of the distance of two rows that are nearly equal, and rounding depends on the rows that a
    /// product multiplies together: such pairs are measured by their differences.
    pub(crate) fn distances(&self, queries: &Features, range: Range<usize>, among: usize, out: &mut [f32]) {
        self.squared_distances(queries, range.clone(), among, out);
        let mut difference = vec![0.0; self.rows.cols()];
        for (row, out) in range.zip(out.chunks_exact_mut(among.max(1))) {
            let x = squared_norm(queries, row);
            for ((at, d), &y) in out.iter_mut().enumerate().zip(&self.squared_norms) {
                if *d < NEARLY_EQUAL * (x + y) {
                    difference.fill(0.0);
                    queries.copy_row_into(row, &mut difference);
                    self.rows.for_each_in_row(at, |column, value| difference[column] -= value);
                    *d = difference.iter().map(|&d| f64::from(d).powi(2)).sum::<f64>() as f32;
                }
                *d = d.sqrt();
            }
        }
    }

    /// Adds the rows to a model file.
    pub(crate) fn store(&self, parts: &mut Parts) {
        match &self.rows {
            Features::Dense(m) => parts.put_matrix("rows", m),
            Features::Sparse(m) => {
                let (offsets, columns, values) = m.parts();
                // Lengths fit 32 bits where offsets might not.
                let lengths: Vec<u32> = offsets.windows(2).map(|w| (w[1] - w[0]) as u32).collect();
                parts.put("row_lengths", Array::U32(vec![lengths.len()], lengths));
                parts.put("row_columns", Array::U32(vec![columns.len()], columns.to_vec()));
                parts.put("row_values", Array::F32(vec![values.len()], values.to_vec()));
            }
        }
    }

    /// Reads rows of `width` features from a model file.
    pub(crate) fn load(parts: &Parts, width: usize) -> Result<Self> {
        let rows = if parts.has("rows") {
            let count = parts.shape("rows")?.first().copied().unwrap_or(0);
            Features::Dense(Matrix::new(count, width, parts.f32s("rows", &[count, width])?)?)
        } else {
            let count = parts.shape("row_lengths")?.iter().product();
            let stored = parts.shape("row_columns")?.iter().product();
            let mut offsets = vec![0];
            for length in parts.u32s("row_lengths", &[count])? {
                offsets.push(offsets[offsets.len() - 1] + length as usize);
            }
            let columns = parts.u32s("row_columns", &[stored])?;
            let values = parts.f32s("row_values", &[stored])?;
            let rows = Csr::new(width, offsets, columns, values)
                .map_err(|e| Error::model_file(format!("the model file's kept rows cannot be used: {e}")))?;
            Features::Sparse(rows)
        };
        if rows.rows() == 0 {
            return Err(Error::model_file("the model file keeps no training rows; it may be damaged"));
        }
        Ok(ReferenceRows::new(rows))
    }
}

fn multiply(x: &[f32], y: &Matrix<f32>, count: usize, among: usize, out: &mut [f32]) {
    product(
        Accumulate::Replace,
        ViewMut::row_major(out, count, among),
        View::row_major(x, count, y.cols()),
        View::row_major(&y.as_slice()[..among * y.cols()], among, y.cols()).transposed(),
    );
}

/// `|x|^2` of one row, summed in double precision.
pub(crate) fn squared_norm(features: &Features, row: usize) -> f32 {
    let mut sum = 0.0f64;
    features.for_each_in_row(row, |_, v| sum += f64::from(v) * f64::from(v));
    sum as f32
}

/// The columns of sparse rows.
#[derive(Clone, Debug)]
struct Columns {
    /// The columns that many rows hold, zeros included.
    whole: Vec<Option<Vec<f32>>>,
    /// Row `j` of it lists the rows that hold column `j`, for the other columns.
    listed: Csr,
}

impl Columns {
    fn of(rows: &Csr) -> Self {
        let listed = transposed(rows);
        let mut whole = Vec::with_capacity(rows.cols());
        for (holders, values) in listed.iter_rows() {
            whole.push((holders.len() * 4 > rows.rows()).then(|| {
                let mut column = vec![0.0; rows.rows()];
                holders.iter().zip(values).for_each(|(&row, &value)| column[row as usize] = value);
                column
            }));
        }
        Columns { whole, listed }
    }

    /// Adds `factor` times the top of a column to `out`.
    fn add(&self, column: usize, factor: f32, out: &mut [f32]) {
        match &self.whole[column] {
            Some(values) => ldlf_math::vectorise!({
                out.iter_mut().zip(values).for_each(|(o, &y)| *o += factor * y);
            },),
            None => {
                let (rows, values) = self.listed.row(column);
                let end = match rows.last() {
                    Some(&last) if last as usize >= out.len() => {
                        rows.partition_point(|&row| (row as usize) < out.len())
                    }
                    _ => rows.len(),
                };
                rows[..end].iter().zip(values).for_each(|(&row, &y)| out[row as usize] += factor * y);
            }
        }
    }
}

/// The matrix with rows and columns exchanged.
fn transposed(m: &Csr) -> Csr {
    let mut offsets = vec![0usize; m.cols() + 1];
    let (_, columns, _) = m.parts();
    columns.iter().for_each(|&column| offsets[column as usize + 1] += 1);
    (0..m.cols()).for_each(|column| offsets[column + 1] += offsets[column]);
    let mut next = offsets.clone();
    let mut rows = vec![0u32; m.stored()];
    let mut values = vec![0f32; m.stored()];
    for (row, (columns, row_values)) in m.iter_rows().enumerate() {
        for (&column, &value) in columns.iter().zip(row_values) {
            let place = &mut next[column as usize];
            rows[*place] = row as u32;
            values[*place] = value;
            *place += 1;
        }
    }
    Csr::new(m.rows(), offsets, rows, values).expect("rows were visited in rising order")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_kinds() -> (Features, Features) {
        let dense = Matrix::from_rows(&[[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.5, 4.0]]);
        let mut sparse = Csr::with_columns(3);
        for row in dense.iter_rows() {
            sparse.push_row(row.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(j, v)| (j as u32, *v)));
        }
        (Features::Dense(dense), Features::Sparse(sparse))
    }

    #[test]
    fn distances_of_nearly_equal_rows_are_precise() {
        let kept = Features::Dense(Matrix::from_rows(&[[1000.0, 2000.0, 3000.0], [0.0, 0.0, 0.0]]));
        let query = Features::Dense(Matrix::from_rows(&[[1000.0, 2000.003, 3000.004]]));
        let mut out = [0.0; 2];
        ReferenceRows::new(kept).distances(&query, 0..1, 2, &mut out);
        // Neighbouring numbers of single precision are 1e-4 and 2e-4 apart here.
        assert!((out[0] - 0.005).abs() < 2e-4, "{}", out[0]);
        assert!((out[1] - 14e6f32.sqrt()).abs() < 0.01, "{}", out[1]);
    }

    #[test]
    fn products_are_the_same_for_dense_and_sparse_rows_on_either_side() {
        let (dense, sparse) = both_kinds();
        let expected = [2.0f32 * 2.0 + 1.0, 0.0, 0.0, 7.0, 0.0, 9.0, 0.0, 1.5];
        for kept in [&dense, &sparse] {
            let kept = ReferenceRows::new(kept.clone());
            for queries in [&dense, &sparse] {
                let mut out = vec![f32::NAN; 8];
                kept.products(queries, 0..2, 4, &mut out);
                assert_eq!(out, expected);
                kept.squared_distances(queries, 0..2, 4, &mut out);
                assert_eq!(out, [0.0, 14.0, 5.0, 8.25, 14.0, 0.0, 9.0, 23.25]);
                kept.products(queries, 2..4, 2, &mut out[..4]);
                assert_eq!(out[..4], [0.0, 0.0, 7.0, 1.5], "the first two rows only");
            }
        }
    }

    #[test]
    fn stored_rows_are_loaded_unchanged() {
        let (dense, sparse) = both_kinds();
        for rows in [dense, sparse] {
            assert_eq!(ReferenceRows::load(&stored(&rows), 3).unwrap().features(), &rows);
        }
    }

    #[test]
    fn stored_rows_with_a_column_too_many_are_refused() {
        let (dense, sparse) = both_kinds();
        for rows in [dense, sparse] {
            assert!(ReferenceRows::load(&stored(&rows), 2).is_err());
        }
    }

    #[test]
    fn a_model_file_without_rows_is_refused() {
        assert!(ReferenceRows::load(&Parts::new(), 3).is_err());
    }

    fn stored(rows: &Features) -> Parts {
        let mut parts = Parts::new();
        ReferenceRows::new(rows.clone()).store(&mut parts);
        Parts::from_bytes(&parts.to_bytes().unwrap()).unwrap()
    }
}
