//! Exact nearest neighbours among kept rows.
//!
//! Distances from blocked products in single precision find the candidates; every row that could be among the k nearest
//! within the rounding error of those products is measured again in double precision, and ties go to the lower row number.

use ldlf_core::{Features, Threads};
use ldlf_math::parallel::chunks;

use crate::reference_rows::{ReferenceRows, squared_norm};

/// Queries per block of products: enough to amortise the packing of the kept rows.
const DENSE_BLOCK: usize = 64;

/// The same where products are sums over shared columns: few, so that the block stays in the cache.
const SPARSE_BLOCK: usize = 8;

/// Distances skipped together when none of them is small enough.
const SPAN: usize = 64;

/// The numbers of the `k` nearest rows to each query, nearest first: `k` per query, or fewer where `exclude`
/// leaves fewer (each query then still has its own list).
///
/// `exclude(query, row)` names rows that must not be found, such as the query itself.
pub(crate) fn nearest(
    kept: &ReferenceRows,
    queries: &Features,
    wanted: &[usize],
    k: usize,
    threads: &Threads,
    exclude: Option<&(dyn Fn(usize, usize) -> bool + Sync)>,
) -> Vec<Vec<u32>> {
    let block = match kept.features() {
        Features::Dense(_) => DENSE_BLOCK,
        Features::Sparse(_) => SPARSE_BLOCK,
    };
    let lists = threads.map(chunks(wanted.len(), block), |range| {
        let wanted = &wanted[range];
        let consecutive = wanted.windows(2).all(|w| w[0] + 1 == w[1]);
        let mut distances = vec![0.0f32; wanted.len() * kept.len()];
        if consecutive {
            kept.squared_distances(queries, wanted[0]..wanted[0] + wanted.len(), kept.len(), &mut distances);
        } else {
            kept.squared_distances(&queries.select(wanted), 0..wanted.len(), kept.len(), &mut distances);
        }
        let mut search = Search::new(kept, queries.cols());
        let lists = wanted.iter().zip(distances.chunks_exact_mut(kept.len()));
        lists
            .map(|(&query, distances)| {
                if let Some(exclude) = exclude {
                    for (row, distance) in distances.iter_mut().enumerate() {
                        if exclude(query, row) {
                            *distance = f32::INFINITY;
                        }
                    }
                }
                search.find(queries, query, distances, k)
            })
            .collect::<Vec<_>>()
    });
    lists.into_iter().flatten().collect()
}

/// The buffers of one thread's searches.
struct Search<'a> {
    kept: &'a ReferenceRows,
    /// The query, zeros included.
    query: Vec<f32>,
    candidates: Vec<(f32, u32)>,
    exact: Vec<(f64, u32)>,
}

impl<'a> Search<'a> {
    fn new(kept: &'a ReferenceRows, width: usize) -> Self {
        Search { kept, query: vec![0.0; width], candidates: Vec::new(), exact: Vec::new() }
    }

    fn find(&mut self, queries: &Features, query: usize, distances: &[f32], k: usize) -> Vec<u32> {
        queries.copy_row_into(query, &mut self.query);
        // |fl(x.y) - x.y| <= terms eps |x||y| <= terms eps (|x|^2 + |y|^2) / 2, and it enters twice; the rest is rounded three times.
        let terms = self.query.iter().filter(|x| **x != 0.0).count();
        let relative = (terms + 4) as f32 * f32::EPSILON;
        let own = squared_norm(queries, query);
        let own_exact = self.query.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        let norms = self.kept.squared_norms();
        let error = |row: usize| relative * (own + norms[row]);
        self.keep_smallest(distances, k);
        let mut reach = f32::NEG_INFINITY;
        for &(distance, row) in &self.candidates {
            reach = reach.max(distance + error(row as usize));
        }
        self.exact.clear();
        let exact = &mut self.exact;
        ldlf_math::vectorise!({
            let within = |distance: f32, norm: f32| {
                (distance - relative * (own + norm) <= reach) & (distance < f32::INFINITY)
            };
            let spans = distances.chunks(SPAN).zip(norms.chunks(SPAN));
            for (span, (distances, norms)) in spans.enumerate() {
                let pairs = || distances.iter().zip(norms);
                if pairs().fold(false, |any, (&d, &n)| any | within(d, n)) {
                    let found = pairs().enumerate().filter(|(_, (d, n))| within(**d, **n));
                    exact.extend(found.map(|(at, _)| (0.0, (span * SPAN + at) as u32)));
                }
            }
        },);
        for (distance, row) in &mut self.exact {
            *distance = exact_distance(&self.query, own_exact, self.kept.features(), *row as usize);
        }
        self.exact.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.exact.truncate(k);
        self.exact.iter().map(|&(_, row)| row).collect()
    }

