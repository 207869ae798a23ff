//! New nodes and links of a robust model.
//!
//! A linear map that the model keeps predicts smoothed embeddings from features, and the
//! mean of the known nodes nearest to the prediction is taken. New links are judged with
//! those of the model by the same judge, and new nodes whose links are believed enough are
//! smoothed over them. [`embed_new`] leaves known nodes where they are, an update
//! (`updated.rs`) does not.

use super::smooth::combine;
use super::updated::NewVectors;
use super::weight;
use crate::data::dataset::{Dataset, NodeViews};
use crate::data::features::{Features, Matrix};
use crate::data::graph::{Adjacency, Graph, Link, LinkRules};
use crate::data::ids::Ids;
use crate::engine::runtime::Runtime;
use crate::error::{Error, Result};
use crate::explained::{averages, mean};
use crate::judge::{Check, JudgeSpec, Judgment, judge};
use crate::model::{Believed, End, Fitted, NewLink};

/// New nodes whose links count for less than this together are embedded from their
/// features alone.
const LEAST_BELIEF: f64 = 0.5;

/// Unseen nodes, embedded.
#[derive(Debug, Clone, PartialEq)]
pub struct Newcomers {
    /// Row after row, in the space of the recommended embeddings.
    pub embeddings: Vec<f32>,
    /// The belief in each link; none if links were not judged.
    pub beliefs: Option<Vec<f64>>,
    /// The nodes that were embedded by their links.
    pub by_links: usize,
}

/// The recommended embeddings of unseen nodes of a view, from features and, if they bring
/// some, links: a model that averages features averages new ones over their links, a
/// robust one judges links and smooths over believed ones.
///
/// # Errors
/// Features of another width, or links for a plain model, which has no use for them. (If a
/// robust fit is not smoothed, links change nothing.)
pub fn embed_new(
    model: &Fitted,
    view: usize,
    vectors: &Features,
    links: Option<&[NewLink]>,
) -> Result<Newcomers> {
    let plain = |embeddings, by_links| Newcomers {
        embeddings,
        beliefs: None,
        by_links,
    };
    let n_new = vectors.matrix().n_rows();
    let Some(links) = links else {
        return Ok(plain(model.embed_recommended(view, vectors)?, 0));
    };
    let Some(believed) = model.believed() else {
        let embeddings = model.embed_view(view, vectors, Some(links))?;
        let mut linked: Vec<u32> = links.iter().map(|link| link.row).collect();
        linked.sort_unstable();
        linked.dedup();
        return Ok(plain(embeddings, linked.len()));
    };
    model.check_links(links, n_new)?;
    let mut embeddings = model.embed_recommended(view, vectors)?;
    if model.averaged().is_none() {
        return Ok(plain(embeddings, 0));
    }
    let (known, dim) = (model.n_nodes(), model.dim());
    let fresh = NewVectors {
        view,
        rows: (known as u32..).take(n_new).collect(),
        features: vectors.clone(),
    };
    let mut node_views = model.node_views().to_vec();
    node_views.resize(known + n_new, view as u32);
    let ends = |link: &NewLink| {
        let row = known as u32 + link.row;
        let other = match link.end {
            End::Known(other) => other,
            End::New(other) => known as u32 + other,
        };
        (row.min(other), row.max(other))
    };
    let new = links.iter().map(|link| {
        let (src, dst) = ends(link);
        let weight = link.weight;
        Link { src, dst, weight }
    });
    let mut all: Vec<Link> = model.links().links().chain(new).collect();
    // A new pair may be listed from both ends.
    all.sort_by_key(|link| (link.src, link.dst));
    all.dedup_by_key(|link| (link.src, link.dst));
    let graph = Graph::new(Ids::Rows(node_views.len()), all, LinkRules::default())?;
    let matrices = extended(model, believed, &node_views, &[fresh])?;
    if matrices[view].is_none() {
        return Err(Error::data(
            "links",
            "a model that does not keep the features that links of unseen nodes are judged by",
            "a robust fit with features, or no links",
        ));
    }
    let judgment = judge_all(model, believed, &node_views, matrices, graph)?;
    let judged = &judgment.links;
    let new = judged.iter().filter(|link| link.dst as usize >= known);
    let neighbors = counted(node_views.len(), new.map(|it| (it.link(), it.belief)));
    let rounds = believed.rounds.saturating_sub(1);
    let levels = averages(
        &believed_links(model, believed),
        model.embeddings(),
        dim,
        rounds,
    );
    let mut y = [model.embeddings(), &model.embed_view(view, vectors, None)?].concat();
    for level in levels {
        y[..known * dim].copy_from_slice(&level);
        let next = (known..known + n_new).flat_map(|row| {
            let (targets, weights) = neighbors.row(row);
            let others = targets.iter().zip(weights);
            let others = others.map(|(&to, &weight)| (&y[to as usize * dim..][..dim], weight));
            let mut out = vec![0.0; dim];
            mean(&y[row * dim..][..dim], others, &mut out);
            out
        });
        let next: Vec<f32> = next.collect();
        y[known * dim..].copy_from_slice(&next);
    }
    let mut by_links = 0;
    for (row, own) in embeddings.chunks_exact_mut(dim).enumerate() {
        let row = known + row;
        by_links += usize::from(settle(own, &y[row * dim..][..dim], &neighbors, row));
    }
    let belief = |link: &NewLink| {
        let place = judged.binary_search_by_key(&ends(link), |it| (it.src, it.dst));
        place.map_or(1.0, |place| judged[place].belief)
    };
    Ok(Newcomers {
        embeddings,
        beliefs: Some(links.iter().map(belief).collect()),
        by_links,
    })
}

