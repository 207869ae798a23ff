//! What links and data vectors have in common, and who tells more of it.
//!
//! Where links mean anything that data vectors know of, the cluster of a node tells
//! something of the data vectors of its neighbours. Clusters of the data vectors follow
//! everything that these tell, also what is a node's own and no neighbour shares. Clusters
//! of good embeddings leave that aside, and tell more of neighbours. Where links are false,
//! or follow something else, they tell less.
//!
//! Links are held out: those of a fold are asked of a fit that did not see them, averaged
//! over believed links of the other folds. Of the links of a fold one half learns what
//! each cluster's neighbours are like, and the other half is told.

use std::ops::Range;

use serde::Serialize;

use super::gate::{components, enough};
use super::told::{CLUSTERS, ITERATIONS_OF_CLUSTERS};
use crate::data::dataset::Dataset;
use crate::data::graph::{Graph, Link, LinkRules};
use crate::error::Result;
use crate::measure::KMeans;
use crate::trust::judge::average::averages;
use crate::trust::judge::fits::LinkFit;
use crate::trust::judge::pairs::Pair;

/// So many links of a fold tell enough.
const MOST_LINKS: usize = 5_000;
/// Fewer links of all folds tell nothing.
const LEAST_LINKS: usize = 100;
/// The mean of a cluster counts as if so many links had told nothing.
const PRIOR_LINKS: f64 = 3.0;
/// Differences of so many standard errors are believed.
const ERRORS: f64 = 3.0;

/// What clusters of one end of a held-out link tell of the data vector of the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shared {
    /// Clusters of embeddings: the share of the variance.
    pub embeddings: f64,
    /// Its standard error.
    pub embeddings_error: f64,
    /// Clusters of the data vectors.
    pub vectors: f64,
    /// Its standard error.
    pub vectors_error: f64,
    /// The standard error of the difference.
    pub error: f64,
}

impl Shared {
    /// Whether embeddings surely tell more than data vectors.
    pub fn favours_embeddings(&self) -> bool {
        self.embeddings > ERRORS * self.embeddings_error
            && self.embeddings - self.vectors > ERRORS * self.error
    }

    /// Whether data vectors surely tell more.
    pub fn favours_vectors(&self) -> bool {
        self.vectors > ERRORS * self.vectors_error
            && self.vectors - self.embeddings > ERRORS * self.error
    }

    /// Whether neither surely tells anything: links follow nothing that data vectors know.
    pub fn is_nothing(&self) -> bool {
        self.embeddings <= ERRORS * self.embeddings_error
            && self.vectors <= ERRORS * self.vectors_error
    }
}

/// Embeddings whose clusters tell less than this share of what clusters of the data
/// vectors tell of a node's own data are the worse choice; within this factor, links are
/// not said to help.
const WORSE: f64 = 0.9;

/// What is worth more, the embeddings or the data vectors alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Embeddings tell more of a node's own data.
    Helps,
    /// They tell more of what linked nodes share.
    Adds,
    /// Both tell about as much.
    Either,
    /// The data vectors tell more.
    Vectors,
    /// The links follow nothing that data vectors tell.
    Unrelated,
    /// The data vectors tell nothing.
    Noise,
}

impl Better {
    /// By what clusters of embeddings and of data vectors tell of held-back data, and by
    /// what they tell of neighbours. `sound`: links are told well; it counts where nothing
    /// is known of neighbours.
    pub fn new(own: f64, vectors: f64, shared: Option<Shared>, sound: bool) -> Better {
        if !(vectors > 0.0) {
            return if own > 0.0 {
                Better::Helps
            } else {
                Better::Noise
            };
        }
        let helps = WORSE * own > vectors;
        let worse = own < WORSE * vectors;
        match shared {
            _ if helps && !shared.is_some_and(|it| it.favours_vectors()) => Better::Helps,
            Some(shared) if shared.favours_embeddings() => Better::Adds,
            Some(shared) if shared.is_nothing() => Better::Unrelated,
            _ if helps => Better::Either,
            Some(shared) if shared.favours_vectors() => Better::Vectors,
            _ if worse => Better::Vectors,
            None if sound => Better::Adds,
            _ => Better::Either,
        }
    }
}

