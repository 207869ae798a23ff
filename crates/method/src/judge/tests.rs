//! The judge against plain computations, and on small and odd graphs.

mod claims;
mod evidence;
mod graphs;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::pairs::{Links, Pairs};
use crate::data::dataset::Dataset;
use crate::data::features::{Features, Matrix};
use crate::data::graph::{Ends, Graph, Link, LinkRules};
use crate::data::ids::Ids;

/// Random links between `n` nodes of one group.
fn random_links(n: usize, m: usize, directed: bool, seed: u64) -> Links {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all: Vec<[u32; 2]> = Vec::new();
    for i in 0..n as u32 {
        let first = if directed { 0 } else { i + 1 };
        all.extend((first..n as u32).filter(|&j| j != i).map(|j| [i, j]));
    }
    all.shuffle(&mut random);
    all.truncate(m);
    Links::new(vec![0; n], directed, all, Vec::new())
}

/// Pairs with no ends that matter, the first `n_links` of them links.
fn pairs_of(n_links: usize, n_non_links: usize) -> Pairs {
    let n = n_links + n_non_links;
    Pairs {
        ends: (0..n as u32).map(|at| [2 * at, 2 * at + 1]).collect(),
        n_links,
        n_non_links,
        pool: vec![0; n],
        fold: (0..n).map(|at| (at % 5) as u8).collect(),
    }
}

/// Groups whose nodes are linked and share words; the last links join two groups, and the
/// second is for each link of the graph whether it is one of these.
fn planted(n: usize, degree: usize, percent_false: usize, seed: u64) -> (Dataset, Vec<bool>) {
    const GROUPS: usize = 4;
    const WORDS: usize = 40;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut words = vec![0.0; n * WORDS];
    for (at, x) in words.iter_mut().enumerate() {
        let (node, word) = (at / WORDS, at % WORDS);
        let p = if word % GROUPS == node % GROUPS {
            0.4
        } else {
            0.05
        };
        *x = f64::from(u8::from(random.random::<f64>() < p));
    }
    let real = n * degree / 2;
    let wrong = real * percent_false / 100;
    let mut known = std::collections::BTreeMap::new();
    while known.len() < real + wrong {
        let is_false = known.len() >= real;
        let (i, j) = (random.random_range(0..n), random.random_range(0..n));
        if i != j && (i % GROUPS == j % GROUPS) != is_false {
            known
                .entry((i.min(j) as u32, i.max(j) as u32))
                .or_insert(is_false);
        }
    }
    let links: Vec<(u32, u32, f64)> = known.keys().map(|&(i, j)| (i, j, 1.0)).collect();
    let graph = Graph::from_rows(n, &links).unwrap();
    let features = Features::new(Matrix::dense(n, WORDS, words).unwrap());
    let data = Dataset::new(graph, features).unwrap();
    let pairs = data.graph().links().map(|link| (link.src, link.dst));
    let is_false = pairs.map(|pair| known[&pair]).collect();
    (data, is_false)
}

/// A graph from links with weights.
fn graph(n: usize, links: &[(u32, u32, f64)], ends: Ends) -> Graph {
    let links = links.iter();
    let links = links.map(|&(src, dst, weight)| Link { src, dst, weight });
    let rules = LinkRules {
        ends,
        ..LinkRules::default()
    };
    Graph::new(Ids::Rows(n), links.collect(), rules).unwrap()
}
