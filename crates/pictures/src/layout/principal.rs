//! The two principal components.

use std::ops::Range;

use rayon::prelude::*;

use linkproof_numeric::real::{Packed, View, add_scaled, dot_f64};

use super::rows::{Rows, add_up};

/// Rows that enter the covariance, or a product, together.
const ROWS: usize = 256;

/// Points along their two directions of largest variance.
pub(super) struct Principal {
    /// The coordinates; zeros where there is nothing to spread them.
    pub(super) coordinates: Vec<[f64; 2]>,
    /// The share of the variance; none where there is no variance.
    pub(super) explained: Option<f64>,
    /// The unit vectors, two at most, the first of them of largest variance.
    #[cfg(test)]
    pub(super) directions: Vec<Vec<f64>>,
}

impl Principal {
    pub(super) fn new(rows: &Rows) -> Principal {
        let dim = rows.dim();
        let covariance = covariance(rows);
        let trace = trace(&covariance, dim);
        // Equal rows less their mean are exactly 0: the sum of up to 2^29 equal
        // numbers of single precision has no rounding in double precision.
        let pairs = largest_two(covariance, dim);
        let held: f64 = pairs.iter().map(|(value, _)| value).sum();
        let directions: Vec<Vec<f64>> = pairs.into_iter().map(|(_, v)| with_sign(v)).collect();
        let project = |range: Range<usize>| {
            let centred = rows.centred(range);
            let along = |row: &[f64], axis: usize| -> f64 {
                directions.get(axis).map_or(0.0, |v| dot_f64(row, v))
            };
            let pair = |row: &[f64]| [along(row, 0), along(row, 1)];
            centred.chunks_exact(dim).map(pair).collect::<Vec<_>>()
        };
        let blocks = (0..rows.len()).into_par_iter().step_by(ROWS);
        let parts: Vec<Vec<[f64; 2]>> = blocks
            .map(|start| project(start..rows.len().min(start + ROWS)))
            .collect();
        Principal {
            coordinates: parts.concat(),
            explained: (trace > 0.0).then(|| (held / trace).clamp(0.0, 1.0)),
            #[cfg(test)]
            directions,
        }
    }
}

/// `sum_i (y_i - m)(y_i - m)^T / n` with `m` the mean.
fn covariance(rows: &Rows) -> Vec<f64> {
    let dim = rows.dim();
    let of_chunk = |chunk: Range<usize>| {
        let mut sum = vec![0.0; dim * dim];
        let mut memory = Vec::new();
        for start in chunk.clone().step_by(ROWS) {
            let range = start..chunk.end.min(start + ROWS);
            let n_rows = range.len();
            let centred = rows.centred(range);
            let view = View::new(&centred, n_rows, dim);
            memory.resize(Packed::<f64>::size(n_rows, dim), 0.0);
            let packed = Packed::new(&mut memory, view);
            packed.multiply(&mut sum, view.t(), 0..n_rows, true);
        }
        sum
    };
    let parts = rows.chunks().into_par_iter().map(of_chunk).collect();
    let mut covariance = add_up(parts, dim * dim);
    let n = rows.len() as f64;
    covariance.iter_mut().for_each(|sum| *sum /= n);
    covariance
}

fn trace(matrix: &[f64], n: usize) -> f64 {
    matrix.iter().step_by(n + 1).sum()
}

/// The two largest eigenvalues of a symmetric `n x n` matrix without negative
/// ones, larger first, each with a unit vector. Values that rounding alone may
/// have made are left out.
fn largest_two(mut matrix: Vec<f64>, n: usize) -> Vec<(f64, Vec<f64>)> {
    let least = trace(&matrix, n) * 1e-14;
    let mut found: Vec<(f64, Vec<f64>)> = Vec::new();
    while found.len() < 2 && trace(&matrix, n) > least {
        let mut vector = largest(matrix.clone(), n);
        for (_, other) in &found {
            let shift = -dot_f64(&vector, other);
            add_scaled(&mut vector, shift, other);
        }
        let norm = dot_f64(&vector, &vector).sqrt();
        if !(norm > 0.0) {
            break;
        }
        vector.iter_mut().for_each(|x| *x /= norm);
        let rows = matrix.chunks_exact(n).zip(&vector);
        let value = rows.map(|(row, x)| x * dot_f64(row, &vector)).sum();
        for (row, x) in matrix.chunks_exact_mut(n).zip(&vector) {
            for (entry, y) in row.iter_mut().zip(&vector) {
                *entry -= value * (x * y);
            }
        }
        found.push((value, vector));
    }
    found
}

