//! Symmetric positive definite matrices, by their Cholesky factor.

use super::products::mirror;
use crate::real::{add_scaled, dot};

/// The lower triangular `L` of `A = L L'`; `None` if `A` is not positive definite.
pub(super) fn cholesky(a: &[f64], n: usize) -> Option<Vec<f64>> {
    assert_eq!(a.len(), n * n, "matrix size");
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        let (done, row) = factor.split_at_mut(i * n);
        for j in 0..i {
            let other = &done[j * n..][..=j];
            row[j] = (a[i * n + j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = a[i * n + i] - dot(&row[..i], &row[..i]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    Some(factor)
}

/// The inverse of a lower triangular matrix.
pub(super) fn inverse_lower(lower: &[f64], n: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; n * n];
    for i in 0..n {
        let (done, row) = inverse.split_at_mut(i * n);
        for k in 0..i {
            add_scaled(&mut row[..=k], -lower[i * n + k], &done[k * n..][..=k]);
        }
        let pivot = lower[i * n + i];
        row[i] = 1.0;
        row[..=i].iter_mut().for_each(|entry| *entry /= pivot);
    }
    inverse
}

/// The inverse of a symmetric positive definite matrix; `None` if the matrix is not
/// positive definite.
pub fn inverse(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let lower = inverse_lower(&cholesky(a, n)?, n);
    let mut inverse = vec![0.0; n * n];
    for k in 0..n {
        let row = &lower[k * n..][..=k];
        for i in 0..=k {
            add_scaled(&mut inverse[i * n..][..=i], row[i], &row[..=i]);
        }
    }
    mirror(&mut inverse, n);
    Some(inverse)
}

/// The solution of `A x = b` for a symmetric positive definite `A`; `None` if `A` is
/// not positive definite.
pub fn solve(a: &[f64], n: usize, b: &[f64]) -> Option<Vec<f64>> {
    assert_eq!(b.len(), n, "right side");
    let factor = cholesky(a, n)?;
    let mut x = b.to_vec();
    for i in 0..n {
        let row = &factor[i * n..][..=i];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
    for i in (0..n).rev() {
        let row = &factor[i * n..][..=i];
        let (before, rest) = x.split_at_mut(i);
        rest[0] /= row[i];
        add_scaled(before, -rest[0], &row[..i]);
    }
    Some(x)
}
