//! The system's allocator with a count of the bytes in use by the current thread, of their maximum, and of the bytes in use by all threads.
#![allow(unsafe_code, reason = "an allocator can only be watched by standing in its place")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// What one thread allocates and another frees counts for neither.
static HELD_BY_ALL: AtomicIsize = AtomicIsize::new(0);

/// A single request above this is refused, which ends the process: no reader needs it.
pub const CEILING: usize = 2 << 30;

/// Stands in for the system's allocator: `#[global_allocator] static MEMORY: WatchedMemory = WatchedMemory;`.
pub struct WatchedMemory;

fn grown(size: usize) {
    HELD_BY_ALL.fetch_add(size as isize, Ordering::Relaxed);
    let held = HELD.get().saturating_add(size);
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

fn shrunk(size: usize) {
    HELD_BY_ALL.fetch_sub(size as isize, Ordering::Relaxed);
    HELD.set(HELD.get().saturating_sub(size));
}

// SAFETY: every call is passed on unchanged to the system's allocator, or refused with a null pointer as the trait allows.
unsafe impl GlobalAlloc for WatchedMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        if layout.size() > CEILING {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        if layout.size() > CEILING {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrunk(layout.size());
        // SAFETY: the pointer came from one of the calls above, and so from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs `work` and gives, with its result, the peak of this thread's memory above its level before, in bytes.
pub fn peak_of<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get().saturating_sub(before))
}

/// The bytes in use by this thread: allocated minus freed.
pub fn held() -> usize {
    HELD.get()
}

/// The bytes in use by all threads: allocated minus freed.
pub fn held_by_all() -> isize {
    HELD_BY_ALL.load(Ordering::Relaxed)
}
