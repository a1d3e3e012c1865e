//! Work in fixed chunks, so that results do not depend on the number of threads.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::{Error, Result};

/// A number of threads. With one, everything runs on the caller's thread and no pool exists.
///
/// Work is divided into chunks by its size alone, never by the number of threads, and sums run over the
/// chunks in order: the bytes of a model are the same for any number of threads.
#[derive(Clone, Debug)]
pub struct Threads {
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl Threads {
    /// The largest number of threads; more is a mistake on any machine.
    pub const MOST: usize = 1024;

    /// The caller's thread only.
    pub fn one() -> Self {
        Threads { pool: None }
    }

    /// A pool of `count` threads; 0 means one for every core.
    pub fn new(count: usize) -> Result<Self> {
        Self::build(count, |pool| pool)
    }

    /// As [`Threads::new`], where the caller's thread is one of the pool: it works instead of sleeping, which halves the
    /// time of a small step. For the main thread, which starts all work: a thread can join only one pool and gets an ordinary pool
    /// after that.
    pub fn joined_by_caller(count: usize) -> Result<Self> {
        Self::build(count, |pool| pool.use_current_thread()).or_else(|_| Self::new(count))
    }

    fn build(
        count: usize,
        adjust: impl FnOnce(rayon::ThreadPoolBuilder) -> rayon::ThreadPoolBuilder,
    ) -> Result<Self> {
        let count = if count == 0 { Self::available() } else { count };
        if count > Self::MOST {
            return Err(Error::Resources(format!("threads must be at most {}, got {count}", Self::MOST)));
        }
        if count == 1 {
            return Ok(Threads::one());
        }
        let builder =
            rayon::ThreadPoolBuilder::new().num_threads(count).thread_name(|index| format!("ldlf-{index}"));
        let pool = adjust(builder)
            .build()
            .map_err(|e| Error::Resources(format!("cannot start {count} threads: {e}; ask for fewer")))?;
        Ok(Threads { pool: Some(Arc::new(pool)) })
    }

    /// The number of cores this process may use.
    pub fn available() -> usize {
        std::thread::available_parallelism().map_or(1, |n| n.get())
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `work` so that `rayon` uses these threads inside it. With one thread there is no pool and `rayon` uses its own.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            None => work(),
            Some(pool) => pool.install(work),
        }
    }

    /// Runs `work` on every item and returns the results in the order of the items.
    pub fn map<I: Send, R: Send>(
        &self,
        items: impl IntoIterator<Item = I>,
        work: impl Fn(I) -> R + Sync,
    ) -> Vec<R> {
        match &self.pool {
            None => items.into_iter().map(work).collect(),
            Some(pool) => {
                let items: Vec<I> = items.into_iter().collect();
                pool.install(|| items.into_par_iter().map(&work).collect())
            }
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
        self.for_each_part::<I, (), 0>(items, [], |index, item, []| work(index, item));
    }

    /// Divides several slices of equal length into chunks of `size` at the same places and runs
    /// `work(chunk number, the slices' chunks)` on each, without allocating.
    pub fn for_each_chunk<T: Send, const N: usize>(
        &self,
        slices: [&mut [T]; N],
        size: usize,
        work: impl Fn(usize, [&mut [T]; N]) + Sync,
    ) {
        let size = size.max(1);
        let count = slices.first().map_or(0, |slice| slice.len().div_ceil(size));
        // Items of size zero take no memory.
        let mut items = vec![(); count];
        self.for_each_part(&mut items, slices.map(|slice| (slice, size)), |chunk, (), parts| {
            work(chunk, parts)
        });
    }

    /// Gives every item its chunk of each slice, whose chunk sizes may differ, and runs `work(number, item, chunks)` on
    /// each, without allocating. The last chunks may be short, and those of an empty slice are empty.
    pub fn for_each_part<I: Send, T: Send, const N: usize>(
        &self,
        items: &mut [I],
        slices: [(&mut [T], usize); N],
        work: impl Fn(usize, &mut I, [&mut [T]; N]) + Sync,
    ) {
        match &self.pool {
            None => {
                let mut rest = slices;
                for (index, item) in items.iter_mut().enumerate() {
                    let parts = rest.each_mut().map(|(slice, size)| {
                        let taken = std::mem::take(slice);
                        let (part, left) = taken.split_at_mut((*size).min(taken.len()));
                        *slice = left;
                        part
                    });
                    work(index, item, parts);
                }
            }
            Some(pool) => pool.install(|| halve(items, slices, 0, &work)),
        }
    }
}

/// Splits items and slices in the middle until one item is left.
fn halve<I: Send, T: Send, const N: usize>(
    items: &mut [I],
    slices: [(&mut [T], usize); N],
    first: usize,
    work: &(impl Fn(usize, &mut I, [&mut [T]; N]) + Sync),
) {
    match items {
        [] => {}
        [item] => work(first, item, slices.map(|(slice, _)| slice)),
        _ => {
            let half = items.len() / 2;
            let (left_items, right_items) = items.split_at_mut(half);
            let mut right = [const { None }; N];
            let mut rights = right.iter_mut();
            let left = slices.map(|(slice, size)| {
                let (left, right) = slice.split_at_mut((half * size).min(slice.len()));
                *rights.next().expect("N places for N slices") = Some((right, size));
                (left, size)
            });
            let right = right.map(|part| part.expect("every place was filled"));
            rayon::join(
                || halve(left_items, left, first, work),
                || halve(right_items, right, first + half, work),
            );
        }
    }
}

/// Divides `0..total` into ranges of `size`, the last one may be shorter.
pub fn chunks(total: usize, size: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Clone {
    let size = size.max(1);
    (0..total.div_ceil(size)).map(move |chunk| chunk * size..((chunk + 1) * size).min(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_everything_once() {
        assert_eq!(chunks(10, 4).collect::<Vec<_>>(), [0..4, 4..8, 8..10]);
        assert_eq!(chunks(0, 4).len(), 0);
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
    fn every_item_gets_its_chunk_of_each_slice() {
        for count in [1, 3] {
            let mut items = [0usize; 3];
            let (mut a, mut b, mut none): ([usize; 6], [usize; 8], [usize; 0]) =
                (std::array::from_fn(|i| i), std::array::from_fn(|i| 10 * i), []);
            let slices = [(&mut a[..], 2), (&mut b[..], 3), (&mut none[..], 5)];
            Threads::new(count).unwrap().for_each_part(&mut items, slices, |index, item, [a, b, none]| {
                *item = 1000 * index + a.iter().sum::<usize>() + b.iter().sum::<usize>() + none.len();
            });
            assert_eq!(items, [1 + 30, 1000 + 5 + 120, 2000 + 9 + 130]);
        }
    }

    #[test]
    fn results_keep_the_order_of_the_items_on_any_number_of_threads() {
        let expected: Vec<usize> = (0..100).map(|i| i * i).collect();
        for count in [1, 2, 4] {
            let threads = Threads::new(count).unwrap();
            assert_eq!(threads.count(), count);
            assert_eq!(threads.map(0..100, |i: usize| i * i), expected);
        }
    }
}
