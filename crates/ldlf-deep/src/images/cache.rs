//! Resized images, cached for the next epoch in bounded memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ldlf_core::images::Image;

/// One slot per image, filled until the limit is reached. Nothing is evicted: every epoch reads every image once, in random order, so
/// that eviction would not raise the hit rate.
#[derive(Debug)]
pub(super) struct ImageCache {
    slots: Vec<Mutex<Option<Arc<Image>>>>,
    bytes: AtomicUsize,
    most: usize,
}

impl ImageCache {
    /// A cache of at most `most` bytes for `images` images.
    pub(super) fn new(images: usize, most: usize) -> Self {
        let slots = if most == 0 { 0 } else { images };
        ImageCache { slots: (0..slots).map(|_| Mutex::new(None)).collect(), bytes: AtomicUsize::new(0), most }
    }

    /// The image, if it is cached in this size.
    pub(super) fn get(&self, image: usize, side: usize) -> Option<Arc<Image>> {
        let slot = self.slots.get(image)?.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().filter(|cached| cached.width.min(cached.height) == side).cloned()
    }

    /// Caches an image where there is room, in place of the same image in another size.
    pub(super) fn put(&self, image: usize, resized: &Arc<Image>) {
        let Some(slot) = self.slots.get(image) else { return };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = slot.take() {
            self.bytes.fetch_sub(old.rgb.len(), Ordering::Relaxed);
        }
        let room = |held: usize| held.checked_add(resized.rgb.len()).filter(|bytes| *bytes <= self.most);
        if self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).is_ok() {
            *slot = Some(Arc::clone(resized));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(side: usize) -> Arc<Image> {
        Arc::new(Image { width: side, height: side, rgb: vec![0; 3 * side * side] })
    }

    #[test]
    fn images_are_cached_until_the_limit_is_reached() {
        let cache = ImageCache::new(3, 2 * 3 * 16);
        (0..3).for_each(|image| cache.put(image, &square(4)));
        assert!(cache.get(0, 4).is_some() && cache.get(1, 4).is_some());
        assert!(cache.get(2, 4).is_none(), "there is no room for a third");
    }

    #[test]
    fn another_size_takes_the_place_of_the_first() {
        let cache = ImageCache::new(1, 3 * 16);
        cache.put(0, &square(4));
        cache.put(0, &square(2));
        assert!(cache.get(0, 4).is_none() && cache.get(0, 2).is_some());
        cache.put(0, &square(4));
        assert!(cache.get(0, 4).is_some(), "the room of the smaller was given back");
    }

    #[test]
    fn without_room_nothing_is_cached() {
        let cache = ImageCache::new(1, 0);
        cache.put(0, &square(1));
        assert!(cache.get(0, 1).is_none());
    }
}
