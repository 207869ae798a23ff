//! Links that were picked by likeness, and links of which each node has at most one.

use linkproof_numeric::math;

use super::claims::LEAST_BELIEF;
use super::combine::{normal_scores, standardize};
use super::net::Neighbors;
use super::pairs::Links;

/// Links were picked by likeness if next to no believed link looks random by its features
/// (full effect, no effect) ...
const PICKED: (f64, f64) = (0.05, 0.075);
/// ... and the median believed link is more alike than nearly all non-links ...
const ALIKE: (f64, f64) = (0.98, 0.96);
/// ... unless so many links look random that the believed ones are what the features chose.
const LOST: (f64, f64) = (0.3, 0.4);

/// How far links look as if their features had picked them, from 0 to 1. `alike`: for each
/// believed link the share of the non-links of its fine stratum that are less alike.
pub(super) fn picked_by_likeness(alike: &[f64], worse: &[f64]) -> f64 {
    if alike.is_empty() {
        return 0.0;
    }
    let fade =
        |value: f64, (full, none): (f64, f64)| ((none - value) / (none - full)).clamp(0.0, 1.0);
    let low = |values: &[f64]| {
        let count = values.iter().filter(|&&x| x < 0.5).count();
        2.0 * count as f64 / values.len() as f64
    };
    let mut sorted = alike.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = super::strata::quantile(&sorted, 0.5);
    fade(low(alike), PICKED) * fade(median, ALIKE) * fade(low(worse), LOST)
}

/// The share of each link at its two ends, by `e^2x`: how likely it is the real one if
/// each node has at most one partner.
pub(super) fn partner_shares(x: &[f64], links: &Links) -> Vec<f64> {
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let odds: Vec<f64> = x.iter().map(|x| math::exp(2.0 * (x - most))).collect();
    // In a directed graph a node as a source and as a target has a partner each.
    let mut total = [vec![0.0; links.n], vec![0.0; links.n]];
    let side = |end: usize| if links.directed { end } else { 0 };
    for (ends, odds) in links.ends.iter().zip(&odds) {
        total[0][ends[0] as usize] += odds;
        total[side(1)][ends[1] as usize] += odds;
    }
    let share = |(ends, odds): (&[u32; 2], &f64)| {
        let product = total[0][ends[0] as usize] * total[side(1)][ends[1] as usize];
        super::claims::kept(if product > 0.0 {
            odds / product.sqrt()
        } else {
            0.0
        })
    };
    links.ends.iter().zip(&odds).map(share).collect()
}

/// The ranking against the other candidates of the two ends.
pub(super) fn against_rivals(x: &[f64], shares: &[f64], beliefs: &[f64]) -> Vec<f64> {
    let standard = |mut values: Vec<f64>| {
        let n = values.len();
        standardize(&mut values, n);
        values
    };
    let logs = |values: &[f64], least: f64| {
        let logs = values.iter().map(|&x| math::ln(x.max(least)));
        standard(logs.collect())
    };
    let [alike, share] = [standard(normal_scores(x)), logs(shares, 0.0)];
    let belief = logs(beliefs, LEAST_BELIEF);
    let sums = (0..x.len()).map(|at| alike[at] + share[at] + belief[at]);
    standard(sums.collect())
}

/// The least share of false links if each node has at most one partner; 0 unless the
/// graph is bipartite.
pub(super) fn least_false(links: &Links) -> f64 {
    if links.directed || links.ends.is_empty() {
        return 0.0;
    }
    let net = links.net();
    let Some(lefts) = one_side(links.n, net.outgoing()) else {
        return 0.0;
    };
    let matched = largest_matching(links.n, &lefts, net.outgoing());
    1.0 - matched as f64 / links.ends.len() as f64
}

/// The nodes of one side if links join nodes of two sides only.
fn one_side(n: usize, neighbors: &Neighbors) -> Option<Vec<u32>> {
    let mut side: Vec<Option<bool>> = vec![None; n];
    for start in 0..n as u32 {
        let mut stack = Vec::new();
        if side[start as usize].is_none() {
            stack.push((start, false));
        }
        while let Some((node, own)) = stack.pop() {
            match side[node as usize] {
                None => {
                    side[node as usize] = Some(own);
                    let others = neighbors.of(node as usize).iter();
                    stack.extend(others.map(|&other| (other, !own)));
                }
                Some(found) if found != own => return None,
                Some(_) => {}
            }
        }
    }
    let lefts = (0..n as u32).filter(|&node| side[node as usize] == Some(false));
    Some(lefts.collect())
}

/// The number of links of a largest matching: in each round disjoint paths of unmatched and
/// matched links, from free nodes to free nodes, are turned, until there is none.
fn largest_matching(n: usize, lefts: &[u32], neighbors: &Neighbors) -> usize {
    let mut partner: Vec<Option<u32>> = vec![None; n];
    let mut matched = 0;
    loop {
        let before = matched;
        // The neighbors of each left node that were tried, and the right nodes reached.
        let mut tried = vec![0; n];
        let mut reached = vec![false; n];
        for &start in lefts {
            if partner[start as usize].is_some() {
                continue;
            }
            // Left nodes, each with the right node through which the path leaves it.
            let mut path = vec![(start, start)];
            while let Some(end) = path.last_mut() {
                let of = neighbors.of(end.0 as usize);
                let at = &mut tried[end.0 as usize];
                let Some(&other) = of.get(*at) else {
                    path.pop();
                    continue;
                };
                *at += 1;
                if std::mem::replace(&mut reached[other as usize], true) {
                    continue;
                }
                end.1 = other;
                if let Some(next) = partner[other as usize] {
                    path.push((next, next));
                    continue;
                }
                for (left, right) in path.drain(..) {
                    partner[left as usize] = Some(right);
                    partner[right as usize] = Some(left);
                }
                matched += 1;
            }
        }
        if matched == before {
            return matched;
        }
    }
}
