//! A model brought up to date: new nodes, new links, links withdrawn.
//!
//! Encoders stay as they are: new nodes are embedded from their data vectors, and no
//! other node moves. Free vectors (tables) of new nodes and of the ends of changed
//! links are fitted against all others, which stay where they are (`local.rs`). A robust
//! model judges new links by data vectors and averages anew. So an update costs what
//! changed; what it cannot learn is counted, until a full fit is due.
//!
//! ```
//! use linkproof::{Dataset, Graph, Params, Runtime};
//! use linkproof::update::{Changes, update};
//!
//! let links = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0), (3, 5, 1.0)];
//! let data = Dataset::from_links(Graph::from_rows(6, &links)?)?;
//! let params = Params { dim: 2, ridge: Some(0.1), ..Default::default() }.check()?;
//! let model = linkproof::fit(&params, &data)?;
//! // A seventh node that is linked to the first three.
//! let new = Graph::from_rows(7, &[(6, 0, 1.0), (6, 1, 1.0), (6, 2, 1.0)])?;
//! let changes = Changes { links: Some(&new), ..Default::default() };
//! let updated = update(&model, &changes, Runtime::default())?;
//! assert_eq!(updated.model.n_nodes(), 7);
//! assert_eq!(updated.model.row(4), model.row(4));
//! assert!(updated.model.mu(6, 0) > updated.model.mu(6, 4));
//! # Ok::<(), linkproof::Error>(())
//! ```

mod joined;
mod local;

use std::time::Instant;

use serde::Serialize;

use crate::data::features::{Features, Values};
use crate::data::graph::Graph;
use crate::engine::encoder::{Network, NetworkSpec};
use crate::engine::runtime::Runtime;
use crate::error::{Error, Result};
use crate::model::{Fitted, FittedView, ModelParts, Updates};
use crate::robust::rejudge;
use joined::Joined;

/// A full fit is due where more than this share of the nodes or links is newer than
/// the last one.
pub const LARGEST_SHARE: f64 = 0.1;

/// What is other than when a model was fitted ([example](self)).
#[derive(Debug, Clone, Default)]
pub struct Changes<'c> {
    /// Links that are new, and known ones whose weight is another now.
    pub links: Option<&'c Graph>,
    /// Known links that are no more; their weights do not matter.
    pub withdrawn: Option<&'c Graph>,
    /// For each view, by its place, data vectors of new nodes, and of known ones where
    /// these are others now. Data vectors without ids, in number as the model's nodes
    /// or fewer, are of new nodes; more are of all nodes.
    pub vectors: Vec<(usize, Features)>,
}

/// What an update did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpdateReport {
    /// Nodes that are new.
    pub new_nodes: usize,
    /// Links that are new.
    pub new_links: usize,
    /// Links whose weight is another now.
    pub changed_links: usize,
    /// Links that are no more.
    pub withdrawn_links: usize,
    /// New links that are believed, where the model is a robust one: the sum of the
    /// chances that they are sound.
    pub believed_links: Option<f64>,
    /// Known nodes whose recommended embeddings moved, and how far on average: the
    /// length of the move against that of the embedding.
    pub moved_nodes: usize,
    /// How far these moved on average.
    pub moved: f64,
    /// Known nodes of which no link and no data vector changed.
    pub untouched_nodes: usize,
    /// How far these moved on average: those that stayed count as 0.
    pub untouched_moved: f64,
    /// How far the one of them that moved most did.
    pub untouched_most: f64,
    /// The steps of the fit to what changed.
    pub steps: usize,
    /// Why a full fit is due, if it is.
    pub full_fit_due: Option<Due>,
    /// Seconds of all of it.
    pub seconds: f64,
}

/// How much has changed since the last full fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Due {
    /// Whether nodes are new; else links have changed.
    pub of_nodes: bool,
    /// The share of the nodes, or links, that did.
    pub share: f64,
    /// The largest share that needs no full fit.
    pub most: f64,
}

/// A model brought up to date ([example](self)).
#[derive(Debug, Clone)]
pub struct Updated {
    /// The model. Known nodes keep their rows, new ones follow.
    pub model: Fitted,
    /// What was done.
    pub report: UpdateReport,
}

