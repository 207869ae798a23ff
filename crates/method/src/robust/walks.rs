//! Walks over believed links, which the fit sees in place of them.

use crate::data::dataset::Dataset;
use crate::data::graph::Graph;
use crate::data::transform::average_over_kept_walks;
use crate::error::Result;

/// Walks keep so many links for all nodes together, and for each so many at least
/// and at most.
const WALK_LINKS: usize = 4_000_000;
const LEAST_WALK_LINKS: usize = 16;
const MOST_WALK_LINKS: usize = 64;
/// Of the entries of walks, so many are links: others have both directions.
const ONE_WAY: f64 = 0.7;

/// How many links walks keep for each of so many nodes.
fn most_of_node(n_nodes: usize) -> usize {
    (WALK_LINKS / n_nodes.max(1)).clamp(LEAST_WALK_LINKS, MOST_WALK_LINKS)
}

/// Believed links averaged over walks, between views that have links.
pub fn walks_over(data: &Dataset, believed: &Graph, length: usize) -> Result<Graph> {
    if length == 0 || believed.n_links() == 0 {
        return Ok(believed.clone());
    }
    let linked = data.linked_views();
    let most = most_of_node(data.n_nodes());
    average_over_kept_walks(believed, length, true, most, |src, dst| {
        linked.contains(&(data.view_of(src), data.view_of(dst)))
    })
}

/// How many links walks make at most, beside those that there are.
pub(super) fn most_links(data: &Dataset, length: usize) -> usize {
    let n = data.n_nodes();
    if length == 0 {
        return 0;
    }
    let entries = most_of_node(n).min(n) as f64 * n as f64;
    ((ONE_WAY * entries) as usize).saturating_sub(data.graph().n_links())
}
