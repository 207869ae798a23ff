//! A robust model's links after some changes: new ones are judged with all others by the
//! same judge, and embeddings are smoothed anew.

use std::collections::BTreeMap;

use super::smooth::BY_FEATURES;
use super::unseen::{Judged, believed_links, embed_new};
use super::weight;
use crate::data::features::{Features, Matrix};
use crate::data::graph::{Adjacency, Graph, Link};
use crate::error::Result;
use crate::explained::averages;
use crate::model::{Averaged, Believed, End, Fitted, NewLink};

/// Features of nodes of a view, new ones and known ones.
#[derive(Debug, Clone)]
pub(crate) struct NewVectors {
    /// The place of the view.
    pub view: usize,
    /// The row of each node; those from the number of the model's nodes on are new.
    pub rows: Vec<u32>,
    /// The features.
    pub features: Features,
}

/// Nodes and links after some changes; known nodes have the rows that they had.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'s> {
    pub links: &'s Graph,
    pub node_views: &'s [u32],
    /// The encoder's embeddings.
    pub embeddings: &'s [f32],
    pub vectors: &'s [NewVectors],
}

/// The judgment after some changes.
#[derive(Debug)]
pub(crate) struct Rejudged {
    pub believed: Believed,
    pub averaged: Option<Averaged>,
    /// The sum of the beliefs in new links.
    pub new_beliefs: f64,
}

/// Judges the links that a robust model does not know, with all others, and smooths over
/// all; none for other models. Links that the model knows keep their belief.
pub(crate) fn rejudge(model: &Fitted, seen: &Seen<'_>) -> Result<Option<Rejudged>> {
    let Some(believed) = model.believed() else {
        return Ok(None);
    };
    let vectors = vectors(model, believed, seen)?;
    let judged = Judged {
        model,
        node_views: seen.node_views,
        vectors: vectors.clone(),
        links: seen.links.links().collect(),
    };
    let mut judgment = judged.judge(believed)?;
    let beliefs = believed.beliefs();
    let mut new_beliefs = 0.0;
    for link in &mut judgment.links {
        let known = model.links().place(link.src, link.dst);
        let known = known.filter(|&place| model.links().weights()[place] == link.weight);
        match known {
            Some(place) => {
                link.belief = beliefs[place];
                link.suspect = !believed.abstained && link.belief < 0.5;
            }
            None => new_beliefs += link.belief,
        }
    }
    let beliefs: Vec<f64> = judgment.links.iter().map(|link| link.belief).collect();
    let averaged = match model.averaged() {
        Some(averaged) => Some(average(model, believed, averaged, seen, &beliefs)?),
        None => None,
    };
    Ok(Some(Rejudged {
        believed: Believed {
            numbers: judgment.columns(),
            abstained: judgment.facts.abstained,
            facts: Some(judgment.facts),
            vectors,
            ..believed.clone()
        },
        averaged,
        new_beliefs,
    }))
}

/// The features of a view's nodes, with new and changed ones.
fn extended(model: &Fitted, view: usize, own: &Matrix, seen: &Seen<'_>) -> Result<Matrix> {
    let known = model.n_nodes();
    let of_view = |row: &usize| seen.node_views[*row] as usize == view;
    let members: Vec<usize> = (0..seen.node_views.len()).filter(of_view).collect();
    let mut all = own.clone();
    // Where the vectors of each member stand among those that are stacked.
    let n_known = members.partition_point(|&row| row < known);
    let mut place: Vec<u32> = (0..n_known as u32).collect();
    place.resize(members.len(), 0);
    for new in seen.vectors.iter().filter(|new| new.view == view) {
        for (at, &row) in new.rows.iter().enumerate() {
            if let Ok(member) = members.binary_search(&(row as usize)) {
                place[member] = (all.n_rows() + at) as u32;
            }
        }
        all = all.stacked(new.features.matrix())?;
    }
    Ok(all.select(&place))
}

fn vectors(model: &Fitted, believed: &Believed, seen: &Seen<'_>) -> Result<Vec<Option<Matrix>>> {
    let views = believed.vectors.iter().enumerate();
    let of_view = |(view, own): (usize, &Option<Matrix>)| {
        let own = own.as_ref();
        own.map(|own| extended(model, view, own, seen)).transpose()
    };
    views.map(of_view).collect()
}

/// Known nodes move as far as their means over believed links do; the part that features
/// predict stays. New ones are embedded as unseen nodes are.
fn average(
    model: &Fitted,
    believed: &Believed,
    before: &Averaged,
    seen: &Seen<'_>,
    beliefs: &[f64],
) -> Result<Averaged> {
    let (known, dim, rounds) = (model.n_nodes(), model.dim(), believed.rounds);
    let last = |mut levels: Vec<Vec<f32>>| levels.pop().unwrap_or_default();
    let old = last(averages(
        &believed_links(model, believed),
        model.embeddings(),
        dim,
        rounds,
    ));
    let counted: Vec<Link> = (seen.links.links().zip(beliefs))
        .map(|(link, &belief)| Link {
            weight: weight(belief),
            ..link
        })
        .filter(|link| link.weight > 0.0)
        .collect();
    let links = Adjacency::new(seen.node_views.len(), counted.iter().copied());
    let new = last(averages(&links, seen.embeddings, dim, rounds));
    let mut embeddings = before.embeddings.clone();
    for (place, y) in embeddings.iter_mut().enumerate() {
        *y += (1.0 - BY_FEATURES) * (new[place] - old[place]);
    }
    embeddings.resize(seen.embeddings.len(), 0.0);
    for vectors in seen.vectors {
        let is_new = |&(_, &row): &(usize, &u32)| row as usize >= known;
        let fresh: Vec<(usize, &u32)> = vectors.rows.iter().enumerate().filter(is_new).collect();
        let places: Vec<u32> = fresh.iter().map(|&(place, _)| place as u32).collect();
        let features = Features::new(vectors.features.matrix().select(&places));
        let mut own: Vec<NewLink> = Vec::new();
        let ranked: BTreeMap<u32, u32> = (fresh.iter().zip(0..))
            .map(|(&(_, &row), at)| (row, at))
            .collect();
        let at = |row: u32| ranked.get(&row).copied();
        for link in seen.links.links().filter(|link| link.dst as usize >= known) {
            let end = match (link.src as usize) < known {
                true => Some(End::Known(link.src)),
                false => at(link.src).map(End::New),
            };
            if let (Some(row), Some(end)) = (at(link.dst), end) {
                let weight = link.weight;
                own.push(NewLink { row, end, weight });
            }
        }
        let found = embed_new(model, vectors.view, &features, Some(&own))?.embeddings;
        for (&(_, &row), y) in fresh.iter().zip(found.chunks_exact(dim)) {
            embeddings[row as usize * dim..][..dim].copy_from_slice(y);
        }
    }
    Ok(Averaged {
        embeddings,
        maps: before.maps.clone(),
    })
}