/// A vector of the largest eigenvalue. Squaring squares the eigenvalues: again
/// and again, the matrix becomes the projection onto the vectors of the largest,
/// and any column of that is one. Of equal eigenvalues none wins, and 50
/// squarings part those that differ by 1e-14 of themselves.
fn largest(mut matrix: Vec<f64>, n: usize) -> Vec<f64> {
    let mut memory = vec![0.0; Packed::<f64>::size(n, n)];
    let mut product = vec![0.0; n * n];
    let mut more = 50;
    while more > 0 {
        let scale = trace(&matrix, n);
        matrix.iter_mut().for_each(|x| *x /= scale);
        let packed = Packed::new_parallel(&mut memory, View::new(&matrix, n, n));
        let blocks = product.par_chunks_mut(ROWS * n);
        blocks
            .zip(matrix.par_chunks(ROWS * n))
            .for_each(|(product, rows)| {
                packed.multiply(product, View::new(rows, rows.len() / n, n), 0..n, false);
            });
        std::mem::swap(&mut matrix, &mut product);
        // The share of the largest among all, squared and summed up, is nearly 1
        // when the others are nearly gone; twice more, and they are.
        let is_near = trace(&matrix, n) > 1.0 - 1e-10;
        more = if is_near { more.min(3) } else { more } - 1;
    }
    let of_row = |row: usize| matrix[row * n + row];
    let row = (0..n).max_by(|&a, &b| of_row(a).total_cmp(&of_row(b)));
    let start = row.unwrap_or(0) * n;
    matrix[start..start + n].to_vec()
}

/// The vector or its negative, whichever has a positive largest entry (the
/// first of several).
fn with_sign(mut vector: Vec<f64>) -> Vec<f64> {
    let largest = vector.iter().fold(
        0.0,
        |best: f64, &x| if x.abs() > best.abs() { x } else { best },
    );
    if largest < 0.0 {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
    vector
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn eigenvectors_are_exact_and_orthogonal_at_odd_sizes() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for n in [1, 2, 3, 5, 17, 64, 101] {
            for kind in 0..4 {
                // Random, of low rank, diagonal with ties, with a block of zeros.
                let rank = if kind == 1 { 2 } else { n + 3 };
                let x: Vec<f64> = (0..n * rank)
                    .map(|_| random.random::<f64>() - 0.5)
                    .collect();
                let mut a = vec![0.0; n * n];
                for (place, a) in a.iter_mut().enumerate() {
                    let (i, j) = (place / n, place % n);
                    *a = match kind {
                        2 => f64::from(u8::from(i == j)) * (1 + i % 3) as f64,
                        3 if i.min(j) < n / 2 => 0.0,
                        _ => (0..rank).map(|r| x[i * rank + r] * x[j * rank + r]).sum(),
                    } * 1e30;
                }
                let found = largest_two(a.clone(), n);
                let n_positive = if kind == 3 { n - n / 2 } else { n };
                assert_eq!(found.len(), n_positive.min(2), "{n} {kind}");
                let scale = found[0].0;
                for (value, v) in &found {
                    for (i, row) in a.chunks_exact(n).enumerate() {
                        let product: f64 = row.iter().zip(v).map(|(a, v)| a * v).sum();
                        assert!(
                            (product - value * v[i]).abs() <= 1e-12 * scale,
                            "{n} {kind}"
                        );
                    }
                    let norm: f64 = v.iter().map(|x| x * x).sum();
                    assert!((norm - 1.0).abs() < 1e-12);
                }
                if let [(first, u), (second, v)] = &found[..] {
                    assert!(first >= second);
                    let product: f64 = u.iter().zip(v).map(|(u, v)| u * v).sum();
                    assert!(product.abs() < 1e-12, "{n} {kind} {product}");
                    let trace: f64 = a.iter().step_by(n + 1).sum();
                    let rest = trace - first - second;
                    assert!(rest >= -1e-12 * trace);
                    assert!(rank > 2 || kind != 1 || rest.abs() < 1e-12 * trace);
                    assert!(kind != 2 || n < 6 || (second / 1e30 - 3.0).abs() < 1e-12);
                }
            }
        }
    }
}
