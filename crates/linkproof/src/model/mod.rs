//! `fit()` and what comes out of it: embeddings, a map for unseen nodes, and
//! expected weights for pairs.

mod apply;
mod averaged;
mod files;
mod fit;
mod load;
mod save;

pub use apply::Neighbor;
pub use averaged::Averaged;
pub use files::{LINKS, VERSION};
pub use fit::{
    check_weights, fit, fit_from, fit_observed, fit_seeing, fit_without, held_out_pairs,
};

use serde::{Deserialize, Serialize};

use crate::encoder::{Network, Statistics};
use crate::features::{Matrix, Values};
use crate::graph::{Graph, LinkCounts};
use crate::ids::Ids;
use crate::pairs::ViewMatrix;
use crate::params::{Note, Params};
use crate::solve::{Record, StopReason};

/// A view's encoder with its weights.
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
}

/// How a fit went.
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
    /// The factor that `score` multiplies `mu` with: 1 unless `lambda` was set.
    pub k: f64,
    /// The solver, optimizer, steps, learning rate and so on that were chosen.
    pub plan: serde_json::Value,
    /// What a user should know, such as settings without effect.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// The history.
    pub history: Vec<Record>,
    /// Seconds of the whole fit.
    pub seconds: f64,
}

/// The size of the data.
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

/// A fitted model.
#[derive(Debug, Clone)]
pub struct Fitted {
    pub(crate) params: Params,
    pub(crate) views: Vec<FittedView>,
    pub(crate) view_pairs: Vec<(usize, usize)>,
    pub(crate) gamma: ViewMatrix,
    pub(crate) ids: Ids,
    /// The view of each node, in the user's row order.
    pub(crate) node_views: Vec<u32>,
    pub(crate) embeddings: Vec<f32>,
    /// Averages of the embeddings, where these are recommended.
    pub(crate) averaged: Option<Averaged>,
    pub(crate) neighborhood: Option<Neighborhood>,
    pub(crate) report: FitReport,
}

impl Fitted {
    /// The parameters of the fit, as given.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The views' encoders.
    pub fn views(&self) -> &[FittedView] {
        &self.views
    }

    /// The pairs of views that took part.
    pub fn view_pairs(&self) -> &[(usize, usize)] {
        &self.view_pairs
    }

    /// `gamma` for each pair of views.
    pub fn gamma(&self) -> &ViewMatrix {
        &self.gamma
    }

    /// The node ids, in row order.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The view of each node, as a place in [`Fitted::views`].
    pub fn node_views(&self) -> &[u32] {
        &self.node_views
    }

    /// The embeddings that expected weights are made of, row after row.
    pub fn embeddings(&self) -> &[f32] {
        &self.embeddings
    }

    /// The dimension of the embeddings.
    pub fn dim(&self) -> usize {
        self.params.dim
    }

    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.ids.len()
    }

    /// How the fit went.
    pub fn report(&self) -> &FitReport {
        &self.report
    }
}

#[cfg(test)]
mod tests;
