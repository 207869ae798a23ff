//! The right factor of a product: weights, or a derivative.

use linkproof_numeric::real::{Packed, Real, View};

/// A matrix as the right factor of a product: in panels where the left one is
/// dense, row after row where it is sparse.
#[derive(Debug, Clone, Copy)]
pub(super) enum Factor<'f, T> {
    /// The matrix row after row, and its number of columns.
    Plain(&'f [T], usize),
    /// The matrix in panels.
    Packed(Packed<'f, T>),
}

impl<'f, T: Real> Factor<'f, T> {
    /// The memory that a factor of a dense matrix needs.
    pub(super) fn size(rows: usize, width: usize) -> usize {
        Packed::<T>::size(rows, width)
    }

    /// A factor of dense matrices, from entries row after row; on all threads
    /// if asked to.
    pub(super) fn packed(
        memory: &'f mut [T],
        entries: &[T],
        width: usize,
        parallel: bool,
    ) -> Factor<'f, T> {
        let matrix = View::new(entries, entries.len() / width, width);
        Factor::Packed(match parallel {
            true => Packed::new_parallel(memory, matrix),
            false => Packed::new(memory, matrix),
        })
    }
}
