//! Whether averaging over links keeps what the data vectors say.
//!
//! A random fifth of the columns of the data vectors is held back. Embeddings are
//! fitted from the others, averaged or not, and asked to tell the leading components
//! of what was held back, by clusters of the embeddings (nodes held out) and by
//! ridge regression. The same for another fifth. Where clusters of averages tell less than those of the
//! embeddings themselves, links join what is unlike, or averages are of lengths
//! that say more of a node's links than of the node. A regression alone sees
//! neither lengths nor what clusters would be made of.
//!
//! Clusters of the data vectors themselves are asked the same. Where they tell more
//! than clusters of the embeddings, the links lead away from what the data vectors
//! say, and these alone are the better choice.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;

use crate::data::dataset::{DataView, Dataset};
use crate::data::features::Matrix;
use crate::data::graph::Adjacency;
use crate::data::transform::normalize;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::measure::KMeans;
use crate::params::{CheckedParams, Normalize};
use crate::trust::judge::average::averages;
use crate::trust::judge::fits::{LinkFit, fit_links};
use crate::trust::judge::logistic::solve;

/// One column in so many is held back.
const HELD_BACK: usize = 5;
/// The components of what is held back.
const COMPONENTS: usize = 20;
/// Rounds of subspace iteration.
const ITERATIONS: usize = 8;
/// Folds of nodes; each is held out once.
const FOLDS: usize = 5;
/// So many nodes tell enough.
const MOST_NODES: usize = 10_000;
/// Numbers of clusters, and how they are looked for.
const CLUSTERS: [usize; 3] = [5, 10, 20];
const RESTARTS: usize = 3;
const ITERATIONS_OF_CLUSTERS: usize = 50;
/// Ridges, against the mean square of an entry.
const RIDGES: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];
/// Fits from most of the columns end early: only their ratio is read.
const TOLERANCE: f64 = 3e-4;
/// Fewer columns cannot be split.
pub const LEAST_COLUMNS: usize = 4;

/// What the gate found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Told {
    /// What the embeddings tell of held-back columns: the share of the variance.
    pub plain: f64,
    /// What their averages tell.
    pub averaged: f64,
    /// What the embeddings tell of each component, on average: an embedding of
    /// few dimensions tells little, however large the first components are.
    pub plain_each: f64,
    /// What the averages tell of each component.
    pub averaged_each: f64,
    /// What clusters of the embeddings tell: the share of the variance.
    pub plain_clusters: f64,
    /// What clusters of the averages tell.
    pub averaged_clusters: f64,
    /// What clusters of the data vectors themselves tell, without any link.
    pub vectors_clusters: f64,
}

/// Which columns are held back, the first time or the second. With half of them
/// held back embeddings would be so much worse than the user's that averages look
/// too good.
fn held_back(n_columns: usize, seed: u64, time: usize) -> Vec<bool> {
    let mut columns: Vec<usize> = (0..n_columns).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x6761_7465);
    columns.shuffle(&mut random);
    let count = (n_columns / HELD_BACK).max(1);
    let mut back = vec![false; n_columns];
    let chosen = columns.iter().skip(time * count).take(count);
    chosen.for_each(|&column| back[column] = true);
    back
}

