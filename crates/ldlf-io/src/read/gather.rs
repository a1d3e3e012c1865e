//! Features as they arrive, by rows or by columns, dense or sparse by one rule.
//!
//! **The density rule.** A matrix that a file stores dense is kept sparse while fewer than one in four of its
//! entries differ from zero, and dense `f32` from there on; a quarter is about where the two take as much time
//! and memory. What a file stores sparse stays sparse.

use ldlf_core::error::Place;
use ldlf_core::features::is_sparse;
use ldlf_core::{Csr, Error, Features, Matrix, Result};
use ldlf_math::memory::{self, Growth};

pub(super) use ldlf_core::features::single_precision;

/// The number of columns must fit the `u32` of sparse rows.
pub(super) fn check_columns(cols: usize) -> Result<()> {
    if u32::try_from(cols).is_ok() {
        Ok(())
    } else {
        Err(Error::data(format!("{cols} features are more than the {} that can be indexed", u32::MAX)))
    }
}

/// Bytes of a stored entry: its column (or row) and its value.
const ENTRY: usize = size_of::<u32>() + size_of::<f32>();

/// Gathers features row by row. The rule is applied each time the number of rows has doubled, and at the end.
pub(super) struct RowGatherer {
    cols: usize,
    rows: usize,
    stored: usize,
    next_check: usize,
    form: Features,
    growth: Growth,
}

impl RowGatherer {
    pub fn new(cols: usize) -> Self {
        RowGatherer {
            cols,
            rows: 0,
            stored: 0,
            next_check: 256,
            form: Features::Sparse(Csr::with_columns(cols)),
            growth: Growth::default(),
        }
    }

    /// Adds a row, or says why the memory does not allow it.
    pub fn push(&mut self, row: &[f32]) -> Result<()> {
        debug_assert_eq!(row.len(), self.cols);
        let entries = || row.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(c, v)| (c as u32, *v));
        self.rows += 1;
        self.stored += entries().count();
        match &mut self.form {
            Features::Sparse(csr) => csr.push_row(entries()),
            Features::Dense(dense) => {
                let mut data = std::mem::take(dense).into_vec();
                data.extend_from_slice(row);
                *dense = whole(self.rows, self.cols, data);
            }
        }
        if self.rows == self.next_check {
            self.next_check *= 2;
            self.settle();
        }
        let bytes = match &self.form {
            Features::Sparse(csr) => csr.stored() * ENTRY + csr.rows() * size_of::<usize>(),
            Features::Dense(dense) => size_of_val(dense.as_slice()),
        };
        self.growth.reached(bytes).map_err(Error::data)
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    fn settle(&mut self) {
        let sparse = is_sparse(self.stored, self.rows * self.cols);
        self.take_form(sparse);
    }

    fn take_form(&mut self, sparse: bool) {
        match (&self.form, sparse) {
            (Features::Sparse(csr), false) => self.form = Features::Dense(Csr::to_dense(csr)),
            (Features::Dense(dense), true) => self.form = Features::Sparse(Csr::from_dense(dense)),
            _ => {}
        }
    }

    /// The gathered rows, dense or sparse by the rule.
    pub fn finish(mut self) -> Features {
        self.settle();
        self.form
    }

    /// The gathered rows as one block of a stream: the first block settles the form for all.
    pub fn finish_like(mut self, sparse: &mut Option<bool>) -> Features {
        if self.rows == 0 {
            return Features::Dense(Matrix::zeros(0, self.cols));
        }
        let all = self.rows * self.cols;
        let sparse = *sparse.get_or_insert_with(|| is_sparse(self.stored, all));
        self.take_form(sparse);
        self.form
    }
}

/// `data` holds `rows` rows of `cols` by construction.
fn whole(rows: usize, cols: usize, data: Vec<f32>) -> Matrix<f32> {
    debug_assert_eq!(rows * cols, data.len());
    Matrix::new(rows, cols, data).unwrap_or_default()
}

/// Gathers features column by column, as MATLAB and Fortran store them: straight into compressed columns, made
/// dense as soon as the entries pass the rule's quarter of the whole matrix.
pub(super) struct ColumnGatherer {
    rows: usize,
    cols: usize,
    /// Where the next value belongs.
    row: usize,
    column: usize,
    form: Columns,
    growth: Growth,
}

/// Entries by column.
pub(super) enum Columns {
    Compressed(CompressedColumns),
    Dense(Matrix<f32>),
}

