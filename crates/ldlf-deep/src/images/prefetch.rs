//! Batches of prepared images, prefetched while the network works on the ones before.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use ldlf_core::{Error, Images, Result, Seed};
use ldlf_math::memory;

use super::{Augmentation, Preparation, prepare, whole_side};

/// Prepared images of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The rows.
    pub rows: Vec<usize>,
    /// `[rows, channels, side, side]`.
    pub pixels: Vec<f32>,
}

/// Batches in the requested order; see [`prefetch`]. Dropping it stops its threads.
#[derive(Debug)]
pub struct PrefetchedBatches {
    shared: Arc<Shared>,
    next: usize,
    workers: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    images: Images,
    order: Vec<Vec<usize>>,
    /// How often the row at the same index of `order` came before.
    visits: Vec<Vec<u64>>,
    preparation: Preparation,
    augmentation: Option<(Augmentation, Seed)>,
    /// The number of batches that may be in progress or waiting.
    limit: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The batch that the next free thread takes.
    next: usize,
    /// The batches that the consumer took.
    taken: usize,
    ready: BTreeMap<usize, Result<Batch>>,
    stopped: bool,
}

/// Decodes, crops and scales the images of every batch of `order` (row numbers of `images`) on `threads` threads of its own while the
/// caller works on earlier batches. At most `threads + 1` batches are in progress or waiting, and they come in order. One or two threads
/// suffice: they share the cores with the network, whose step takes longer than decoding its images.
///
/// An augmentation is drawn from the seed, the row and how often the row was in `order` before; give every epoch its own seed. Without
/// one, every row is prepared as for a prediction.
///
/// An image that cannot be read makes its batch an error.
pub fn prefetch(
    images: &Images,
    order: &[Vec<usize>],
    preparation: &Preparation,
    augmentation: Option<(&Augmentation, Seed)>,
    threads: usize,
) -> Result<PrefetchedBatches> {
    preparation.check()?;
    augmentation.map_or(Ok(()), |(augmentation, _)| augmentation.check())?;
    let rows = images.rows();
    if let Some(row) = order.iter().flatten().find(|row| **row >= rows) {
        return Err(Error::usage(format!("row {row} is asked for, but there are {rows} rows")));
    }
    let threads = threads.clamp(1, order.len().max(1));
    let limit = threads + 1;
    let largest = order.iter().map(Vec::len).max().unwrap_or(0);
    let sizes = [("batches", limit), ("images", largest), ("numbers", preparation.len())];
    memory::check("the images of the batches", &sizes, size_of::<f32>())?;
    let shared = Arc::new(Shared {
        images: images.clone(),
        visits: visits(order),
        order: order.to_vec(),
        preparation: preparation.clone(),
        augmentation: augmentation.map(|(augmentation, seed)| (augmentation.clone(), seed)),
        limit,
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    let mut batches = PrefetchedBatches { shared, next: 0, workers: Vec::new() };
    for number in 0..threads {
        let shared = Arc::clone(&batches.shared);
        let thread = std::thread::Builder::new().name(format!("images-{number}"));
        let worker = thread.spawn(move || shared.work()).map_err(|e| {
            Error::usage(format!("cannot start a thread that reads images: {e}"))
                .with_remedy("ask for fewer threads")
        })?;
        batches.workers.push(worker);
    }
    Ok(batches)
}

fn visits(order: &[Vec<usize>]) -> Vec<Vec<u64>> {
    let mut seen: HashMap<usize, u64> = HashMap::new();
    let mut visit = |row: &usize| {
        let count = seen.entry(*row).or_insert(0);
        *count += 1;
        *count - 1
    };
    order.iter().map(|rows| rows.iter().map(&mut visit).collect()).collect()
}

impl Shared {
    /// No thread panics while holding the lock; the state of a poisoned one would still be valid.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares batch after batch, until there are no more or the iterator is dropped.
    fn work(&self) {
        loop {
            let mut state = self.state();
            while !state.stopped && state.next < self.order.len() && state.next >= state.taken + self.limit {
                state = self.wait(state);
            }
            if state.stopped || state.next >= self.order.len() {
                return;
            }
            let number = state.next;
            state.next += 1;
            drop(state);
            // Without a batch, even a failed one, the consumer would wait for ever.
            let batch = catch_unwind(AssertUnwindSafe(|| self.batch(number)))
                .unwrap_or_else(|_| Err(Error::training("the preparation of an image panicked")));
            self.state().ready.insert(number, batch);
            self.changed.notify_all();
        }
    }

    fn batch(&self, number: usize) -> Result<Batch> {
        let rows = &self.order[number];
        let mut pixels = vec![0.0; rows.len() * self.preparation.len()];
        let places = pixels.chunks_exact_mut(self.preparation.len());
        for ((&row, &visit), out) in rows.iter().zip(&self.visits[number]).zip(places) {
            if self.state().stopped {
                break;
            }
            let image =
                self.images.resized(row, whole_side(self.preparation.side, self.preparation.margin))?;
            match &self.augmentation {
                Some((augmentation, seed)) => {
                    let seed = seed.numbered(row as u64).numbered(visit);
                    augmentation.prepare(&image, &self.preparation, seed, out);
                }
                None => prepare(&image, &self.preparation, out),
            }
        }
        Ok(Batch { rows: rows.clone(), pixels })
    }
}

impl Iterator for PrefetchedBatches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        if self.next == self.shared.order.len() {
            return None;
        }
        let mut state = self.shared.state();
        let batch = loop {
            match state.ready.remove(&self.next) {
                Some(batch) => break batch,
                None => state = self.shared.wait(state),
            }
        };
        state.taken += 1;
        drop(state);
        self.next += 1;
        self.shared.changed.notify_all();
        Some(batch)
    }
}

