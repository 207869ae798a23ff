//! Link weights as a fit saw them, so that a link is compared with what the fit
//! expects of it.

use crate::data::dataset::Dataset;
use crate::data::graph::{Adjacency, Graph, Link};
use crate::data::transform::{
    average_over_walks, check_signs, transform_weight, transform_weights,
};
use crate::error::Result;
use crate::params::Params;

/// The weights that a fit of some parameters sees in the place of those that
/// were observed: transformed and, after `walks`, averaged over walks. Such a
/// fit expects averaged weights, a fraction of the observed ones, and beside
/// them every observed weight would be too large.
///
/// Averages are taken over all links, judged ones included, by the transform of
/// the fit; a fold changes neither their scale nor, but for walks through it,
/// the weights themselves.
#[derive(Debug, Clone)]
pub(super) struct SeenWeights {
    transform: crate::params::WeightTransform,
    walked: Option<(Graph, Adjacency)>,
}

impl SeenWeights {
    /// The weights of links between internal rows.
    pub fn new(params: &Params, data: &Dataset) -> Result<SeenWeights> {
        let transform = params.weights;
        check_signs(data, transform)?;
        if params.walks == 0 {
            let walked = None;
            return Ok(SeenWeights { transform, walked });
        }
        let graph = transform_weights(data.graph(), transform)?;
        let linked = data.linked_views();
        let takes_part = |src, dst| linked.contains(&(data.view_of(src), data.view_of(dst)));
        let walked = average_over_walks(&graph, params.walks, params.walks_weighted, takes_part)?;
        let adjacency = walked.adjacency();
        Ok(SeenWeights {
            transform,
            walked: Some((walked, adjacency)),
        })
    }

    /// The weight that the fit sees for a link between internal rows.
    pub fn of(&self, link: &Link) -> f64 {
        let Some((walked, adjacency)) = &self.walked else {
            return transform_weight(link.weight, self.transform);
        };
        walked.weight(link.src, link.dst).unwrap_or_else(|| {
            // Averages keep the largest entries of a node: this one is not
            // larger than any of them.
            let ends = [link.src, link.dst].into_iter();
            let kept = ends.flat_map(|row| adjacency.row(row as usize).1);
            let least = kept.copied().fold(f64::INFINITY, f64::min);
            if least.is_finite() { least } else { 0.0 }
        })
    }
}
