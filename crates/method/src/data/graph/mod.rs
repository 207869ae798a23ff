//! Undirected weighted links, validated once: a `Graph` cannot hold a
//! self-link, a repeated pair, or a weight that is zero or not finite. Weights may be
//! negative, as correlations are: what fits weights themselves refuses those.

mod adjacency;
mod build;
mod listing;
mod matrix;
mod sides;

pub use adjacency::Adjacency;
pub use listing::{Lines, LinkFile};
pub use matrix::Compressed;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::build::{Built, check_link, not_finite};
use self::listing::Listing;
use crate::choice::choice;
use crate::data::buffer::Buffer;
use crate::data::ids::Ids;
use crate::error::{Error, Result};

/// One link as listed, from row `src` to row `dst` ([example](crate::data)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The row of one end.
    pub src: u32,
    /// The row of the other end.
    pub dst: u32,
    /// The weight.
    pub weight: f64,
}

choice!(
    /// What to do with a pair that is listed more than once. A pair listed once in
    /// each direction with the same weight is one link and never a repeat.
    #[derive(Default)]
    Duplicates {
        /// Refuse.
        #[default]
        Error = "error",
        /// Add the weights up.
        Sum = "sum",
        /// Keep the largest weight.
        Max = "max",
        /// Keep the first listing.
        First = "first",
    }
);
choice!(
    /// What to do with a link from a node to itself.
    #[derive(Default)]
    SelfLinks {
        /// Refuse.
        #[default]
        Error = "error",
        /// Leave them out and count them.
        Drop = "drop",
    }
);

choice!(
    /// What the two ends of a listed link are.
    #[derive(Default)]
    Ends {
        /// Nodes, in any order.
        #[default]
        Alike = "alike",
        /// The source of the link and its target, of the same nodes.
        Directed = "directed",
        /// A source and a target of different kinds: an id names one node among the
        /// sources and another among the targets.
        Bipartite = "bipartite",
    }
);

/// How listed links become a graph ([example](crate::data)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkRules {
    /// Repeated pairs.
    pub duplicates: Duplicates,
    /// Self-links.
    pub self_links: SelfLinks,
    /// What ends are; where they stand on two sides, the graph has the sources first and
    /// then the targets.
    pub ends: Ends,
}

/// What was left out or merged on the way in ([example](crate::data)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkCounts {
    /// Links listed.
    pub listed: usize,
    /// Links of weight zero, dropped.
    pub zero: usize,
    /// Self-links, dropped.
    pub self_links: usize,
    /// Listings merged into another of the same pair.
    pub merged: usize,
    /// First lines taken for a header although their names are no known ones.
    #[serde(default)]
    pub headers: usize,
    /// Columns beside the ends and the weight, passed over.
    #[serde(default)]
    pub columns: usize,
}

/// A symmetric graph. Each pair is stored once, under its smaller row.
///
/// ```
/// use linkproof::Graph;
///
/// let graph = Graph::from_rows(3, &[(0, 1, 2.0), (1, 2, 1.0)])?;
/// assert_eq!((graph.n_nodes(), graph.n_links()), (3, 2));
/// assert_eq!(graph.weight(0, 1), Some(2.0));
/// # Ok::<(), linkproof::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Graph {
    ids: Ids,
    // Shared by clones, and by graphs of the same pairs.
    offsets: Buffer<usize>,
    targets: Buffer<u32>,
    weights: Buffer<f64>,
    counts: LinkCounts,
    /// Where the links stand in the file that they were read from.
    listing: Option<Listing>,
}

impl Graph {
    /// Builds a graph from links between rows of `ids`.
    pub fn new(ids: Ids, links: Vec<Link>, rules: LinkRules) -> Result<Graph> {
        Ok(Graph::build(ids, links, rules, false)?.graph)
    }

    /// Builds a graph from links that were read from a file, which errors found later name.
    /// Also gives the place in the list of each further listing of a pair, with that of the
    /// pair's first.
    ///
    /// # Errors
    /// [`Error::Input`] names the file and the line.
    pub fn from_file(
        ids: Ids,
        links: Vec<Link>,
        rules: LinkRules,
        mut file: LinkFile,
    ) -> Result<(Graph, Vec<[usize; 2]>)> {
        // Places take 31 bits.
        let has_places = links.len() < 1 << 31;
        if !has_places {
            file.lines = Lines::default();
        }
        let built = Graph::build(ids, links, rules, has_places);
        let mut built = built.map_err(|error| file.located(error, None))?;
        built.graph.listing = Some(Listing {
            file: Arc::new(file),
            places: built.places.into(),
        });
        Ok((built.graph, built.repeats))
    }

    /// Builds a graph on the row numbers `0..n` with the default rules.
    pub fn from_rows(n: usize, links: &[(u32, u32, f64)]) -> Result<Graph> {
        let links = links
            .iter()
            .map(|&(src, dst, weight)| Link { src, dst, weight })
            .collect();
        Graph::new(Ids::Rows(n), links, LinkRules::default())
    }

    /// The node ids, in row order.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The number of nodes `n`.
    pub fn n_nodes(&self) -> usize {
        self.ids.len()
    }

    /// The number of linked pairs `|W|`.
    pub fn n_links(&self) -> usize {
        self.targets.len()
    }

    /// Notes that a reader took so many first lines for headers by itself.
    pub fn note_headers(&mut self, headers: usize) {
        self.counts.headers = headers;
    }

    /// Notes how many columns its reader passed over.
    pub fn note_columns(&mut self, columns: usize) {
        self.counts.columns = columns;
    }

    /// What was dropped or merged when the graph was made.
    pub fn counts(&self) -> LinkCounts {
        self.counts
    }

