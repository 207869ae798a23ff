//! Nodes that the fit did not see, from data vectors and from links.
//!
//! Data vectors alone tell of the averages by a linear map that the model keeps, and
//! a node is averaged with the known nodes nearest to that ([`super::blend`]).
//! Links are judged as far as data vectors allow: by the cosines of embeddings and
//! of data vectors, ranked among random nodes, and believed as far as links of the
//! fit with such ranks are. Whether a node is embedded by its links is decided by
//! how far these are believed together.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::believed::weight;
use super::blend::blend;
use crate::data::features::{Features, Matrix};
use crate::data::graph::{Adjacency, Link};
use crate::data::transform::normalize;
use crate::error::{Error, Result};
use crate::model::{Believed, End, Fitted, NewLink};
use crate::params::Normalize;
use crate::trust::audit::product;
use crate::trust::judge::average::averages;
use crate::trust::judge::belief;
use crate::trust::judge::evidence::cosine;
use crate::trust::smooth::{Known, average_new, without_links};
use linkproof_numeric::math;

/// Random nodes that the links of a new node are compared with.
const DECOYS: usize = 100;
/// Of sound links so many are not explained by vectors alone, against decoys.
const UNEXPLAINED: f64 = 0.05;

/// The names of what links of new nodes are judged by, among the numbers of a
/// model's links.
pub(super) const RANK_BY_VECTORS: &str = "rank_by_vectors";
pub(super) const WEIGHT_ODDS: &str = "weight_odds";

/// Unseen nodes, embedded.
#[derive(Debug, Clone, PartialEq)]
pub struct Newcomers {
    /// Row after row, in the space of the recommended embeddings.
    pub embeddings: Vec<f32>,
    /// How far each link is believed; none where links were not judged.
    pub beliefs: Option<Vec<f64>>,
    /// The nodes that were embedded by their links.
    pub by_links: usize,
}

/// The recommended embeddings of unseen nodes of a view, from data vectors and,
/// where they bring some, links. It is the one way for fits of every kind, be they
/// fresh or loaded: a model that averages data vectors averages new ones over
/// their links, a robust one judges links and averages over believed ones.
///
/// # Errors
/// Data vectors of another width, or links for a plain model, which has no use
/// for them. (Where a robust fit decided against averages, links change nothing.)
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
    let judge = NewJudge::new(model, believed, view, vectors, &encoded)?;
    let beliefs: Vec<f64> = judge.believe(links).iter().map(|it| it.belief).collect();
    let weights: Vec<f64> = beliefs.iter().map(|&belief| weight(belief)).collect();
    let trusted = trusted(model, believed);
    let rounds = believed.rounds.saturating_sub(1);
    let levels = averages(&trusted, model.embeddings(), model.dim(), rounds);
    let known = Known {
        levels: &levels,
        dim: model.dim(),
    };
    let (mut embeddings, enough) = average_new(&known, &encoded, links, &weights);
    blend(&mut embeddings, &alone);
    let n_alone = without_links(&mut embeddings, &enough, &alone);
    Ok(Newcomers {
        embeddings,
        beliefs: Some(beliefs),
        by_links: n_new - n_alone,
    })
}

/// The links of the fit, as far as they are believed.
pub(super) fn trusted(model: &Fitted, believed: &Believed) -> Adjacency {
    let links = model.links().links().zip(believed.beliefs());
    let links = links.map(|(link, &belief)| Link {
        weight: weight(belief),
        ..link
    });
    let counted: Vec<Link> = links.filter(|link| link.weight > 0.0).collect();
    Adjacency::new(model.n_nodes(), counted.iter().copied())
}

/// How far a link of a new node is believed, and why.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewBelief {
    pub belief: f64,
    /// The rank by embeddings and data vectors together, and by each.
    pub rank: f64,
    pub ranks: [f64; 2],
    pub weight_odds: f64,
}

/// What links of new nodes of a view are judged by.
pub(super) struct NewJudge<'a> {
    model: &'a Fitted,
    view: usize,
    encoded: &'a [f32],
    /// The data vectors of the new nodes, and of the view's known ones.
    fresh: Matrix,
    own: Matrix,
    /// The rows of each view's nodes, and the place of each row among them.
    members: Vec<Vec<u32>>,
    place: Vec<usize>,
    /// Beliefs in the links of the fit by their vectors alone: ranks, ascending,
    /// and beliefs.
    curve: Vec<(f64, f64)>,
    odds: &'a [f64],
}

