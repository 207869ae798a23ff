//! Connected components.

use serde::Serialize;

use crate::data::graph::Graph;

/// How many sizes are reported after the largest.
const NEXT: usize = 5;

/// Groups of nodes that links join. A node without links is counted with the
/// isolated nodes and not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Components {
    /// How many there are.
    pub count: usize,
    /// Nodes of the largest.
    pub largest: usize,
    /// Nodes of the next ones, largest first, five at most.
    pub next: Vec<usize>,
}

/// The components of a graph.
pub fn components(graph: &Graph) -> Components {
    let adjacency = graph.adjacency();
    let mut seen = vec![false; graph.n_nodes()];
    let mut sizes = Vec::new();
    for first in 0..graph.n_nodes() {
        if seen[first] || adjacency.row(first).0.is_empty() {
            continue;
        }
        seen[first] = true;
        let mut reached = vec![first as u32];
        let mut at = 0;
        while at < reached.len() {
            for &next in adjacency.row(reached[at] as usize).0 {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    reached.push(next);
                }
            }
            at += 1;
        }
        sizes.push(reached.len());
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    Components {
        count: sizes.len(),
        largest: sizes.first().copied().unwrap_or(0),
        next: sizes.into_iter().skip(1).take(NEXT).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_counted_by_size_and_isolated_nodes_are_none() {
        let links = [
            (0, 1, 1.0),
            (1, 2, 1.0),
            (2, 0, 1.0),
            (3, 4, 1.0),
            (8, 9, 1.0),
        ];
        let found = components(&Graph::from_rows(11, &links).unwrap());
        assert_eq!((found.count, found.largest), (3, 3));
        assert_eq!(found.next, [2, 2]);
    }

    #[test]
    fn a_long_path_joined_from_both_ends_is_one() {
        let n = 10_000u32;
        let mut links: Vec<_> = (0..n - 1).map(|i| (i, i + 1, 1.0)).collect();
        links.reverse();
        links.remove(links.len() / 2);
        let found = components(&Graph::from_rows(n as usize, &links).unwrap());
        assert_eq!(found.count, 2);
        assert_eq!(found.largest + found.next[0], n as usize);
        links.push((0, n - 1, 1.0));
        let found = components(&Graph::from_rows(n as usize, &links).unwrap());
        assert_eq!((found.count, found.largest), (1, n as usize));
    }
}
