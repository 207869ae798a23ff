//! `fit()` and what comes out of it: embeddings, a map for unseen nodes, and
//! expected weights for pairs.

mod apply;
mod averaged;
mod believed;
mod bootstrap;
pub mod buckets;
#[cfg(test)]
mod buckets_tests;
mod doubts;
mod expected;
mod fit;
pub mod folds;
mod in_all;
mod mean_size;
pub(crate) mod nearest;
mod neighbors;

pub(crate) use apply::NO_NEGATIVE;
pub use apply::{Encoded, End, NewLink, NewLinks, Point};
pub use averaged::Averaged;
pub use believed::{Believed, Classes};
pub(crate) use bootstrap::bootstrap_seen;
pub use bootstrap::{
    Replicate, Replicates, Spread, bootstrap, check_replicate_memory, check_replicates,
};
pub use doubts::{effective_rank, foreseen, has_collapsed, too_heavy_for_probability};
pub use expected::Expected;
pub use fit::{Fit, check_weights, fit, held_out_pairs};
use mean_size::MeanSize;
pub use neighbors::{Nearness, Neighbor, Neighbors, Query};

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::data::attributes::Attributes;
use crate::data::features::{Matrix, Values};
use crate::data::graph::{Graph, LinkCounts};
use crate::data::ids::Ids;
use crate::engine::Plan;
use crate::engine::encoder::{Network, Statistics};
use crate::engine::pairs::ViewMatrix;
use crate::engine::runtime::Record;
use crate::engine::solve::StopReason;
use crate::error::{Error, Result};
use crate::params::{Note, Params};
use crate::size::SizeLaw;

/// A view's encoder with its weights ([example](Fitted)).
#[derive(Debug, Clone)]
pub struct FittedView {
    /// The view's name; empty when there is only one, unnamed view.
    pub name: String,
    /// The shape of its encoder.
    pub network: Network,
    /// The weights, in the precision of the fit.
    pub weights: Values,
    /// What inference normalises with.
    pub statistics: Statistics,
    /// What data vectors tell of offsets, `u`, where nodes have any.
    pub offsets: Option<Values>,
}

/// How a fit went ([example](Fitted)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The steps taken.
    pub steps: usize,
    /// The step that the parameters are from.
    pub best_step: usize,
    /// The sum of the score over the training pairs: no ridge, no dropout,
    /// transformed weights, expected weights times `k`.
    pub value: f64,
    /// Whether `value` was estimated on blocks of nodes.
    pub value_is_estimated: bool,
    /// The mean score of a held-out pair, at the start and for the parameters.
    pub held_out: Option<(f64, f64)>,
    /// Whether that was estimated on blocks of nodes.
    #[serde(default)]
    pub held_out_is_estimated: bool,
    /// Nodes, links, held-out links and pairs.
    pub counts: DataCounts,
    /// The factor of expected weights, or of the intensity of links where sizes have
    /// a law of their own: 1 unless `lambda` was set or the fit is robust.
    pub k: f64,
    /// The solver, optimizer, steps, learning rate and so on that were chosen.
    pub plan: Plan,
    /// What a user should know, such as settings without effect. Files hold them in words.
    #[serde(default, skip_serializing)]
    pub notes: Vec<Note>,
    /// What changed since, where the model was brought up to date: all the rest is of
    /// the last full fit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub updates: Option<Updates>,
    /// The history.
    pub history: Vec<Record>,
    /// Seconds of the whole fit.
    pub seconds: f64,
}

/// All that changed since the last full fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Updates {
    /// How often the model was brought up to date.
    pub times: usize,
    /// Nodes that are new.
    pub new_nodes: usize,
    /// Links that are new.
    pub new_links: usize,
    /// Links whose weight is another now.
    pub changed_links: usize,
    /// Links that are no more.
    pub withdrawn_links: usize,
}

/// The size of the data ([example](Fitted)).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DataCounts {
    /// Nodes.
    pub nodes: usize,
    /// Links that the fit saw.
    pub training_links: usize,
    /// Links that were held out.
    pub held_out_links: usize,
    /// Links between views that do not take part.
    pub ignored_links: usize,
    /// Links that were set aside.
    #[serde(default)]
    pub set_aside_links: usize,
    /// What was dropped or merged when the links were read.
    pub read: LinkCounts,
}

/// What new nodes need to be averaged over their links, as the training nodes
/// were: the links and normalised data vectors of the latter.
#[derive(Debug, Clone)]
pub struct Neighborhood {
    /// The links that the data vectors were averaged over.
    pub graph: Graph,
    /// The normalised data vectors.
    pub matrix: Matrix,
}

