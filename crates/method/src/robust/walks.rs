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
/// The nodes from which walks are tried, to estimate how far they lead.
const ASKED: usize = 256;

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

/// About how many links walks make, beside those that there are.
pub(super) fn expected_links(data: &Dataset, length: usize) -> usize {
    let n = data.n_nodes();
    if length == 0 || n == 0 {
        return 0;
    }
    let most = most_of_node(n);
    let links = data.graph().adjacency();
    let asked = ASKED.min(n);
    let mut reached = 0;
    for place in 0..asked {
        let mut seen = vec![(place * n / asked) as u32];
        let mut from = 0;
        for _ in 0..length {
            let to = seen.len();
            for place in from..to {
                for &next in links.row(seen[place] as usize).0 {
                    if seen.len() <= most && !seen.contains(&next) {
                        seen.push(next);
                    }
                }
            }
            from = to;
        }
        reached += seen.len() - 1;
    }
    let entries = reached as f64 / asked as f64 * n as f64;
    ((ONE_WAY * entries) as usize).saturating_sub(data.graph().n_links())
}
