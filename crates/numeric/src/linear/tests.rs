use std::fmt::Debug;

use super::*;
use crate::processor::tests::on_every_path;

/// Numbers from -1 to 1 without a pattern.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(2) + 1;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(next).collect()
}

fn transposed(a: &[f64], columns: usize) -> Vec<f64> {
    let rows = a.len() / columns;
    let entry = |place: usize| a[place % rows * columns + place / rows];
    (0..a.len()).map(entry).collect()
}

/// `a b` in plain loops, for `a` of `inner` columns.
fn product(a: &[f64], inner: usize, b: &[f64]) -> Vec<f64> {
    let columns = b.len() / inner;
    let entry = |place: usize| {
        let (i, j) = (place / columns, place % columns);
        let term = |l: usize| a[i * inner + l] * b[l * columns + j];
        (0..inner).map(term).sum()
    };
    (0..a.len() / inner * columns).map(entry).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, |most, x| if x <= most { most } else { x })
}

fn identity(n: usize) -> Vec<f64> {
    diagonal(&vec![1.0; n])
}

fn diagonal(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let entry = |place: usize| {
        if place / n == place % n {
            values[place / n]
        } else {
            0.0
        }
    };
    (0..n * n).map(entry).collect()
}

/// A symmetric matrix of these eigenvalues.
fn with_eigenvalues(values: &[f64], seed: u64) -> (Vec<f64>, Vec<f64>) {
    let n = values.len();
    let mut basis = noise(n * n, seed);
    orthonormalize(&mut basis, n);
    let scaled = product(&basis, n, &diagonal(values));
    (product(&scaled, n, &transposed(&basis, n)), basis)
}

fn is_eigen_decomposition(a: &[f64], n: usize) {
    let (values, vectors) = symmetric_eigen(a, n);
    let largest = a.iter().fold(1e-300, |most: f64, x| most.max(x.abs()));
    let tolerance = 1e-14 * (n as f64 + 10.0);
    let across = product(&transposed(&vectors, n), n, &vectors);
    assert!(distance(&across, &identity(n)) < tolerance, "basis {n}");
    let back = product(&vectors, n, &diagonal(&values));
    let back = product(&back, n, &transposed(&vectors, n));
    assert!(distance(&back, a) < tolerance * largest, "values {n}");
    assert!(values.is_sorted());
    for vector in transposed(&vectors, n).chunks_exact(n) {
        let most = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        assert_eq!(vector.iter().find(|x| x.abs() == most), Some(&most));
    }
}