impl<'a> NewJudge<'a> {
    pub(super) fn new(
        model: &'a Fitted,
        believed: &'a Believed,
        view: usize,
        vectors: &Features,
        encoded: &'a [f32],
    ) -> Result<NewJudge<'a>> {
        let known = believed.vectors.get(view).and_then(Option::as_ref);
        let ranks = believed.column(RANK_BY_VECTORS);
        let (Some(own), Some(ranks), Some(odds)) = (known, ranks, believed.column(WEIGHT_ODDS))
        else {
            return Err(Error::data(
                "links",
                "a model that does not keep what links of unseen nodes are judged by",
                "a robust fit with data vectors, or no links",
            ));
        };
        let found = belief::by_ranks(ranks, &vec![0; ranks.len()], &[UNEXPLAINED]);
        let mut curve: Vec<(f64, f64)> = ranks.iter().copied().zip(found.beliefs).collect();
        curve.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut members = vec![Vec::new(); model.views().len()];
        let mut place = Vec::with_capacity(model.n_nodes());
        for (row, &view) in model.node_views().iter().enumerate() {
            place.push(members[view as usize].len());
            members[view as usize].push(row as u32);
        }
        Ok(NewJudge {
            fresh: normalize(vectors.matrix().clone(), Normalize::L2)?,
            own: normalize(own.clone(), Normalize::L2)?,
            model,
            view,
            encoded,
            members,
            place,
            curve,
            odds,
        })
    }

    fn encoded(&self, row: u32) -> &[f32] {
        let dim = self.model.dim();
        &self.encoded[row as usize * dim..][..dim]
    }

    /// The cosines of a new node's vectors with those of another; data vectors of
    /// another view tell nothing.
    fn see(&self, row: u32, end: End) -> [f64; 2] {
        let fresh = |row: u32| self.fresh.row(row as usize);
        let (y, x) = match end {
            End::New(other) => (self.encoded(other), Some(fresh(other))),
            End::Known(other) => {
                let other = other as usize;
                let alike = self.model.node_views()[other] as usize == self.view;
                (
                    self.model.row(other),
                    alike.then(|| self.own.row(self.place[other])),
                )
            }
        };
        let by_vectors = x.map_or(0.0, |x| product(&fresh(row), &x));
        [cosine(self.encoded(row), y), by_vectors]
    }

    /// How far links are believed.
    pub(super) fn believe(&self, links: &[NewLink]) -> Vec<NewBelief> {
        let believe = |link: &NewLink| {
            let (of_view, end) = match link.end {
                End::Known(row) => (self.model.node_views()[row as usize] as usize, row),
                End::New(row) => (self.view, !row),
            };
            // Decoys of its own, in whatever order links are listed.
            let mut random = ChaCha8Rng::seed_from_u64(self.model.params().seed ^ 0x6e65_7773);
            random.set_stream(u64::from(link.row) << 32 | u64::from(end));
            let (seen, others) = (self.see(link.row, link.end), &self.members[of_view]);
            let mut above = [0.5f64; 2];
            for _ in 0..DECOYS {
                let decoy = others[random.random_range(0..others.len())];
                let decoy = self.see(link.row, End::Known(decoy));
                for k in 0..2 {
                    above[k] += match decoy[k].total_cmp(&seen[k]) {
                        std::cmp::Ordering::Greater => 1.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Less => 0.0,
                    };
                }
            }
            // The chance that two uniform ranks have a smaller product: the two
            // kinds agree more often than that, so it is no overstatement that
            // the worse of both counts as well.
            let ranks = above.map(|above| above / (DECOYS as f64 + 1.0));
            let both = ranks[0] * ranks[1];
            let rank = both * (1.0 - math::ln(both));
            let place = self.curve.partition_point(|&(other, _)| other < rank);
            let by_rank = self.curve.get(place).or(self.curve.last());
            let base = by_rank.map_or(1.0, |&(_, b)| b).clamp(0.001, 0.999);
            let weight_odds = self.odds_of(link.weight);
            let odds = base / (1.0 - base) * weight_odds;
            NewBelief {
                belief: odds / (1.0 + odds),
                rank,
                ranks,
                weight_odds,
            }
        };
        links.iter().map(believe).collect()
    }

    /// What a weight multiplies the odds by: as that of the link whose weight is
    /// closest.
    fn odds_of(&self, weight: f64) -> f64 {
        let apart = |other: &f64| (other - weight).abs();
        let links = self.model.links().weights().iter().zip(self.odds);
        let closest = links.min_by(|a, b| apart(a.0).total_cmp(&apart(b.0)));
        closest.map_or(1.0, |(_, &odds)| odds)
    }
}
