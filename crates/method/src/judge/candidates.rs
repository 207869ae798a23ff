//! Links that were picked by likeness, and links of which each node has at most one.

use linkproof_numeric::math;

use super::claims::LEAST_BELIEF;
use super::combine::{normal_scores, standardize};
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
    let part = |values: Vec<f64>| {
        let mut values = values;
        let n = values.len();
        standardize(&mut values, n);
        values
    };
    let parts = [
        part(normal_scores(x)),
        part(shares.iter().map(|&share| math::ln(share)).collect()),
        part(
            beliefs
                .iter()
                .map(|&b| math::ln(b.max(LEAST_BELIEF)))
                .collect(),
        ),
    ];
    let sums = (0..x.len()).map(|at| parts.iter().map(|part| part[at]).sum());
    part(sums.collect())
}

/// The least share of false links if each node has at most one partner; 0 unless the
/// graph is bipartite.
pub(super) fn least_false(links: &Links) -> f64 {
    if links.directed || links.ends.is_empty() {
        return 0.0;
    }
    let net = links.net();
    let Some(sides) = two_sides(links.n, |node| net.outgoing().of(node)) else {
        return 0.0;
    };
    let matched = largest_matching(links.n, &sides, |node| net.outgoing().of(node));
    1.0 - matched as f64 / links.ends.len() as f64
}

/// The side of each node if links join nodes of two sides only.
fn two_sides<'n>(n: usize, neighbors: impl Fn(usize) -> &'n [u32]) -> Option<Vec<bool>> {
    let mut side: Vec<Option<bool>> = vec![None; n];
    for start in 0..n {
        if side[start].is_some() {
            continue;
        }
        side[start] = Some(false);
        let mut stack = vec![(start, false)];
        while let Some((node, own)) = stack.pop() {
            for &other in neighbors(node) {
                match side[other as usize] {
                    None => {
                        side[other as usize] = Some(!own);
                        stack.push((other as usize, !own));
                    }
                    Some(found) if found == own => return None,
                    Some(_) => {}
                }
            }
        }
    }
    Some(side.into_iter().map(|side| side == Some(true)).collect())
}

/// The number of links of a largest matching (Hopcroft and Karp 1973).
fn largest_matching<'n>(n: usize, sides: &[bool], neighbors: impl Fn(usize) -> &'n [u32]) -> usize {
    const NONE: u32 = u32::MAX;
    let mut partner = vec![NONE; n];
    let lefts: Vec<usize> = (0..n).filter(|&node| !sides[node]).collect();
    let mut matched = 0;
    loop {
        // Layers from the free nodes of the left side.
        let mut depth = vec![u32::MAX; n];
        let mut layer: Vec<usize> = lefts
            .iter()
            .copied()
            .filter(|&it| partner[it] == NONE)
            .collect();
        layer.iter().for_each(|&node| depth[node] = 0);
        let mut ends = false;
        while !layer.is_empty() && !ends {
            let mut next = Vec::new();
            for &node in &layer {
                for &other in neighbors(node) {
                    match partner[other as usize] {
                        NONE => ends = true,
                        back if depth[back as usize] == u32::MAX => {
                            depth[back as usize] = depth[node] + 1;
                            next.push(back as usize);
                        }
                        _ => {}
                    }
                }
            }
            layer = next;
        }
        if !ends {
            return matched;
        }
        let mut at = vec![0usize; n];
        for &start in &lefts {
            if partner[start] == NONE
                && lengthen(start, &mut partner, &mut depth, &mut at, &neighbors)
            {
                matched += 1;
            }
        }
    }
}

/// Finds a path of unmatched and matched links from a free node to another and turns it.
fn lengthen<'n>(
    start: usize,
    partner: &mut [u32],
    depth: &mut [u32],
    at: &mut [usize],
    neighbors: &impl Fn(usize) -> &'n [u32],
) -> bool {
    // A stack of left nodes and the right node through which each was left.
    let mut path: Vec<(usize, u32)> = Vec::new();
    let mut node = start;
    loop {
        let Some(&other) = neighbors(node).get(at[node]) else {
            depth[node] = u32::MAX;
            let Some((before, _)) = path.pop() else {
                return false;
            };
            node = before;
            continue;
        };
        at[node] += 1;
        let back = partner[other as usize];
        if back == u32::MAX {
            path.push((node, other));
            for (left, right) in path {
                partner[left] = right;
                partner[right as usize] = left as u32;
            }
            return true;
        }
        let is_next = depth[node] != u32::MAX && depth[back as usize] == depth[node] + 1;
        if is_next {
            path.push((node, other));
            node = back as usize;
        }
    }
}
