//! A robust model's links after some changes: new ones are judged with all others by the
//! same judge, and embeddings are smoothed anew.

use super::smooth::BY_FEATURES;
use super::unseen::{believed_links, counted, extended, judge_all, settle};
use crate::data::features::Features;
use crate::data::graph::{Adjacency, Graph, LinkRules};
use crate::data::ids::Ids;
use crate::error::Result;
use crate::explained::averages;
use crate::judge::Judgment;
use crate::model::{Averaged, Believed, Fitted};

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
    let vectors = extended(model, believed, seen.node_views, seen.vectors)?;
    let rows = Ids::Rows(seen.node_views.len());
    let links = Graph::new(rows, seen.links.links().collect(), LinkRules::default())?;
    let mut judgment = judge_all(model, believed, seen.node_views, vectors.clone(), links)?;
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
    let averaged = match model.averaged() {
        Some(averaged) => Some(average(model, believed, averaged, seen, &judgment)?),
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

/// Known nodes move as far as their means over believed links do; the part that features
/// predict stays. New ones are embedded as unseen nodes are.
fn average(
    model: &Fitted,
    believed: &Believed,
    before: &Averaged,
    seen: &Seen<'_>,
    judgment: &Judgment,
) -> Result<Averaged> {
    let (known, dim, rounds) = (model.n_nodes(), model.dim(), believed.rounds);
    let smoothed = |links: &Adjacency, y: &[f32]| {
        let levels = averages(links, y, dim, rounds);
        levels.into_iter().next_back().unwrap_or_default()
    };
    let old = smoothed(&believed_links(model, believed), model.embeddings());
    let judged = judgment.links.iter().map(|it| (it.link(), it.belief));
    let links = counted(seen.node_views.len(), judged);
    let new = smoothed(&links, seen.embeddings);
    let mut embeddings = before.embeddings.clone();
    for (place, y) in embeddings.iter_mut().enumerate() {
        *y += (1.0 - BY_FEATURES) * (new[place] - old[place]);
    }
    embeddings.resize(seen.embeddings.len(), 0.0);
    for vectors in seen.vectors {
        let alone = model.embed_recommended(vectors.view, &vectors.features)?;
        for (&row, alone) in vectors.rows.iter().zip(alone.chunks_exact(dim)) {
            let row = row as usize;
            if row >= known {
                let own = &mut embeddings[row * dim..][..dim];
                own.copy_from_slice(alone);
                settle(own, &new[row * dim..][..dim], &links, row);
            }
        }
    }
    Ok(Averaged {
        embeddings,
        maps: before.maps.clone(),
    })
}