/// All that a model is made of.
#[derive(Debug, Clone)]
pub struct ModelParts {
    /// The parameters of the fit, as given.
    pub params: Params,
    /// The views' encoders.
    pub views: Vec<FittedView>,
    /// The pairs of views that took part, the smaller place first.
    pub view_pairs: Vec<(usize, usize)>,
    /// `gamma` for each pair of views.
    pub gamma: ViewMatrix,
    /// The node ids, in row order.
    pub ids: Ids,
    /// The view of each node.
    pub node_views: Vec<u32>,
    /// The embeddings that expected weights are made of, row after row.
    pub embeddings: Vec<f32>,
    /// The offset of each node; none in a model without.
    pub offsets: Option<Vec<f32>>,
    /// Averages of the embeddings, where these are recommended.
    pub averaged: Option<Averaged>,
    /// What averages data vectors of new nodes over their links.
    pub neighborhood: Option<Neighborhood>,
    /// The links of the fit, between the model's rows.
    pub links: Graph,
    /// How far these are believed.
    pub believed: Option<Believed>,
    /// The law of their sizes, where the fit is to their pattern.
    pub sizes: Option<SizeLaw>,
    /// Classes of nodes that the fit was given to keep; it does not see them.
    pub classes: Option<Classes>,
    /// What a table says of the nodes, each once, beside their ids; the fit does not see it.
    pub attributes: Option<Attributes>,
    /// Fits to parts of the nodes, which tell how sure this one is.
    pub replicates: Option<Replicates>,
    /// How the fit went.
    pub report: FitReport,
}

/// A fitted model.
///
/// ```
/// use linkproof::{Dataset, Graph, Params};
///
/// let links = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0), (3, 5, 1.0)];
/// let data = Dataset::from_links(Graph::from_rows(6, &links)?)?;
/// let params = Params { dim: 2, ridge: Some(0.1), ..Default::default() }.check()?;
/// let fitted = linkproof::fit(&params, &data)?;
/// assert_eq!(fitted.row(0).len(), 2);
/// // Linked nodes are expected to be linked.
/// assert!(fitted.mu(0, 1) > fitted.mu(0, 4));
/// let nearest = fitted.neighbors(fitted.point(0), 2, Some(0), None)?;
/// assert!(nearest.iter().all(|neighbor| neighbor.row < 3));
/// let report = fitted.report();
/// assert!(report.steps > 0 && report.notes.is_empty() && report.counts.read.listed == 6);
/// # Ok::<(), linkproof::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fitted {
    parts: ModelParts,
    /// What the law of sizes says of each similarity.
    mean_size: Option<MeanSize>,
}

impl Fitted {
    /// A model of these parts.
    ///
    /// # Errors
    /// Parts that do not fit together.
    pub fn new(parts: ModelParts) -> Result<Fitted> {
        let (n, n_views) = (parts.ids.len(), parts.views.len());
        let of_views = |&(d, e): &(usize, usize)| d <= e && e < n_views;
        let wrong = if n_views == 0
            || parts.view_pairs.is_empty()
            || !parts.view_pairs.iter().all(of_views)
        {
            Some("views and pairs of views")
        } else if parts.node_views.len() != n
            || parts
                .node_views
                .iter()
                .any(|&view| view as usize >= n_views)
        {
            Some("the views of the nodes")
        } else if parts.embeddings.len() != n * parts.params.dim {
            Some("the embeddings")
        } else if parts.offsets.iter().any(|offsets| offsets.len() != n)
            || parts.offsets.is_some() != parts.params.offsets
        {
            Some("the offsets")
        } else if parts.links.n_nodes() != n {
            Some("the links")
        } else if !(parts.believed.iter()).all(|it| it.fits(parts.links.n_links(), n_views)) {
            Some("beliefs in links")
        } else if !parts.sizes.iter().all(SizeLaw::is_sound) {
            Some("the law of sizes")
        } else if !(parts.replicates.iter()).all(|it| it.fit(n, parts.params.dim, n_views)) {
            Some("replicates")
        } else if !parts.classes.iter().all(|classes| classes.fits(n)) {
            Some("classes of nodes")
        } else if !(parts.attributes.iter()).all(|it| it.len() == each_once(&parts.ids).len()) {
            Some("columns about nodes")
        } else {
            None
        };
        if let Some(what) = wrong {
            let expected = format!("parts of one model of {n} nodes");
            return Err(Error::data(
                "model",
                format!("{what} that do not fit"),
                expected,
            ));
        }
        let mean_size = parts.sizes.map(MeanSize::new);
        let mut model = Fitted { parts, mean_size };
        match model.parts.averaged.take() {
            Some(averaged) => model.with_averages(averaged),
            None => Ok(model),
        }
    }

