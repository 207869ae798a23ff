//! Leading eigenvectors and singular vectors of sparse matrices, by subspace iteration.

use super::orthonormal::{orthonormalize, orthonormalize_roughly};
use super::products::{cross, gram, mirror, times};
use super::symmetric_eigen;

/// Singular values below this share of the largest are rounding errors, because they
/// come from their squares.
const LEAST_SINGULAR: f64 = 1e-7;

/// A linear map as products with tall matrices: usually a sparse matrix `A`.
pub trait TallProduct: Sync {
    /// The number of rows of `A`.
    fn n_out(&self) -> usize;
    /// The number of columns of `A`.
    fn n_in(&self) -> usize;
    /// Writes `A q` to `out` (`n_out` x `columns`), for `q` of `n_in` x `columns`.
    fn apply(&self, q: &[f64], columns: usize, out: &mut [f64]);
    /// Writes `A' q` to `out` (`n_in` x `columns`), for `q` of `n_out` x `columns`.
    fn apply_transposed(&self, q: &[f64], columns: usize, out: &mut [f64]);
}

/// The leading eigenvalues of a symmetric map, largest magnitude first.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// `k` eigenvalues.
    pub values: Vec<f64>,
    /// Their eigenvectors of length 1, as columns of an `n` x `k` matrix; zeros if the
    /// map's rank is below `k`.
    pub vectors: Vec<f64>,
}

/// Approximates the `k` eigenvalues of largest magnitude of a symmetric map, and their
/// vectors, by `rounds` of subspace iteration from `start`: `n` x `width` random
/// numbers, with a `width` of at least `k`.
pub fn leading_eigen<A: TallProduct>(
    a: &A,
    start: Vec<f64>,
    width: usize,
    k: usize,
    rounds: usize,
) -> Eigen {
    let n = a.n_in();
    assert_eq!(a.n_out(), n, "a symmetric map");
    assert_eq!(start.len(), n * width, "start");
    assert!(k <= width, "more vectors than columns");
    let (mut q, mut image) = (start, vec![0.0; n * width]);
    if rounds == 0 {
        orthonormalize(&mut q, width);
    }
    for round in 1..=rounds {
        a.apply(&q, width, &mut image);
        std::mem::swap(&mut q, &mut image);
        // The span needs no basis; rounding does, after every second round.
        if round == rounds {
            orthonormalize(&mut q, width);
        } else if round % 2 == 0 {
            orthonormalize_roughly(&mut q, width);
        }
    }
    a.apply(&q, width, &mut image);
    let mut small = cross(&q, width, &image, width);
    for i in 0..width {
        for j in 0..i {
            small[i * width + j] = 0.5 * (small[i * width + j] + small[j * width + i]);
        }
    }
    mirror(&mut small, width);
    let (values, small) = symmetric_eigen(&small, width);
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&i, &j| values[j].abs().total_cmp(&values[i].abs()));
    order.truncate(k);
    image.truncate(n * k);
    times(
        &q,
        width,
        &chosen(&small, width, &order, |_| 1.0),
        k,
        &mut image,
    );
    Eigen {
        values: order.iter().map(|&i| values[i]).collect(),
        vectors: image,
    }
}

/// The leading singular triples of a map, largest value first.
#[derive(Debug, Clone, PartialEq)]
pub struct Singular {
    /// Left vectors of length 1, as columns of an `n_out` x `k` matrix; zeros if the
    /// value is 0.
    pub left: Vec<f64>,
    /// `k` singular values. Those below 1e-7 of the largest are 0.
    pub values: Vec<f64>,
    /// Right vectors of length 1, as columns of an `n_in` x `k` matrix; of those to a
    /// value of 0, some may be zeros.
    pub right: Vec<f64>,
}

/// Approximates the `k` leading singular triples of a map by `rounds` of subspace
/// iteration from `start`: `n_in` x `width` random numbers, with a `width` of at least
/// `k`.
pub fn leading_singular<A: TallProduct>(
    a: &A,
    start: Vec<f64>,
    width: usize,
    k: usize,
    rounds: usize,
) -> Singular {
    assert_eq!(start.len(), a.n_in() * width, "start");
    assert!(k <= width, "more vectors than columns");
    let (mut q, mut image) = (start, vec![0.0; a.n_out() * width]);
    if rounds == 0 {
        orthonormalize(&mut q, width);
    }
    for round in 1..=rounds {
        a.apply(&q, width, &mut image);
        a.apply_transposed(&image, width, &mut q);
        if round == rounds {
            orthonormalize(&mut q, width)
        } else {
            orthonormalize_roughly(&mut q, width)
        }
    }
    a.apply(&q, width, &mut image);
    let (squares, small) = symmetric_eigen(&gram(&image, width), width);
    let order: Vec<usize> = (0..width).rev().take(k).collect();
    let roots = squares.iter().map(|square| square.max(0.0).sqrt());
    let mut values: Vec<f64> = roots.collect();
    let least = LEAST_SINGULAR * values.last().copied().unwrap_or(0.0);
    for value in &mut values {
        if !(*value > least) {
            *value = 0.0;
        }
    }
    let inverse = |i: usize| {
        if values[i] > 0.0 {
            1.0 / values[i]
        } else {
            0.0
        }
    };
    let mut left = vec![0.0; a.n_out() * k];
    times(
        &image,
        width,
        &chosen(&small, width, &order, inverse),
        k,
        &mut left,
    );
    let mut right = image;
    right.resize(a.n_in() * k, 0.0);
    times(
        &q,
        width,
        &chosen(&small, width, &order, |_| 1.0),
        k,
        &mut right,
    );
    Singular {
        left,
        values: order.iter().map(|&i| values[i]).collect(),
        right,
    }
}

/// Some columns of a square matrix, scaled.
fn chosen(matrix: &[f64], n: usize, columns: &[usize], scale: impl Fn(usize) -> f64) -> Vec<f64> {
    let rows = matrix.chunks_exact(n.max(1));
    let entries = rows.flat_map(|row| columns.iter().map(|&i| row[i] * scale(i)));
    entries.collect()
}
