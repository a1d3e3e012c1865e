//! Kernels `k(x, y)` on dense or sparse rows, for `ldsvr`, `kernel-ridge`, `pt-svm` and `larr`.

use std::ops::Range;

use ldlf_core::{Dataset, Features, Result, Threads};
use ldlf_math::parallel::chunks;

use crate::cholesky::{PANEL, Symmetric};
use crate::reference_rows::ReferenceRows;
use crate::scaling::{FeatureScaling, Scaling};

/// The similarity of two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kernel {
    /// `exp(-gamma |x - y|^2)`.
    Rbf {
        /// `1 / (2 s^2)` for a Gaussian of deviation `s`.
        gamma: f32,
    },
    /// `exp(-rate |x - y|)`.
    Laplace {
        /// One over the distance at which the similarity has fallen to `1/e`.
        rate: f32,
    },
    /// `x . y`.
    Linear,
}

/// Rows sampled to estimate the mean distance; enough for its third digit.
const MEASURED: usize = 512;

impl Kernel {
    /// The radial basis function whose deviation is `width` times the mean distance between two of the rows.
    pub(crate) fn rbf(width: f64, rows: &ReferenceRows, threads: &Threads) -> Self {
        let deviation = length(width, rows, threads);
        Kernel::Rbf { gamma: (0.5 / (deviation * deviation)).min(f64::from(f32::MAX)) as f32 }
    }

    /// The Laplace kernel that falls to `1/e` at `width` times the mean distance between two of the rows.
    pub(crate) fn laplace(width: f64, rows: &ReferenceRows, threads: &Threads) -> Self {
        Kernel::Laplace { rate: (1.0 / length(width, rows, threads)).min(f64::from(f32::MAX)) as f32 }
    }

    /// Writes `k(x_i, y_j)` for the queries of a range (rows of `out`) and the first `among` rows kept (columns of `out`).
    pub(crate) fn block(
        self,
        kept: &ReferenceRows,
        queries: &Features,
        range: Range<usize>,
        among: usize,
        out: &mut [f32],
    ) {
        match self {
            Kernel::Linear => kept.products(queries, range, among, out),
            Kernel::Rbf { gamma } => {
                kept.squared_distances(queries, range, among, out);
                out.iter_mut().for_each(|d| *d = (-gamma * *d).exp());
            }
            Kernel::Laplace { rate } => {
                kept.distances(queries, range, among, out);
                out.iter_mut().for_each(|d| *d = (-rate * *d).exp());
            }
        }
    }

    /// The matrix `k(y_i, y_j)` of the rows kept: its lower half, in single precision.
    pub(crate) fn matrix(self, kept: &ReferenceRows, threads: &Threads) -> Symmetric {
        let blocks = threads.map(chunks(kept.len(), PANEL), |rows| {
            let among = rows.end;
            let mut block = vec![0.0; rows.len() * among];
            self.block(kept, kept.features(), rows, among, &mut block);
            block
        });
        Symmetric::from_lower_blocks(kept.len(), &blocks)
    }

    /// `sum_j k(x_i, y_j) coefficients[j, c]` for every query: `[queries, columns]` in row order.
    pub(crate) fn weighted_sums(
        self,
        kept: &ReferenceRows,
        queries: &Features,
        coefficients: &[f32],
        columns: usize,
        threads: &Threads,
    ) -> Vec<f32> {
        use ldlf_math::product::{Accumulate, View, ViewMut, product};
        let sums = threads.map(chunks(queries.rows(), 64), |rows| {
            let count = rows.len();
            let mut block = vec![0.0; count * kept.len()];
            self.block(kept, queries, rows, kept.len(), &mut block);
            let mut sums = vec![0.0; count * columns];
            product(
                Accumulate::Replace,
                ViewMut::row_major(&mut sums, count, columns),
                View::row_major(&block, count, kept.len()),
                View::row_major(coefficients, kept.len(), columns),
            );
            sums
        });
        sums.concat()
    }
}

/// `width` times the mean distance between two rows; where all rows are equal any length gives the same kernel.
fn length(width: f64, rows: &ReferenceRows, threads: &Threads) -> f64 {
    let length = width * mean_distance(rows, threads);
    if length > 0.0 && length.is_finite() { length } else { 1.0 }
}

