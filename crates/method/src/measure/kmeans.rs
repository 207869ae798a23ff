//! k-means: greedy k-means++ seeds, Lloyd iterations, the best of several
//! restarts. The result depends on data, number of clusters and seed alone,
//! never on the number of threads.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::{Error, Result};
use linkproof_numeric::math;

use super::points::{Points, dot, nearest, squared_distance};

/// More random starts than this are a slip of the hand.
const MOST_RESTARTS: usize = 100_000;

/// How to cluster.
///
/// ```
/// use linkproof::measure::KMeans;
///
/// let data = [0.0, 0.1, 5.0, 5.1];
/// let clustering = KMeans::new(2, 7).fit(&data, 4, 1)?;
/// assert_eq!(clustering.labels[0], clustering.labels[1]);
/// assert_ne!(clustering.labels[0], clustering.labels[2]);
/// # Ok::<(), linkproof::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KMeans {
    /// The number of clusters `k`.
    pub clusters: usize,
    /// How many starts to try; the one with the least inertia wins.
    pub restarts: usize,
    /// The most Lloyd iterations of a start.
    pub max_iterations: usize,
    /// The seed of the starts; each draws from a stream of its own.
    pub seed: u64,
}

impl KMeans {
    /// `clusters` clusters, 10 restarts of at most 300 iterations.
    pub fn new(clusters: usize, seed: u64) -> KMeans {
        KMeans {
            clusters,
            restarts: 10,
            max_iterations: 300,
            seed,
        }
    }

    /// Clusters `n` points of dimension `dim`, given row after row.
    pub fn fit(&self, data: &[f32], n: usize, dim: usize) -> Result<Clustering> {
        self.check(n)?;
        let points = Points::new(data, n, dim)?;
        let best = (0..self.restarts as u64)
            .into_par_iter()
            .map(|restart| {
                let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
                rng.set_stream(restart);
                let mut lloyd = Lloyd::new(&points, &seeds(&points, self.clusters, &mut rng));
                lloyd.run(self.max_iterations);
                lloyd.finish()
            })
            // The first of the best, in whatever order they are compared.
            .reduce_with(|best, run| match run.inertia < best.inertia {
                true => run,
                false => best,
            });
        best.ok_or_else(|| Error::argument("restarts", "1 or more", 0))
    }

    fn check(&self, n: usize) -> Result<()> {
        if !(1..=n).contains(&self.clusters) {
            let accepted = format!("1 to the number of points, {n}");
            return Err(Error::argument("clusters", accepted, self.clusters));
        }
        if !(1..=MOST_RESTARTS).contains(&self.restarts) {
            let accepted = format!("1 to {MOST_RESTARTS}");
            return Err(Error::argument("restarts", accepted, self.restarts));
        }
        match self.max_iterations {
            0 => Err(Error::argument("max-iterations", "1 or more", 0)),
            _ => Ok(()),
        }
    }
}

/// Points in clusters ([example](KMeans)).
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    /// The cluster of each point, below the number of clusters. A cluster can
    /// be empty when there are fewer distinct points than clusters, or when the
    /// iterations ran out.
    pub labels: Vec<u32>,
    /// The mean of each cluster, row after row.
    pub centers: Vec<f64>,
    /// The sum of the squared distances of the points to their centers.
    pub inertia: f64,
    /// How many Lloyd iterations the winning start took.
    pub iterations: usize,
}

/// Rows of `k` starting points: greedy k-means++. Each new seed is drawn with
/// probability proportional to the squared distance to the seeds so far, a few
/// times over, and the draw that lowers the sum of those distances most is kept.
fn seeds(points: &Points, k: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let n = points.len();
    let trials = 2 + math::ln(k as f64) as usize;
    let first = rng.random_range(0..n);
    let mut chosen = vec![first];
    let (mut closest, mut total) = distances_with(points, first, &vec![f32::INFINITY; n]);
    while chosen.len() < k {
        let mut best: Option<(usize, Vec<f32>, f64)> = None;
        for _ in 0..trials {
            let row = draw(&closest, total, rng);
            let (distances, sum) = distances_with(points, row, &closest);
            if best.as_ref().is_none_or(|(_, _, least)| sum < *least) {
                best = Some((row, distances, sum));
            }
        }
        if let Some((row, distances, sum)) = best {
            chosen.push(row);
            (closest, total) = (distances, sum);
        }
    }
    chosen
}