/// Some rows of so many: all, or a random sample of [`MOST_NODES`], ascending.
fn sample(n_rows: usize, seed: u64) -> Vec<u32> {
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

/// What embeddings from most of the columns, plain and averaged over `links`, tell
/// of the others; and the fits. None where no view has columns to hold back.
pub fn tell(
    params: &CheckedParams,
    data: &Dataset,
    links: &Adjacency,
    rounds: usize,
    earlier: &[LinkFit],
    runtime: Runtime<'_>,
) -> Result<Option<(Told, Vec<LinkFit>)>> {
    let enough = |matrix: &Matrix| matrix.n_columns() >= LEAST_COLUMNS;
    let can_split = |view: &DataView| view.matrix.as_ref().is_some_and(enough);
    if !data.views().iter().any(can_split) {
        return Ok(None);
    }
    let dim = params.dim;
    let (mut sums, mut alone) = ([[0.0; 3]; 2], 0.0);
    let (mut weight, mut fits) = (0.0, Vec::new());
    for time in 0..2 {
        let part = |matrix: &Matrix, is_back: bool| {
            let back = held_back(matrix.n_columns(), params.seed, time);
            some_columns(matrix, |column| back[column] == is_back)
        };
        let kept = data.map_vectors(|_, matrix| match enough(matrix) {
            true => part(matrix, false),
            false => Ok(matrix.clone()),
        })?;
        let warm = earlier.get(time).map(|fit| fit.theta.as_slice());
        let fit = fit_links(params, &kept, warm, TOLERANCE, runtime)?;
        let averaged = averages(links, &fit.y, dim, rounds).pop();
        let averaged = averaged.unwrap_or_default();
        for view in data.views().iter().filter(|view| can_split(view)) {
            let Some(matrix) = &view.matrix else { continue };
            let rows = sample(view.rows.len(), params.seed);
            let matrix = matrix.select(&rows);
            let (targets, count) = components(&part(&matrix, true)?, params.seed)?;
            let n = view.rows.len() as f64;
            let (own, width) = components(&part(&matrix, false)?, params.seed)?;
            let own: Vec<f32> = own.into_iter().map(|x| x as f32).collect();
            alone += n * told_by_clusters(&own, width, &targets, count, params.seed)?;
            for (sum, y) in sums.iter_mut().zip([&fit.y, &averaged]) {
                let y: Vec<f32> = rows
                    .iter()
                    .flat_map(|&row| &y[(view.rows.start + row as usize) * dim..][..dim])
                    .copied()
                    .collect();
                let [all, each] = self::told(&y, dim, &targets, count, params.seed);
                let clusters = told_by_clusters(&y, dim, &targets, count, params.seed)?;
                sum.iter_mut()
                    .zip([all, each, clusters])
                    .for_each(|(sum, told)| *sum += n * told);
            }
            weight += n;
        }
        fits.push(fit);
    }
    let told = Told {
        plain: sums[0][0] / weight,
        averaged: sums[1][0] / weight,
        plain_each: sums[0][1] / weight,
        averaged_each: sums[1][1] / weight,
        plain_clusters: sums[0][2] / weight,
        averaged_clusters: sums[1][2] / weight,
        vectors_clusters: alone / weight,
    };
    Ok(Some((told, fits)))
}

/// Some columns of a matrix.
fn some_columns(matrix: &Matrix, keep: impl Fn(usize) -> bool) -> Result<Matrix> {
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
fn components(matrix: &Matrix, seed: u64) -> Result<(Vec<f64>, usize)> {
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
/// of nodes held out, and the mean of the shares of each component. Each node is
/// held out once.
fn told(y: &[f32], dim: usize, targets: &[f64], count: usize, seed: u64) -> [f64; 2] {
    let n = y.len() / dim;
    let mut order: Vec<usize> = (0..n).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(0x746f_6c64);
    order.shuffle(&mut random);
    let folds: Vec<&[usize]> = (0..FOLDS)
        .map(|fold| &order[fold * n / FOLDS..(fold + 1) * n / FOLDS])
        .collect();
    let sums: Vec<Sums> = folds
        .par_iter()
        .map(|rows| Sums::of(rows, y, dim, targets, count))
        .collect();
    let whole = sums.iter().fold(Sums::new(dim, count), |mut whole, sums| {
        whole.add(sums, 1.0);
        whole
    });
    let missed: Vec<Missed> = folds
        .par_iter()
        .zip(&sums)
        .map(|(rows, own)| {
            let mut seen = whole.clone();
            seen.add(own, -1.0);
            seen.predict(rows, y, targets)
        })
        .collect();
    let share = |error: f64, total: f64| match total > 0.0 {
        true => 1.0 - error / total,
        false => 0.0,
    };
    let total = |c: usize| missed.iter().map(|m| m.total[c]).sum::<f64>();
    let mut best = [0.0f64; 2];
    for ridge in 0..RIDGES.len() {
        let error = |c: usize| missed.iter().map(|m| m.errors[ridge][c]).sum::<f64>();
        let all = |sum: &dyn Fn(usize) -> f64| (0..count).map(sum).sum::<f64>();
        let each = (0..count).map(|c| share(error(c), total(c)).max(0.0));
        best[0] = best[0].max(share(all(&error), all(&total)));
        best[1] = best[1].max(each.sum::<f64>() / count.max(1) as f64);
    }
    best
}

/// The share of the variance of `targets` that the other nodes of a node's cluster
/// tell of it, on average over some numbers of clusters.
fn told_by_clusters(
    y: &[f32],
    dim: usize,
    targets: &[f64],
    count: usize,
    seed: u64,
) -> Result<f64> {
    let n = y.len() / dim;
    let numbers: Vec<usize> = CLUSTERS.into_iter().filter(|k| 4 * k <= n).collect();
    let means = |rows: &dyn Fn(usize) -> usize, clusters: usize| {
        let mut sums = vec![(0.0, vec![0.0; count]); clusters];
        for (row, target) in targets.chunks_exact(count).enumerate() {
            let (size, sum) = &mut sums[rows(row)];
            *size += 1.0;
            sum.iter_mut().zip(target).for_each(|(s, t)| *s += t);
        }
        sums
    };
    let squares = |sums: &[(f64, Vec<f64>)], rows: &dyn Fn(usize) -> usize| -> f64 {
        let rest = |(row, target): (usize, &[f64])| {
            let (size, sum) = &sums[rows(row)];
            // A node alone in its cluster is told nothing: components have mean 0.
            let others = (size - 1.0).max(1.0);
            let apart = |(t, s): (&f64, &f64)| (t - (s - t) / others).powi(2);
            target.iter().zip(sum).map(apart).sum::<f64>()
        };
        targets.chunks_exact(count).enumerate().map(rest).sum()
    };
    let total = squares(&means(&|_| 0, 1), &|_| 0);
    let mut told = 0.0;
    for &clusters in &numbers {
        let settings = KMeans {
            clusters,
            restarts: RESTARTS,
            max_iterations: ITERATIONS_OF_CLUSTERS,
            seed,
        };
        let labels = settings.fit(y, n, dim)?.labels;
        let cluster = |row: usize| labels[row] as usize;
        let missed = squares(&means(&cluster, clusters), &cluster);
        told += (1.0 - missed / total.max(f64::MIN_POSITIVE)) / numbers.len() as f64;
    }
    Ok(told.max(0.0))
}

/// What is to be told of nodes, and by how much each ridge misses it.
struct Missed {
    total: Vec<f64>,
    errors: Vec<Vec<f64>>,
}

/// The sums over nodes that a regression on embeddings and a constant needs.
#[derive(Clone)]
struct Sums {
    dim: usize,
    count: usize,
    gram: Vec<f64>,
    right: Vec<f64>,
}

impl Sums {
    fn new(dim: usize, count: usize) -> Sums {
        Sums {
            dim,
            count,
            gram: vec![0.0; (dim + 1) * (dim + 1)],
            right: vec![0.0; (dim + 1) * count],
        }
    }

    fn of(rows: &[usize], y: &[f32], dim: usize, targets: &[f64], count: usize) -> Sums {
        let mut sums = Sums::new(dim, count);
        let size = dim + 1;
        for &place in rows {
            let y = with_constant(&y[place * dim..][..dim]);
            let target = &targets[place * count..][..count];
            for a in 0..size {
                let gram = &mut sums.gram[a * size..][..=a];
                gram.iter_mut().zip(&y).for_each(|(g, b)| *g += y[a] * b);
                let right = &mut sums.right[a * count..][..count];
                right
                    .iter_mut()
                    .zip(target)
                    .for_each(|(r, t)| *r += y[a] * t);
            }
        }
        sums
    }

    fn add(&mut self, other: &Sums, factor: f64) {
        let add = |sum: &mut [f64], more: &[f64]| {
            let both = sum.iter_mut().zip(more);
            both.for_each(|(sum, x)| *sum += factor * x);
        };
        add(&mut self.gram, &other.gram);
        add(&mut self.right, &other.right);
    }

    /// How far regressions to the nodes of these sums miss those of others.
    fn predict(&self, rows: &[usize], y: &[f32], targets: &[f64]) -> Missed {
        let (dim, count, size) = (self.dim, self.count, self.dim + 1);
        let unit = (0..dim).map(|a| self.gram[a * size + a]).sum::<f64>() / dim as f64;
        let n = self.gram[size * size - 1].max(1.0);
        let column = |c: usize| {
            (0..size)
                .map(|a| self.right[a * count + c])
                .collect::<Vec<_>>()
        };
        let solved: Vec<Vec<Vec<f64>>> = RIDGES
            .iter()
            .map(|ridge| {
                let mut gram = self.gram.clone();
                (0..dim).for_each(|a| gram[a * size + a] += ridge * unit);
                gram[dim * size + dim] += 1e-9;
                (0..count).map(|c| solve(gram.clone(), column(c))).collect()
            })
            .collect();
        let mut missed = Missed {
            total: vec![0.0; count],
            errors: vec![vec![0.0; count]; RIDGES.len()],
        };
        for &place in rows {
            let y = with_constant(&y[place * dim..][..dim]);
            for c in 0..count {
                let t = targets[place * count + c];
                // The last row of the right-hand side sums targets up.
                missed.total[c] += (t - self.right[dim * count + c] / n).powi(2);
                for (errors, solved) in missed.errors.iter_mut().zip(&solved) {
                    let guess: f64 = solved[c].iter().zip(&y).map(|(w, y)| w * y).sum();
                    errors[c] += (t - guess).powi(2);
                }
            }
        }
        missed
    }
}

fn with_constant(y: &[f32]) -> Vec<f64> {
    let y = y.iter().map(|&y| f64::from(y));
    y.chain(std::iter::once(1.0)).collect()
}
