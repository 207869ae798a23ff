//! Links by what they count for, and walks over them.

use crate::data::dataset::Dataset;
use crate::data::graph::{Graph, Link, LinkRules};
use crate::data::transform::average_over_kept_walks;
use crate::error::Result;
use crate::trust::judge::Judgement;

/// Walks keep so many links for all nodes together, and for each so many at least
/// and at most.
const WALK_LINKS: usize = 4_000_000;
const LEAST_WALK_LINKS: usize = 16;
const MOST_WALK_LINKS: usize = 64;

/// What a link counts for by the belief in it, `max(0, 2b - 1)`.
pub fn weight(belief: f64) -> f64 {
    (2.0 * belief - 1.0).max(0.0)
}

/// The links by internal rows, each weighing what it counts for.
pub fn believed(data: &Dataset, judgement: &Judgement) -> Result<Graph> {
    let links = counted(data, judgement);
    Graph::new(data.graph().ids().clone(), links, LinkRules::default())
}

/// The same as a list, in the order of the graph.
pub fn counted(data: &Dataset, judgement: &Judgement) -> Vec<Link> {
    let links = data.graph().links().zip(&judgement.links);
    let links = links.map(|(link, judged)| Link {
        weight: weight(judged.belief),
        ..link
    });
    links.collect()
}

/// Believed links averaged over walks, between views that have links.
pub fn walks_over(data: &Dataset, believed: &Graph, length: usize) -> Result<Graph> {
    if length == 0 || believed.n_links() == 0 {
        return Ok(believed.clone());
    }
    let view_of = |row: u32| {
        let views = data.views();
        views.partition_point(|view| view.rows.end <= row as usize)
    };
    let mut linked: Vec<(usize, usize)> = data
        .graph()
        .links()
        .map(|link| (view_of(link.src), view_of(link.dst)))
        .collect();
    linked.sort_unstable();
    linked.dedup();
    let n = data.n_nodes().max(1);
    let most = (WALK_LINKS / n).clamp(LEAST_WALK_LINKS, MOST_WALK_LINKS);
    average_over_kept_walks(believed, length, true, most, |src, dst| {
        linked.contains(&(view_of(src), view_of(dst)))
    })
}
