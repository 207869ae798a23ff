//! Memory is bounded: where it gives out, the program says what it was doing, takes
//! along what it has not finished, and ends as any run that failed.
//!
//! On a stable compiler nobody is told of an allocation that fails before the
//! program is aborted, so the allocator itself looks. It counts large pieces only:
//! small ones are in so many places, and so few bytes, that counting them would cost
//! more than it tells.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use linkproof::engine::runtime::MemoryBound;
use linkproof::error::in_bytes;
use linkproof::io::memory::{Available, share_one_pool};

use crate::exit;

/// Pieces of so many bytes are counted.
const LARGE: usize = 1 << 16;
/// Kept for the words at the end.
const RESERVE: usize = 4 << 20;
/// Taken by small pieces, stacks, and what of the program cannot be read again.
const UNCOUNTED: u64 = 6 << 20;

/// The bytes of all large pieces that are held.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// The bytes that may be held.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Whether the limit is the user's word, rather than what was free at some time.
static IS_FIXED: AtomicBool = AtomicBool::new(false);
/// Whether a thread is ending the program.
static ENDING: AtomicBool = AtomicBool::new(false);
/// The limit as fits are told.
static BOUND: OnceLock<MemoryBound> = OnceLock::new();
static SPARE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static DOING: Mutex<&str> = Mutex::new("starting");

thread_local! {
    static IS_ENDING: Cell<bool> = const { Cell::new(false) };
}

/// The allocator of the program.
pub struct Bounded;

// SAFETY: all memory is the system allocator's; sizes are only counted on the way.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller vouches for the layout.
        let place = unsafe { System.alloc(layout) };
        checked(place, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller vouches for the layout.
        let place = unsafe { System.alloc_zeroed(layout) };
        checked(place, layout.size())
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: the caller vouches that `place` came from here with this layout.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        give_back(layout.size());
        take(size);
        // SAFETY: the caller vouches for `place`, its layout and the size.
        let place = unsafe { System.realloc(place, layout, size) };
        checked(place, size)
    }
}

#[inline]
fn take(size: usize) {
    if size >= LARGE {
        let held = HELD.fetch_add(size, Ordering::Relaxed).saturating_add(size);
        if held > LIMIT.load(Ordering::Relaxed) {
            too_much(size, held);
        }
    }
}

#[inline]
fn give_back(size: usize) {
    if size >= LARGE {
        HELD.fetch_sub(size, Ordering::Relaxed);
    }
}

#[inline]
fn checked(place: *mut u8, size: usize) -> *mut u8 {
    if place.is_null() {
        end(size, "the system gave no more");
    }
    place
}

/// More than the limit, unless more has become free since it was set.
#[cold]
fn too_much(size: usize, held: usize) {
    if ENDING.load(Ordering::Relaxed) && IS_ENDING.get() {
        return;
    }
    if !IS_FIXED.load(Ordering::Relaxed)
        && let Some(now) = Available::now()
        && held <= for_pieces(now.in_all())
    {
        LIMIT.store(for_pieces(now.in_all()), Ordering::Relaxed);
        return;
    }
    let by = BOUND.get().map_or("the limit", |bound| &bound.by);
    end(size, by);
}

/// Ends the program with an error.
#[cold]
fn end(size: usize, by: &str) -> ! {
    if IS_ENDING.replace(true) {
        // Not even the words at the end are to be had.
        std::process::abort();
    }
    if ENDING.swap(true, Ordering::Relaxed) {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    if let Ok(mut spare) = SPARE.try_lock() {
        drop(std::mem::take(&mut *spare));
    }
    let doing = DOING.try_lock().map_or("working", |doing| *doing);
    let held = HELD.load(Ordering::Relaxed).saturating_sub(size);
    exit::at_once(
        exit::FAILED,
        &format!(
            "out of memory while {doing}: {} more, beside {} that are held, could not be had ({by}); \
             nothing was written; give less data, set a smaller --dim or --solver sgd, or a larger \
             --max-memory if there is more",
            in_bytes(size as u64),
            in_bytes(held as u64),
        ),
    )
}

/// Says what is being done, for the case that memory gives out.
pub fn doing(words: &'static str) {
    if let Ok(mut doing) = DOING.lock() {
        *doing = words;
    }
}

/// Gives what the last work freed back to the system: the next would come on top of it.
pub fn give_back_free() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it looks at free memory alone, and locks what it looks at.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bounds memory by what the user allows, or else by what there is.
pub fn bound(given: Option<u64>) {
    let bound = match given {
        Some(bytes) => Some(MemoryBound {
            bytes,
            by: "by --max-memory".to_owned(),
            // The allocator watches.
            in_use: None,
        }),
        None => Available::now().map(|now| MemoryBound {
            bytes: now.in_all(),
            by: now.by,
            in_use: None,
        }),
    };
    share_one_pool();
    if let (None, Some(bound)) = (given, &bound)
        && let Some(words) = too_little(bound)
    {
        exit::at_once(exit::FAILED, &words);
    }
    IS_FIXED.store(given.is_some(), Ordering::Relaxed);
    if let Ok(mut spare) = SPARE.lock() {
        // Written to, so that it is really there.
        *spare = vec![1; RESERVE];
    }
    if let Some(bound) = bound {
        let limit = match given {
            Some(bytes) => usize::try_from(bytes).unwrap_or(usize::MAX),
            None => for_pieces(bound.bytes),
        };
        LIMIT.store(limit, Ordering::Relaxed);
        // Set once, before any work.
        let _ = BOUND.set(bound);
    }
}

/// Whether there is too little even to begin, in words. A control group would kill without
/// any.
fn too_little(bound: &MemoryBound) -> Option<String> {
    let least = UNCOUNTED + RESERVE as u64;
    (bound.bytes < least).then(|| {
        let (least, bytes) = (in_bytes(least), in_bytes(bound.bytes));
        let by = &bound.by;
        format!(
            "the program itself needs about {least} of memory, and {bytes} can be had ({by}); \
             nothing was written"
        )
    })
}

/// What large pieces may hold of so much memory.
fn for_pieces(bytes: u64) -> usize {
    usize::try_from(bytes.saturating_sub(UNCOUNTED)).unwrap_or(usize::MAX)
}

/// The bound, for fits to know beforehand.
pub fn known_bound() -> Option<&'static MemoryBound> {
    BOUND.get()
}

/// An amount as typed.
pub fn amount(text: &str) -> Result<u64, String> {
    let bytes = linkproof::io::memory::bytes(text);
    bytes.ok_or_else(|| "expected an amount such as 500MB or 4GB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_too_little_for_the_program_are_told() {
        let group = |bytes| MemoryBound {
            bytes,
            by: "left of the control group's limit of 8 MB".to_owned(),
            in_use: None,
        };
        let words = too_little(&group(7_500_000)).unwrap();
        assert!(words.contains("7.5 MB can be had (left of the control group's"));
        assert!(too_little(&group(30_000_000)).is_none());
        // What is not counted is left out of what pieces may hold.
        assert!(for_pieces(30_000_000) < 25_000_000);
        assert_eq!(for_pieces(1), 0);
    }
}
