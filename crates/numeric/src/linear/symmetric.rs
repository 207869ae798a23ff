//! All eigenvalues and eigenvectors of a symmetric matrix: Householder reflections
//! make it tridiagonal, implicit QR steps with Wilkinson's shift make it diagonal
//! (Golub and Van Loan, Matrix Computations, 8.3).

use crate::real::{add_scaled, dot};

/// Steps for each eigenvalue; two are usual.
const STEPS: usize = 60;

/// Eigenvalues in ascending order, and the eigenvectors as columns of an `n` x `n`
/// matrix, of a symmetric matrix. The entry of largest magnitude of each vector, the
/// first such, is positive.
pub fn symmetric_eigen(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    assert_eq!(a.len(), n * n, "matrix size");
    // Entries of at most 2, so that no square overflows; a power of 2 rounds nothing.
    let largest = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let exponent = f64::from_bits(largest.to_bits() & f64::INFINITY.to_bits());
    let scale = exponent.max(f64::MIN_POSITIVE);
    let mut matrix: Vec<f64> = a.iter().map(|x| x / scale).collect();

    let mut reduced = tridiagonal(&mut matrix, n);
    let mut rows = reduced.basis(&matrix, n);
    diagonalize(&mut reduced, &mut rows, n);

    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| reduced.diagonal[i].total_cmp(&reduced.diagonal[j]));
    let mut vectors = vec![0.0; n * n];
    for (column, &from) in order.iter().enumerate() {
        let vector = &rows[from * n..][..n];
        let first = vector.iter().fold(
            0.0,
            |most: f64, &x| if x.abs() > most.abs() { x } else { most },
        );
        let sign = if first < 0.0 { -1.0 } else { 1.0 };
        for (row, x) in vector.iter().enumerate() {
            vectors[row * n + column] = sign * x;
        }
    }
    let values = order.iter().map(|&i| reduced.diagonal[i] * scale);
    (values.collect(), vectors)
}

/// A tridiagonal matrix, and the lengths of the reflections that made it.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// Next to the diagonal.
    beside: Vec<f64>,
    /// `2 / v'v` of each reflection `I - 2 v v' / v'v`; 0 if there is none.
    factors: Vec<f64>,
}

/// Makes a matrix tridiagonal. Row `k` keeps the vector of the reflection `k` to the
/// right of its diagonal.
fn tridiagonal(matrix: &mut [f64], n: usize) -> Tridiagonal {
    let mut reduced = Tridiagonal {
        diagonal: vec![0.0; n],
        beside: vec![0.0; n.saturating_sub(1)],
        factors: vec![0.0; n],
    };
    let mut image = vec![0.0; n];
    for k in 0..n {
        let (above, below) = matrix.split_at_mut((k + 1) * n);
        reduced.diagonal[k] = above[k * n + k];
        let v = &mut above[k * n + k + 1..];
        let Some(&first) = v.first() else { break };
        let length = dot(v, v).sqrt();
        if v.len() == 1 || !(length > 0.0) {
            reduced.beside[k] = first;
            continue;
        }
        let reflected = if first > 0.0 { -length } else { length };
        reduced.beside[k] = reflected;
        v[0] = first - reflected;
        let factor = 2.0 / dot(v, v);
        reduced.factors[k] = factor;

        // A - v w' - w v' with w = factor (A v - (factor v'A v / 2) v).
        let image = &mut image[..v.len()];
        for (image, row) in image.iter_mut().zip(below.chunks_exact(n)) {
            *image = factor * dot(&row[k + 1..], v);
        }
        let along = -0.5 * factor * dot(image, v);
        add_scaled(image, along, v);
        for (i, row) in below.chunks_exact_mut(n).enumerate() {
            add_scaled(&mut row[k + 1..], -v[i], image);
            add_scaled(&mut row[k + 1..], -image[i], v);
        }
    }
    reduced
}

impl Tridiagonal {
    /// The rows of the matrix `B` with `B A B'` tridiagonal, by the reflections that
    /// [`tridiagonal`] left in `matrix`.
    fn basis(&self, matrix: &[f64], n: usize) -> Vec<f64> {
        let mut rows = vec![0.0; n * n];
        for i in 0..n {
            rows[i * n + i] = 1.0;
        }
        for k in (0..n).rev().filter(|&k| self.factors[k] > 0.0) {
            let v = &matrix[k * n + k + 1..(k + 1) * n];
            for row in rows.chunks_exact_mut(n).skip(k + 1) {
                let row = &mut row[k + 1..];
                add_scaled(row, -self.factors[k] * dot(row, v), v);
            }
        }
        rows
    }

    /// Sets entries next to the diagonal to 0 if they no longer matter.
    fn deflate(&mut self, from: usize, to: usize) {
        for i in from..to {
            let size = self.diagonal[i].abs() + self.diagonal[i + 1].abs();
            // The second term counts if both are 0. NaN is 0 here, so the loop ends.
            let least = f64::EPSILON * (size + f64::EPSILON);
            if !(self.beside[i].abs() > least) {
                self.beside[i] = 0.0;
            }
        }
    }
}

/// Makes a tridiagonal matrix diagonal; `rows` turns along.
fn diagonalize(matrix: &mut Tridiagonal, rows: &mut [f64], n: usize) {
    let mut last = n.saturating_sub(1);
    matrix.deflate(0, last);
    for _ in 0..STEPS * n {
        while last > 0 && matrix.beside[last - 1] == 0.0 {
            last -= 1;
        }
        if last == 0 {
            return;
        }
        let mut first = last - 1;
        while first > 0 && matrix.beside[first - 1] != 0.0 {
            first -= 1;
        }
        step(matrix, rows, n, first, last);
        matrix.deflate(first, last);
    }
}

/// A QR step on the rows and columns from `first` to `last`.
fn step(matrix: &mut Tridiagonal, rows: &mut [f64], n: usize, first: usize, last: usize) {
    let Tridiagonal {
        diagonal, beside, ..
    } = matrix;
    let half = 0.5 * (diagonal[last - 1] - diagonal[last]);
    let square = beside[last - 1] * beside[last - 1];
    let root = (half * half + square).sqrt();
    let shift = diagonal[last] - square / if half < 0.0 { half - root } else { half + root };

    let (mut x, mut z) = (diagonal[first] - shift, beside[first]);
    for k in first..last {
        let length = (x * x + z * z).sqrt();
        let (c, s) = if length > 0.0 {
            (x / length, z / length)
        } else {
            (1.0, 0.0)
        };
        if k > first {
            beside[k - 1] = length;
        }
        let (one, two, between) = (diagonal[k], diagonal[k + 1], beside[k]);
        diagonal[k] = c * c * one + 2.0 * c * s * between + s * s * two;
        diagonal[k + 1] = s * s * one - 2.0 * c * s * between + c * c * two;
        beside[k] = c * s * (two - one) + (c * c - s * s) * between;
        if k + 1 < last {
            (x, z) = (beside[k], s * beside[k + 1]);
            beside[k + 1] *= c;
        }
        let (upper, lower) = rows[k * n..(k + 2) * n].split_at_mut(n);
        for (u, l) in upper.iter_mut().zip(lower) {
            (*u, *l) = (c * *u + s * *l, c * *l - s * *u);
        }
    }
}
