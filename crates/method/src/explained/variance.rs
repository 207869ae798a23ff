//! The share of the variance of numbers about nodes that embeddings explain.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::measure::KMeans;
use linkproof_numeric::linear::solve;

/// Folds of nodes; each is held out once.
const FOLDS: usize = 5;
/// Numbers of clusters; the result is the mean over them.
const CLUSTERS: [usize; 3] = [5, 10, 20];
const RESTARTS: usize = 3;
const MOST_ITERATIONS: usize = 50;
/// Ridges, against the mean square of an entry.
const RIDGES: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];

/// The share of the variance of `targets` (rows of `count` numbers) that a ridge regression
/// on `y` explains, and the mean of that share over the `count` columns. Each node is held
/// out once; the ridge is the best of a few.
pub fn explained_by_regression(
    y: &[f32],
    dim: usize,
    targets: &[f64],
    count: usize,
    seed: u64,
) -> [f64; 2] {
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
    let residuals: Vec<Residuals> = folds
        .par_iter()
        .zip(&sums)
        .map(|(rows, own)| {
            let mut seen = whole.clone();
            seen.add(own, -1.0);
            seen.predict(rows, y, targets)
        })
        .collect();
    let share = |error: f64, total: f64| {
        if total > 0.0 {
            1.0 - error / total
        } else {
            0.0
        }
    };
    let total = |c: usize| residuals.iter().map(|m| m.total[c]).sum::<f64>();
    let mut best = [0.0f64; 2];
    for ridge in 0..RIDGES.len() {
        let error = |c: usize| residuals.iter().map(|m| m.errors[ridge][c]).sum::<f64>();
        let all = |sum: &dyn Fn(usize) -> f64| (0..count).map(sum).sum::<f64>();
        let each = (0..count).map(|c| share(error(c), total(c)).max(0.0));
        best[0] = best[0].max(share(all(&error), all(&total)));
        best[1] = best[1].max(each.sum::<f64>() / count.max(1) as f64);
    }
    best
}

/// The share of the variance of `targets` (rows of `count` centred numbers) that k-means
/// clusters of `y` explain, on average over a few numbers of clusters. A node is predicted
/// by the other nodes of its cluster.
pub fn explained_by_clusters(
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
            // For a node alone in its cluster the prediction is 0, the mean of all.
            let others = (size - 1.0).max(1.0);
            let apart = |(t, s): (&f64, &f64)| (t - (s - t) / others).powi(2);
            target.iter().zip(sum).map(apart).sum::<f64>()
        };
        targets.chunks_exact(count).enumerate().map(rest).sum()
    };
    let total = squares(&means(&|_| 0, 1), &|_| 0);
    let mut explained = 0.0;
    for &clusters in &numbers {
        let settings = KMeans {
            clusters,
            restarts: RESTARTS,
            max_iterations: MOST_ITERATIONS,
            seed,
        };
        let labels = settings.fit(y, n, dim)?.labels;
        let cluster = |row: usize| labels[row] as usize;
        let residuals = squares(&means(&cluster, clusters), &cluster);
        explained += (1.0 - residuals / total.max(f64::MIN_POSITIVE)) / numbers.len() as f64;
    }
    Ok(explained.max(0.0))
}

/// Sums of squares of nodes held out, by column of the targets.
struct Residuals {
    total: Vec<f64>,
    /// For each ridge.
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

    /// The residuals of other nodes after regressions fitted to these sums.
    fn predict(&self, rows: &[usize], y: &[f32], targets: &[f64]) -> Residuals {
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
                let solution =
                    |c| solve(&gram, size, &column(c)).unwrap_or_else(|| vec![0.0; size]);
                (0..count).map(solution).collect()
            })
            .collect();
        let mut residuals = Residuals {
            total: vec![0.0; count],
            errors: vec![vec![0.0; count]; RIDGES.len()],
        };
        for &place in rows {
            let y = with_constant(&y[place * dim..][..dim]);
            for c in 0..count {
                let t = targets[place * count + c];
                // The last row of the right-hand side sums targets up.
                residuals.total[c] += (t - self.right[dim * count + c] / n).powi(2);
                for (errors, solved) in residuals.errors.iter_mut().zip(&solved) {
                    let guess: f64 = solved[c].iter().zip(&y).map(|(w, y)| w * y).sum();
                    errors[c] += (t - guess).powi(2);
                }
            }
        }
        residuals
    }
}

fn with_constant(y: &[f32]) -> Vec<f64> {
    let y = y.iter().map(|&y| f64::from(y));
    y.chain(std::iter::once(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes at four corners, with some noise.
    fn corners(n: usize) -> (Vec<f32>, Vec<f64>) {
        let at = |row: usize| [(row % 2) as f64 - 0.5, (row / 2 % 2) as f64 - 0.5];
        let noise = |row: usize| (row as f64 * 12.9898).sin() * 0.05;
        let y = (0..n).flat_map(|row| at(row).map(|x| (x + noise(row)) as f32));
        let targets = (0..n).flat_map(|row| {
            let [a, b] = at(row);
            [a + b, noise(7 * row + 3)]
        });
        (y.collect(), targets.collect())
    }

    #[test]
    fn embeddings_explain_what_they_hold_and_not_noise() {
        let (y, targets) = corners(400);
        let [all, each] = explained_by_regression(&y, 2, &targets, 2, 1);
        assert!(all > 0.95, "{all}");
        // The second column is noise: the mean over columns is about a half.
        assert!((0.4..0.6).contains(&each), "{each}");
        let clusters = explained_by_clusters(&y, 2, &targets, 2, 1).unwrap();
        assert!(clusters > 0.9, "{clusters}");
        let shifted: Vec<f32> = y.iter().skip(6).chain(&y[..6]).copied().collect();
        let unrelated: Vec<f32> = (0..800)
            .map(|place| (place as f32 * 78.233).sin())
            .collect();
        assert!(explained_by_clusters(&unrelated, 2, &targets, 2, 1).unwrap() < 0.1);
        assert!(explained_by_regression(&unrelated, 2, &targets, 2, 1)[0] < 0.1);
        // Rows in another order explain less.
        let moved = explained_by_clusters(&shifted, 2, &targets, 2, 1).unwrap();
        assert!(moved < clusters, "{moved}");
    }
}