/// What is compared.
#[derive(Clone, Copy)]
pub struct Compared<'a> {
    /// The data, by internal rows.
    pub data: &'a Dataset,
    /// The links with their folds, in the order of the data's graph.
    pub links: &'a [Pair],
    /// The same links, each weighing what it counts for.
    pub believed: &'a [Link],
    /// For each fold a fit that did not see it.
    pub fits: &'a [LinkFit],
    /// The dimension of the embeddings, and how often they are averaged.
    pub dim: usize,
    pub rounds: usize,
    /// The seed of clusters.
    pub seed: u64,
}

/// Sums for each node over the links that it tells.
#[derive(Clone, Copy, Default)]
struct Sums {
    all: f64,
    by_embeddings: f64,
    by_vectors: f64,
}

/// What embeddings and data vectors tell of neighbours; none where no links have data
/// vectors at both ends, or too few.
pub fn shared(of: Compared<'_>) -> Result<Option<Shared>> {
    let mut sums = vec![Sums::default(); of.data.n_nodes()];
    let mut asked = 0;
    for (fold, fit) in of.fits.iter().enumerate() {
        asked += of.add_fold(fold as u32, fit, &mut sums)?;
    }
    let total: f64 = sums.iter().map(|sum| sum.all).sum();
    if asked < LEAST_LINKS || !(total > 0.0) {
        return Ok(None);
    }
    let told = |part: &dyn Fn(&Sums) -> f64| {
        let sum: f64 = sums.iter().map(part).sum();
        let squares: f64 = sums.iter().map(|sum| part(sum).powi(2)).sum();
        (sum / total, squares.sqrt() / total)
    };
    let (embeddings, embeddings_error) = told(&|sum| sum.by_embeddings);
    let (vectors, vectors_error) = told(&|sum| sum.by_vectors);
    let (_, error) = told(&|sum| sum.by_embeddings - sum.by_vectors);
    Ok(Some(Shared {
        embeddings,
        embeddings_error,
        vectors,
        vectors_error,
        error,
    }))
}

/// Nodes of a view that are ends of the links asked.
struct Ends {
    view: Range<usize>,
    /// Their internal rows, ascending.
    rows: Vec<u32>,
    /// The components of their data vectors.
    x: Vec<f64>,
    count: usize,
    /// Their clusters, for each number of them, by embeddings and by data vectors.
    clusters: Vec<[Vec<u32>; 2]>,
}

impl Ends {
    fn place(&self, row: u32) -> Option<usize> {
        let is_here = self.view.contains(&(row as usize));
        self.rows.binary_search(&row).ok().filter(|_| is_here)
    }

    fn target(&self, place: usize) -> &[f64] {
        &self.x[place * self.count..][..self.count]
    }
}

impl Compared<'_> {
    /// Asks the links of a fold; how many.
    fn add_fold(&self, fold: u32, fit: &LinkFit, sums: &mut [Sums]) -> Result<usize> {
        let own: Vec<&Pair> = self.links.iter().filter(|link| link.fold == fold).collect();
        let step = own.len().div_ceil(MOST_LINKS).max(1);
        let asked: Vec<&Pair> = own.into_iter().step_by(step).collect();
        let y = self.averaged(fold, fit)?;
        let ends = self.ends(&asked, &y)?;
        let mut found = 0;
        for from in &ends {
            for to in &ends {
                let told = asked.iter().flat_map(|pair| {
                    [(pair.src, pair.dst), (pair.dst, pair.src)]
                        .map(|(one, other)| from.place(one).zip(to.place(other)))
                });
                let told: Vec<(usize, usize)> = told.flatten().collect();
                found += told.len();
                add_told(from, to, &told, sums);
            }
        }
        Ok(found)
    }

    /// The embeddings of a fit, averaged over believed links that it saw.
    fn averaged(&self, fold: u32, fit: &LinkFit) -> Result<Vec<f32>> {
        if self.rounds == 0 {
            return Ok(fit.y.clone());
        }
        let seen = self.links.iter().zip(self.believed);
        let seen = seen.filter(|(pair, _)| pair.fold != fold);
        let seen: Vec<Link> = seen.map(|(_, link)| *link).collect();
        let ids = self.data.graph().ids().clone();
        let links = Graph::new(ids, seen, LinkRules::default())?.adjacency();
        let levels = averages(&links, &fit.y, self.dim, self.rounds);
        Ok(levels.into_iter().next_back().unwrap_or_default())
    }

    /// The ends of some links, by views that have data vectors.
    fn ends(&self, asked: &[&Pair], y: &[f32]) -> Result<Vec<Ends>> {
        let mut all: Vec<u32> = asked.iter().flat_map(|pair| [pair.src, pair.dst]).collect();
        all.sort_unstable();
        all.dedup();
        let mut found = Vec::new();
        for view in self.data.views() {
            let Some(matrix) = view.matrix.as_ref().filter(|matrix| enough(matrix)) else {
                continue;
            };
            let is_here = |row: &u32| view.rows.contains(&(*row as usize));
            let rows: Vec<u32> = all.iter().copied().filter(is_here).collect();
            let own: Vec<u32> = rows
                .iter()
                .map(|row| row - view.rows.start as u32)
                .collect();
            let numbers = CLUSTERS.into_iter().filter(|k| 4 * k <= rows.len());
            let numbers: Vec<usize> = numbers.collect();
            if numbers.is_empty() {
                continue;
            }
            let (x, count) = components(matrix.select(&own), self.seed)?;
            let embedded = rows.iter().map(|&row| row as usize * self.dim);
            let embedded = embedded.flat_map(|start| &y[start..start + self.dim]);
            let embedded: Vec<f32> = embedded.copied().collect();
            let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let clusters = numbers.iter().map(|&number| {
                Ok([
                    self.clusters(&embedded, self.dim, number)?,
                    self.clusters(&narrow, count, number)?,
                ])
            });
            found.push(Ends {
                view: view.rows.clone(),
                clusters: clusters.collect::<Result<_>>()?,
                rows,
                x,
                count,
            });
        }
        Ok(found)
    }

    fn clusters(&self, points: &[f32], dim: usize, number: usize) -> Result<Vec<u32>> {
        let settings = KMeans {
            clusters: number,
            restarts: 1,
            max_iterations: ITERATIONS_OF_CLUSTERS,
            seed: self.seed,
        };
        Ok(settings.fit(points, points.len() / dim, dim)?.labels)
    }
}

