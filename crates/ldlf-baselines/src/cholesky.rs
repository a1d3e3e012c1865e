//! Symmetric matrices by their lower half, and their Cholesky factorisation, on matrix products and in single precision.
//!
//! Only panels of the lower half are stored: at 7,000 rows the matrix takes 98 MB and its factor as much again. faer has
//! such a factorisation too, on full storage (196 MB each at this size) and with two dozen more crates to build (0.24, by
//! `cargo tree`); this one is two matrix products per panel, by the matrix product that the project has anyway.

use ldlf_core::Threads;
use ldlf_math::parallel::chunks;
use ldlf_math::product::{Accumulate, View, ViewMut, product};

/// Columns per panel, and rows per task.
pub(crate) const PANEL: usize = 192;

/// A symmetric matrix. Panel `k` holds rows `k PANEL ..` of columns `k PANEL .. (k + 1) PANEL`, in row order.
#[derive(Clone, Debug)]
pub(crate) struct Symmetric {
    size: usize,
    panels: Vec<Vec<f32>>,
}

impl Symmetric {
    /// From blocks of [`PANEL`] rows, each as wide as its last row is long in the lower half.
    pub(crate) fn from_lower_blocks(size: usize, blocks: &[Vec<f32>]) -> Self {
        let ranges = chunks(size, PANEL);
        let panels = ranges.clone().enumerate().map(|(k, columns)| {
            let mut panel = Vec::with_capacity((size - columns.start) * columns.len());
            for (rows, block) in ranges.clone().zip(blocks).skip(k) {
                block.chunks_exact(rows.end).for_each(|row| panel.extend_from_slice(&row[columns.clone()]));
            }
            panel
        });
        Symmetric { size, panels: panels.collect() }
    }

    /// The number of rows.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Columns in panel `k`.
    fn width(&self, k: usize) -> usize {
        PANEL.min(self.size - k * PANEL)
    }

    /// Entry `(i, j)`.
    #[inline]
    pub(crate) fn at(&self, i: usize, j: usize) -> f32 {
        let (i, j) = if i >= j { (i, j) } else { (j, i) };
        let k = j / PANEL;
        self.panels[k][(i - k * PANEL) * self.width(k) + j - k * PANEL]
    }

    /// The submatrix of the given rows and columns (in increasing order), with `diagonal` added to the diagonal.
    pub(crate) fn restricted(&self, to: &[usize], diagonal: &[f32], threads: &Threads) -> Symmetric {
        let panels = threads.map(chunks(to.len(), PANEL), |columns| {
            let mut panel = Vec::with_capacity((to.len() - columns.start) * columns.len());
            for row in columns.start..to.len() {
                panel.extend(to[columns.clone()].iter().map(|&column| self.at(to[row], column)));
                if columns.contains(&row) {
                    let place = panel.len() - columns.len() + row - columns.start;
                    panel[place] += diagonal[row];
                }
            }
            panel
        });
        Symmetric { size: to.len(), panels }
    }

    /// The product with a matrix of `columns` columns in row order.
    pub(crate) fn times(&self, right: &[f32], columns: usize, threads: &Threads) -> Vec<f32> {
        let piece = |k: usize| &right[k * PANEL * columns..(k * PANEL + self.width(k)) * columns];
        let pieces = threads.map(0..self.panels.len(), |i: usize| {
            let rows = self.width(i);
            let mut out = vec![0.0; rows * columns];
            for j in 0..self.panels.len() {
                let width = self.width(j);
                let block = if j <= i {
                    View::row_major(&self.panels[j][(i - j) * PANEL * width..], rows, width)
                } else {
                    View::row_major(&self.panels[i][(j - i) * PANEL * rows..], width, rows).transposed()
                };
                let right = View::row_major(piece(j), width, columns);
                product(Accumulate::Add, ViewMut::row_major(&mut out, rows, columns), block, right);
            }
            out
        });
        pieces.concat()
    }

