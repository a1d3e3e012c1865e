//! K-means clustering of rows.

use ldlf_core::{Features, Seed, Threads};
use ldlf_math::parallel::chunks;
use rand::RngExt;

/// Maximum number of rounds; a few dozen suffice.
const ROUNDS: usize = 100;

/// The centres `[count, features]` of k-means, initialised by k-means++; fewer where there are fewer rows.
pub(crate) fn centres(rows: &Features, count: usize, seed: Seed, threads: &Threads) -> Vec<Vec<f32>> {
    let width = rows.cols();
    let mut generator = seed.named("clusters").generator();
    let mut row = vec![0.0f32; width];
    let mut centres: Vec<Vec<f32>> = Vec::new();
    let mut nearest = vec![f64::INFINITY; rows.rows()];
    while centres.len() < count.min(rows.rows()) {
        let total: f64 = nearest.iter().filter(|d| d.is_finite()).sum();
        let next = if centres.is_empty() {
            generator.random_range(0..rows.rows() as u64) as usize
        } else if total > 0.0 {
            let mut left = generator.random::<f64>() * total;
            let reached = |d: &f64| {
                left -= d;
                left <= 0.0
            };
            nearest.iter().position(reached).unwrap_or(rows.rows() - 1)
        } else {
            break;
        };
        rows.copy_row_into(next, &mut row);
        centres.push(row.clone());
        let newest = &centres[centres.len() - 1..];
        for (d, (_, distance)) in nearest.iter_mut().zip(assigned(rows, newest, threads)) {
            *d = d.min(distance);
        }
    }
    let mut before = Vec::new();
    for _ in 0..ROUNDS {
        let now: Vec<usize> =
            assigned(rows, &centres, threads).into_iter().map(|(cluster, _)| cluster).collect();
        if now == before {
            break;
        }
        let mut sums = vec![vec![0.0f64; width]; centres.len()];
        let mut sizes = vec![0usize; centres.len()];
        for (row, &cluster) in now.iter().enumerate() {
            sizes[cluster] += 1;
            rows.for_each_in_row(row, |column, x| sums[cluster][column] += f64::from(x));
        }
        for ((centre, sum), &size) in centres.iter_mut().zip(&sums).zip(&sizes) {
            // The centre of an empty cluster does not move.
            if size > 0 {
                centre.iter_mut().zip(sum).for_each(|(c, s)| *c = (s / size as f64) as f32);
            }
        }
        before = now;
    }
    centres
}

/// The nearest centre of every row and its squared distance; of equal ones the first.
pub(crate) fn assigned(rows: &Features, centres: &[Vec<f32>], threads: &Threads) -> Vec<(usize, f64)> {
    let lengths: Vec<f64> =
        centres.iter().map(|centre| centre.iter().map(|&c| f64::from(c) * f64::from(c)).sum()).collect();
    let parts = threads.map(chunks(rows.rows(), 256), |range| {
        let of_row = |row: usize| {
            let mut products = vec![0.0f64; centres.len()];
            let mut own = 0.0f64;
            rows.for_each_in_row(row, |column, x| {
                let x = f64::from(x);
                own += x * x;
                products.iter_mut().zip(centres).for_each(|(p, centre)| *p += x * f64::from(centre[column]));
            });
            let distance = |cluster: usize| (own - 2.0 * products[cluster] + lengths[cluster]).max(0.0);
            let all = (0..centres.len()).map(|cluster| (cluster, distance(cluster)));
            all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
        };
        range.map(of_row).collect::<Vec<_>>()
    });
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::Matrix;

    #[test]
    fn two_heaps_get_a_centre_each() {
        let rows = Features::Dense(Matrix::from_rows(&[
            [0.0, 0.0],
            [10.0, 10.0],
            [0.0, 1.0],
            [10.0, 11.0],
            [0.0, 2.0],
        ]));
        let mut found = centres(&rows, 2, Seed::new(0), &Threads::one());
        found.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(found, [vec![0.0, 1.0], vec![10.0, 10.5]]);
        assert_eq!(assigned(&rows, &found, &Threads::one())[3], (1, 0.25));
    }

    #[test]
    fn equal_rows_have_one_centre() {
        let rows = Features::Dense(Matrix::from_rows(&[[1.0], [1.0], [1.0]]));
        assert_eq!(centres(&rows, 3, Seed::new(0), &Threads::one()), [[1.0]]);
    }
}
