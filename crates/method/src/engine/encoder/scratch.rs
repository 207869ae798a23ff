//! Memory that serves again from strip to strip and from step to step.

use std::sync::{Mutex, PoisonError};

use linkproof_numeric::real::Real;

/// A cache line, in bytes and in single-precision numbers.
const LINE: usize = 64;
const LINE_NUMBERS: usize = LINE / size_of::<f32>();

/// Memory of any content that starts at a cache line, so that a row of a full
/// strip or panel fills whole lines.
#[derive(Debug, Default)]
pub(super) struct Lines<T> {
    numbers: Vec<T>,
}

impl<T: Real> Lines<T> {
    /// Makes room for `size` numbers.
    pub(super) fn reserve(&mut self, size: usize) {
        let size = self.numbers.len().max(size + LINE_NUMBERS);
        self.numbers.resize(size, T::ZERO);
    }

    /// Lends `size` numbers.
    pub(super) fn lend(&mut self, size: usize) -> &mut [T] {
        self.reserve(size);
        let start = self.numbers.as_ptr().align_offset(LINE).min(LINE_NUMBERS);
        &mut self.numbers[start..start + size]
    }
}

/// Pieces of memory, one for each thread at work.
#[derive(Debug, Default)]
pub(super) struct Scratch<T> {
    pieces: Mutex<Vec<Lines<T>>>,
}

impl<T: Real> Scratch<T> {
    /// Makes room for `size` numbers for each thread.
    pub(super) fn reserve(&mut self, size: usize) {
        let pieces = self.pieces.get_mut();
        let pieces = pieces.unwrap_or_else(PoisonError::into_inner);
        pieces.resize_with(
            pieces.len().max(rayon::current_num_threads()),
            Lines::default,
        );
        for piece in pieces {
            piece.reserve(size);
        }
    }

    /// Lends `size` numbers of any value that start at a cache line.
    pub(super) fn with<R>(&self, size: usize, work: impl FnOnce(&mut [T]) -> R) -> R {
        let pieces = || self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let free = pieces().pop();
        let mut piece = free.unwrap_or_default();
        let result = work(piece.lend(size));
        pieces().push(piece);
        result
    }
}
