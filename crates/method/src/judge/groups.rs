//! Groups of nodes and links that the evidence about single pairs does not show:
//! duplicates, and cliques that contradict the features.

use hashbrown::HashSet;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::assess::Assessed;
use super::features::FeatureSpaces;
use super::net::Net;
use super::outcome::{Contradiction, Kind};
use super::pairs::Links;
use super::strata::quantile;

/// Feature rows that more nodes share are no sign of duplicates.
const MOST_EQUAL: usize = 5;
/// Duplicates share at least this part of their neighbors.
const SHARED: f64 = 0.5;
/// Links of a contradiction stand in the first tenth of non-links by structure and in the
/// last half by features.
const FIRST: f64 = 0.9;
const LAST: f64 = 0.5;
const PERMUTATIONS: usize = 20;
const LEAST_CORE: usize = 4;
const BEYOND: usize = 3;
const PERMUTATION_STREAM: u64 = 0x636f_7265;

/// Nodes with equal features and mostly the same neighbors, as connected groups.
pub(super) fn duplicates(features: &FeatureSpaces, net: &Net, group: &[u32]) -> Vec<Vec<u32>> {
    let around = |node: u32, other: u32| -> HashSet<(bool, u32)> {
        let out = net.outgoing().of(node as usize).iter();
        let into = net.incoming().of(node as usize).iter();
        let into = into.filter(|_| net.directed).map(|&it| (true, it));
        let all = out.map(|&it| (false, it)).chain(into);
        all.filter(|&(_, it)| it != other).collect()
    };
    let mut found = Vec::new();
    for mut nodes in features.equal_rows(MOST_EQUAL) {
        while !nodes.is_empty() {
            let mut part = vec![nodes.swap_remove(0)];
            let mut at = 0;
            while at < part.len() {
                let node = part[at];
                let (same, rest) = nodes.into_iter().partition(|&other| {
                    let (a, b) = (around(node, other), around(other, node));
                    let both = a.intersection(&b).count() as f64;
                    let all = (a.len() + b.len()) as f64 - both;
                    group[node as usize] == group[other as usize]
                        && all > 0.0
                        && both >= SHARED * all
                });
                part.extend::<Vec<u32>>(same);
                nodes = rest;
                at += 1;
            }
            if part.len() > 1 {
                part.sort_unstable();
                found.push(part);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Links that structure supports and features contradict, if there are many among the same
/// nodes: more than when the features of such links are permuted.
pub(super) fn contradiction(found: &Assessed, links: &Links, seed: u64) -> Option<Contradiction> {
    let nearness = found.nearness.as_ref()?;
    let common = found.tails_of(Kind::CommonNeighbors)?.iter();
    let both = common.zip(found.tails_of(Kind::Paths)?);
    let structure: Vec<f64> = both.map(|(a, b)| f64::from(a + b) / 2.0).collect();
    let (m, count) = (found.pairs.n_links, found.pairs.n_non_links);
    let of_non_links = |values: &[f64], share: f64| {
        let mut sorted = values[m..m + count].to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        quantile(&sorted, share)
    };
    let high = of_non_links(&structure, FIRST);
    let low = of_non_links(nearness, LAST);
    let close: Vec<usize> = (0..m).filter(|&at| structure[at] > high).collect();
    let mut nearness: Vec<f64> = close.iter().map(|&at| nearness[at]).collect();
    let unlike = |nearness: &[f64]| -> Vec<[u32; 2]> {
        let pairs = close.iter().zip(nearness).filter(|(_, x)| **x < low);
        pairs.map(|(&at, _)| links.ends[at]).collect()
    };
    let n = links.n;
    let chosen = unlike(&nearness);
    let cores = core_numbers(n, &chosen);
    let core = cores.iter().copied().max().unwrap_or(0);
    if core < LEAST_CORE {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(PERMUTATION_STREAM);
    let mut usual = 0;
    for _ in 0..PERMUTATIONS {
        nearness.shuffle(&mut random);
        let cores = core_numbers(n, &unlike(&nearness));
        usual = usual.max(cores.into_iter().max().unwrap_or(0));
    }
    if core < usual + BEYOND {
        return None;
    }
    let inside = |ends: &&[u32; 2]| ends.iter().all(|&node| cores[node as usize] == core);
    let &[src, dst] = chosen.iter().find(inside)?;
    Some(Contradiction {
        src,
        dst,
        core,
        usual,
        nodes: cores.iter().filter(|&&it| it == core).count(),
    })
}

/// For each node the largest k of a part of the graph in which all nodes have k links and
/// that holds the node.
fn core_numbers(n: usize, links: &[[u32; 2]]) -> Vec<usize> {
    let net = Net::new(n, false, links.iter().copied());
    let mut degree: Vec<usize> = (0..n).map(|node| net.outgoing().degree(node)).collect();
    let most = degree.iter().copied().max().unwrap_or(0);
    let mut by_degree: Vec<Vec<u32>> = vec![Vec::new(); most + 1];
    for (node, &degree) in degree.iter().enumerate() {
        by_degree[degree].push(node as u32);
    }
    let mut core = vec![0; n];
    let mut done = vec![false; n];
    let mut level = 0;
    let mut now = 0;
    while now <= most {
        let Some(node) = by_degree[now].pop() else {
            now += 1;
            continue;
        };
        let node = node as usize;
        if done[node] || degree[node] != now {
            continue;
        }
        done[node] = true;
        level = level.max(now);
        core[node] = level;
        for &other in net.outgoing().of(node) {
            let other = other as usize;
            if !done[other] && degree[other] > 0 {
                degree[other] -= 1;
                by_degree[degree[other]].push(other as u32);
                now = now.min(degree[other]);
            }
        }
    }
    core
}