/// A row drawn in proportion to `weights`; any row when all of them are zero.
fn draw(weights: &[f32], total: f64, rng: &mut ChaCha8Rng) -> usize {
    let mut rest = rng.random::<f64>() * total;
    let mut last = None;
    for (row, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            rest -= f64::from(weight);
            last = Some(row);
            if rest < 0.0 {
                break;
            }
        }
    }
    last.unwrap_or_else(|| rng.random_range(0..weights.len()))
}

/// The squared distance of each point to the nearest seed once `seed` is one of
/// them, and the sum.
fn distances_with(points: &Points, seed: usize, closest: &[f32]) -> (Vec<f32>, f64) {
    let size = points.chunk_rows();
    let seed = points.row(seed);
    let mut distances = closest.to_vec();
    let sums: Vec<f64> = distances
        .par_chunks_mut(size)
        .enumerate()
        .map(|(chunk, distances)| {
            let mut sum = 0.0;
            for (row, distance) in (chunk * size..).zip(distances) {
                *distance = distance.min(squared_distance(points.row(row), seed));
                sum += f64::from(*distance);
            }
            sum
        })
        .collect();
    (distances, sums.iter().sum())
}

/// The state of one start.
struct Lloyd<'p> {
    points: &'p Points,
    labels: Vec<u32>,
    /// The squared distance of each point to its center.
    distances: Vec<f32>,
    /// One row a cluster, padded and scaled as the points are.
    centers: Vec<f32>,
    n_clusters: usize,
    iterations: usize,
}

/// What a chunk of points adds to the next centers.
struct Share {
    sums: Vec<f64>,
    counts: Vec<usize>,
}

