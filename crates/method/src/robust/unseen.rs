//! Unseen nodes, from features and from links.
//!
//! A linear map that the model keeps predicts smoothed embeddings from features, and the
//! mean of the known nodes nearest to the prediction is taken. Links of unseen nodes are
//! judged with those of the model by the same judge, and nodes whose links are believed
//! enough are smoothed over them.

use super::smooth::combine;
use super::weight;
use crate::data::dataset::{Dataset, NodeViews};
use crate::data::features::{Features, Matrix};
use crate::data::graph::{Adjacency, Graph, Link, LinkRules};
use crate::data::ids::Ids;
use crate::engine::runtime::Runtime;
use crate::error::{Error, Result};
use crate::explained::averages;
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
    let (links, believed) = match (links, model.believed()) {
        (None, _) => return Ok(plain(model.embed_recommended(view, vectors)?, 0)),
        (Some(links), None) => {
            let mut linked = vec![false; n_new];
            let embeddings = model.embed_view(view, vectors, Some(links))?;
            links
                .iter()
                .for_each(|link| linked[link.row as usize] = true);
            let by_links = linked.iter().filter(|linked| **linked).count();
            return Ok(plain(embeddings, by_links));
        }
        (Some(links), Some(believed)) => (links, believed),
    };
    model.check_links(links, n_new)?;
    let alone = model.embed_recommended(view, vectors)?;
    if model.averaged().is_none() {
        return Ok(plain(alone, 0));
    }
    let encoded = model.embed_view(view, vectors, None)?;
    let beliefs = beliefs_in(model, believed, (view, vectors.matrix()), links)?;
    let weights: Vec<f64> = beliefs.iter().map(|&belief| weight(belief)).collect();
    let known = believed_links(model, believed);
    let rounds = believed.rounds.saturating_sub(1);
    let levels = averages(&known, model.embeddings(), model.dim(), rounds);
    let (mut embeddings, enough) = smoothed_new(&levels, model.dim(), &encoded, (links, &weights));
    combine(&mut embeddings, &alone);
    let dim = model.dim();
    for (row, _) in enough.iter().enumerate().filter(|(_, enough)| !**enough) {
        let place = row * dim..(row + 1) * dim;
        embeddings[place.clone()].copy_from_slice(&alone[place]);
    }
    Ok(Newcomers {
        embeddings,
        beliefs: Some(beliefs),
        by_links: enough.iter().filter(|enough| **enough).count(),
    })
}

/// The links of the fit with the weights of their beliefs.
pub(super) fn believed_links(model: &Fitted, believed: &Believed) -> Adjacency {
    let links = model.links().links().zip(believed.beliefs());
    let links = links.map(|(link, &belief)| Link {
        weight: weight(belief),
        ..link
    });
    let counted: Vec<Link> = links.filter(|link| link.weight > 0.0).collect();
    Adjacency::new(model.n_nodes(), counted.iter().copied())
}

/// Nodes of a model and new ones, with links between them, by the user's rows.
pub(super) struct Judged<'a> {
    pub model: &'a Fitted,
    /// The view of each node; new nodes follow those of the model.
    pub node_views: &'a [u32],
    /// The features of each view's nodes.
    pub vectors: Vec<Option<Matrix>>,
    pub links: Vec<Link>,
}

impl Judged<'_> {
    /// Judges the links as a robust fit does. Links that are verified in the model stay so.
    pub(super) fn judge(self, believed: &Believed) -> Result<Judgment> {
        let n = self.node_views.len();
        let graph = Graph::new(Ids::Rows(n), self.links, LinkRules::default())?;
        let of_view = |place: usize| &self.model.views()[place].name;
        let data = match self.vectors.as_slice() {
            [None] | [] => Dataset::from_links(graph)?,
            [Some(matrix)] => Dataset::new(graph, Features::new(matrix.clone()))?,
            views => {
                let names = self.node_views.iter();
                let nodes = NodeViews {
                    ids: Ids::Rows(n),
                    views: names.map(|&view| of_view(view as usize).clone()).collect(),
                    rows: None,
                };
                let features = views.iter().enumerate().filter_map(|(place, matrix)| {
                    Some((of_view(place).clone(), Features::new(matrix.clone()?)))
                });
                Dataset::with_views(graph, nodes, features.collect())?
            }
        };
        let known = believed.judgment(self.model.links());
        let verified = known.iter().flat_map(|known| &known.links);
        let checks = verified.filter_map(|link| {
            Some(Check {
                src: link.src,
                dst: link.dst,
                real: link.verified?,
            })
        });
        let spec = JudgeSpec {
            seed: self.model.params().seed,
            one_to_one: known.as_ref().is_some_and(|known| known.facts.one_to_one),
            test: false,
            checks: checks.collect(),
            ..JudgeSpec::default()
        };
        let mut judgment = judge(&data, &spec, Runtime::default())?;
        judgment.sort_by_ends();
        Ok(judgment)
    }
}

