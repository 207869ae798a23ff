//! Nodes that the fit did not see, from data vectors and from links.
//!
//! Data vectors alone tell of the averages by a linear regression
//! ([`Regression`]). Links are judged as far as data vectors allow: by the
//! cosines of embeddings and of data vectors, ranked among random nodes that the
//! new node is not linked to, and believed as far as links of the fit with such
//! ranks are.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::recipe::Robust;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::judge::average::mean;
use crate::judge::belief;
use crate::judge::evidence::cosine;
use crate::math;
use crate::params::Normalize;
use crate::smooth::{End, NewLink, Regression};
use crate::transform::normalize;

/// Random nodes that the links of a new node are compared with.
const DECOYS: usize = 100;
/// Of sound links so many are not explained by vectors alone, against decoys.
const UNEXPLAINED: f64 = 0.05;

/// New nodes by the recipe.
#[derive(Debug, Clone)]
pub struct Newcomers {
    /// From data vectors alone.
    pub alone: Vec<f32>,
    /// From data vectors and links; as `alone` where a node has no believed link
    /// or averages are not recommended.
    pub with_links: Vec<f32>,
    /// How far each link is believed.
    pub beliefs: Vec<f64>,
}

impl Robust {
    /// The embeddings of new nodes of a view. `data` is what was fitted.
    pub fn newcomers(
        &self,
        data: &Dataset,
        view: usize,
        vectors: &Features,
        links: &[NewLink],
    ) -> Result<Newcomers> {
        let model = &self.model;
        let dim = model.dim();
        if data.n_nodes() != model.n_nodes() || view >= data.views().len() {
            return Err(Error::data(
                "data",
                format!("{} nodes and view {view}", data.n_nodes()),
                format!("what was fitted, {} nodes", model.n_nodes()),
            ));
        }
        let name = data.views()[view].name.as_str();
        let encoded = model.embed_view(Some(name), vectors, None)?;
        let beliefs = self.judge_new(data, view, (vectors, &encoded), links)?;
        if !self.recommends_averages {
            return Ok(Newcomers {
                alone: encoded.clone(),
                with_links: encoded,
                beliefs,
            });
        }
        let Some(matrix) = &data.views()[view].matrix else {
            return Err(Error::data(
                "data",
                format!("view '{name}' without data vectors"),
                "a data vector for each of its nodes",
            ));
        };
        let rows = data.views()[view].rows.clone();
        let params = model.params();
        let averaged = self.levels.last().map_or(&[][..], Vec::as_slice);
        let outputs = &averaged[rows.start * dim..rows.end * dim];
        let learnt = Regression::new(matrix, outputs, dim, params.normalize, params.seed)?;
        let alone = learnt.embed(vectors.matrix())?;
        let mut with_links = self.average_new(data, &encoded, links, &beliefs);
        let mut has_links = vec![false; encoded.len() / dim];
        for (link, &belief) in links.iter().zip(&beliefs) {
            has_links[link.row as usize] |= weight(belief) > 0.0;
            if let End::New(other) = link.end {
                has_links[other as usize] |= weight(belief) > 0.0;
            }
        }
        for (row, has_links) in has_links.iter().enumerate().filter(|(_, has)| !**has) {
            debug_assert!(!has_links);
            let place = row * dim..(row + 1) * dim;
            with_links[place.clone()].copy_from_slice(&alone[place]);
        }
        Ok(Newcomers {
            alone,
            with_links,
            beliefs,
        })
    }

    /// Averages new nodes over their links; known ones stay as they were.
    fn average_new(
        &self,
        data: &Dataset,
        encoded: &[f32],
        links: &[NewLink],
        beliefs: &[f64],
    ) -> Vec<f32> {
        let dim = self.model.dim();
        let inside = inside_rows(data);
        let n_new = encoded.len() / dim;
        let mut neighbors: Vec<Vec<(End, f64)>> = vec![Vec::new(); n_new];
        for (link, &belief) in links.iter().zip(beliefs) {
            let weight = weight(belief);
            match link.end {
                End::Known(row) => {
                    let row = inside[row as usize];
                    neighbors[link.row as usize].push((End::Known(row), weight));
                }
                End::New(other) => {
                    neighbors[link.row as usize].push((End::New(other), weight));
                    neighbors[other as usize].push((End::New(link.row), weight));
                }
            }
        }
        let mut current = encoded.to_vec();
        for level in &self.levels[..self.levels.len().saturating_sub(1)] {
            let mut next = vec![0.0f32; current.len()];
            for (row, out) in next.chunks_exact_mut(dim).enumerate() {
                let others = neighbors[row].iter().map(|&(end, weight)| match end {
                    End::Known(row) => (&level[row as usize * dim..][..dim], weight),
                    End::New(row) => (&current[row as usize * dim..][..dim], weight),
                });
                mean(&current[row * dim..][..dim], others, out);
            }
            current = next;
        }
        current
    }

