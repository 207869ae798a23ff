//! Products of tall matrices.

use rayon::prelude::*;

use crate::real::{Packed, View};

/// Rows of one partial sum. Results depend on this number, and not on threads.
const ROWS: usize = 1024;
/// Partial sums that are kept in memory together.
const PARTIALS: usize = 64;

/// `X'Y` for tall matrices `X` (rows x `a`) and `Y` (rows x `b`): an `a` x `b` matrix.
pub fn cross(x: &[f64], a: usize, y: &[f64], b: usize) -> Vec<f64> {
    let rows = rows_of(x, a).max(rows_of(y, b));
    assert!(
        x.len() == rows * a && y.len() == rows * b,
        "factors of different height"
    );
    let mut sum = vec![0.0; a * b];
    if sum.is_empty() {
        return sum;
    }
    let partial = |(x, y): (&[f64], &[f64])| {
        let rows = x.len() / a;
        let mut memory = vec![0.0; Packed::<f64>::size(rows, b)];
        let packed = Packed::new(&mut memory, View::new(y, rows, b));
        let mut product = vec![0.0; a * b];
        packed.multiply(&mut product, View::new(x, rows, a).t(), 0..rows, false);
        product
    };
    let batches = x.chunks(PARTIALS * ROWS * a);
    for (x, y) in batches.zip(y.chunks(PARTIALS * ROWS * b)) {
        let chunks = x.par_chunks(ROWS * a).zip(y.par_chunks(ROWS * b));
        let partials: Vec<Vec<f64>> = chunks.map(partial).collect();
        for partial in partials {
            for (sum, term) in sum.iter_mut().zip(partial) {
                *sum += term;
            }
        }
    }
    sum
}

/// `X'X` for a tall matrix, exactly symmetric.
pub fn gram(x: &[f64], columns: usize) -> Vec<f64> {
    let mut gram = cross(x, columns, x, columns);
    mirror(&mut gram, columns);
    gram
}

/// `X M` for a tall matrix `X` (rows x `inner`) and a small one `M` (`inner` x
/// `columns`), written to `out` (rows x `columns`).
pub fn times(x: &[f64], inner: usize, m: &[f64], columns: usize, out: &mut [f64]) {
    if columns == 0 || inner == 0 {
        let is_empty = if inner == 0 {
            x.is_empty()
        } else {
            out.is_empty()
        };
        assert!(is_empty && m.is_empty(), "matrix size");
        out.fill(0.0);
        return;
    }
    let rows = rows_of(x, inner);
    assert_eq!(out.len(), rows * columns, "output size");
    let mut memory = vec![0.0; Packed::<f64>::size(inner, columns)];
    let packed = Packed::new(&mut memory, View::new(m, inner, columns));
    let chunks = out.par_chunks_mut(ROWS * columns);
    chunks.zip(x.par_chunks(ROWS * inner)).for_each(|(out, x)| {
        let x = View::new(x, x.len() / inner, inner);
        packed.multiply(out, x, 0..inner, false);
    });
}

/// Replaces a tall matrix by its product with a square one.
pub(super) fn times_in_place(x: &mut [f64], m: &[f64], columns: usize) {
    assert_eq!(x.len(), rows_of(x, columns) * columns, "matrix size");
    if columns == 0 {
        return;
    }
    let mut memory = vec![0.0; Packed::<f64>::size(columns, columns)];
    let packed = Packed::new(&mut memory, View::new(m, columns, columns));
    // Fewer rows, so that the copy stays in the second-level cache.
    let chunks = x.par_chunks_mut(ROWS / 4 * columns);
    chunks.for_each_init(Vec::new, |copy, x| {
        copy.clear();
        copy.extend_from_slice(x);
        let copy = View::new(copy, copy.len() / columns, columns);
        packed.multiply(x, copy, 0..columns, false);
    });
}

/// The number of rows of a matrix of so many columns.
pub(super) fn rows_of(x: &[f64], columns: usize) -> usize {
    let rows = x.len().checked_div(columns).unwrap_or(0);
    assert_eq!(rows * columns, x.len(), "matrix size");
    rows
}

/// Copies the lower triangle of a square matrix to the upper one.
pub(super) fn mirror(a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            a[j * n + i] = a[i * n + j];
        }
    }
}
