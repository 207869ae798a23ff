//! Whether averaging over links keeps what the data vectors say.
//!
//! The columns of the data vectors are split at random in two halves. Embeddings
//! are fitted from one half, averaged or not, and asked to tell the leading
//! components of the other half (ridge regression, nodes held out). Where
//! averages tell far less than the embeddings themselves, links join what is
//! unlike, and averaging would blur it.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use crate::data::features::Matrix;
use crate::data::transform::normalize;
use crate::error::Result;
use crate::params::Normalize;
use crate::trust::judge::logistic::solve;

/// The components of the other half.
const COMPONENTS: usize = 20;
/// Rounds of subspace iteration.
const ITERATIONS: usize = 8;
/// One node in so many is held out.
const HELD_OUT: usize = 5;
/// Ridges, against the mean square of an entry.
const RIDGES: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];
/// Fewer columns cannot be split.
pub const LEAST_COLUMNS: usize = 4;

/// What the gate found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Told {
    /// What the embeddings tell of the other half: the share of its variance.
    pub plain: f64,
    /// What their averages tell.
    pub averaged: f64,
    /// What the embeddings tell of each component, on average: an embedding of
    /// few dimensions tells little, however large the first components are.
    pub plain_each: f64,
    /// What the averages tell of each component.
    pub averaged_each: f64,
}

/// Which columns are in the first half.
pub fn halves(n_columns: usize, seed: u64) -> Vec<bool> {
    let mut columns: Vec<usize> = (0..n_columns).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x6761_7465);
    columns.shuffle(&mut random);
    let mut first = vec![false; n_columns];
    columns[..n_columns / 2]
        .iter()
        .for_each(|&column| first[column] = true);
    first
}

/// Some columns of a matrix.
pub fn some_columns(matrix: &Matrix, keep: impl Fn(usize) -> bool) -> Result<Matrix> {
    let kept: Vec<usize> = (0..matrix.n_columns()).filter(|&c| keep(c)).collect();
    let mut place = vec![u32::MAX; matrix.n_columns()];
    for (new, &old) in kept.iter().enumerate() {
        place[old] = new as u32;
    }
    if let Matrix::Dense(dense) = matrix {
        let p = dense.n_columns();
        let values: Vec<f32> = (0..dense.n_rows())
            .flat_map(|row| {
                kept.iter()
                    .map(move |&c| dense.values().get(row * p + c) as f32)
            })
            .collect();
        return Matrix::dense(dense.n_rows(), kept.len(), values);
    }
    let mut offsets = vec![0usize];
    let (mut columns, mut values): (Vec<u32>, Vec<f32>) = (Vec::new(), Vec::new());
    for row in 0..matrix.n_rows() {
        for (column, value) in matrix.row(row) {
            if place[column as usize] != u32::MAX {
                columns.push(place[column as usize]);
                values.push(value as f32);
            }
        }
        offsets.push(columns.len());
    }
    Matrix::sparse(kept.len(), offsets, columns, values)
}

/// The scores of the rows along the leading directions of a matrix of rows of
/// unit length, less their mean, row after row; and how many.
pub fn components(matrix: &Matrix, seed: u64) -> Result<(Vec<f64>, usize)> {
    let matrix = normalize(matrix, Normalize::L2)?;
    let (n, p) = (matrix.n_rows(), matrix.n_columns());
    let count = COMPONENTS.min(p);
    let rows: Vec<Vec<(u32, f64)>> = (0..n).map(|row| matrix.row(row)).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x7063_6173);
    // A few more than wanted, so that the last ones are found as well.
    let width = (count + 6).min(p);
    let mut basis: Vec<f64> = (0..p * width)
        .map(|_| random.random_range(-1.0..1.0))
        .collect();
    let mut scores = Vec::new();
    for _ in 0..ITERATIONS {
        orthonormal(&mut basis, width);
        scores = project(&rows, &basis, width);
        basis = vec![0.0; p * width];
        for (row, scores) in rows.iter().zip(scores.chunks_exact(width)) {
            for &(column, x) in row {
                let out = &mut basis[column as usize * width..][..width];
                out.iter_mut()
                    .zip(scores)
                    .for_each(|(out, s)| *out += x * s);
            }
        }
    }
    // The iteration sorts directions by their share of the variance.
    let kept = scores
        .chunks_exact(width)
        .flat_map(|row| &row[..count])
        .copied();
    Ok((kept.collect(), count))
}

