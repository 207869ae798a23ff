//! Link weights, and which of them a Poisson model would call impossible.
//!
//! The scores take a weight for a Poisson count. Before a fit nobody knows the
//! expected weight of a pair, so a generous stand-in takes its place,
//!
//! ```text
//! mu_ij = max( median of all weights,
//!              median of the other weights of i, where there are 5 or more,
//!              the same of j )
//! ```
//!
//! Medians, so that corrupted weights do not move it; the *other* weights, so
//! that a weight does not speak for itself; the largest, so that a node whose
//! links are all heavy is not suspected. A link is impossible where
//!
//! ```text
//! P(X >= w_ij) < min(1e-6, 0.01 / |W|),   X ~ Poisson(mu_ij)
//! ```
//!
//! so that among Poisson weights about one graph in a hundred has such a link.
//! In a graph of ones that is a weight of 10 or more.
//!
//! Many impossible weights need not be errors: real counts often spread wider
//! than a Poisson variable. Errors then jump over the weights that are unlikely
//! and possible (a chance below 1% for a pair of the median weight), and a
//! smooth tail passes through them; counts that spread widely also spread
//! downwards. So the tail is *smooth* where a third as many links are unlikely
//! as are impossible (not counting the 2% that any Poisson weights may have),
//! or a third as many are impossibly light.

use serde::Serialize;

use super::quantile;
use crate::data::dataset::Dataset;
use crate::data::graph::{Adjacency, Graph, Link};
use crate::score::log_tail;
use linkproof_numeric::math;

/// How many of the heaviest links are named.
const NAMED: usize = 5;
/// Other links of a node that it takes to judge by their median.
const ENOUGH: usize = 5;
/// A chance below this is called impossible, or a smaller one in large graphs.
const IMPOSSIBLE: f64 = 1e-6;
/// Expected impossible links in a graph of Poisson weights, at most.
const FALSE_ALARMS: f64 = 0.01;
/// A chance below this is called unlikely.
const UNLIKELY: f64 = 0.01;
/// The share of unlikely links that Poisson weights may have; twice the chance,
/// since the weights of links are never zero.
const UNLIKELY_SHARE: f64 = 0.02;

/// The link weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Weights {
    /// Whether all are equal.
    pub all_equal: bool,
    /// Whether all are whole numbers.
    pub whole: bool,
    /// The share of negative ones. Where there are some, all that follows but the
    /// smallest, the largest and the mean is of sizes without their signs.
    pub negative: f64,
    /// The smallest.
    pub min: f64,
    /// Half of the links weigh no more.
    pub median: f64,
    /// The share of the links that weigh just that.
    pub at_median: f64,
    /// 90% of the links weigh no more.
    pub q90: f64,
    /// 99% of the links weigh no more.
    pub q99: f64,
    /// 99.9% of the links weigh no more.
    pub q999: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The share of the total weight that the heaviest tenth of the links has.
    pub heaviest_tenth: f64,
    /// What a Poisson model would call impossible.
    pub impossible: Impossible,
}

/// Links whose weights a Poisson model would call impossible.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Impossible {
    /// How many there are.
    pub count: usize,
    /// Their share of all links.
    pub share: f64,
    /// The chance below which a weight counts as impossible.
    pub chance: f64,
    /// The smallest weight with so small a chance where the median weight is
    /// expected.
    pub beyond: f64,
    /// Links of unlikely and possible weights: a chance below 1% where the median
    /// weight is expected, and not below `chance`.
    pub unlikely: usize,
    /// Links that weigh impossibly little where the median weight is expected.
    pub too_light: usize,
    /// Whether the weights pass smoothly into the impossible.
    pub tail: Tail,
    /// The heaviest of them, five at most.
    pub heaviest: Vec<HeavyLink>,
}

/// How impossible weights lie to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tail {
    /// There is none.
    None,
    /// Far beyond the rest, as errors are.
    Isolated,
    /// The end of a smooth heavy tail, as real counts have.
    Smooth,
}

/// A link whose weight is impossible.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeavyLink {
    /// The id of one end.
    pub src: String,
    /// The id of the other end.
    pub dst: String,
    /// The weight.
    pub weight: f64,
    /// The expected weight `mu_ij`.
    pub expected: f64,
    /// `log10 P(X >= weight)`.
    pub log10_chance: f64,
}