    /// What it is made of.
    pub fn parts(&self) -> &ModelParts {
        &self.parts
    }

    /// The parameters of the fit, as given.
    pub fn params(&self) -> &Params {
        &self.parts.params
    }

    /// The views' encoders.
    pub fn views(&self) -> &[FittedView] {
        &self.parts.views
    }

    /// The pairs of views that took part.
    pub fn view_pairs(&self) -> &[(usize, usize)] {
        &self.parts.view_pairs
    }

    /// Whether two views took part together.
    pub fn takes_part(&self, d: usize, e: usize) -> bool {
        self.view_pairs().contains(&(d.min(e), d.max(e)))
    }

    /// `gamma` for each pair of views.
    pub fn gamma(&self) -> &ViewMatrix {
        &self.parts.gamma
    }

    /// The node ids, in row order.
    pub fn ids(&self) -> &Ids {
        &self.parts.ids
    }

    /// Whether its links have directions: then each node has two rows, as a source and
    /// as a target.
    pub fn is_directed(&self) -> bool {
        self.ids().sides().is_some_and(|sides| sides.same)
    }

    /// The ids of the nodes as users count them, each once.
    pub fn node_ids(&self) -> &Ids {
        each_once(self.ids())
    }

    /// Numbers of its rows, so many each, as users see them: of a directed model those of
    /// a node as a source, and beside them those of the same node as a target. And how
    /// many there are of a node.
    pub fn by_node<'v, V: Copy>(&self, rows: &'v [V], width: usize) -> (Cow<'v, [V]>, usize) {
        if !self.is_directed() {
            return (Cow::Borrowed(rows), width);
        }
        let (sources, targets) = rows.split_at(rows.len() / 2);
        let both = sources.chunks_exact(width).zip(targets.chunks_exact(width));
        let both = both.flat_map(|(source, target)| source.iter().chain(target));
        (both.copied().collect(), 2 * width)
    }

    /// The view of each node, as a place in [`Fitted::views`].
    pub fn node_views(&self) -> &[u32] {
        &self.parts.node_views
    }

    /// The embeddings that expected weights are made of, row after row.
    pub fn embeddings(&self) -> &[f32] {
        &self.parts.embeddings
    }

    /// The offset of each node; none in a model without.
    pub fn offsets(&self) -> Option<&[f32]> {
        self.parts.offsets.as_deref()
    }

    /// The number of dimensions, the last ones, that the similarity counts as
    /// negative.
    pub fn negative(&self) -> usize {
        self.params().negative()
    }

    /// The dimension of the embeddings.
    pub fn dim(&self) -> usize {
        self.parts.params.dim
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.parts.ids.len()
    }

    /// The links of the fit, between the model's rows.
    pub fn links(&self) -> &Graph {
        &self.parts.links
    }

    /// What a robust fit knows of its links.
    pub fn believed(&self) -> Option<&Believed> {
        self.parts.believed.as_ref()
    }

    /// The law of the sizes of links, where the fit is to their pattern.
    pub fn sizes(&self) -> Option<&SizeLaw> {
        self.parts.sizes.as_ref()
    }

    /// Classes of nodes that the fit was given to keep.
    pub fn classes(&self) -> Option<&Classes> {
        self.parts.classes.as_ref()
    }

    /// The same model with classes of its nodes to keep.
    ///
    /// # Errors
    /// Classes of other nodes.
    pub fn with_classes(mut self, classes: Option<Classes>) -> Result<Fitted> {
        self.parts.classes = classes;
        Fitted::new(self.parts)
    }

    /// What a table says of the nodes, in the order of [`Fitted::node_ids`], beside their
    /// ids.
    pub fn attributes(&self) -> Option<&Attributes> {
        self.parts.attributes.as_ref()
    }

    /// The same model with columns about its nodes to keep.
    ///
    /// # Errors
    /// Columns about other nodes.
    pub fn with_attributes(mut self, attributes: Option<Attributes>) -> Result<Fitted> {
        self.parts.attributes = attributes.filter(|it| !it.columns().is_empty());
        Fitted::new(self.parts)
    }

    /// Whether nodes have names beside their ids.
    pub fn has_names(&self) -> bool {
        self.attributes().is_some_and(Attributes::has_names)
    }

    /// What the node of a row is called, where it has a name beside its id.
    pub fn title(&self, row: usize) -> Option<&str> {
        self.attributes()?.name(row % self.node_ids().len())
    }

    /// How the fit went.
    pub fn report(&self) -> &FitReport {
        &self.parts.report
    }
}

/// The ids of the nodes as users count them.
fn each_once(ids: &Ids) -> &Ids {
    match ids.sides() {
        Some(sides) if sides.same => &sides.source,
        _ => ids,
    }
}
