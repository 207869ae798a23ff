//! The share of the variance of numbers about nodes that embeddings explain.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::measure::KMeans;
use linkproof_numeric::linear::solve;
use linkproof_numeric::real::add_scaled;

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
    let fold = |fold: usize| &order[fold * n / FOLDS..(fold + 1) * n / FOLDS];
    let folds: Vec<&[usize]> = (0..FOLDS).map(fold).collect();
    let data = Regression {
        y,
        dim,
        targets,
        count,
    };
    let sums: Vec<Vec<f64>> = folds.par_iter().map(|rows| data.sums(rows)).collect();
    let mut whole = vec![0.0; sums[0].len()];
    sums.iter()
        .for_each(|sums| add_scaled(&mut whole, 1.0, sums));
    let of_fold = |(rows, own): (&&[usize], &Vec<f64>)| {
        let mut seen = whole.clone();
        add_scaled(&mut seen, -1.0, own);
        data.residuals(rows, &seen)
    };
    let residuals: Vec<Vec<Vec<f64>>> = folds.par_iter().zip(&sums).map(of_fold).collect();
    let share = |error: f64, total: f64| {
        if total > 0.0 {
            1.0 - error / total
        } else {
            0.0
        }
    };
    let sum = |which: usize, c: usize| residuals.iter().map(|it| it[which][c]).sum::<f64>();
    let all = |which: usize| (0..count).map(|c| sum(which, c)).sum::<f64>();
    let mut best = [0.0f64; 2];
    for ridge in 1..=RIDGES.len() {
        let each = (0..count).map(|c| share(sum(ridge, c), sum(0, c)).max(0.0));
        best[0] = best[0].max(share(all(ridge), all(0)));
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
    let squares = |labels: &[u32], clusters: usize| -> f64 {
        let rows = || labels.iter().zip(targets.chunks_exact(count));
        let mut sizes = vec![0.0; clusters];
        let mut sums = vec![0.0; clusters * count];
        for (&label, target) in rows() {
            sizes[label as usize] += 1.0;
            add_scaled(&mut sums[label as usize * count..][..count], 1.0, target);
        }
        let rest = |(&label, target): (&u32, &[f64])| {
            // For a node alone in its cluster the prediction is 0, the mean of all.
            let others = (sizes[label as usize] - 1.0_f64).max(1.0);
            let sum = &sums[label as usize * count..];
            let apart = |(t, s): (&f64, &f64)| (t - (s - t) / others).powi(2);
            target.iter().zip(sum).map(apart).sum::<f64>()
        };
        rows().map(rest).sum()
    };
    let total = squares(&vec![0; n], 1);
    let mut explained = 0.0;
    for &clusters in &numbers {
        let settings = KMeans {
            clusters,
            restarts: RESTARTS,
            max_iterations: MOST_ITERATIONS,
            seed,
        };
        let labels = settings.fit(y, n, dim)?.labels;
        let residuals = squares(&labels, clusters);
        explained += (1.0 - residuals / total.max(f64::MIN_POSITIVE)) / numbers.len() as f64;
    }
    Ok(explained.max(0.0))
}

/// What a regression of targets on embeddings and a constant sees.
struct Regression<'r> {
    y: &'r [f32],
    dim: usize,
    targets: &'r [f64],
    count: usize,
}

impl Regression<'_> {
    /// The numbers of a node, a constant, and its targets.
    fn node(&self, place: usize) -> Vec<f64> {
        let y = &self.y[place * self.dim..][..self.dim];
        let mut node: Vec<f64> = y.iter().map(|&y| f64::from(y)).collect();
        node.push(1.0);
        node.extend(&self.targets[place * self.count..][..self.count]);
        node
    }

    /// The sums over nodes that the regression needs: for each number the products with the
    /// numbers up to it and with the targets.
    fn sums(&self, rows: &[usize]) -> Vec<f64> {
        let size = self.dim + 1;
        let width = size + self.count;
        let mut sums = vec![0.0; size * width];
        for &place in rows {
            let node = self.node(place);
            for (a, sums) in sums.chunks_exact_mut(width).enumerate() {
                add_scaled(&mut sums[..=a], node[a], &node);
                add_scaled(&mut sums[size..], node[a], &node[size..]);
            }
        }
        sums
    }

    /// The sums of squares of other nodes by column of the targets: first about the mean,
    /// then of the residuals after regressions fitted to these sums, ridge by ridge.
    fn residuals(&self, rows: &[usize], sums: &[f64]) -> Vec<Vec<f64>> {
        let (dim, count, size) = (self.dim, self.count, self.dim + 1);
        let width = size + count;
        let unit = (0..dim).map(|a| sums[a * width + a]).sum::<f64>() / dim as f64;
        let constants = &sums[dim * width..];
        let n = constants[dim].max(1.0);
        let of_ridge = |ridge: &f64| -> Vec<Vec<f64>> {
            let rows = sums.chunks_exact(width).flat_map(|row| &row[..size]);
            let mut gram: Vec<f64> = rows.copied().collect();
            (0..dim).for_each(|a| gram[a * size + a] += ridge * unit);
            gram[dim * size + dim] += 1e-9;
            let solution = |c: usize| {
                let right = sums.iter().skip(size + c).step_by(width);
                let right: Vec<f64> = right.copied().collect();
                solve(&gram, size, &right).unwrap_or_else(|| vec![0.0; size])
            };
            (0..count).map(solution).collect()
        };
        let solved: Vec<Vec<Vec<f64>>> = RIDGES.iter().map(of_ridge).collect();
        let mut squares = vec![vec![0.0; count]; 1 + RIDGES.len()];
        for &place in rows {
            let node = self.node(place);
            let (y, targets) = node.split_at(size);
            for (c, t) in targets.iter().enumerate() {
                squares[0][c] += (t - constants[size + c] / n).powi(2);
                for (squares, solved) in squares[1..].iter_mut().zip(&solved) {
                    let guess: f64 = solved[c].iter().zip(y).map(|(w, y)| w * y).sum();
                    squares[c] += (t - guess).powi(2);
                }
            }
        }
        squares
    }
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
