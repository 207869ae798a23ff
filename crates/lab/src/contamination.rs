//! Real graphs made worse in a known way.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::graph::{Graph, Link, LinkRules};
use linkproof_method::error::{Error, Result};

/// A data set with false links.
#[derive(Debug, Clone)]
pub struct Contaminated {
    /// The data with the false links among the others.
    pub data: Dataset,
    /// The false links, as internal rows, the smaller first.
    pub false_links: HashSet<(u32, u32)>,
}

/// What is done to a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Damage {
    /// Nothing.
    None,
    /// False links: as many as this share of the links, of the given weight.
    Added(f64, f64),
    /// This share of the links is taken away.
    Removed(f64),
}

impl Damage {
    /// The damage of the experiments, with names.
    pub const ALL: [(&'static str, Damage); 8] = [
        ("clean", Damage::None),
        ("+30% false", Damage::Added(0.3, 1.0)),
        ("+60% false", Damage::Added(0.6, 1.0)),
        ("+90% false", Damage::Added(0.9, 1.0)),
        ("10% at 10", Damage::Added(0.1, 10.0)),
        ("10% at 100", Damage::Added(0.1, 100.0)),
        ("50% at 10", Damage::Added(0.5, 10.0)),
        ("30% removed", Damage::Removed(0.3)),
    ];

    /// The data after it. `labels` are by internal rows.
    pub fn apply(self, data: &Dataset, labels: &[u32], seed: u64) -> Result<Contaminated> {
        match self {
            Damage::None => contaminate(data, labels, 0.0, 1.0, seed),
            Damage::Added(share, weight) => contaminate(data, labels, share, weight, seed),
            Damage::Removed(share) => remove(data, share, seed),
        }
    }
}

fn remove(data: &Dataset, share: f64, seed: u64) -> Result<Contaminated> {
    let graph = data.graph();
    let mut links: Vec<Link> = graph.links().collect();
    links.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    links.truncate(((1.0 - share) * links.len() as f64).round() as usize);
    let graph = Graph::new(graph.ids().clone(), links, LinkRules::default())?;
    Ok(Contaminated {
        data: data.with_graph(graph),
        false_links: HashSet::new(),
    })
}

/// Adds links between unlinked nodes of different classes: as many as `share`
/// of the links there are, each of the given weight, between views that have
/// links. `labels` are by internal rows.
pub fn contaminate(
    data: &Dataset,
    labels: &[u32],
    share: f64,
    weight: f64,
    seed: u64,
) -> Result<Contaminated> {
    let graph = data.graph();
    let n = data.n_nodes() as u32;
    let wanted = (share * graph.n_links() as f64).round() as usize;
    let linked = LinkedViews::new(data);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut false_links = HashSet::new();
    let mut links: Vec<Link> = graph.links().collect();
    let mut tries = 0usize;
    while false_links.len() < wanted {
        tries += 1;
        if labels.len() != n as usize || tries > 1000 * (wanted + 1) {
            return Err(Error::data(
                "labels",
                format!("{} of them, for {n} nodes", labels.len()),
                "one for each node, and enough unlinked pairs of different classes",
            ));
        }
        let (a, b) = (random.random_range(0..n), random.random_range(0..n));
        let (src, dst) = (a.min(b), a.max(b));
        let apart = labels[src as usize] != labels[dst as usize] && linked.take_part(src, dst);
        if apart && graph.weight(src, dst).is_none() && false_links.insert((src, dst)) {
            links.push(Link { src, dst, weight });
        }
    }
    let graph = Graph::new(graph.ids().clone(), links, LinkRules::default())?;
    Ok(Contaminated {
        data: data.with_graph(graph),
        false_links,
    })
}

/// The pairs of views that have a link.
struct LinkedViews {
    ends: Vec<usize>,
    linked: HashSet<(usize, usize)>,
}

impl LinkedViews {
    fn new(data: &Dataset) -> LinkedViews {
        let mut found = LinkedViews {
            ends: data.views().iter().map(|view| view.rows.end).collect(),
            linked: HashSet::new(),
        };
        for link in data.graph().links() {
            let pair = found.views(link.src, link.dst);
            found.linked.insert(pair);
        }
        found
    }

    fn views(&self, src: u32, dst: u32) -> (usize, usize) {
        let view = |row: u32| self.ends.partition_point(|&end| end <= row as usize);
        (view(src), view(dst))
    }

    /// Of a pair, the smaller row first.
    fn take_part(&self, src: u32, dst: u32) -> bool {
        self.linked.contains(&self.views(src, dst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, synthetic};

    #[test]
    fn false_links_join_classes_and_the_others_stay() {
        let made = synthetic(1, Noise::false_links(0.01)).unwrap();
        let before = made.data.graph();
        let found = contaminate(&made.data, &made.labels, 0.3, 7.0, 5).unwrap();
        let after = found.data.graph();
        let wanted = (0.3 * before.n_links() as f64).round() as usize;
        assert_eq!(found.false_links.len(), wanted);
        assert_eq!(after.n_links(), before.n_links() + wanted);
        for &(a, b) in &found.false_links {
            assert_ne!(made.labels[a as usize], made.labels[b as usize]);
            assert_eq!((before.weight(a, b), after.weight(a, b)), (None, Some(7.0)));
        }
        assert!(contaminate(&made.data, &vec![0; 200], 0.3, 7.0, 5).is_err());
        assert!(contaminate(&made.data, &[0, 1], 0.3, 7.0, 5).is_err());
    }
    #[test]
    fn links_are_removed_at_random_and_none_is_added() {
        let made = synthetic(1, Noise::false_links(0.01)).unwrap();
        let before = made.data.graph();
        let found = Damage::Removed(0.3)
            .apply(&made.data, &made.labels, 2)
            .unwrap();
        let after = found.data.graph();
        assert_eq!(
            after.n_links(),
            (0.7 * before.n_links() as f64).round() as usize
        );
        assert!(
            after
                .links()
                .all(|link| before.weight(link.src, link.dst).is_some())
        );
        let clean = Damage::None.apply(&made.data, &made.labels, 2).unwrap();
        assert_eq!(clean.data.graph().n_links(), before.n_links());
    }
}
