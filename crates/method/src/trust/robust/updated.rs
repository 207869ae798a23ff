//! A robust model's links after some changes: new ones are judged as those of unseen
//! nodes are, by embeddings and data vectors, and embeddings are averaged anew.

use std::collections::BTreeMap;

use super::audited::{numbers, remembered};
use super::believed::weight;
use super::blend::BY_VECTORS;
use super::unseen::{NewBelief, NewJudge, embed_new, trusted};
use crate::data::features::{Features, Matrix};
use crate::data::graph::{Adjacency, Graph, Link};
use crate::error::Result;
use crate::model::{Averaged, Believed, End, Fitted, NewLink};
use crate::trust::judge::average::averages;
use crate::trust::judge::belief::discovery_rates;
use crate::trust::judge::evidence::Kind;
use crate::trust::judge::{JudgedLink, PRIOR};

/// Data vectors of nodes of a view, new ones and known ones.
#[derive(Debug, Clone)]
pub(crate) struct NewVectors {
    /// The place of the view.
    pub view: usize,
    /// The row of each node; those from the number of the model's nodes on are new.
    pub rows: Vec<u32>,
    /// The data vectors.
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

/// What is believed after some changes.
#[derive(Debug)]
pub(crate) struct Rejudged {
    pub believed: Believed,
    pub averaged: Option<Averaged>,
    /// The sum of the beliefs in new links.
    pub new_beliefs: f64,
}

/// Judges the links that a robust model does not know, and averages over all; none
/// for other models.
pub(crate) fn rejudge(model: &Fitted, seen: &Seen<'_>) -> Result<Option<Rejudged>> {
    let (Some(believed), Some(before)) = (model.believed(), remembered(model)) else {
        return Ok(None);
    };
    let is_known = |link: &Link| model.links().weight(link.src, link.dst) == Some(link.weight);
    let fresh: Vec<Link> = seen.links.links().filter(|link| !is_known(link)).collect();
    let judged = judge(model, believed, seen, &fresh)?;
    let new_beliefs = judged.iter().map(|it| it.belief).sum();
    let mut fresh = fresh.iter().zip(judged);
    let mut known = before.into_iter();
    let mut links: Vec<JudgedLink> = Vec::with_capacity(seen.links.n_links());
    for link in seen.links.links() {
        // Both lists are in the order of the links.
        let of_link = |it: &JudgedLink| (it.src, it.dst) == (link.src, link.dst);
        let found = match is_known(&link) {
            true => known.find(of_link),
            false => fresh.next().map(|(link, it)| judged_link(link, &it)),
        };
        links.extend(found);
    }
    let beliefs: Vec<f64> = links.iter().map(|link| link.belief).collect();
    for (link, rate) in links.iter_mut().zip(discovery_rates(&beliefs)) {
        link.false_discovery_rate = rate;
    }
    let averaged = match model.averaged() {
        Some(averaged) => Some(average(model, believed, averaged, seen, &beliefs)?),
        None => None,
    };
    Ok(Some(Rejudged {
        believed: Believed {
            numbers: numbers(&links),
            vectors: vectors(model, believed, seen)?,
            ..believed.clone()
        },
        averaged,
        new_beliefs,
    }))
}

/// Kinds of evidence that were not asked say nothing.
fn judged_link(link: &Link, found: &NewBelief) -> JudgedLink {
    JudgedLink {
        src: link.src,
        dst: link.dst,
        weight: link.weight,
        belief: found.belief,
        false_discovery_rate: 1.0,
        rank: found.rank,
        rank_by_vectors: found.rank,
        by_kind: Kind::ALL.map(|kind| match kind {
            Kind::Embeddings => found.ranks[0],
            Kind::DataVectors => found.ranks[1],
            _ => 0.5,
        }),
        weight_odds: found.weight_odds,
    }
}

/// How far links are believed that the model does not know.
fn judge(
    model: &Fitted,
    believed: &Believed,
    seen: &Seen<'_>,
    fresh: &[Link],
) -> Result<Vec<NewBelief>> {
    let nothing_known = NewBelief {
        belief: PRIOR,
        rank: 0.5,
        ranks: [0.5; 2],
        weight_odds: 1.0,
    };
    let mut found = vec![nothing_known; fresh.len()];
    if believed.abstained {
        return Ok(found);
    }
    let (known, dim) = (model.n_nodes() as u32, model.dim());
    // The judge looks at links from one of their ends: the new one, where there is one.
    let of_end = |link: &Link| match link.dst >= known {
        true => (link.dst, link.src),
        false => (link.src, link.dst),
    };
    for view in 0..model.views().len() {
        let Some(own) = believed.vectors.get(view).and_then(Option::as_ref) else {
            continue;
        };
        let of_view = |link: &&(usize, &Link)| {
            let (from, _) = of_end(link.1);
            seen.node_views[from as usize] as usize == view
        };
        let all: Vec<(usize, &Link)> = fresh.iter().enumerate().collect();
        let links: Vec<&(usize, &Link)> = all.iter().filter(of_view).collect();
        let mut rows: Vec<u32> = links.iter().map(|(_, link)| of_end(link).0).collect();
        rows.sort_unstable();
        rows.dedup();
        if rows.is_empty() {
            continue;
        }
        let matrix = rows_of(model, view, own, seen, &rows)?;
        let encoded: Vec<f32> = rows
            .iter()
            .flat_map(|&row| &seen.embeddings[row as usize * dim..][..dim])
            .copied()
            .collect();
        let judge = NewJudge::new(model, believed, view, &Features::new(matrix), &encoded)?;
        let place = |row: u32| rows.binary_search(&row).ok().map(|place| place as u32);
        for (at, link) in links {
            let (from, to) = of_end(link);
            let end = match to < known {
                true => Some(End::Known(to)),
                false => place(to).map(End::New),
            };
            if let (Some(row), Some(end)) = (place(from), end) {
                let weight = link.weight;
                let link = NewLink { row, end, weight };
                found[*at] = judge.believe(&[link]).pop().unwrap_or(nothing_known);
            }
        }
    }
    Ok(found)
}

/// The data vectors of some nodes of a view.
fn rows_of(
    model: &Fitted,
    view: usize,
    own: &Matrix,
    seen: &Seen<'_>,
    rows: &[u32],
) -> Result<Matrix> {
    let all = extended(model, view, own, seen)?;
    let of_view = |row: &usize| seen.node_views[*row] as usize == view;
    let members: Vec<usize> = (0..seen.node_views.len()).filter(of_view).collect();
    let place = |row: &u32| members.binary_search(&(*row as usize)).unwrap_or(0) as u32;
    Ok(all.select(&rows.iter().map(place).collect::<Vec<_>>()))
}

/// The data vectors of a view's nodes with those that are new, or others now.
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

/// Known nodes move as far as their averages over believed links do; what their data
/// vectors tell of these stays. New ones are embedded as unseen nodes are.
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
        &trusted(model, believed),
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
        *y += (1.0 - BY_VECTORS) * (new[place] - old[place]);
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
