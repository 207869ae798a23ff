//! Connected components, by union-find.

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
    let mut forest = Forest::new(graph.n_nodes());
    for link in graph.links() {
        forest.join(link.src, link.dst);
    }
    let mut sizes: Vec<usize> = (0..graph.n_nodes())
        .filter(|&node| forest.parents[node] as usize == node && forest.sizes[node] > 1)
        .map(|root| forest.sizes[root] as usize)
        .collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    Components {
        count: sizes.len(),
        largest: sizes.first().copied().unwrap_or(0),
        next: sizes.into_iter().skip(1).take(NEXT).collect(),
    }
}

/// Trees whose roots stand for their nodes.
struct Forest {
    parents: Vec<u32>,
    /// The nodes of each tree, by its root.
    sizes: Vec<u32>,
}

impl Forest {
    fn new(n: usize) -> Forest {
        Forest {
            parents: (0..n as u32).collect(),
            sizes: vec![1; n],
        }
    }

    /// The root of a node's tree; halves the path on the way.
    fn root(&mut self, mut node: u32) -> u32 {
        loop {
            let parent = self.parents[node as usize];
            if parent == node {
                return node;
            }
            let above = self.parents[parent as usize];
            self.parents[node as usize] = above;
            node = above;
        }
    }

    /// Hangs the smaller tree under the larger.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let (large, small) = if self.sizes[a as usize] >= self.sizes[b as usize] {
            (a, b)
        } else {
            (b, a)
        };
        self.parents[small as usize] = large;
        self.sizes[large as usize] += self.sizes[small as usize];
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