    /// How far links of new nodes are believed.
    fn judge_new(
        &self,
        data: &Dataset,
        view: usize,
        (vectors, encoded): (&Features, &[f32]),
        links: &[NewLink],
    ) -> Result<Vec<f64>> {
        let dim = self.model.dim();
        let n_new = encoded.len() / dim;
        let inside = inside_rows(data);
        let plain = self.levels.first().map_or(&[][..], Vec::as_slice);
        let fresh = normalize(vectors.matrix(), Normalize::L2)?;
        let own = match &data.views()[view].matrix {
            Some(matrix) => Some(normalize(matrix, Normalize::L2)?),
            None => None,
        };
        let start = data.views()[view].rows.start;
        let view_of = |row: u32| {
            let views = data.views();
            views.partition_point(|view| view.rows.end <= row as usize)
        };
        // The cosines of a new node's vectors with those of a known row.
        let see = |row: u32, other: u32| {
            let y = &encoded[row as usize * dim..][..dim];
            let z = &plain[other as usize * dim..][..dim];
            let alike = own.as_ref().filter(|_| view_of(other) == view);
            let by_vectors = alike.map_or(0.0, |own| {
                sparse_product(&fresh.row(row as usize), &own.row(other as usize - start))
            });
            [cosine(y, z), by_vectors]
        };
        let mut random = ChaCha8Rng::seed_from_u64(self.model.params().seed);
        random.set_stream(0x6e65_7773);
        let curve = self.curve();
        let mut beliefs = Vec::with_capacity(links.len());
        for link in links {
            let (row, most) = match link.end {
                End::Known(row) => (row, data.n_nodes()),
                End::New(row) => (row, n_new),
            };
            if link.row as usize >= n_new || row as usize >= most {
                return Err(Error::data(
                    "links of new nodes",
                    format!("a link from new node {} to row {row}", link.row),
                    format!("rows below {n_new} and {most}"),
                ));
            }
            let (seen, of_view) = match link.end {
                End::Known(row) => {
                    let row = inside[row as usize];
                    (see(link.row, row), view_of(row))
                }
                End::New(other) => {
                    let y = |row: u32| &encoded[row as usize * dim..][..dim];
                    let x = |row: u32| fresh.row(row as usize);
                    let by_vectors = sparse_product(&x(link.row), &x(other));
                    ([cosine(y(link.row), y(other)), by_vectors], view)
                }
            };
            let rows = data.views()[of_view].rows.clone();
            let mut above = [0.5f64; 2];
            for _ in 0..DECOYS {
                let decoy = see(link.row, random.random_range(rows.clone()) as u32);
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
            let product = ranks[0] * ranks[1];
            let rank = product * (1.0 - math::ln(product));
            let place = curve.partition_point(|&(other, _)| other < rank);
            let by_rank = curve.get(place).or(curve.last()).map_or(1.0, |&(_, b)| b);
            let base = by_rank.clamp(0.001, 0.999);
            let odds = base / (1.0 - base) * self.odds_of(link.weight);
            beliefs.push(odds / (1.0 + odds));
        }
        Ok(beliefs)
    }

    /// Beliefs in the links of the fit by their vectors alone: ranks, ascending,
    /// and beliefs.
    fn curve(&self) -> Vec<(f64, f64)> {
        let links = &self.judgement.links;
        if self.judgement.abstained {
            return links.iter().map(|link| (link.rank, link.belief)).collect();
        }
        let ranks: Vec<f64> = links.iter().map(|link| link.rank_by_vectors).collect();
        let found = belief::by_ranks(&ranks, &vec![0; ranks.len()], &[UNEXPLAINED]);
        let mut curve: Vec<(f64, f64)> = ranks.into_iter().zip(found.beliefs).collect();
        curve.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        curve
    }

    /// What a weight multiplies the odds by: as that of the link whose weight is
    /// closest.
    fn odds_of(&self, weight: f64) -> f64 {
        let apart = |a: f64| (a - weight).abs();
        let links = self.judgement.links.iter();
        let closest = links.min_by(|a, b| apart(a.weight).total_cmp(&apart(b.weight)));
        closest.map_or(1.0, |link| link.weight_odds)
    }
}

fn weight(belief: f64) -> f64 {
    (2.0 * belief - 1.0).max(0.0)
}

/// The internal row of each of the user's.
fn inside_rows(data: &Dataset) -> Vec<u32> {
    let mut inside = vec![0u32; data.n_nodes()];
    for row in 0..data.n_nodes() {
        inside[data.user_row(row)] = row as u32;
    }
    inside
}

fn sparse_product(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += a[i].1 * b[j].1;
                i += 1;
                j += 1;
            }
        }
    }
    sum
}
