//! Clusters against classes: purity, normalised mutual information, adjusted
//! Rand index, and accuracy under the best matching.

use crate::error::{Error, Result};
use linkproof_numeric::math;

use super::matching::best_total;

/// How many points each class shares with each cluster. Only cells that hold
/// points are stored; labels may be any numbers ([example](nmi)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contingency {
    n_points: usize,
    classes: Vec<u64>,
    clusters: Vec<u64>,
    cells: Vec<Cell>,
}

/// A cell of the table that is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    class: usize,
    cluster: usize,
    count: u64,
}

impl Contingency {
    /// Counts the points of each class (`truth`) in each cluster (`found`).
    pub fn new(truth: &[u32], found: &[u32]) -> Result<Contingency> {
        if truth.len() != found.len() {
            return Err(Error::data(
                "labels",
                format!("{} classes and {} clusters", truth.len(), found.len()),
                "one of each for every point",
            ));
        }
        if truth.is_empty() {
            return Err(Error::data("labels", "no points", "at least one point"));
        }
        let class_names = distinct(truth);
        let cluster_names = distinct(found);
        let mut pairs: Vec<(u32, u32)> = truth.iter().copied().zip(found.iter().copied()).collect();
        pairs.sort_unstable();
        let mut table = Contingency {
            n_points: truth.len(),
            classes: vec![0; class_names.len()],
            clusters: vec![0; cluster_names.len()],
            cells: Vec::new(),
        };
        for run in pairs.chunk_by(|a, b| a == b) {
            let class = class_names.partition_point(|&name| name < run[0].0);
            let cluster = cluster_names.partition_point(|&name| name < run[0].1);
            let count = run.len() as u64;
            table.classes[class] += count;
            table.clusters[cluster] += count;
            table.cells.push(Cell {
                class,
                cluster,
                count,
            });
        }
        Ok(table)
    }

    /// The share of the points that belong to the largest class of their cluster:
    /// `1/n sum_k max_j n_jk`.
    pub fn purity(&self) -> f64 {
        let mut largest = vec![0; self.clusters.len()];
        for cell in &self.cells {
            largest[cell.cluster] = cell.count.max(largest[cell.cluster]);
        }
        largest.iter().sum::<u64>() as f64 / self.n_points as f64
    }

    /// The mutual information of classes and clusters over the arithmetic mean
    /// of their entropies: `2 I(C; K) / (H(C) + H(K))`.
    ///
    /// One class and one cluster agree fully (1); where only one side is
    /// constant nothing is shared (0).
    pub fn nmi(&self) -> f64 {
        if self.classes.len() == 1 && self.clusters.len() == 1 {
            return 1.0;
        }
        let n = self.n_points as f64;
        let information: f64 = self
            .cells
            .iter()
            .map(|cell| {
                let shared = cell.count as f64;
                let class = self.classes[cell.class] as f64;
                let cluster = self.clusters[cell.cluster] as f64;
                shared / n * (math::ln(shared / class) + math::ln(n / cluster))
            })
            .sum();
        if information <= f64::EPSILON {
            return 0.0;
        }
        let mean_entropy = (entropy(&self.classes, n) + entropy(&self.clusters, n)) / 2.0;
        (information / mean_entropy).clamp(0.0, 1.0)
    }

    /// The adjusted Rand index: the agreement over pairs of points, 0 on average
    /// for unrelated labels, 1 for the same partition, and possibly negative.
    pub fn ari(&self) -> f64 {
        let together = pairs(self.cells.iter().map(|cell| cell.count));
        let class_only = pairs(self.classes.iter().copied()) - together;
        let cluster_only = pairs(self.clusters.iter().copied()) - together;
        let apart = pairs([self.n_points as u64]) - together - class_only - cluster_only;
        if class_only == 0 && cluster_only == 0 {
            return 1.0;
        }
        let agreement = 2 * (together * apart - class_only * cluster_only);
        let scale = (together + class_only) * (class_only + apart)
            + (together + cluster_only) * (cluster_only + apart);
        agreement as f64 / scale as f64
    }

    /// The share of the points whose cluster is matched with their class, under
    /// the best one-to-one matching. Takes `O(r^2 c)` time for `r` and `c`
    /// classes and clusters, the fewer first.
    pub fn accuracy(&self) -> f64 {
        let (rows, columns) = (self.classes.len(), self.clusters.len());
        let mut counts = vec![0; rows * columns];
        for cell in &self.cells {
            counts[cell.class * columns + cell.cluster] = cell.count;
        }
        best_total(&counts, rows, columns) as f64 / self.n_points as f64
    }
}

fn distinct(labels: &[u32]) -> Vec<u32> {
    let mut names = labels.to_vec();
    names.sort_unstable();
    names.dedup();
    names
}

fn entropy(sizes: &[u64], n: f64) -> f64 {
    sizes
        .iter()
        .map(|&size| {
            let share = size as f64 / n;
            -share * math::ln(share)
        })
        .sum()
}

/// The number of unordered pairs within the groups. Exact, and small enough
/// that products of two such numbers fit for up to 2^32 points.
fn pairs(sizes: impl IntoIterator<Item = u64>) -> i128 {
    sizes
        .into_iter()
        .map(|size| i128::from(size) * (i128::from(size) - 1) / 2)
        .sum()
}

/// [`Contingency::purity`] of two label lists.
pub fn purity(truth: &[u32], found: &[u32]) -> Result<f64> {
    Ok(Contingency::new(truth, found)?.purity())
}

/// [`Contingency::nmi`] of two label lists.
///
/// ```
/// let nmi = linkproof::measure::nmi(&[0, 0, 1, 1], &[5, 5, 3, 3])?;
/// assert_eq!(nmi, 1.0);
/// # Ok::<(), linkproof::error::Error>(())
/// ```
pub fn nmi(truth: &[u32], found: &[u32]) -> Result<f64> {
    Ok(Contingency::new(truth, found)?.nmi())
}

/// [`Contingency::ari`] of two label lists.
pub fn ari(truth: &[u32], found: &[u32]) -> Result<f64> {
    Ok(Contingency::new(truth, found)?.ari())
}

/// [`Contingency::accuracy`] of two label lists.
pub fn accuracy(truth: &[u32], found: &[u32]) -> Result<f64> {
    Ok(Contingency::new(truth, found)?.accuracy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_worked_out_by_hand() {
        // Classes {0,0,0,1,1,2}, clusters {7,7,9,9,9,9}.
        let table = Contingency::new(&[0, 0, 0, 1, 1, 2], &[7, 7, 9, 9, 9, 9]).unwrap();
        assert_eq!(table.purity(), 4.0 / 6.0);
        assert_eq!(table.accuracy(), 4.0 / 6.0);
        // Pairs: together 2, same class only 2, same cluster only 5, apart 6.
        assert_eq!(table.ari(), 2.0 * (12.0 - 10.0) / (4.0 * 8.0 + 7.0 * 11.0));
    }

    #[test]
    fn unusable_labels_are_refused() {
        for (truth, found) in [(&[0u32, 1][..], &[0u32][..]), (&[], &[])] {
            assert!(matches!(
                Contingency::new(truth, found),
                Err(Error::Data { .. })
            ));
        }
    }
}