/// Of every column only the entries that are stored, ordered by row.
#[derive(Default)]
pub(super) struct CompressedColumns {
    /// Where each column ends.
    pub ends: Vec<usize>,
    pub rows: Vec<u32>,
    pub values: Vec<f32>,
}

impl ColumnGatherer {
    /// Ready for `rows * cols` values; both came from a header, so nothing is reserved for them.
    pub fn new(rows: usize, cols: usize) -> Result<Self> {
        check_columns(cols)?;
        if u32::try_from(rows).is_err() || rows.checked_mul(cols).is_none() {
            return Err(Error::data(format!("a {rows} x {cols} matrix is too large")));
        }
        let form = Columns::Compressed(CompressedColumns::default());
        Ok(ColumnGatherer { rows, cols, row: 0, column: 0, form, growth: Growth::default() })
    }

    /// Takes the next value down the column; an error names row and feature.
    pub fn push(&mut self, value: f64) -> Result<()> {
        let (row, column) = (self.row + 1, self.column + 1);
        let placed = |error: Error| error.recast(Error::Data).at(Place::default().row(row).feature(column));
        let single = single_precision(value).map_err(placed)?;
        if single != 0.0 {
            match &mut self.form {
                Columns::Compressed(columns) => {
                    columns.rows.push(self.row as u32);
                    columns.values.push(single);
                    let bytes = columns.values.len() * ENTRY;
                    let settled = !is_sparse(columns.values.len(), self.rows * self.cols);
                    self.growth.reached(bytes).map_err(Error::data).map_err(placed)?;
                    if settled {
                        let sizes = [("rows", self.rows), ("columns", self.cols)];
                        memory::check("the matrix", &sizes, size_of::<f32>())
                            .map_err(|e| placed(e.into()))?;
                        self.form = Columns::Dense(self.dense_so_far());
                    }
                }
                Columns::Dense(dense) => dense.row_mut(self.row)[self.column] = single,
            }
        }
        self.row += 1;
        if self.row == self.rows {
            if let Columns::Compressed(columns) = &mut self.form {
                columns.ends.push(columns.rows.len());
                let bytes = columns.ends.len() * size_of::<usize>();
                self.growth.reached(bytes).map_err(Error::data).map_err(placed)?;
            }
            (self.row, self.column) = (0, self.column + 1);
        }
        Ok(())
    }

    fn dense_so_far(&self) -> Matrix<f32> {
        let mut dense = Matrix::zeros(self.rows, self.cols);
        if let Columns::Compressed(columns) = &self.form {
            let mut start = 0;
            for column in 0..=self.column {
                let end = columns.ends.get(column).copied().unwrap_or(columns.rows.len());
                for entry in start..end {
                    dense.row_mut(columns.rows[entry] as usize)[column] = columns.values[entry];
                }
                start = end;
            }
        }
        dense
    }

    /// The gathered columns as features; every value must have come.
    pub fn finish(self) -> Result<Features> {
        match self.form {
            Columns::Dense(dense) => Ok(Features::Dense(dense)),
            Columns::Compressed(columns) => columns.into_rows(self.rows, self.cols).map(Features::Sparse),
        }
    }
}

impl CompressedColumns {
    /// The same matrix by rows, in two passes: count each row's entries, then place them column by column.
    pub fn into_rows(self, rows: usize, cols: usize) -> Result<Csr> {
        memory::check("the offsets of the rows", &[("rows", rows)], 2 * size_of::<usize>())?;
        let mut next = vec![0usize; rows + 1];
        for &row in &self.rows {
            let row = row as usize;
            if row >= rows {
                return Err(Error::data(format!("a sparse entry lies in row {} of {rows}", row + 1)));
            }
            next[row + 1] += 1;
        }
        for row in 0..rows {
            next[row + 1] += next[row];
        }
        let indptr = next.clone();
        let mut indices = vec![0u32; self.rows.len()];
        let mut values = vec![0f32; self.rows.len()];
        let mut start = 0;
        for (column, &end) in self.ends.iter().enumerate() {
            for entry in start..end {
                let place = &mut next[self.rows[entry] as usize];
                indices[*place] = column as u32;
                values[*place] = self.values[entry];
                *place += 1;
            }
            start = end;
        }
        Ok(Csr::new(cols, indptr, indices, values)?)
    }
}