/// `X V`, each column less its mean.
fn project(rows: &[Vec<(u32, f64)>], basis: &[f64], width: usize) -> Vec<f64> {
    let parts: Vec<Vec<f64>> = rows
        .par_iter()
        .map(|row| {
            let mut sum = vec![0.0; width];
            for &(column, x) in row {
                let basis = &basis[column as usize * width..][..width];
                sum.iter_mut().zip(basis).for_each(|(sum, b)| *sum += x * b);
            }
            sum
        })
        .collect();
    let mut scores = parts.concat();
    centre(&mut scores, width);
    scores
}

fn centre(rows: &mut [f64], width: usize) {
    let n = (rows.len() / width.max(1)).max(1) as f64;
    let mut means = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        means
            .iter_mut()
            .zip(row)
            .for_each(|(mean, x)| *mean += x / n);
    }
    for row in rows.chunks_exact_mut(width) {
        row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean);
    }
}

/// Gram and Schmidt, on the columns.
fn orthonormal(basis: &mut [f64], width: usize) {
    let p = basis.len() / width;
    for a in 0..width {
        for b in 0..a {
            let along: f64 = (0..p)
                .map(|i| basis[i * width + a] * basis[i * width + b])
                .sum();
            (0..p).for_each(|i| basis[i * width + a] -= along * basis[i * width + b]);
        }
        let length = (0..p)
            .map(|i| basis[i * width + a].powi(2))
            .sum::<f64>()
            .sqrt();
        let factor = if length > 1e-12 { 1.0 / length } else { 0.0 };
        (0..p).for_each(|i| basis[i * width + a] *= factor);
    }
}

/// The share of the variance of `targets` that a ridge regression on `y` tells
/// of nodes held out, and the mean of the shares of each component.
pub fn told(y: &[f32], dim: usize, targets: &[f64], count: usize, seed: u64) -> [f64; 2] {
    let n = y.len() / dim;
    let mut order: Vec<usize> = (0..n).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x746f_6c64);
    order.shuffle(&mut random);
    let (held_out, seen) = order.split_at(n / HELD_OUT);
    let size = dim + 1;
    let row = |row: usize| -> Vec<f64> {
        let y = y[row * dim..][..dim].iter().map(|&y| f64::from(y));
        y.chain(std::iter::once(1.0)).collect()
    };
    // In chunks of fixed size, so that the sums do not depend on threads.
    let parts: Vec<(Vec<f64>, Vec<f64>)> = seen
        .par_chunks(512)
        .map(|rows| {
            let (mut gram, mut right) = (vec![0.0; size * size], vec![0.0; size * count]);
            for &place in rows {
                let y = row(place);
                let target = &targets[place * count..][..count];
                for a in 0..size {
                    for b in 0..=a {
                        gram[a * size + b] += y[a] * y[b];
                    }
                    for (out, t) in right[a * count..][..count].iter_mut().zip(target) {
                        *out += y[a] * t;
                    }
                }
            }
            (gram, right)
        })
        .collect();
    let (mut gram, mut right) = (vec![0.0; size * size], vec![0.0; size * count]);
    for (g, r) in &parts {
        gram.iter_mut().zip(g).for_each(|(sum, x)| *sum += x);
        right.iter_mut().zip(r).for_each(|(sum, x)| *sum += x);
    }
    let unit = (0..dim).map(|a| gram[a * size + a]).sum::<f64>() / dim as f64;
    let mut means = vec![0.0; count];
    for &place in seen {
        for (mean, t) in means.iter_mut().zip(&targets[place * count..][..count]) {
            *mean += t / seen.len() as f64;
        }
    }
    let mut best = [0.0f64; 2];
    for ridge in RIDGES {
        let mut gram = gram.clone();
        for a in 0..dim {
            gram[a * size + a] += ridge * unit;
        }
        gram[dim * size + dim] += 1e-9;
        let solved: Vec<Vec<f64>> = (0..count)
            .map(|c| {
                solve(
                    gram.clone(),
                    (0..size).map(|a| right[a * count + c]).collect(),
                )
            })
            .collect();
        let (mut error, mut total) = (vec![0.0; count], vec![0.0; count]);
        for &place in held_out {
            let y = row(place);
            for c in 0..count {
                let t = targets[place * count + c];
                let guess: f64 = solved[c].iter().zip(&y).map(|(w, y)| w * y).sum();
                error[c] += (t - guess).powi(2);
                total[c] += (t - means[c]).powi(2);
            }
        }
        let share = |error: f64, total: f64| {
            if total > 0.0 {
                1.0 - error / total
            } else {
                0.0
            }
        };
        let each = error
            .iter()
            .zip(&total)
            .map(|(e, t)| share(*e, *t).max(0.0));
        best[0] = best[0].max(share(error.iter().sum(), total.iter().sum()));
        best[1] = best[1].max(each.sum::<f64>() / count.max(1) as f64);
    }
    best
}