    /// The factor `L` of `A = L L^T`, or nothing where the matrix is not positive definite in single precision.
    pub(crate) fn factorise(mut self, threads: &Threads) -> Option<Cholesky> {
        let mut inverses: Vec<Vec<f32>> = Vec::with_capacity(self.panels.len());
        for k in 0..self.panels.len() {
            let width = self.width(k);
            let (done, rest) = self.panels.split_at_mut(k);
            let panel = &mut rest[0];
            let pieces: Vec<(usize, &mut [f32])> = panel.chunks_mut(PANEL * width).enumerate().collect();
            threads.for_each(pieces, |(piece, out)| subtract_earlier(done, k, piece, width, out));
            let (top, below) = panel.split_at_mut(width * width);
            factorise_small(top, width)?;
            let inverse = invert_small(top, width);
            let pieces: Vec<&mut [f32]> = below.chunks_mut(PANEL * width).collect();
            threads.for_each(pieces, |rows| {
                let before = rows.to_vec();
                let count = rows.len() / width;
                product(
                    Accumulate::Replace,
                    ViewMut::row_major(rows, count, width),
                    View::row_major(&before, count, width),
                    View::row_major(&inverse, width, width).transposed(),
                );
            });
            inverses.push(inverse);
        }
        Some(Cholesky { factor: self, inverses })
    }
}

/// `out -= sum_j L_j L_j^T` over the panels before panel `k`, for one task's rows.
fn subtract_earlier(done: &[Vec<f32>], k: usize, piece: usize, width: usize, out: &mut [f32]) {
    let rows = out.len() / width;
    let mut sum = vec![0.0f32; out.len()];
    for (j, earlier) in done.iter().enumerate() {
        let start = (k - j) * PANEL * PANEL;
        product(
            Accumulate::Add,
            ViewMut::row_major(&mut sum, rows, width),
            View::row_major(&earlier[start + piece * PANEL * PANEL..], rows, PANEL),
            View::row_major(&earlier[start..], width, PANEL).transposed(),
        );
    }
    out.iter_mut().zip(&sum).for_each(|(o, s)| *o -= s);
}

