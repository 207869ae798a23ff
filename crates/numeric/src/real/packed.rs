//! A matrix in panels, as the right factor of products.

use std::ops::Range;

use rayon::prelude::*;

use super::panels::{Pieces, Target, multiply_pieces, narrow_width, pack_columns, panel_width};
use super::{Real, View};

/// Rows of a product, and terms of its sums, that are worked on together: the
/// panel stays in the first-level cache from rows to rows, the left factor in
/// the second-level cache from panel to panel.
const ROWS: usize = 96;
const TERMS: usize = 256;

/// A matrix in panels, in memory that is the caller's. Its last panel is a
/// narrow one where that is enough.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'m, T> {
    panels: &'m [T],
    rows: usize,
    columns: usize,
}

impl<'m, T: Real> Packed<'m, T> {
    /// The numbers that a packed matrix takes.
    pub fn size(rows: usize, columns: usize) -> usize {
        rows * columns.next_multiple_of(narrow_width::<T>())
    }

    /// Packs a matrix into memory of its packed size.
    pub fn new(memory: &'m mut [T], matrix: View<'_, T>) -> Packed<'m, T> {
        Self::pack(memory, matrix, false)
    }

    /// As [`Packed::new`], on all threads.
    pub fn new_parallel(memory: &'m mut [T], matrix: View<'_, T>) -> Packed<'m, T> {
        Self::pack(memory, matrix, true)
    }

    fn pack(memory: &'m mut [T], matrix: View<'_, T>, parallel: bool) -> Packed<'m, T> {
        let (rows, columns) = (matrix.rows, matrix.columns);
        assert_eq!(memory.len(), Self::size(rows, columns), "packed size");
        let width = panel_width::<T>();
        let pack = |(place, panel): (usize, &mut [T])| {
            pack_columns(panel, panel.len() / rows, matrix, place * width);
        };
        let size = (rows * width).max(1);
        match parallel {
            true => memory.par_chunks_mut(size).enumerate().for_each(pack),
            false => memory.chunks_mut(size).enumerate().for_each(pack),
        }
        Packed {
            panels: memory,
            rows,
            columns,
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// `out = a b`, or `out += a b`, with `b` the given rows of this matrix;
    /// `out` is stored row after row.
    pub fn multiply(&self, out: &mut [T], a: View<'_, T>, inner: Range<usize>, add: bool) {
        assert_eq!(a.columns, inner.len(), "inner dimensions");
        if inner.is_empty() && !add {
            out.fill(T::ZERO);
        }
        for start in inner.clone().step_by(TERMS) {
            let end = inner.end.min(start + TERMS);
            let terms = start - inner.start..end - inner.start;
            let a = Pieces {
                first: a.t().rows(terms).t(),
                number: 1,
                distance: 0,
            };
            self.multiply_pieces(out, a, start, add || start > inner.start);
        }
    }

    /// As [`Packed::multiply`] with a left factor in pieces, by the rows of
    /// this matrix from `inner` on.
    pub fn multiply_pieces(&self, out: &mut [T], a: Pieces<'_, T>, inner: usize, add: bool) {
        let terms = inner..inner + a.number * a.first.columns;
        assert!(terms.end <= self.rows, "inner rows");
        assert_eq!(out.len(), a.first.rows * self.columns, "output size");
        let width = panel_width::<T>();
        let block = (ROWS * self.columns).max(1);
        for (block, out) in out.chunks_mut(block).enumerate() {
            let first = block * ROWS;
            let rows = a.first.rows(first..a.first.rows.min(first + ROWS));
            let a = Pieces { first: rows, ..a };
            let panels = self.panels.chunks((self.rows * width).max(1));
            for (panel, entries) in panels.enumerate() {
                let column = panel * width;
                let wide = entries.len() / self.rows;
                let target = Target {
                    data: &mut out[column..],
                    stride: self.columns,
                    columns: wide.min(self.columns - column),
                };
                let entries = &entries[terms.start * wide..terms.end * wide];
                multiply_pieces(target, T::ONE, a, entries, add);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees<T: Real>((m, k, n): (usize, usize, usize), transposed: bool, tolerance: f64) {
        let number = |place: usize, step: f64| T::of((place as f64 * step).sin());
        let a: Vec<T> = (0..m * k).map(|place| number(place, 0.7)).collect();
        let b: Vec<T> = (0..k * n).map(|place| number(place, 1.3)).collect();
        let a = match transposed {
            true => View::new(&a, k, m).t(),
            false => View::new(&a, m, k),
        };
        let mut memory = vec![T::ONE; Packed::<T>::size(k, n)];
        let packed = Packed::new_parallel(&mut memory, View::new(&b, k, n));
        let middle = k / 3;
        let mut out = vec![T::of(f64::NAN); m * n];
        packed.multiply(&mut out, a.t().rows(0..middle).t(), 0..middle, false);
        packed.multiply(&mut out, a.t().rows(middle..k).t(), middle..k, true);
        for i in 0..m {
            for j in 0..n {
                let term = |l: usize| {
                    let left = a.data[i * a.row_stride + l * a.column_stride];
                    left.to_f64() * b[l * n + j].to_f64()
                };
                let expected: f64 = (0..k).map(term).sum();
                let found = out[i * n + j].to_f64();
                assert!(
                    (found - expected).abs() < tolerance,
                    "{m} {k} {n} {transposed}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn products_agree_with_plain_loops_at_odd_sizes() {
        for m in [1, 8, 32, 100, 203] {
            for k in [0, 1, 5, 127, 300] {
                for n in [1, 8, 9, 32, 41, 100] {
                    for transposed in [false, true] {
                        agrees::<f32>((m, k, n), transposed, 1e-4);
                        agrees::<f64>((m, k, n), transposed, 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn a_left_factor_in_pieces_is_one_side_by_side() {
        let (n, width, number, columns) = (7, 5, 3, 9);
        let pieces: Vec<f64> = (0..n * width * number).map(|x| x as f64).collect();
        let b: Vec<f64> = (0..width * number * columns).map(|x| x as f64).collect();
        let mut memory = vec![0.0; Packed::<f64>::size(width * number, columns)];
        let packed = Packed::new(&mut memory, View::new(&b, width * number, columns));
        let (mut at_once, mut one_by_one) = (vec![1.0; n * columns], vec![1.0; n * columns]);
        let a = Pieces {
            first: View::strided(&pieces, n, width, width),
            number,
            distance: n * width,
        };
        packed.multiply_pieces(&mut at_once, a, 0, true);
        for (piece, values) in pieces.chunks_exact(n * width).enumerate() {
            let inner = piece * width..(piece + 1) * width;
            packed.multiply(&mut one_by_one, View::new(values, n, width), inner, true);
        }
        assert_eq!(at_once, one_by_one);
    }
}