#[test]
fn symmetric_matrices_are_rebuilt_from_their_eigenvalues() {
    for n in [1, 2, 3, 5, 17, 64] {
        for scale in [1.0, 1e-200, 1e150] {
            let half = noise(n * n, n as u64);
            let a: Vec<f64> = half
                .iter()
                .zip(transposed(&half, n))
                .map(|(x, y)| scale * (x + y))
                .collect();
            is_eigen_decomposition(&a, n);
        }
        is_eigen_decomposition(&vec![0.0; n * n], n);
        is_eigen_decomposition(&vec![1.0; n * n], n);
        is_eigen_decomposition(&identity(n), n);
    }
    is_eigen_decomposition(&[0.0, 1.0, 1.0, 0.0], 2);
    let repeated: Vec<f64> = (0..40).map(|i| f64::from(i / 10) - 1.0).collect();
    is_eigen_decomposition(&with_eigenvalues(&repeated, 3).0, 40);
    let graded: Vec<f64> = (0..30).map(|i| 0.1f64.powi(i)).collect();
    is_eigen_decomposition(&with_eigenvalues(&graded, 4).0, 30);

    assert_eq!(symmetric_eigen(&[], 0), (vec![], vec![]));
    let (values, vectors) = symmetric_eigen(&diagonal(&[3.0, -1.0, 0.1]), 3);
    assert_eq!(values, [-1.0, 0.1, 3.0]);
    assert_eq!(vectors, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    // Not numbers, but an end.
    let (values, _) = symmetric_eigen(&[f64::NAN; 9], 3);
    assert!(values.iter().all(|value| value.is_nan()));
}

#[test]
fn definite_matrices_have_inverses_and_others_none() {
    for n in [1, 2, 7, 40] {
        let x = noise(3 * n * n, 5);
        let a = gram(&x, n);
        let found = inverse(&a, n).unwrap();
        assert!(distance(&product(&a, n, &found), &identity(n)) < 1e-11);
        assert_eq!(found, transposed(&found, n));
        let b = noise(n, 6);
        let x = solve(&a, n, &b).unwrap();
        assert!(distance(&product(&a, n, &x), &b) < 1e-11);
    }
    for a in [[1.0, 2.0, 2.0, 1.0], [0.0; 4], [f64::NAN; 4]] {
        assert_eq!(inverse(&a, 2), None);
        assert_eq!(solve(&a, 2, &[1.0, 1.0]), None);
    }
    assert_eq!(inverse(&[], 0), Some(vec![]));
}

#[test]
fn products_agree_with_plain_loops() {
    for (rows, a, b) in [(1, 1, 1), (5, 3, 2), (1024, 2, 9), (2500, 17, 5)] {
        let (x, y) = (noise(rows * a, 1), noise(rows * b, 2));
        let expected = product(&transposed(&x, a), rows, &y);
        assert!(distance(&cross(&x, a, &y, b), &expected) < 1e-11);
        let square = gram(&x, a);
        assert_eq!(square, transposed(&square, a));
        let m = noise(a * b, 3);
        let mut out = vec![f64::NAN; rows * b];
        times(&x, a, &m, b, &mut out);
        assert!(distance(&out, &product(&x, a, &m)) < 1e-13);
    }
    assert_eq!(cross(&[], 2, &[], 1), [0.0, 0.0]);
    assert_eq!(cross(&[], 0, &[1.0, 2.0], 1), []);
    let mut out = [f64::NAN; 2];
    times(&[], 0, &[], 1, &mut out);
    assert_eq!(out, [0.0, 0.0]);
    times(&[1.0, 2.0], 1, &[], 0, &mut []);
}

/// The columns are orthonormal or zeros, so many are not zeros, and they span the
/// columns of `before` up to `tolerance`.
fn is_basis(q: &[f64], columns: usize, rank: usize, before: &[f64], tolerance: f64) {
    let square = gram(q, columns);
    let ones: Vec<f64> = (0..columns)
        .map(|i| square[i * columns + i].round())
        .collect();
    assert!(distance(&square, &diagonal(&ones)) < 1e-11, "{square:?}");
    assert_eq!(ones.iter().sum::<f64>(), rank as f64);
    let inside = product(q, columns, &cross(q, columns, before, columns));
    assert!(distance(&inside, before) < tolerance);
}

#[test]
fn columns_become_orthonormal_whatever_their_condition() {
    let (rows, columns) = (1500, 12);
    let good = noise(rows * columns, 7);
    let mut q = good.clone();
    orthonormalize(&mut q, columns);
    is_basis(&q, columns, columns, &good, 1e-13);

    // Lengths and angles of all sizes.
    for share in [1e-2, 1e-4, 1e-8] {
        let mut bad = good.clone();
        for row in bad.chunks_exact_mut(columns) {
            for column in 1..columns {
                row[column] = row[column - 1] + share * row[column];
            }
            row[3] *= 1e-100;
            row[5] *= 1e80;
        }
        let mut q = bad.clone();
        orthonormalize(&mut q, columns);
        for row in bad.chunks_exact_mut(columns) {
            row[5] *= 1e-80;
        }
        is_basis(&q, columns, columns, &bad, 1e-12);
    }
    // Directions that differ by factors of 100, over 20 digits.
    let decay: Vec<f64> = (0..columns as i32).map(|i| 0.01f64.powi(i)).collect();
    let scaled = product(&q, columns, &diagonal(&decay));
    let mixed = product(&scaled, columns, &noise(columns * columns, 8));
    let mut q = mixed.clone();
    orthonormalize(&mut q, columns);
    is_basis(&q, columns, 7, &mixed, 1e-12);
}

#[test]
fn dependent_columns_become_zeros() {
    let (rows, columns, rank) = (900, 10, 4);
    let mixed = product(&noise(rows * rank, 1), rank, &noise(rank * columns, 2));
    let mut q = mixed.clone();
    orthonormalize(&mut q, columns);
    is_basis(&q, columns, rank, &mixed, 1e-13);

    let mut with_zero = noise(rows * columns, 3);
    for row in with_zero.chunks_exact_mut(columns) {
        row[2] = 0.0;
        row[7] = row[0];
    }
    let mut q = with_zero.clone();
    orthonormalize(&mut q, columns);
    is_basis(&q, columns, 8, &with_zero, 1e-12);

    // Fewer rows than columns, and nothing.
    let wide = noise(3 * columns, 4);
    let mut q = wide.clone();
    orthonormalize(&mut q, columns);
    is_basis(&q, columns, 3, &wide, 1e-13);
    let mut q = vec![0.0; 20];
    orthonormalize(&mut q, 4);
    assert_eq!(q, [0.0; 20]);
    orthonormalize(&mut [], 0);
}

struct Dense {
    entries: Vec<f64>,
    n_in: usize,
}

impl TallProduct for Dense {
    fn n_out(&self) -> usize {
        self.entries.len() / self.n_in
    }
    fn n_in(&self) -> usize {
        self.n_in
    }
    fn apply(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        times(&self.entries, self.n_in, q, columns, out);
    }
    fn apply_transposed(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        out.copy_from_slice(&cross(&self.entries, self.n_in, q, columns));
    }
}

/// Columns of equal span, vector by vector.
fn same_up_to_sign(a: &[f64], b: &[f64], columns: usize, tolerance: f64) {
    let across: Vec<f64> = cross(a, columns, b, columns)
        .iter()
        .map(|x| x.abs())
        .collect();
    assert!(
        distance(&across, &identity(columns)) < tolerance,
        "{across:?}"
    );
}

#[test]
fn leading_eigenvalues_are_those_of_the_dense_matrix() {
    let n = 150;
    let mut values: Vec<f64> = noise(n, 9).iter().map(|x| 0.1 * x).collect();
    values[..5].copy_from_slice(&[-1.0, 0.9, 0.8, -0.7, 0.6]);
    let (entries, basis) = with_eigenvalues(&values, 10);
    let a = Dense { entries, n_in: n };
    let found = leading_eigen(&a, noise(n * 12, 11), 12, 5, 16);
    assert!(distance(&found.values, &values[..5]) < 1e-12);
    let expected: Vec<f64> = basis
        .chunks_exact(n)
        .flat_map(|row| row[..5].to_vec())
        .collect();
    same_up_to_sign(&found.vectors, &expected, 5, 1e-9);

    let (all, _) = symmetric_eigen(&a.entries, n);
    assert!((all[0] - found.values[0]).abs() < 1e-12);
    assert!((all[n - 1] - found.values[1]).abs() < 1e-12);
}

#[test]
fn a_map_of_low_rank_has_few_eigenvectors() {
    let mut values = vec![0.0; 60];
    values[..2].copy_from_slice(&[0.5, -1.0]);
    let (entries, _) = with_eigenvalues(&values, 12);
    let a = Dense { entries, n_in: 60 };
    let found = leading_eigen(&a, noise(60 * 8, 13), 8, 4, 3);
    assert!(distance(&found.values, &[-1.0, 0.5, 0.0, 0.0]) < 1e-13);
    let square = gram(&found.vectors, 4);
    assert!(distance(&square[..2], &[1.0, 0.0]) < 1e-12);
    let found = leading_singular(&a, noise(60 * 8, 13), 8, 4, 3);
    assert!(distance(&found.values, &[1.0, 0.5, 0.0, 0.0]) < 1e-13);
    assert!(distance(&gram(&found.left, 4), &diagonal(&[1.0, 1.0, 0.0, 0.0])) < 1e-12);
}

#[test]
fn leading_singular_values_are_those_of_the_dense_matrix() {
    let (n_out, n_in, rank) = (120, 90, 40);
    let (mut left, mut right) = (noise(n_out * rank, 14), noise(n_in * rank, 15));
    orthonormalize(&mut left, rank);
    orthonormalize(&mut right, rank);
    let mut values: Vec<f64> = noise(rank, 16).iter().map(|x| 0.05 * x.abs()).collect();
    values[..4].copy_from_slice(&[1.0, 0.8, 0.6, 0.4]);
    let scaled = product(&left, rank, &diagonal(&values));
    let entries = product(&scaled, rank, &transposed(&right, rank));
    let a = Dense { entries, n_in };
    let found = leading_singular(&a, noise(n_in * 10, 17), 10, 4, 8);
    assert!(distance(&found.values, &values[..4]) < 1e-12);
    let leading = |all: &[f64]| -> Vec<f64> {
        all.chunks_exact(rank)
            .flat_map(|row| row[..4].to_vec())
            .collect()
    };
    same_up_to_sign(&found.left, &leading(&left), 4, 1e-9);
    same_up_to_sign(&found.right, &leading(&right), 4, 1e-9);
    // The signs of both fit together.
    let mut image = vec![0.0; n_out * 4];
    a.apply(&found.right, 4, &mut image);
    let expected = product(&found.left, 4, &diagonal(&found.values));
    assert!(distance(&image, &expected) < 1e-12);
}

/// Each node's two neighbors on a ring, weighted.
struct Ring(usize);

impl TallProduct for Ring {
    fn n_out(&self) -> usize {
        self.0
    }
    fn n_in(&self) -> usize {
        self.0
    }
    fn apply(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        for (node, out) in out.chunks_exact_mut(columns).enumerate() {
            let row = |node: usize| &q[node % self.0 * columns..][..columns];
            let neighbors = row(node + 1).iter().zip(row(node + self.0 - 1));
            for (out, (x, y)) in out.iter_mut().zip(neighbors) {
                *out = 0.5 * (x + y);
            }
        }
    }
    fn apply_transposed(&self, q: &[f64], columns: usize, out: &mut [f64]) {
        self.apply(q, columns, out);
    }
}

/// What work gives, which must be the same at 1 and 4 threads and on every
/// instruction set.
fn everywhere<R: PartialEq + Debug + Send>(work: impl Fn() -> R + Sync) -> R {
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    };
    // On a single thread, which is the one that the test switches.
    let one = pool(1).install(|| on_every_path(&work));
    let four = pool(4).install(&work);
    assert_eq!(one, four);
    one
}

#[test]
fn results_have_the_same_bits_at_any_number_of_threads_and_on_every_path() {
    for (n, columns) in [(2500, 1), (2500, 7), (1100, 41)] {
        let (x, y) = (noise(n * columns, 1), noise(n * 5, 2));
        everywhere(|| cross(&x, columns, &y, 5));
        everywhere(|| {
            let mut q = x.clone();
            orthonormalize(&mut q, columns);
            (symmetric_eigen(&gram(&q, columns), columns), q)
        });
        everywhere(|| leading_eigen(&Ring(n), x.clone(), columns, columns.min(4), 3));
        everywhere(|| {
            let found = leading_singular(&Ring(n), x.clone(), columns, columns.min(4), 2);
            (found.left, found.values, found.right)
        });
    }
}
