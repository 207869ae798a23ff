//! Memory for the strips that are being worked on.

use std::sync::{Mutex, PoisonError};

use crate::real::Real;

/// A cache line, in bytes and in single-precision numbers.
const LINE: usize = 64;
const LINE_NUMBERS: usize = LINE / size_of::<f32>();

/// Pieces of memory, one for each thread at work, which serve again from strip
/// to strip and from step to step.
#[derive(Debug, Default)]
pub(super) struct Scratch<T> {
    pieces: Mutex<Vec<Vec<T>>>,
}

impl<T: Real> Scratch<T> {
    /// Makes room for `size` numbers for each thread.
    pub(super) fn reserve(&mut self, size: usize) {
        let pieces = self.pieces.get_mut();
        let pieces = pieces.unwrap_or_else(PoisonError::into_inner);
        pieces.resize_with(pieces.len().max(rayon::current_num_threads()), Vec::new);
        for piece in pieces {
            piece.resize(piece.len().max(size + LINE_NUMBERS), T::ZERO);
        }
    }

    /// Lends `size` numbers of any value. They start at a cache line, so that
    /// a row of a full strip fills whole lines.
    pub(super) fn with<R>(&self, size: usize, work: impl FnOnce(&mut [T]) -> R) -> R {
        let pieces = || self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let free = pieces().pop();
        let mut piece = free.unwrap_or_default();
        piece.resize(piece.len().max(size + LINE_NUMBERS), T::ZERO);
        let start = piece.as_ptr().align_offset(LINE).min(LINE_NUMBERS);
        let result = work(&mut piece[start..start + size]);
        pieces().push(piece);
        result
    }
}