/// Combines what features predict of a new node with the mean over its links, if these count
/// for enough; returns whether they do.
pub(super) fn settle(own: &mut [f32], smoothed: &[f32], links: &Adjacency, row: usize) -> bool {
    let enough = links.row(row).1.iter().sum::<f64>() >= LEAST_BELIEF;
    if enough {
        let mut both = smoothed.to_vec();
        combine(&mut both, own);
        own.copy_from_slice(&both);
    }
    enough
}

/// Links with the weights of their beliefs; those that do not count are left out.
pub(super) fn counted(n: usize, links: impl Iterator<Item = (Link, f64)>) -> Adjacency {
    let links = links.map(|(link, belief)| Link {
        weight: weight(belief),
        ..link
    });
    let counted: Vec<Link> = links.filter(|link| link.weight > 0.0).collect();
    Adjacency::new(n, counted.iter().copied())
}

/// The links of the fit with the weights of their beliefs.
pub(super) fn believed_links(model: &Fitted, believed: &Believed) -> Adjacency {
    let beliefs = believed.beliefs().iter().copied();
    counted(model.n_nodes(), model.links().links().zip(beliefs))
}

/// Judges links between nodes of a model and new ones, by the user's rows, as a robust fit
/// does. Links that are verified in the model stay so.
pub(super) fn judge_all(
    model: &Fitted,
    believed: &Believed,
    node_views: &[u32],
    vectors: Vec<Option<Matrix>>,
    links: Graph,
) -> Result<Judgment> {
    let name = |view: usize| model.views()[view].name.clone();
    let nodes = NodeViews {
        ids: Ids::Rows(node_views.len()),
        views: node_views.iter().map(|&view| name(view as usize)).collect(),
        rows: None,
    };
    let features = vectors.into_iter().enumerate();
    let features = features.filter_map(|(view, matrix)| Some((name(view), Features::new(matrix?))));
    let data = Dataset::with_views(links, nodes, features.collect())?;
    let known = believed.judgment(model.links());
    let verified = known.iter().flat_map(|known| &known.links);
    let checks = verified.filter_map(|link| {
        Some(Check {
            src: link.src,
            dst: link.dst,
            real: link.verified?,
        })
    });
    let spec = JudgeSpec {
        seed: model.params().seed,
        one_to_one: known.as_ref().is_some_and(|known| known.facts.one_to_one),
        test: false,
        checks: checks.collect(),
        ..JudgeSpec::default()
    };
    let mut judgment = judge(&data, &spec, Runtime::default())?;
    judgment.sort_by_ends();
    Ok(judgment)
}

/// The features of each view's nodes that the model keeps, with new and changed ones.
pub(super) fn extended(
    model: &Fitted,
    believed: &Believed,
    node_views: &[u32],
    new: &[NewVectors],
) -> Result<Vec<Option<Matrix>>> {
    let of_view = |view: usize| -> Result<Option<Matrix>> {
        let Some(Some(own)) = believed.vectors.get(view) else {
            return Ok(None);
        };
        let is_member = |row: &usize| node_views[*row] as usize == view;
        let members: Vec<usize> = (0..node_views.len()).filter(is_member).collect();
        let mut all = own.clone();
        // Where the vectors of each member stand among those that are stacked.
        let n_known = members.partition_point(|&row| row < model.n_nodes());
        let mut place: Vec<u32> = (0..n_known as u32).collect();
        place.resize(members.len(), 0);
        for new in new.iter().filter(|new| new.view == view) {
            for (at, &row) in new.rows.iter().enumerate() {
                if let Ok(member) = members.binary_search(&(row as usize)) {
                    place[member] = (all.n_rows() + at) as u32;
                }
            }
            all = all.stacked(new.features.matrix())?;
        }
        Ok(Some(all.select(&place)))
    };
    (0..model.views().len()).map(of_view).collect()
}