/// Adds what clusters of the first end tell of the data vector of the second, on average
/// over the numbers of clusters.
fn add_told(from: &Ends, to: &Ends, told: &[(usize, usize)], sums: &mut [Sums]) {
    let share = 1.0 / from.clusters.len() as f64;
    for half in 0..2 {
        let learns = |(at, _): &(usize, &(usize, usize))| (at / 2) % 2 != half;
        let numbered = || told.iter().enumerate();
        let learnt: Vec<_> = numbered().filter(learns).map(|(_, pair)| *pair).collect();
        let asked: Vec<_> = numbered()
            .filter(|it| !learns(it))
            .map(|(_, pair)| *pair)
            .collect();
        let mean = means(to, learnt.iter().map(|&(_, other)| (0, other)), 1, 0.0, &[]);
        for by in &from.clusters {
            let means = by.each_ref().map(|labels| {
                let number = labels.iter().max().map_or(0, |&most| most as usize + 1);
                let pairs = learnt
                    .iter()
                    .map(|&(one, other)| (labels[one] as usize, other));
                means(to, pairs, number, PRIOR_LINKS, &mean)
            });
            for &(one, other) in &asked {
                let target = to.target(other);
                let apart = |guess: &dyn Fn(usize) -> f64| -> f64 {
                    let apart = |(c, t): (usize, &f64)| (t - mean[c] - guess(c)).powi(2);
                    target.iter().enumerate().map(apart).sum()
                };
                let all = apart(&|_| 0.0);
                let missed = [0, 1].map(|kind: usize| {
                    let start = by[kind][one] as usize * to.count;
                    apart(&|c| means[kind][start + c])
                });
                let sums = &mut sums[from.rows[one] as usize];
                sums.all += share * all;
                sums.by_embeddings += share * (all - missed[0]);
                sums.by_vectors += share * (all - missed[1]);
            }
        }
    }
}

/// The means of the data vectors that pairs name, less `centre`, for each group of pairs.
fn means(
    to: &Ends,
    pairs: impl Iterator<Item = (usize, usize)>,
    groups: usize,
    prior: f64,
    centre: &[f64],
) -> Vec<f64> {
    let mut sums = vec![0.0; groups * to.count];
    let mut sizes = vec![prior; groups];
    for (group, other) in pairs {
        sizes[group] += 1.0;
        let sum = &mut sums[group * to.count..][..to.count];
        for (c, (sum, t)) in sum.iter_mut().zip(to.target(other)).enumerate() {
            *sum += t - centre.get(c).copied().unwrap_or(0.0);
        }
    }
    for (sum, size) in sums.chunks_exact_mut(to.count).zip(&sizes) {
        sum.iter_mut().for_each(|sum| *sum /= size.max(1.0));
    }
    sums
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