/// Factorises a small matrix in place, row by row; the upper half is set to zero.
fn factorise_small(a: &mut [f32], size: usize) -> Option<()> {
    for i in 0..size {
        let (before, row) = a.split_at_mut(i * size);
        let row = &mut row[..size];
        for j in 0..i {
            let other = &before[j * size..j * size + size];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let left = row[i] - dot(&row[..i], &row[..i]);
        if left.is_nan() || left <= 0.0 || left.is_infinite() {
            return None;
        }
        row[i] = left.sqrt();
        row[i + 1..].fill(0.0);
    }
    Some(())
}

/// The inverse of a small lower triangular matrix.
fn invert_small(l: &[f32], size: usize) -> Vec<f32> {
    let mut inverse = vec![0.0f32; size * size];
    for i in 0..size {
        let (before, row) = inverse.split_at_mut(i * size);
        let row = &mut row[..size];
        ldlf_math::vectorise!({
            for j in 0..i {
                let factor = l[i * size + j];
                let earlier = &before[j * size..j * size + j + 1];
                row.iter_mut().zip(earlier).for_each(|(r, e)| *r -= factor * e);
            }
        },);
        let scale = 1.0 / l[i * size + i];
        row[..i].iter_mut().for_each(|r| *r *= scale);
        row[i] = scale;
    }
    inverse
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    ldlf_math::vectorise!({
        let mut partial = [0.0f32; 16];
        let (xs, ys) = (a.chunks_exact(16), b.chunks_exact(16));
        let rest: f32 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
        for (x, y) in xs.zip(ys) {
            (0..16).for_each(|i| partial[i] += x[i] * y[i]);
        }
        partial.iter().sum::<f32>() + rest
    },)
}

/// `A = L L^T`, ready to solve with. The diagonal blocks are kept inverted, so that solving is products too.
pub(crate) struct Cholesky {
    factor: Symmetric,
    inverses: Vec<Vec<f32>>,
}

impl Cholesky {
    /// Solves `A x = b` in place for `columns` right-hand sides at once, in row order.
    pub(crate) fn solve(&self, x: &mut [f32], columns: usize) {
        let panels = self.inverses.len();
        for k in 0..panels {
            let (width, end) = self.apply_inverse(k, x, columns, false);
            let (done, rest) = x.split_at_mut(end * columns);
            let known = &done[k * PANEL * columns..];
            let below = self.factor.size() - end;
            let mut sum = vec![0.0f32; below * columns];
            product(
                Accumulate::Replace,
                ViewMut::row_major(&mut sum, below, columns),
                View::row_major(&self.factor.panels[k][width * width..], below, width),
                View::row_major(known, width, columns),
            );
            rest.iter_mut().zip(&sum).for_each(|(x, s)| *x -= s);
        }
        for k in (0..panels).rev() {
            let (width, end) = (self.factor.width(k), k * PANEL + self.factor.width(k));
            let below = self.factor.size() - end;
            let (unknown, known) = x.split_at_mut(end * columns);
            let mut sum = vec![0.0f32; width * columns];
            product(
                Accumulate::Replace,
                ViewMut::row_major(&mut sum, width, columns),
                View::row_major(&self.factor.panels[k][width * width..], below, width).transposed(),
                View::row_major(known, below, columns),
            );
            unknown[k * PANEL * columns..].iter_mut().zip(&sum).for_each(|(x, s)| *x -= s);
            self.apply_inverse(k, x, columns, true);
        }
    }

    /// Multiplies the rows of panel `k` by its inverted diagonal block; gives the panel's width and end.
    fn apply_inverse(&self, k: usize, x: &mut [f32], columns: usize, transposed: bool) -> (usize, usize) {
        let width = self.factor.width(k);
        let rows = &mut x[k * PANEL * columns..(k * PANEL + width) * columns];
        let before = rows.to_vec();
        let inverse = View::row_major(&self.inverses[k], width, width);
        let inverse = if transposed { inverse.transposed() } else { inverse };
        let out = ViewMut::row_major(rows, width, columns);
        product(Accumulate::Replace, out, inverse, View::row_major(&before, width, columns));
        (width, k * PANEL + width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A_ij = exp(-|i - j| / 50)`, more than two panels of it.
    fn sample(size: usize) -> Symmetric {
        let entry = |i: usize, j: usize| (-(i.abs_diff(j) as f32) / 50.0).exp();
        let blocks: Vec<Vec<f32>> = chunks(size, PANEL)
            .map(|rows| rows.clone().flat_map(|i| (0..rows.end).map(move |j| entry(i, j))).collect())
            .collect();
        Symmetric::from_lower_blocks(size, &blocks)
    }

    #[test]
    fn entries_are_found_on_both_sides_of_the_diagonal() {
        for size in [1, PANEL, 2 * PANEL + 70] {
            let a = sample(size);
            for (i, j) in [(0, 0), (size - 1, 0), (size / 2, size - 1), (size - 1, size / 3)] {
                assert_eq!(a.at(i, j), (-(i.abs_diff(j) as f32) / 50.0).exp(), "{i} {j} of {size}");
            }
        }
    }

    #[test]
    fn solving_undoes_multiplying() {
        let size = 2 * PANEL + 70;
        let x: Vec<f32> = (0..size * 3).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect();
        for threads in [Threads::one(), Threads::new(2).unwrap()] {
            let all: Vec<usize> = (0..size).collect();
            let a = sample(size).restricted(&all, &vec![0.5; size], &threads);
            let mut solved = a.times(&x, 3, &threads);
            a.factorise(&threads).unwrap().solve(&mut solved, 3);
            let worst = solved.iter().zip(&x).map(|(s, x)| (s - x).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-4, "{worst}");
        }
    }

    #[test]
    fn a_restriction_keeps_the_named_rows_and_columns() {
        let a = sample(500);
        let some: Vec<usize> = (0..500).filter(|i| i % 3 != 0).collect();
        let part = a.restricted(&some, &vec![1.0; some.len()], &Threads::one());
        assert_eq!(part.size(), some.len());
        assert_eq!(part.at(300, 17), a.at(some[300], some[17]));
        assert_eq!(part.at(250, 250), a.at(some[250], some[250]) + 1.0);
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        let a = sample(300);
        let all: Vec<usize> = (0..300).collect();
        assert!(a.restricted(&all, &vec![-2.0; 300], &Threads::one()).factorise(&Threads::one()).is_none());
    }
}