/// Looks at the link weights of a dataset, which has at least one. Also returns the
/// places of the links whose weights are impossible.
pub(super) fn weights(data: &Dataset) -> (Weights, Vec<usize>) {
    let given = data.graph().weights();
    let mut sorted: Vec<f64> = given.iter().map(|weight| weight.abs()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    let negative = given.iter().filter(|&&weight| weight < 0.0).count();
    let among = |pick: fn(f64, f64) -> f64| given.iter().copied().fold(given[0], pick);
    let (min, max) = (among(f64::min), among(f64::max));
    // Weights near the largest number must not leave the range in a sum.
    let unit = sorted[n - 1].max(1.0);
    let total = |part: &[f64]| part.iter().map(|weight| weight / unit).sum::<f64>();
    let all = total(&sorted);
    let median = quantile(&sorted, 0.5);
    let equal = sorted.iter().filter(|weight| **weight == median).count();
    let (impossible, places) = impossible(data, &sorted);
    let weights = Weights {
        all_equal: min == max,
        whole: sorted.iter().all(|weight| weight.fract() == 0.0),
        negative: negative as f64 / n as f64,
        min,
        median,
        at_median: equal as f64 / n as f64,
        q90: quantile(&sorted, 0.9),
        q99: quantile(&sorted, 0.99),
        q999: quantile(&sorted, 0.999),
        max,
        mean: total(given) / n as f64 * unit,
        heaviest_tenth: total(&sorted[n - n.div_ceil(10)..]) / all,
        impossible,
    };
    (weights, places)
}

fn impossible(data: &Dataset, sorted: &[f64]) -> (Impossible, Vec<usize>) {
    let graph = data.graph();
    let n = sorted.len();
    let median = quantile(sorted, 0.5);
    let chance = IMPOSSIBLE.min(FALSE_ALARMS / n as f64);
    let expected = Expected::new(graph, median);
    // No count is negative, so nothing is too large for one there.
    let signed = graph.is_signed();
    let all = graph.links().enumerate().filter(|_| !signed);
    let (places, mut found): (Vec<usize>, Vec<(Link, f64)>) = all
        .map(|(place, link)| (place, (link, expected.of(&link))))
        .filter(|(_, (link, mu))| is_impossible(link.weight, *mu, chance))
        .unzip();
    let below = |weight: f64| sorted.partition_point(|other| *other < weight);
    let beyond = weight_of_chance(median, chance);
    let unlikely = below(beyond) - below(weight_of_chance(median, UNLIKELY));
    let too_light = sorted.partition_point(|weight| is_too_light(*weight, median, chance));
    let count = found.len();
    let heavy = |(link, _): &(Link, f64)| link.weight;
    found.sort_by(|a, b| heavy(b).total_cmp(&heavy(a)));
    let heaviest = found
        .iter()
        .take(NAMED)
        .map(|(link, mu)| HeavyLink {
            src: data.name(link.src as usize).into_owned(),
            dst: data.name(link.dst as usize).into_owned(),
            weight: link.weight,
            expected: *mu,
            log10_chance: log_tail(link.weight, *mu) / std::f64::consts::LN_10,
        })
        .collect();
    let impossible = Impossible {
        count,
        share: count as f64 / n as f64,
        chance,
        beyond,
        unlikely,
        too_light,
        tail: tail(n, count, unlikely, too_light),
        heaviest,
    };
    (impossible, places)
}

fn tail(n: usize, impossible: usize, unlikely: usize, too_light: usize) -> Tail {
    let more_than_usual = unlikely as f64 - UNLIKELY_SHARE * n as f64;
    match impossible as f64 {
        0.0 => Tail::None,
        count if 3.0 * more_than_usual >= count => Tail::Smooth,
        count if 3.0 * too_light as f64 >= count => Tail::Smooth,
        _ => Tail::Isolated,
    }
}

fn is_impossible(weight: f64, mu: f64, chance: f64) -> bool {
    // Four standard deviations are always possible, and spare the series.
    weight > mu + 4.0 * mu.sqrt() && log_tail(weight, mu) < math::ln(chance)
}

/// By Chernoff's bound, `P(X <= w) <= e^{w - mu} (mu/w)^w` for `w < mu`.
fn is_too_light(weight: f64, mu: f64, chance: f64) -> bool {
    weight < mu && weight - mu - weight * math::ln(weight / mu) < math::ln(chance)
}

/// The smallest weight, among whole numbers where the mean is 1 or more, that
/// has a smaller chance.
fn weight_of_chance(mu: f64, chance: f64) -> f64 {
    let is_beyond = |weight: f64| log_tail(weight, mu) < math::ln(chance);
    // A step that moves the largest of numbers, too.
    let (mut low, mut high) = (mu, mu + mu.sqrt().max(1.0).max(1e-12 * mu));
    while !is_beyond(high) {
        high = mu + 2.0 * (high - mu);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if is_beyond(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    if mu < 1.0 {
        return high;
    }
    let whole = high.floor();
    if is_beyond(whole) { whole } else { whole + 1.0 }
}

/// Expected weights of links, by medians.
struct Expected {
    median: f64,
    /// The weights of each node's links, ascending.
    sorted: Vec<Vec<f64>>,
}

impl Expected {
    fn new(graph: &Graph, median: f64) -> Expected {
        let adjacency: Adjacency = graph.adjacency();
        let sorted = (0..graph.n_nodes())
            .map(|node| {
                let (_, weights) = adjacency.row(node);
                if weights.len() <= ENOUGH {
                    return Vec::new();
                }
                let mut weights = weights.to_vec();
                weights.sort_unstable_by(f64::total_cmp);
                weights
            })
            .collect();
        Expected { median, sorted }
    }

    fn of(&self, link: &Link) -> f64 {
        let of_node = |node: u32| median_of_others(&self.sorted[node as usize], link.weight);
        self.median.max(of_node(link.src)).max(of_node(link.dst))
    }
}

/// The median of sorted weights without one of them; 0 where there are none.
fn median_of_others(sorted: &[f64], weight: f64) -> f64 {
    let own = sorted.partition_point(|other| *other < weight);
    let middle = sorted.len().saturating_sub(1) / 2;
    let place = middle + usize::from(own <= middle);
    sorted.get(place).copied().unwrap_or(0.0)
}

#[cfg(test)]
#[path = "weights_tests.rs"]
mod tests;
