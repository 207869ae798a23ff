//! How much of the variance of hidden feature columns embeddings explain, and the
//! smoothing of embeddings over links.
//!
//! A random fifth of the feature columns is held out. An embedding of the other columns
//! explains a share of the variance (R2) of the leading components of the held-out ones,
//! by clusters ([`explained_by_clusters`]) or by regression ([`explained_by_regression`]).

mod smoothing;
mod variance;

pub use smoothing::{averages, mean};
pub use variance::{explained_by_clusters, explained_by_regression};

use linkproof_numeric::real::add_scaled;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::features::Matrix;
use crate::data::transform::normalize;
use crate::error::Result;
use crate::params::Normalize;

/// One column in this many is held out.
const HELD_OUT: usize = 5;
/// The number of components of the held-out columns.
const COMPONENTS: usize = 20;
/// Rounds of subspace iteration.
const ITERATIONS: usize = 8;
/// Sets of columns that are held out, one after the other.
pub const TIMES: usize = 2;
/// Columns can be held out only of a matrix with at least this many.
pub const LEAST_COLUMNS: usize = 4;
/// Larger samples of nodes change the estimate little.
pub const MOST_NODES: usize = 10_000;

/// Which columns are held out, the first or the second time; the two sets are disjoint. More
/// than a fifth would make embeddings much worse than the user's.
pub fn held_out_columns(n_columns: usize, seed: u64, time: usize) -> Vec<bool> {
    let mut columns: Vec<usize> = (0..n_columns).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x6761_7465);
    columns.shuffle(&mut random);
    let count = (n_columns / HELD_OUT).max(1);
    let mut held_out = vec![false; n_columns];
    let chosen = columns.iter().skip(time * count).take(count);
    chosen.for_each(|&column| held_out[column] = true);
    held_out
}

/// All rows, or a random sample of [`MOST_NODES`] of them, ascending.
pub fn sampled_rows(n_rows: usize, seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..n_rows as u32).collect();
    if n_rows > MOST_NODES {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(0x7361_6d70);
        rows.shuffle(&mut random);
        rows.truncate(MOST_NODES);
        rows.sort_unstable();
    }
    rows
}

/// The share of the variance of held-out columns that clusters of the other columns
/// explain: what features alone achieve. None if a matrix has too few columns.
pub fn explained_by_features(matrix: &Matrix, seed: u64) -> Result<Option<f64>> {
    if matrix.n_columns() < LEAST_COLUMNS {
        return Ok(None);
    }
    let matrix = matrix.select(&sampled_rows(matrix.n_rows(), seed));
    let mut explained = 0.0;
    for time in 0..TIMES {
        let held_out = held_out_columns(matrix.n_columns(), seed, time);
        let (targets, count) = components(some_columns(&matrix, |c| held_out[c])?, seed)?;
        let (seen, width) = components(some_columns(&matrix, |c| !held_out[c])?, seed)?;
        let seen: Vec<f32> = seen.into_iter().map(|x| x as f32).collect();
        let share = explained_by_clusters(&seen, width, &targets, count, seed)?;
        explained += share / TIMES as f64;
    }
    Ok(Some(explained))
}

/// The columns of a matrix that `keep` selects.
pub fn some_columns(matrix: &Matrix, keep: impl Fn(usize) -> bool) -> Result<Matrix> {
    let kept: Vec<usize> = (0..matrix.n_columns()).filter(|&c| keep(c)).collect();
    let mut place = vec![u32::MAX; matrix.n_columns()];
    for (new, &old) in kept.iter().enumerate() {
        place[old] = new as u32;
    }
    let n = matrix.n_rows();
    let (mut offsets, mut columns, mut values) = (vec![0usize], Vec::new(), Vec::new());
    for row in 0..n {
        for (column, value) in matrix.row(row) {
            if place[column as usize] != u32::MAX {
                columns.push(place[column as usize]);
                values.push(value as f32);
            }
        }
        offsets.push(columns.len());
    }
    match matrix {
        Matrix::Dense(_) => Matrix::dense(n, kept.len(), values),
        Matrix::Sparse(_) => Matrix::sparse(kept.len(), offsets, columns, values),
    }
}

