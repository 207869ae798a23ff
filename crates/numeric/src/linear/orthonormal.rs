//! Orthonormal bases of the columns of tall matrices, by their Gram matrix.

use super::definite::{cholesky, inverse_lower};
use super::products::{gram, times_in_place};
use super::symmetric::symmetric_eigen;

/// A combination of columns of length 1 that is shorter has little but rounding in it.
const NEGLIGIBLE: f64 = 1e-13;
/// The largest sum of the inverse eigenvalues of a Gram matrix, with ones on its
/// diagonal, for which Cholesky's factor is used.
const USABLE: f64 = 1e10;
/// The largest such sum for which the result is orthonormal to 12 digits or so.
const EXACT: f64 = 1e4;
/// Passes after which a basis is returned as it stands; three are rare.
const PASSES: usize = 8;

/// Replaces the columns of a tall matrix by an orthonormal basis of their span. If the
/// columns are dependent, some columns of the result are zeros, at any place.
///
/// Combinations of columns, each column at length 1, that are shorter than 1e-13 do
/// not count.
pub fn orthonormalize(q: &mut [f64], columns: usize) {
    basis(q, columns, EXACT);
}

/// As [`orthonormalize`], orthonormal to 5 digits or more: for products in between.
pub(super) fn orthonormalize_roughly(q: &mut [f64], columns: usize) {
    basis(q, columns, USABLE);
}

/// Passes over the columns until one of them had a Gram matrix whose inverse
/// eigenvalues add up to `enough` or less.
fn basis(q: &mut [f64], columns: usize, enough: f64) {
    // How much of each column may be rounding.
    let mut noise = vec![0.0; columns];
    for _ in 0..PASSES {
        let (scales, gram) = scaled_gram(q, columns, &mut noise);
        let combined = match triangular(&scales, &gram, columns) {
            Some((combined, inverse_sum)) => {
                let after = combined_noise(&combined, &noise, columns);
                // Below 1, what counts is left of each column.
                (after.iter().all(|x| *x < 1.0)).then_some((combined, after, inverse_sum))
            }
            None => None,
        };
        // Else orthogonal combinations of different lengths, the longest first. The next
        // pass scales them, and leaves out those without length.
        let (mut factor, after, inverse_sum) = combined.unwrap_or_else(|| {
            let (_, mut vectors) = symmetric_eigen(&gram, columns);
            vectors.chunks_exact_mut(columns).for_each(<[f64]>::reverse);
            let after = combined_noise(&vectors, &noise, columns);
            (vectors, after, f64::INFINITY)
        });
        noise = after;
        let rows = factor.chunks_exact_mut(columns.max(1));
        for (row, scale) in rows.zip(&scales) {
            row.iter_mut().for_each(|entry| *entry *= scale);
        }
        times_in_place(q, &factor, columns);
        if inverse_sum <= enough {
            return;
        }
    }
}

/// The noise in combinations of columns, from that in the columns.
fn combined_noise(factor: &[f64], noise: &[f64], columns: usize) -> Vec<f64> {
    let mut squares = vec![0.0; columns];
    for (row, noise) in factor.chunks_exact(columns.max(1)).zip(noise) {
        for (square, entry) in squares.iter_mut().zip(row) {
            *square += (entry * noise) * (entry * noise);
        }
    }
    squares.into_iter().map(f64::sqrt).collect()
}

/// The inverse lengths of the columns, 0 for those that are noise, and the Gram matrix
/// of the columns times these. The noise is scaled along.
fn scaled_gram(q: &[f64], columns: usize, noise: &mut [f64]) -> (Vec<f64>, Vec<f64>) {
    let mut gram = gram(q, columns);
    let mut scales = vec![0.0; columns];
    for (i, (scale, noise)) in scales.iter_mut().zip(noise).enumerate() {
        let length = gram[i * columns + i].sqrt();
        let counts = length > *noise && length.is_normal();
        (*scale, *noise) = if counts {
            (1.0 / length, (*noise / length).max(NEGLIGIBLE))
        } else {
            (0.0, 0.0)
        };
    }
    for (i, row) in gram.chunks_exact_mut(columns.max(1)).enumerate() {
        for (entry, scale) in row.iter_mut().zip(&scales) {
            *entry *= scales[i] * scale;
        }
    }
    (scales, gram)
}

/// The factor that makes columns of length 1 or 0 orthonormal, by Cholesky's factor of
/// their Gram matrix, and the sum of the inverse eigenvalues of that; `None` if it is
/// singular or nearly so.
fn triangular(scales: &[f64], gram: &[f64], columns: usize) -> Option<(Vec<f64>, f64)> {
    let mut filled = gram.to_vec();
    for (i, scale) in scales.iter().enumerate() {
        if *scale == 0.0 {
            filled[i * columns + i] = 1.0;
        }
    }
    let inverse = inverse_lower(&cholesky(&filled, columns)?, columns);
    let inverse_sum = inverse.iter().map(|x| x * x).sum::<f64>();
    if !(inverse_sum <= USABLE) {
        return None;
    }
    let mut factor = vec![0.0; columns * columns];
    for i in 0..columns {
        for j in i..columns {
            factor[i * columns + j] = inverse[j * columns + i];
        }
    }
    Some((factor, inverse_sum))
}
