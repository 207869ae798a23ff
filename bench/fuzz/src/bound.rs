//! The most memory that an input takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts what is held.
pub struct Bound;

// SAFETY: all memory is the system allocator's; sizes are only counted on the way.
unsafe impl GlobalAlloc for Bound {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller vouches for the layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller vouches that `place` came from here with this layout.
        unsafe { System.dealloc(place, layout) }
    }
}

/// What some work gives, and the most memory that it held beside what was held before.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let found = work();
    (found, PEAK.load(Ordering::Relaxed).saturating_sub(before))
}