/// The scores of the rows along the leading principal components, row after row, and the
/// number of components. Rows are scaled to length 1, scores are centred.
pub fn components(matrix: Matrix, seed: u64) -> Result<(Vec<f64>, usize)> {
    let unit = normalize(matrix, Normalize::L2)?;
    let (n, p) = (unit.n_rows(), unit.n_columns());
    let count = COMPONENTS.min(p);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x7063_6173);
    // More directions than needed: the last ones converge slowly.
    let width = (count + 6).min(p);
    let mut basis: Vec<f64> = (0..p * width)
        .map(|_| random.random_range(-1.0..1.0))
        .collect();
    let mut scores = vec![0.0; n * width];
    for _ in 0..ITERATIONS {
        orthonormal(&mut basis, width);
        let rows = scores.par_chunks_exact_mut(width).enumerate();
        rows.for_each(|(row, sum)| {
            sum.fill(0.0);
            for (column, x) in unit.row(row) {
                add_scaled(sum, x, &basis[column as usize * width..][..width]);
            }
        });
        centre(&mut scores, width);
        basis.fill(0.0);
        for (row, scores) in (0..n).zip(scores.chunks_exact(width)) {
            for (column, x) in unit.row(row) {
                add_scaled(&mut basis[column as usize * width..][..width], x, scores);
            }
        }
    }
    // The iteration sorts directions by their share of the variance.
    let rows = scores.chunks_exact(width).flat_map(|row| &row[..count]);
    Ok((rows.copied().collect(), count))
}

/// Less the mean of each column.
fn centre(rows: &mut [f64], width: usize) {
    let n = (rows.len() / width.max(1)).max(1) as f64;
    let mut means = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        let both = means.iter_mut().zip(row);
        both.for_each(|(mean, x)| *mean += x / n);
    }
    for row in rows.chunks_exact_mut(width) {
        row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean);
    }
}

/// Gram-Schmidt on the columns.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_held_out_once() {
        let [first, second] = [0, 1].map(|time| held_out_columns(23, 5, time));
        assert_eq!(first.iter().filter(|&&held| held).count(), 4);
        assert_eq!(second.iter().filter(|&&held| held).count(), 4);
        assert!(first.iter().zip(&second).all(|(a, b)| !(*a && *b)));
        assert_ne!(held_out_columns(23, 6, 0), first);
    }

    #[test]
    fn chosen_columns_keep_their_values_and_order() {
        let dense = Matrix::dense(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let sparse = Matrix::sparse(3, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, 3.0, 6.0]).unwrap();
        let dense = some_columns(&dense, |column| column != 1).unwrap();
        let sparse = some_columns(&sparse, |column| column != 1).unwrap();
        assert_eq!((dense.n_columns(), sparse.n_columns()), (2, 2));
        assert_eq!(dense.row(1), [(0, 4.0), (1, 6.0)]);
        assert_eq!(sparse.row(0), [(0, 1.0), (1, 3.0)]);
        assert_eq!(sparse.row(1), [(1, 6.0)]);
    }

    #[test]
    fn features_with_groups_explain_their_columns_and_noise_does_not() {
        let noise = |place: usize| (place as f64 * 12.9898).sin() * 43_758.545_3;
        let noise = |place: usize| (noise(place) - noise(place).floor()) as f32 - 0.5;
        let made = |spread: f32| {
            let x = (0..300 * 10).map(|place| {
                let (row, column) = (place / 10, place % 10);
                let group = if (row % 3 + column) % 2 == 0 {
                    spread
                } else {
                    -spread
                };
                noise(place) + group * ((row % 3) as f32 - 1.0)
            });
            explained_by_features(&Matrix::dense(300, 10, x.collect::<Vec<_>>()).unwrap(), 1)
        };
        let grouped = made(2.0).unwrap().unwrap();
        let random = made(0.0).unwrap().unwrap();
        assert!(grouped > 0.5 && random < 0.1, "{grouped} {random}");
        let narrow = Matrix::dense(2, 1, vec![1.0f32, 2.0]).unwrap();
        assert_eq!(explained_by_features(&narrow, 1).unwrap(), None);
    }

    #[test]
    fn components_hold_the_variance_in_descending_order() {
        // Two directions, one of them with nine times the variance.
        let angle = |row: usize| (row as f64 * 0.7).sin() * 0.3;
        let rows = (0..200).flat_map(|row| {
            let (a, b) = (angle(row), angle(3 * row + 1) / 3.0);
            [1.0, a as f32, b as f32, 0.0]
        });
        let matrix = Matrix::dense(200, 4, rows.collect::<Vec<f32>>()).unwrap();
        let (scores, count) = components(matrix, 1).unwrap();
        assert_eq!((count, scores.len()), (4, 800));
        let variance = |c: usize| scores.iter().skip(c).step_by(4).map(|x| x * x).sum::<f64>();
        assert!(
            variance(0) > 5.0 * variance(1),
            "{} {}",
            variance(0),
            variance(1)
        );
        assert!(variance(1) > 5.0 * variance(2) && variance(2) >= variance(3));
        let mean = |c: usize| scores.iter().skip(c).step_by(4).sum::<f64>();
        assert!((0..4).all(|c| mean(c).abs() < 1e-9));
    }
}