    /// The weights, in the order of [`Graph::links`].
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The first link of negative weight.
    pub fn negative(&self) -> Option<Link> {
        let place = self.weights.iter().position(|&weight| weight < 0.0);
        place.map(|place| self.link(place))
    }

    /// Whether some weights are negative.
    pub fn is_signed(&self) -> bool {
        self.negative().is_some()
    }

    /// The links of a row to larger rows: targets in ascending order, and weights.
    pub fn upper_row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.targets[range.clone()], &self.weights[range])
    }

    /// Every link once, with `src < dst`, in ascending order.
    pub fn links(&self) -> impl Iterator<Item = Link> + Clone + '_ {
        (0..self.n_nodes()).flat_map(move |row| {
            let (targets, weights) = self.upper_row(row);
            targets
                .iter()
                .zip(weights)
                .map(move |(&dst, &weight)| Link {
                    src: row as u32,
                    dst,
                    weight,
                })
        })
    }

    /// The link at a place in the order of [`Graph::links`].
    pub fn link(&self, place: usize) -> Link {
        let row = self.offsets.partition_point(|&offset| offset <= place) - 1;
        Link {
            src: row as u32,
            dst: self.targets[place],
            weight: self.weights[place],
        }
    }

    /// The weight of a pair, if it is linked.
    pub fn weight(&self, a: u32, b: u32) -> Option<f64> {
        self.place(a, b).map(|place| self.weights[place])
    }

    /// The place of a linked pair in the order of [`Graph::links`]; none for rows beyond
    /// the graph's.
    pub fn place(&self, a: u32, b: u32) -> Option<usize> {
        let row = a.min(b) as usize;
        if row >= self.n_nodes() {
            return None;
        }
        let place = self.upper_row(row).0.binary_search(&a.max(b)).ok()?;
        Some(self.offsets[row] + place)
    }

    /// The number of links of each node.
    pub fn degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.n_nodes()];
        for link in self.links() {
            degrees[link.src as usize] += 1;
            degrees[link.dst as usize] += 1;
        }
        degrees
    }

    /// The same links in both directions.
    pub fn adjacency(&self) -> Adjacency {
        Adjacency::new(self.n_nodes(), self.links())
    }

    /// The same pairs with other weights; pairs whose weight becomes zero go.
    ///
    /// # Errors
    /// A weight that is not a finite number.
    pub fn map_weights(&self, weight: impl Fn(Link) -> f64) -> Result<Graph> {
        self.with_weights(self.links().map(weight).collect())
    }

    /// The same pairs with other weights, in the order of the links; pairs whose weight
    /// becomes zero go.
    ///
    /// # Errors
    /// A weight that is not a finite number, or another number of weights than of links.
    pub fn with_weights(&self, weights: Vec<f64>) -> Result<Graph> {
        if weights.len() != self.n_links() {
            let expected = format!("{} weights, one for each link", self.n_links());
            return Err(Error::links(format!("{} weights", weights.len()), expected));
        }
        if let Some(place) = weights.iter().position(|weight| !weight.is_finite()) {
            let link = Link {
                weight: weights[place],
                ..self.link(place)
            };
            return Err(not_finite(&self.ids, &link));
        }
        let has_zeros = weights.contains(&0.0);
        let graph = Graph {
            weights: weights.into(),
            ..self.clone()
        };
        if has_zeros {
            return Ok(graph.filter(|link| link.weight != 0.0));
        }
        Ok(graph)
    }

    /// The links for which `keep` holds, between the same nodes. If it holds for all, the
    /// links are shared.
    pub fn filter(&self, keep: impl Fn(&Link) -> bool) -> Graph {
        let mut offsets = Vec::with_capacity(self.n_nodes() + 1);
        offsets.push(0);
        let (mut targets, mut weights) = (Vec::new(), Vec::new());
        let mut places = Vec::new();
        for row in 0..self.n_nodes() {
            let first = self.offsets[row];
            let (of_row, with) = self.upper_row(row);
            for (at, (&dst, &weight)) in of_row.iter().zip(with).enumerate() {
                let src = row as u32;
                if keep(&Link { src, dst, weight }) {
                    targets.push(dst);
                    weights.push(weight);
                    places.extend(self.listed(first + at).map(|place| place as u32));
                }
            }
            offsets.push(targets.len());
        }
        if targets.len() == self.n_links() {
            return self.clone();
        }
        Graph {
            ids: self.ids.clone(),
            offsets: offsets.into(),
            targets: targets.into(),
            weights: weights.into(),
            counts: self.counts,
            listing: self.listing.as_ref().map(|listing| Listing {
                places: places.into(),
                ..listing.clone()
            }),
        }
    }

    /// The graph on other ids: row `r` here is row `rows[r]` there. If no row moves, the
    /// links are shared.
    pub fn relabel(self, ids: Ids, rows: &[u32]) -> Result<Graph> {
        let in_place = ids.len() == self.n_nodes() && rows.iter().copied().eq(0..rows.len() as u32);
        if in_place {
            return Ok(Graph { ids, ..self });
        }
        let (counts, listing) = (self.counts, self.listing.clone());
        let links = self
            .links()
            .map(|link| Link {
                src: rows[link.src as usize],
                dst: rows[link.dst as usize],
                weight: link.weight,
            })
            .collect();
        let keeps = listing.is_some();
        let Built { graph, places, .. } = Graph::build(ids, links, LinkRules::default(), keeps)?;
        let listing = listing.map(|listing| Listing {
            places: places
                .iter()
                .map(|&at| listing.places[at as usize])
                .collect(),
            ..listing
        });
        Ok(Graph {
            counts,
            listing,
            ..graph
        })
    }
}

#[cfg(test)]
mod tests;
