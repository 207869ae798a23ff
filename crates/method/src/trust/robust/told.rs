//! What embeddings tell of other numbers about their nodes, by regression and by
//! clusters.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::measure::KMeans;
use crate::trust::judge::logistic::solve;

/// Folds of nodes; each is held out once.
const FOLDS: usize = 5;
/// Numbers of clusters, and how they are looked for.
pub(super) const CLUSTERS: [usize; 3] = [5, 10, 20];
const RESTARTS: usize = 3;
pub(super) const ITERATIONS_OF_CLUSTERS: usize = 50;
/// Ridges, against the mean square of an entry.
const RIDGES: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];

/// The share of the variance of `targets` that a ridge regression on `y` tells
/// of nodes held out, and the mean of the shares of each component. Each node is
/// held out once.
pub(super) fn told(y: &[f32], dim: usize, targets: &[f64], count: usize, seed: u64) -> [f64; 2] {
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
pub(crate) fn told_by_clusters(
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