impl<'p> Lloyd<'p> {
    fn new(points: &'p Points, seeds: &[usize]) -> Lloyd<'p> {
        Lloyd {
            points,
            labels: vec![u32::MAX; points.len()],
            distances: vec![0.0; points.len()],
            centers: seeds
                .iter()
                .flat_map(|&seed| points.row(seed).iter().copied())
                .collect(),
            n_clusters: seeds.len(),
            iterations: 0,
        }
    }

    /// Alternates between nearest centers and means until no label changes.
    fn run(&mut self, max_iterations: usize) {
        while self.iterations < max_iterations {
            self.iterations += 1;
            if !self.assign() {
                return;
            }
            self.update();
        }
    }

    /// Moves each point to its nearest center; says whether any has moved.
    fn assign(&mut self) -> bool {
        let points = self.points;
        let size = points.chunk_rows();
        let half_norms: Vec<f32> = self
            .centers
            .chunks_exact(points.stride())
            .map(|center| dot(center, center) / 2.0)
            .collect();
        let centers = &self.centers;
        let moved: Vec<bool> = self
            .labels
            .par_chunks_mut(size)
            .zip(self.distances.par_chunks_mut(size))
            .enumerate()
            .map(|(chunk, (labels, distances))| {
                let mut moved = false;
                for ((row, label), distance) in (chunk * size..).zip(labels).zip(distances) {
                    let (cluster, half) = nearest(points.row(row), centers, &half_norms);
                    moved |= *label != cluster;
                    *label = cluster;
                    *distance = 2.0 * half + points.norm(row);
                }
                moved
            })
            .collect();
        moved.contains(&true)
    }

    /// Puts each center at the mean of its points. An empty cluster takes the
    /// point that lies farthest from its own center. The labels stay as they
    /// were assigned, so that a cluster which wins nothing that way (repeated
    /// points) does not keep the iterations going.
    fn update(&mut self) {
        let (points, distances) = (self.points, &self.distances);
        let stride = points.stride();
        let Share {
            mut sums,
            mut counts,
        } = self.shares();
        let mut taken = Vec::new();
        while let Some(empty) = counts.iter().position(|&count| count == 0) {
            let farthest = (0..self.labels.len())
                .filter(|row| counts[self.labels[*row] as usize] > 1 && !taken.contains(row))
                .reduce(|a, b| match distances[b] > distances[a] {
                    true => b,
                    false => a,
                });
            let Some(row) = farthest else { break };
            taken.push(row);
            let from = self.labels[row] as usize;
            counts[from] -= 1;
            counts[empty] = 1;
            for (column, &x) in points.row(row).iter().enumerate() {
                sums[from * stride + column] -= f64::from(x);
                sums[empty * stride + column] = f64::from(x);
            }
        }
        for (cluster, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let range = cluster * stride..(cluster + 1) * stride;
            for (center, sum) in self.centers[range.clone()].iter_mut().zip(&sums[range]) {
                *center = (sum / count as f64) as f32;
            }
        }
    }

    /// The sums and counts of the clusters: by chunk, then over the chunks in
    /// their order.
    fn shares(&self) -> Share {
        let points = self.points;
        let (size, stride) = (points.chunk_rows(), points.stride());
        let empty = || Share {
            sums: vec![0.0; self.n_clusters * stride],
            counts: vec![0; self.n_clusters],
        };
        let shares: Vec<Share> = self
            .labels
            .par_chunks(size)
            .enumerate()
            .map(|(chunk, labels)| {
                let mut share = empty();
                for (row, &label) in (chunk * size..).zip(labels) {
                    let start = label as usize * stride;
                    let sums = &mut share.sums[start..start + stride];
                    for (sum, &x) in sums.iter_mut().zip(points.row(row)) {
                        *sum += f64::from(x);
                    }
                    share.counts[label as usize] += 1;
                }
                share
            })
            .collect();
        shares.into_iter().fold(empty(), |mut total, share| {
            for (total, sum) in total.sums.iter_mut().zip(&share.sums) {
                *total += sum;
            }
            for (total, count) in total.counts.iter_mut().zip(&share.counts) {
                *total += count;
            }
            total
        })
    }

    /// The clusters as they stand, with their means in double precision.
    fn finish(self) -> Clustering {
        let (points, stride) = (self.points, self.points.stride());
        let Share { sums, counts } = self.shares();
        let mut means = sums;
        let rows = means
            .chunks_exact_mut(stride)
            .zip(self.centers.chunks_exact(stride));
        for ((mean, center), &count) in rows.zip(&counts) {
            for (mean, &center) in mean.iter_mut().zip(center) {
                *mean = match count {
                    0 => f64::from(center),
                    _ => *mean / count as f64,
                };
            }
        }
        Clustering {
            inertia: points.restore_square(self.inertia(&means)),
            centers: means
                .chunks_exact(stride)
                .flat_map(|mean| points.restore(mean))
                .collect(),
            iterations: self.iterations,
            labels: self.labels,
        }
    }

    /// The squared distances of the points to the means of their clusters.
    fn inertia(&self, means: &[f64]) -> f64 {
        let (points, size) = (self.points, self.points.chunk_rows());
        let stride = points.stride();
        let square = |row: usize, label: u32| -> f64 {
            let mean = &means[label as usize * stride..][..stride];
            let coordinates = points.row(row).iter().zip(mean);
            coordinates.map(|(&x, m)| (f64::from(x) - m).powi(2)).sum()
        };
        let parts: Vec<f64> = self
            .labels
            .par_chunks(size)
            .enumerate()
            .map(|(chunk, labels)| {
                let rows = (chunk * size..).zip(labels);
                rows.map(|(row, &label)| square(row, label)).sum()
            })
            .collect();
        parts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_clusters_take_the_farthest_points() {
        let data = [0.0, 1.0, 2.0, 10.0, 11.0, 30.0];
        let points = Points::new(&data, 6, 1).unwrap();
        let mut lloyd = Lloyd::new(&points, &[0, 0, 0]);
        lloyd.assign();
        assert_eq!(lloyd.labels, [0; 6]);
        lloyd.update();
        lloyd.run(300);
        let clustering = lloyd.finish();
        let groups: Vec<bool> = clustering.labels.windows(2).map(|w| w[0] == w[1]).collect();
        assert_eq!(groups, [true, true, false, true, false]);
        assert!((clustering.inertia - 2.5).abs() < 1e-5);
    }

    #[test]
    fn draws_follow_the_weights() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = [0; 4];
        for _ in 0..4000 {
            counts[draw(&[0.0, 1.0, 3.0, 0.0], 4.0, &mut rng)] += 1;
        }
        assert_eq!((counts[0], counts[3]), (0, 0));
        assert!((900..1100).contains(&counts[1]), "{counts:?}");
        assert!(draw(&[0.0; 4], 0.0, &mut rng) < 4);
    }
}
