//! A matrix in panels, as the right factor of products.

use std::ops::Range;

use rayon::prelude::*;

use super::panels::{Target, multiply_panel, narrow_width, pack_columns, panel_width};
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
        assert!(inner.end <= self.rows, "inner rows");
        assert_eq!(a.columns, inner.len(), "inner dimensions");
        assert_eq!(out.len(), a.rows * self.columns, "output size");
        if inner.is_empty() && !add {
            out.fill(T::ZERO);
        }
        let width = panel_width::<T>();
        for start in inner.clone().step_by(TERMS) {
            let terms = start..inner.end.min(start + TERMS);
            let a = a.t();
            let a = a.rows(start - inner.start..terms.end - inner.start).t();
            for (block, out) in out.chunks_mut((ROWS * self.columns).max(1)).enumerate() {
                let first = block * ROWS;
                let a = a.rows(first..a.rows.min(first + ROWS));
                let panels = self.panels.chunks(self.rows * width).enumerate();
                for (panel, entries) in panels {
                    let column = panel * width;
                    let wide = entries.len() / self.rows;
                    let target = Target {
                        data: &mut out[column..],
                        stride: self.columns,
                        columns: wide.min(self.columns - column),
                    };
                    let entries = &entries[terms.start * wide..terms.end * wide];
                    let add = add || start > inner.start;
                    multiply_panel(target, T::ONE, a, entries, add);
                }
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
}
