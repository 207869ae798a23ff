//! Real graphs made worse in a known way.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::graph::{Graph, Link, LinkRules};

/// A data set with false links.
#[derive(Debug, Clone)]
pub struct Contaminated {
    /// The data with the false links among the others.
    pub data: Dataset,
    /// The false links, as internal rows, the smaller first.
    pub false_links: HashSet<(u32, u32)>,
}

/// Adds links between unlinked nodes of different classes: as many as `share`
/// of the links there are, each of the given weight. `labels` are by internal
/// rows.
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
        let apart = labels[src as usize] != labels[dst as usize];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::synthetic::{Noise, synthetic};

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
}