    /// Leaves the `k` smallest finite distances among the candidates: one pass that keeps what is below the k-th
    /// smallest so far, cut back whenever it has grown.
    fn keep_smallest(&mut self, distances: &[f32], k: usize) {
        let full = 2 * k + 64;
        let mut limit = f32::INFINITY;
        self.candidates.clear();
        let order = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let candidates = &mut self.candidates;
        ldlf_math::vectorise!({
            for (span, distances) in distances.chunks(SPAN).enumerate() {
                if !distances.iter().fold(false, |any, &d| any | (d < limit)) {
                    continue;
                }
                for (at, &distance) in distances.iter().enumerate() {
                    if distance < limit {
                        candidates.push((distance, (span * SPAN + at) as u32));
                    }
                    if candidates.len() == full {
                        limit = candidates.select_nth_unstable_by(k - 1, order).1.0;
                        candidates.truncate(k);
                    }
                }
            }
        },);
        if self.candidates.len() > k {
            self.candidates.select_nth_unstable_by(k - 1, order);
            self.candidates.truncate(k);
        }
    }
}

/// `|x - y|^2` in double precision, for a query with its zeros and its squared length.
fn exact_distance(x: &[f32], own: f64, kept: &Features, row: usize) -> f64 {
    let square = |x: f32, y: f32| (f64::from(x) - f64::from(y)).powi(2);
    match kept {
        Features::Dense(m) => ldlf_math::vectorise!({
            // Eight partial sums, so that the loop can run in vector registers.
            let (mut partial, mut rest) = ([0.0f64; 8], 0.0);
            let (xs, ys) = (x.chunks_exact(8), m.row(row).chunks_exact(8));
            xs.remainder().iter().zip(ys.remainder()).for_each(|(&x, &y)| rest += square(x, y));
            for (xs, ys) in xs.zip(ys) {
                (0..8).for_each(|i| partial[i] += square(xs[i], ys[i]));
            }
            partial.iter().sum::<f64>() + rest
        },),
        Features::Sparse(m) => {
            // Where nothing is stored y is zero, and x^2 is in the squared length already.
            let (columns, values) = m.row(row);
            let entries = columns.iter().zip(values).map(|(&column, &y)| (x[column as usize], y));
            own + entries.map(|(x, y)| square(x, y) - square(x, 0.0)).sum::<f64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::Matrix;

    fn line(places: &[f32]) -> Features {
        Features::Dense(Matrix::new(places.len(), 1, places.to_vec()).unwrap())
    }

    #[test]
    fn ties_go_to_the_lower_row_number() {
        let kept = ReferenceRows::new(line(&[1.0, -1.0, 3.0, 1.0, -1.0]));
        let found = nearest(&kept, &line(&[0.0]), &[0], 3, &Threads::one(), None);
        assert_eq!(found, [[0, 1, 3]]);
    }

    #[test]
    fn neighbours_that_single_precision_cannot_tell_apart_are_told_apart() {
        // Squares near 1e8 round to multiples of 8, far more than these distances.
        let kept = ReferenceRows::new(line(&[10_000.5, 10_000.25, 10_001.0, 9_999.0]));
        let found = nearest(&kept, &line(&[10_000.0]), &[0], 2, &Threads::one(), None);
        assert_eq!(found, [[1, 0]]);
    }

    #[test]
    fn excluded_rows_are_not_found() {
        let places = line(&[0.0, 1.0, 3.0, 7.0]);
        let kept = ReferenceRows::new(places.clone());
        let itself = |query: usize, row: usize| query == row;
        let found = nearest(&kept, &places, &[0, 2, 3], 2, &Threads::one(), Some(&itself));
        assert_eq!(found, [[1, 2], [1, 0], [2, 1]]);
    }
}
