//! Links by what they count for.

use crate::data::dataset::Dataset;
use crate::data::graph::{Graph, Link, LinkRules};
use crate::error::Result;
use crate::trust::judge::Judgement;

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
