//! Standard errors where pairs share nodes.
//!
//! What held-out pairs say of two candidates is a sum of differences `d_ij`. Pairs of the
//! same node differ alike, and as many pairs are not as many witnesses. So nodes are
//! drawn: each gets a multiplier of mean 1 and variance `v`, and a pair the product of
//! its nodes', as in the bootstrap of a model. With `v = sqrt(2) - 1` the multiplier of a
//! pair has variance 1, as if pairs were independent, and those of two pairs that share a
//! node have the covariance `v`. The variance of the sum over all draws needs no draws:
//!
//! ```text
//! V = (1 - 2v) sum d_ij^2 + v sum_i (sum_j d_ij)^2
//! ```
//!
//! and for a mean per link, `sum d / L`, the differences are taken from it first
//! (`d_ij - mean` where there is a link).

use std::borrow::Cow;

use rayon::prelude::*;

use crate::data::dataset::Dataset;
use crate::data::transform::transform_weights;
use crate::engine::pairs::{Split, mirrored};
use crate::error::Result;
use crate::model::folds::{FoldFit, Folds};
use crate::params::Params;
use crate::score::Score;

/// The variance of a node's multiplier.
const V: f64 = std::f64::consts::SQRT_2 - 1.0;
/// All pairs of more nodes take long to look at one by one.
pub const MOST_NODES: usize = 10_000;

/// The sums that a standard error needs.
#[derive(Debug, Clone, PartialEq)]
pub struct ByNodes {
    /// For each node the sum of the differences of its pairs.
    sums: Vec<f64>,
    /// The sum of the squares of all.
    squares: f64,
}

impl ByNodes {
    /// Nothing said of so many nodes.
    pub fn new(nodes: usize) -> ByNodes {
        ByNodes {
            sums: vec![0.0; nodes],
            squares: 0.0,
        }
    }

    /// The difference of a pair.
    pub fn add(&mut self, [a, b]: [usize; 2], difference: f64) {
        self.sums[a] += difference;
        self.sums[b] += difference;
        self.squares += difference * difference;
    }

    /// The standard error of the sum.
    pub fn error(&self) -> f64 {
        let shared: f64 = self.sums.iter().map(|sum| sum * sum).sum();
        ((1.0 - 2.0 * V) * self.squares + V * shared)
            .max(0.0)
            .sqrt()
    }
}

/// The node of each row: of a directed graph, two rows are one node.
pub fn node_of(data: &Dataset) -> impl Fn(u32) -> usize + Copy {
    let sides = data.ids().sides().filter(|sides| sides.same);
    let nodes = sides.map_or(usize::MAX, |sides| sides.source.len());
    move |row: u32| row as usize % nodes
}

/// The mean gain of links of which two candidates gave ranks, and its standard error.
pub fn gain_of_ranks(before: &[f64], after: &[f64], ends: &[[usize; 2]]) -> (f64, f64) {
    let gains = || {
        before
            .iter()
            .zip(after)
            .map(|(before, after)| before - after)
    };
    let m = before.len().min(after.len()).max(1) as f64;
    let mean = gains().sum::<f64>() / m;
    let most = ends.iter().flatten().max();
    let mut sums = ByNodes::new(most.map_or(0, |most| most + 1));
    for (gain, ends) in gains().zip(ends) {
        sums.add(*ends, gain - mean);
    }
    (mean, sums.error() / m)
}

/// Held-out pairs and what they are scored by.
pub struct Scored<'d> {
    /// The nodes and links.
    pub data: &'d Dataset,
    /// The score of a pair.
    pub score: Score,
    /// What is held out.
    pub folds: Folds,
}

