//! How work is shared between threads: fixed chunks, so that results do not depend on how many there are.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::{Error, Result};

/// A number of threads. With one, everything runs on the caller's thread and no pool exists.
///
/// Work is cut into chunks by its size alone, never by the number of threads, and whatever is summed is summed over
/// chunks in their order: the bytes of a model are the same for any number of threads.
#[derive(Clone, Debug)]
pub struct Threads {
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl Threads {
    /// More threads than any machine makes use of; asking for more is a slip.
    pub const MOST: usize = 1024;

    /// The caller's thread only.
    pub fn one() -> Self {
        Threads { pool: None }
    }

    /// A pool of `count` threads; 0 means one for every core.
    pub fn new(count: usize) -> Result<Self> {
        let count = if count == 0 { Self::available() } else { count };
        if count > Self::MOST {
            return Err(Error::usage(format!("threads must be at most {}, got {count}", Self::MOST)));
        }
        if count == 1 {
            return Ok(Threads::one());
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|index| format!("ldlf-{index}"))
            .build()
            .map_err(|e| Error::usage(format!("cannot start {count} threads: {e}; ask for fewer")))?;
        Ok(Threads { pool: Some(Arc::new(pool)) })
    }

    /// The number of cores this process may use.
    pub fn available() -> usize {
        std::thread::available_parallelism().map_or(1, |n| n.get())
    }

    /// How many threads there are.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `work` on every item and gives the results in the order of the items.
    pub fn map<I: Send, R: Send>(&self, items: Vec<I>, work: impl Fn(I) -> R + Sync) -> Vec<R> {
        match &self.pool {
            None => items.into_iter().map(work).collect(),
            Some(pool) => pool.install(|| items.into_par_iter().map(&work).collect()),
        }
    }

    /// Runs `work` on every item.
    pub fn for_each<I: Send>(&self, items: Vec<I>, work: impl Fn(I) + Sync) {
        match &self.pool {
            None => items.into_iter().for_each(work),
            Some(pool) => pool.install(|| items.into_par_iter().for_each(&work)),
        }
    }

    /// Runs `work(index, item)` on every item of a slice, without allocating.
    pub fn for_each_mut<I: Send>(&self, items: &mut [I], work: impl Fn(usize, &mut I) + Sync) {
        match &self.pool {
            None => items.iter_mut().enumerate().for_each(|(index, item)| work(index, item)),
            Some(pool) => pool.install(|| {
                items.par_iter_mut().with_max_len(1).enumerate().for_each(|(i, item)| work(i, item))
            }),
        }
    }

    /// Cuts several slices of equal length into chunks of `size` at the same places and runs
    /// `work(chunk number, the slices' chunks)` on each, without allocating.
    pub fn for_each_chunk<T: Send, const N: usize>(
        &self,
        slices: [&mut [T]; N],
        size: usize,
        work: impl Fn(usize, [&mut [T]; N]) + Sync,
    ) {
        let size = size.max(1);
        match &self.pool {
            None => {
                let mut iterators = slices.map(|slice| slice.chunks_mut(size));
                let chunks = iterators.first().map_or(0, |chunks| chunks.len());
                for chunk in 0..chunks {
                    let parts =
                        iterators.each_mut().map(|chunks| chunks.next().expect("slices of equal length"));
                    work(chunk, parts);
                }
            }
            Some(pool) => pool.install(|| halve(slices, 0, size, &work)),
        }
    }
}

/// Splits slices in the middle, at a chunk's border, until one chunk is left.
fn halve<T: Send, const N: usize>(
    slices: [&mut [T]; N],
    first: usize,
    size: usize,
    work: &(impl Fn(usize, [&mut [T]; N]) + Sync),
) {
    let chunks = slices.first().map_or(0, |slice| slice.len().div_ceil(size));
    match chunks {
        0 => {}
        1 => work(first, slices),
        _ => {
            let half = chunks / 2;
            let mut right = [const { None }; N];
            let mut rights = right.iter_mut();
            let left = slices.map(|slice| {
                let (left, right) = slice.split_at_mut(half * size);
                *rights.next().expect("N places for N slices") = Some(right);
                left
            });
            let right = right.map(|slice| slice.expect("every place was filled"));
            rayon::join(|| halve(left, first, size, work), || halve(right, first + half, size, work));
        }
    }
}

/// Cuts `0..total` into ranges of `size`, the last one shorter.
pub fn chunks(total: usize, size: usize) -> Vec<Range<usize>> {
    let size = size.max(1);
    (0..total.div_ceil(size)).map(|chunk| chunk * size..((chunk + 1) * size).min(total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_everything_once() {
        assert_eq!(chunks(10, 4), vec![0..4, 4..8, 8..10]);
        assert!(chunks(0, 4).is_empty());
    }

    #[test]
    fn chunks_of_several_slices_meet_at_the_same_places() {
        for count in [1, 3] {
            let (mut a, mut b) = (vec![0usize; 10], (0..10).collect::<Vec<usize>>());
            Threads::new(count).unwrap().for_each_chunk([&mut a, &mut b], 4, |chunk, [a, b]| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a = 100 * chunk + *b);
            });
            assert_eq!(a, [0, 1, 2, 3, 104, 105, 106, 107, 208, 209]);
        }
    }

    #[test]
    fn results_keep_the_order_of_the_items_on_any_number_of_threads() {
        let expected: Vec<usize> = (0..100).map(|i| i * i).collect();
        for count in [1, 2, 4] {
            let threads = Threads::new(count).unwrap();
            assert_eq!(threads.count(), count);
            assert_eq!(threads.map((0..100).collect(), |i: usize| i * i), expected);
        }
    }
}