/// The belief in each link of new nodes of a view.
fn beliefs_in(
    model: &Fitted,
    believed: &Believed,
    (view, new): (usize, &Matrix),
    links: &[NewLink],
) -> Result<Vec<f64>> {
    let n = model.n_nodes() as u32;
    let mut vectors = believed.vectors.clone();
    vectors.resize(model.views().len(), None);
    let Some(own) = vectors[view].take() else {
        return Err(Error::data(
            "links",
            "a model that does not keep the features that links of unseen nodes are judged by",
            "a robust fit with features, or no links",
        ));
    };
    vectors[view] = Some(own.stacked(new)?);
    let mut node_views = model.node_views().to_vec();
    node_views.resize(node_views.len() + new.n_rows(), view as u32);
    let ends = |link: &NewLink| {
        let other = match link.end {
            End::Known(row) => row,
            End::New(row) => n + row,
        };
        ((n + link.row).min(other), (n + link.row).max(other))
    };
    let fresh = links.iter().map(|link| {
        let (src, dst) = ends(link);
        Link {
            src,
            dst,
            weight: link.weight,
        }
    });
    let mut all: Vec<Link> = model.links().links().chain(fresh).collect();
    // A new pair may be listed from both ends.
    all.sort_by_key(|link| (link.src, link.dst));
    all.dedup_by_key(|link| (link.src, link.dst));
    let judged = Judged {
        model,
        node_views: &node_views,
        vectors,
        links: all,
    };
    let judgment = judged.judge(believed)?;
    let belief = |link: &NewLink| {
        let place = judgment
            .links
            .binary_search_by_key(&ends(link), |it| (it.src, it.dst));
        place.map_or(1.0, |place| judgment.links[place].belief)
    };
    Ok(links.iter().map(belief).collect())
}

/// New nodes after as many rounds as there are levels of the known ones, which stay; and
/// whether the links of each count for enough.
fn smoothed_new(
    levels: &[Vec<f32>],
    dim: usize,
    encoded: &[f32],
    (links, weights): (&[NewLink], &[f64]),
) -> (Vec<f32>, Vec<bool>) {
    let mut neighbors: Vec<Vec<(End, f64)>> = vec![Vec::new(); encoded.len() / dim];
    for (link, &weight) in links.iter().zip(weights) {
        neighbors[link.row as usize].push((link.end, weight));
        if let End::New(other) = link.end {
            neighbors[other as usize].push((End::New(link.row), weight));
        }
    }
    // Sums do not depend on the order in which links are listed.
    for neighbors in &mut neighbors {
        neighbors.sort_by_key(|(end, _)| match *end {
            End::Known(row) => (false, row),
            End::New(row) => (true, row),
        });
    }
    let mut current = encoded.to_vec();
    for level in levels {
        let mut next = vec![0.0; current.len()];
        for (row, (neighbors, out)) in neighbors.iter().zip(next.chunks_exact_mut(dim)).enumerate()
        {
            let others = neighbors.iter().map(|&(end, weight)| {
                let (of, row) = match end {
                    End::Known(row) => (level, row as usize),
                    End::New(row) => (&current, row as usize),
                };
                (&of[row * dim..][..dim], weight)
            });
            crate::explained::mean(&current[row * dim..][..dim], others, out);
        }
        current = next;
    }
    let enough = |neighbors: &Vec<(End, f64)>| {
        let total: f64 = neighbors.iter().map(|&(_, weight)| weight).sum();
        total >= LEAST_BELIEF
    };
    (current, neighbors.iter().map(enough).collect())
}