impl Scored<'_> {
    /// The standard error of the gain a link of one candidate over another, whose gain
    /// is known, by all held-out pairs of all folds.
    pub fn error(
        &self,
        (params, before): (&Params, &[FoldFit]),
        (changed, after): (&Params, &[FoldFit]),
        gain: f64,
    ) -> Result<f64> {
        let data = self.data;
        let (n, node) = (data.n_nodes(), node_of(data));
        let graph = transform_weights(data.graph(), params.weights)?;
        let linked = data.linked_views();
        let before: Vec<Look<'_>> = before.iter().map(|it| Look::new(it, params)).collect();
        let after: Vec<Look<'_>> = after.iter().map(|it| Look::new(it, changed)).collect();
        let splits: Vec<Split> = (0..before.len()).map(|it| self.folds.split(it)).collect();
        // Each pair is looked at from both of its ends, so that rows need not wait for
        // each other.
        let of_row = |i: u32| {
            let (mut sum, mut squares) = (0.0, 0.0);
            for j in (0..n as u32).filter(|&j| j != i) {
                let (src, dst) = (i.min(j), i.max(j));
                let views = (data.view_of(src), data.view_of(dst));
                if !linked.contains(&views) || data.ids().is_same_node(src, dst) {
                    continue;
                }
                let Some(fold) = splits.iter().position(|split| split.holds_out(src, dst)) else {
                    continue;
                };
                let weight = graph.weight(src, dst).unwrap_or(0.0);
                let paid = |look: &Look<'_>| {
                    let similarity = look.similarity(src, dst, views);
                    self.score.pair(similarity, weight).value
                };
                let of_link = if weight > 0.0 { gain } else { 0.0 };
                let difference = paid(&before[fold]) - paid(&after[fold]) - of_link;
                sum += difference;
                squares += 0.5 * difference * difference;
            }
            (sum, squares)
        };
        let rows: Vec<(f64, f64)> = (0..n as u32).into_par_iter().map(of_row).collect();
        let mut sums = ByNodes::new(n);
        for (row, (sum, squares)) in (0u32..).zip(rows) {
            sums.sums[node(row)] += sum;
            sums.squares += squares;
        }
        Ok(sums.error() / graph.n_links().max(1) as f64)
    }
}

/// What a fit says of pairs.
struct Look<'f> {
    fit: &'f FoldFit,
    mirror: Cow<'f, [f32]>,
    dim: usize,
}

impl<'f> Look<'f> {
    fn new(fit: &'f FoldFit, params: &Params) -> Look<'f> {
        Look {
            mirror: mirrored(&fit.y, params.dim, params.negative()),
            dim: params.dim,
            fit,
        }
    }

    fn similarity(&self, i: u32, j: u32, (d, e): (usize, usize)) -> f64 {
        let (i, j, dim) = (i as usize, j as usize, self.dim);
        let both = self.fit.y[i * dim..][..dim].iter();
        let both = both.zip(&self.mirror[j * dim..][..dim]);
        let product: f64 = both.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let offset = |row: usize| self.fit.offsets.get(row).map_or(0.0, |it| f64::from(*it));
        product + offset(i) + offset(j) - self.fit.gamma.get(d, e) + self.fit.log_k
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_closed_form_is_the_variance_over_draws_of_nodes() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let nodes = 12;
        let mut pairs = Vec::new();
        for i in 0..nodes {
            for j in 0..i {
                if random.random_bool(0.6) {
                    pairs.push(([i, j], random.random_range(-1.0..1.0f64) + 0.3));
                }
            }
        }
        let mut sums = ByNodes::new(nodes);
        pairs.iter().for_each(|&(ends, d)| sums.add(ends, d));
        // Multipliers sqrt(2) with chance 1/sqrt(2), else 0: mean 1, variance v.
        let chance = std::f64::consts::FRAC_1_SQRT_2;
        let total: f64 = pairs.iter().map(|it| it.1).sum();
        let draws = 40_000;
        let mut squares = 0.0;
        for _ in 0..draws {
            let drawn: Vec<bool> = (0..nodes).map(|_| random.random_bool(chance)).collect();
            let part = pairs
                .iter()
                .filter(|it| it.0.iter().all(|&node| drawn[node]));
            let sum: f64 = part.map(|it| it.1 / (chance * chance)).sum();
            squares += (sum - total).powi(2);
        }
        let drawn = (squares / f64::from(draws)).sqrt();
        let found = sums.error();
        assert!((found / drawn - 1.0).abs() < 0.03, "{found} {drawn}");
    }

    #[test]
    fn pairs_that_share_nodes_say_less() {
        // Links of a hub differ alike; links of nodes of their own do not.
        let before: Vec<f64> = (0..60).map(|k| if k < 30 { 1.0 } else { 0.0 }).collect();
        let after = vec![0.0; 60];
        let star: Vec<[usize; 2]> = (0..60).map(|k| [k / 30, 10 + k]).collect();
        let apart: Vec<[usize; 2]> = (0..60).map(|k| [2 * k, 2 * k + 1]).collect();
        let (mean, of_star) = gain_of_ranks(&before, &after, &star);
        let (_, of_apart) = gain_of_ranks(&before, &after, &apart);
        assert_eq!(mean, 0.5);
        // As independent pairs would have it.
        assert!((of_apart - 0.5 / 60f64.sqrt()).abs() < 1e-12, "{of_apart}");
        assert!(of_star > 3.0 * of_apart, "{of_star} {of_apart}");
    }
}