/// Training rows, scaled, with their kernel matrix.
pub(crate) struct KernelSystem {
    /// How they were scaled.
    pub(crate) scaling: Scaling,
    /// The scaled rows.
    pub(crate) kept: ReferenceRows,
    /// Their kernel.
    pub(crate) kernel: Kernel,
    /// The kernel of every pair.
    pub(crate) matrix: Symmetric,
}

impl KernelSystem {
    /// Scales the rows, then takes the kernel whose length is measured on them.
    pub(crate) fn new(
        data: &Dataset,
        scaling: FeatureScaling,
        kernel: impl FnOnce(&ReferenceRows) -> Kernel,
        threads: &Threads,
    ) -> Result<Self> {
        let scaling = Scaling::choose(scaling, data)?;
        let kept = ReferenceRows::new(scaling.apply(data.features()?));
        let kernel = kernel(&kept);
        let matrix = kernel.matrix(&kept, threads);
        Ok(KernelSystem { scaling, kept, kernel, matrix })
    }
}

/// The mean Euclidean distance between two different rows, from evenly spaced rows to all others.
fn mean_distance(rows: &ReferenceRows, threads: &Threads) -> f64 {
    let count = rows.len();
    if count < 2 {
        return 0.0;
    }
    let measured: Vec<usize> = match count <= MEASURED {
        true => (0..count).collect(),
        false => (0..MEASURED).map(|i| i * count / MEASURED).collect(),
    };
    let sums = threads.map(chunks(measured.len(), 32), |range| {
        let queries = rows.features().select(&measured[range.clone()]);
        let mut distances = vec![0.0; range.len() * count];
        rows.squared_distances(&queries, 0..range.len(), count, &mut distances);
        distances.iter().map(|&d| f64::from(d).sqrt()).sum::<f64>()
    });
    sums.iter().sum::<f64>() / (measured.len() * (count - 1)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::Matrix;

    fn three() -> ReferenceRows {
        ReferenceRows::new(Features::Dense(Matrix::from_rows(&[[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]])))
    }

    #[test]
    fn the_width_is_a_multiple_of_the_mean_pairwise_distance() {
        // Distances 5, 4 and 3: mean 4.
        let Kernel::Rbf { gamma } = Kernel::rbf(0.5, &three(), &Threads::one()) else { panic!("an RBF") };
        assert!((gamma - 1.0 / (2.0 * 4.0)).abs() < 1e-6, "{gamma}");
    }

    #[test]
    fn the_laplace_kernel_falls_to_one_over_e_at_its_width() {
        // Half of the mean distance is 2, the distance between the first two rows is 5.
        let rows = three();
        let matrix = Kernel::laplace(0.5, &rows, &Threads::one()).matrix(&rows, &Threads::one());
        assert!((matrix.at(1, 0) - (-2.5f32).exp()).abs() < 1e-6, "{}", matrix.at(1, 0));
        assert_eq!(matrix.at(2, 2), 1.0);
    }

    #[test]
    fn the_matrix_holds_the_kernel_of_every_pair() {
        let rows = three();
        let matrix = Kernel::Rbf { gamma: 0.1 }.matrix(&rows, &Threads::one());
        for (i, j, distance) in [(0, 0, 0.0f32), (1, 0, 25.0), (2, 1, 9.0), (1, 2, 9.0)] {
            assert!((matrix.at(i, j) - (-0.1 * distance).exp()).abs() < 1e-6);
        }
        let linear = Kernel::Linear.matrix(&rows, &Threads::one());
        assert_eq!((linear.at(1, 1), linear.at(2, 1)), (25.0, 16.0));
    }

    #[test]
    fn weighted_sums_are_products_with_the_kernel_matrix() {
        let rows = three();
        let sums = Kernel::Linear.weighted_sums(
            &rows,
            rows.features(),
            &[1.0, 0.0, 0.0, 1.0, 2.0, 0.0],
            2,
            &Threads::one(),
        );
        assert_eq!(sums, [0.0, 0.0, 32.0, 25.0, 32.0, 16.0]);
    }
}