impl Drop for PrefetchedBatches {
    fn drop(&mut self) {
        self.shared.state().stopped = true;
        self.shared.changed.notify_all();
        for worker in self.workers.drain(..) {
            // A panic was already reported by its thread.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ldlf_core::images::{Image, ImageSource};

    use super::*;

    /// Images of one colour, their number; one may be bad.
    #[derive(Debug)]
    struct Colours {
        bad: Option<usize>,
        decoded: AtomicUsize,
    }

    impl ImageSource for Colours {
        fn len(&self) -> usize {
            100
        }

        fn name(&self, _: usize) -> &str {
            "colour"
        }

        fn resized(&self, image: usize, side: usize) -> Result<Arc<Image>> {
            self.decoded.fetch_add(1, Ordering::Relaxed);
            if self.bad == Some(image) {
                return Err(Error::data("a bad image"));
            }
            let pixel = |at: usize| [image as u8, (at % 7) as u8, 0];
            Ok(Arc::new(Image { width: side, height: side, rgb: (0..side * side).flat_map(pixel).collect() }))
        }
    }

    fn colours(bad: Option<usize>) -> (Arc<Colours>, Images) {
        let source = Arc::new(Colours { bad, decoded: AtomicUsize::new(0) });
        (Arc::clone(&source), Images::all(source))
    }

    fn preparation() -> Preparation {
        Preparation {
            side: 4,
            channels: 3,
            mean: vec![0.0; 3],
            deviation: vec![1.0; 3],
            range: 1.0,
            order: Default::default(),
            margin: 0.0,
        }
    }

    fn order() -> Vec<Vec<usize>> {
        (0..100).rev().collect::<Vec<_>>().chunks(7).map(<[usize]>::to_vec).collect()
    }

    #[test]
    fn batches_come_in_the_order_that_was_asked_for() {
        let (_, images) = colours(None);
        let batches: Vec<Batch> =
            prefetch(&images, &order(), &preparation(), None, 3).unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(|batch| batch.rows.clone()).collect::<Vec<_>>(), order());
        for batch in &batches {
            let first: Vec<usize> =
                batch.pixels.chunks(48).map(|pixels| (pixels[0] * 255.0).round() as usize).collect();
            assert_eq!(first, batch.rows);
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let (_, images) = colours(None);
        let augmentation = Augmentation { flip: true, crop: 0.3, jitter: 0.2, erasing: 0.0 };
        let epoch = |threads| {
            let look = Some((&augmentation, Seed::new(1)));
            let batches = prefetch(&images, &order(), &preparation(), look, threads).unwrap();
            batches.map(Result::unwrap).collect::<Vec<Batch>>()
        };
        assert_eq!(epoch(1), epoch(4));
    }

    #[test]
    fn a_row_that_comes_twice_is_augmented_differently() {
        let twice = augmented(&[vec![50], vec![50]]);
        assert_ne!(twice[..48], twice[48..]);
    }

    #[test]
    fn augmentation_does_not_depend_on_the_rows_before() {
        assert_eq!(augmented(&[vec![3, 50]])[48..], augmented(&[vec![50]])[..]);
    }

    /// The augmented pixels of some batches.
    fn augmented(order: &[Vec<usize>]) -> Vec<f32> {
        let (_, images) = colours(None);
        let augmentation = Augmentation { flip: false, crop: 0.3, jitter: 0.5, erasing: 0.0 };
        let seeded = Some((&augmentation, Seed::new(1)));
        let batches = prefetch(&images, order, &preparation(), seeded, 2).unwrap();
        batches.flat_map(|batch| batch.unwrap().pixels).collect()
    }

    #[test]
    fn what_is_cut_off_at_the_edges_is_not_seen() {
        let (_, images) = colours(None);
        let cut = Preparation { side: 2, margin: 0.3, ..preparation() };
        let batch = prefetch(&images, &[vec![9]], &cut, None, 1).unwrap().next().unwrap().unwrap();
        // Of 5 x 5 pixels, whose green counts from 0 to 6 again and again, those of lines and columns 1 and 2.
        let green: Vec<f32> = batch.pixels[4..8].iter().map(|v| (v * 255.0).round()).collect();
        assert_eq!(green, [6.0, 0.0, 4.0, 5.0]);
    }

    #[test]
    fn a_bad_image_is_an_error_of_its_batch() {
        let (_, images) = colours(Some(80));
        let outcomes: Vec<bool> = prefetch(&images, &order(), &preparation(), None, 2)
            .unwrap()
            .map(|batch| batch.is_ok())
            .collect();
        let expected: Vec<bool> = order().iter().map(|rows| !rows.contains(&80)).collect();
        assert_eq!(outcomes, expected);
    }

    #[test]
    fn no_more_is_decoded_than_the_bound_allows() {
        let (source, images) = colours(None);
        let mut batches = prefetch(&images, &order(), &preparation(), None, 2).unwrap();
        batches.next().unwrap().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        let decoded = source.decoded.load(Ordering::Relaxed);
        assert!(decoded <= 4 * 7, "one taken and three prefetched: {decoded}");
    }

    #[test]
    fn dropping_the_batches_ends_their_threads() {
        let (source, images) = colours(None);
        let mut batches = prefetch(&images, &order(), &preparation(), None, 2).unwrap();
        batches.next().unwrap().unwrap();
        drop(batches);
        assert_eq!(Arc::strong_count(&source), 2, "only the test and its images hold the images");
    }

    #[test]
    fn a_row_out_of_range_is_refused() {
        let (_, images) = colours(None);
        let refused = prefetch(&images, &[vec![100]], &preparation(), None, 1).unwrap_err().to_string();
        assert_eq!(refused, "row 100 is asked for, but there are 100 rows");
    }

    #[test]
    fn an_empty_order_gives_no_batches() {
        let (_, images) = colours(None);
        assert!(prefetch(&images, &[], &preparation(), None, 1).unwrap().next().is_none());
    }
}