/// Brings a model up to date ([example](self)).
///
/// # Errors
/// Changes that do not fit the model, each named: a new node without data vectors
/// where the model reads them, a withdrawn link that the model does not know, views
/// that took no part together, a negative weight where the fit had none. Models whose
/// data vectors or links were averaged over walks before the fit, and models of links
/// with directions or between two kinds of nodes, need a full fit.
pub fn update(model: &Fitted, changes: &Changes<'_>, runtime: Runtime<'_>) -> Result<Updated> {
    let clock = Instant::now();
    refuse_what_needs_a_fit(model)?;
    let joined = Joined::new(model, changes)?;
    let mut embeddings = model.embeddings().to_vec();
    embeddings.resize(joined.ids.len() * model.dim(), 0.0);
    let dim = model.dim();
    let mut offsets = model.offsets().map(<[f32]>::to_vec);
    if let Some(offsets) = &mut offsets {
        offsets.resize(joined.ids.len(), 0.0);
    }
    for new in &joined.vectors {
        let encoded = model.encode_view(new.view, &new.features, None)?;
        for (at, &row) in new.rows.iter().enumerate() {
            let point = encoded.point(at);
            embeddings[row as usize * dim..][..dim].copy_from_slice(point.y);
            // Of a known node's offset, what its links told stays.
            if let Some(offsets) = offsets.as_mut().filter(|_| row as usize >= model.n_nodes()) {
                offsets[row as usize] = point.offset;
            }
        }
    }
    let steps = local::fit_tables(model, &joined, &mut embeddings, runtime)?;
    let judged = rejudge(model, &joined.seen(&embeddings))?;
    let (believed, averaged, believed_links) = match judged {
        Some(judged) => (
            Some(judged.believed),
            judged.averaged,
            Some(judged.new_beliefs),
        ),
        None => (None, None, None),
    };
    let parts = model.parts();
    let mut report = parts.report.clone();
    let updates = joined.counted(report.updates);
    report.updates = Some(updates);
    report.counts.nodes = joined.ids.len();
    report.counts.training_links = joined.links.n_links();
    report.counts.read = joined.links.counts();
    let views = model.views().iter().enumerate();
    let classes = parts.classes.clone().map(|mut classes| {
        classes.codes.resize(joined.ids.len(), None);
        classes
    });
    let attributes = parts.attributes.as_ref();
    let attributes = attributes.map(|known| known.grown(joined.ids.len()));
    let new = Fitted::new(ModelParts {
        views: views
            .map(|(place, view)| joined.view(place, view, &embeddings, dim))
            .collect(),
        ids: joined.ids.clone(),
        node_views: joined.node_views.clone(),
        links: joined.links.clone(),
        embeddings,
        offsets,
        averaged,
        believed,
        classes,
        attributes,
        report,
        replicates: None,
        ..parts.clone()
    })?;
    let moves = moves(model, &new);
    let moved: Vec<f64> = moves.iter().copied().filter(|&far| far > 0.0).collect();
    let untouched: Vec<f64> = joined.untouched(&moves).collect();
    Ok(Updated {
        report: UpdateReport {
            new_nodes: joined.new_nodes,
            new_links: joined.new_links,
            changed_links: joined.changed_links,
            withdrawn_links: joined.withdrawn_links,
            believed_links,
            moved_nodes: moved.len(),
            moved: mean(&moved),
            untouched_nodes: untouched.len(),
            untouched_moved: mean(&untouched),
            untouched_most: untouched.iter().copied().fold(0.0, f64::max),
            steps,
            full_fit_due: due(&updates, &new),
            seconds: clock.elapsed().as_secs_f64(),
        },
        model: new,
    })
}

fn refuse_what_needs_a_fit(model: &Fitted) -> Result<()> {
    let params = model.params();
    let has_table = model.views().iter().any(|view| view.network.is_table());
    let found = match () {
        _ if model.is_directed() => "links that have a direction",
        _ if model.ids().sides().is_some() => "links between nodes of two kinds",
        _ if has_table && (params.offsets || model.negative() > 0) => {
            "vectors of nodes with offsets, or a signed similarity"
        }
        _ if params.propagate > 0 => "data vectors that were averaged over links",
        _ if params.walks > 0 && has_table => "vectors of nodes that were fitted to walks",
        _ if model.believed().is_some() && has_table => {
            "vectors of nodes that were fitted to believed links"
        }
        _ => return Ok(()),
    };
    let error = Error::data("model", found, "a model that can be updated");
    Err(error.or("fit again, to all links"))
}

/// How far each known node moved, against the length of its embedding.
fn moves(before: &Fitted, after: &Fitted) -> Vec<f64> {
    let dim = before.dim();
    let rows = before.recommended().chunks_exact(dim);
    let moved = |(old, new): (&[f32], &[f32])| {
        let squares = |of: &dyn Fn(usize) -> f64| (0..dim).map(|k| of(k).powi(2)).sum::<f64>();
        let apart = squares(&|k| f64::from(new[k]) - f64::from(old[k]));
        let length = squares(&|k| f64::from(old[k])).max(f64::MIN_POSITIVE);
        (apart / length).sqrt()
    };
    rows.zip(after.recommended().chunks_exact(dim))
        .map(moved)
        .collect()
}

fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len().max(1) as f64
}

/// Why a full fit is due.
fn due(updates: &Updates, model: &Fitted) -> Option<Due> {
    let nodes = updates.new_nodes as f64 / model.n_nodes().max(1) as f64;
    let changed = updates.new_links + updates.changed_links + updates.withdrawn_links;
    let links = changed as f64 / model.links().n_links().max(1) as f64;
    let due = Due {
        of_nodes: nodes > links,
        share: nodes.max(links),
        most: LARGEST_SHARE,
    };
    (due.share > due.most).then_some(due)
}

impl Joined {
    /// A view's encoder with the vectors of new nodes, where it is a table.
    fn view(&self, place: usize, view: &FittedView, y: &[f32], dim: usize) -> FittedView {
        if !view.network.is_table() {
            return view.clone();
        }
        let rows = self.node_views.iter().enumerate();
        let rows = rows.filter(|(_, of)| **of as usize == place);
        let table: Vec<f32> = rows
            .flat_map(|(row, _)| y[row * dim..][..dim].iter().copied())
            .collect();
        let spec = NetworkSpec {
            inputs: table.len() / dim,
            ..view.network.spec().clone()
        };
        FittedView {
            network: Network::new(spec),
            weights: match &view.weights {
                Values::F32(_) => table.into(),
                Values::F64(_) => {
                    let wide: Vec<f64> = table.iter().map(|&y| f64::from(y)).collect();
                    wide.into()
                }
            },
            ..view.clone()
        }
    }
}

#[cfg(test)]
mod tests;
