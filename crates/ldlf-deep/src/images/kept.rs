//! Resized images that are kept for the next epoch, in bounded memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ldlf_core::images::Image;

/// A slot per image, filled until the bound is reached and then left as it is: epochs ask for every image once, in another order
/// each time, so that whatever made room for one image would be missed by another.
#[derive(Debug)]
pub(super) struct Kept {
    slots: Vec<Mutex<Option<Arc<Image>>>>,
    bytes: AtomicUsize,
    most: usize,
}

impl Kept {
    /// Room for `most` bytes of so many images.
    pub(super) fn new(images: usize, most: usize) -> Self {
        let slots = if most == 0 { 0 } else { images };
        Kept { slots: (0..slots).map(|_| Mutex::new(None)).collect(), bytes: AtomicUsize::new(0), most }
    }

    /// The image, if it is there in this size.
    pub(super) fn get(&self, image: usize, side: usize) -> Option<Arc<Image>> {
        let slot = self.slots.get(image)?.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().filter(|kept| kept.width.min(kept.height) == side).cloned()
    }

    /// Keeps an image where there is room, in place of the same in another size.
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
    fn images_are_kept_until_the_bound_is_reached() {
        let kept = Kept::new(3, 2 * 3 * 16);
        (0..3).for_each(|image| kept.put(image, &square(4)));
        assert!(kept.get(0, 4).is_some() && kept.get(1, 4).is_some());
        assert!(kept.get(2, 4).is_none(), "there is no room for a third");
    }

    #[test]
    fn another_size_takes_the_place_of_the_first() {
        let kept = Kept::new(1, 3 * 16);
        kept.put(0, &square(4));
        kept.put(0, &square(2));
        assert!(kept.get(0, 4).is_none() && kept.get(0, 2).is_some());
        kept.put(0, &square(4));
        assert!(kept.get(0, 4).is_some(), "the room of the smaller was given back");
    }

    #[test]
    fn without_room_nothing_is_kept() {
        let kept = Kept::new(1, 0);
        kept.put(0, &square(1));
        assert!(kept.get(0, 1).is_none());
    }
}
