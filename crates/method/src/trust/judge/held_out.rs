//! How well embeddings alone tell held-out links from decoys.
//!
//! The judge reads more than embeddings: data vectors and common neighbours, which
//! are the same for every fit and hide what fits differ in. To compare fits, a link
//! is ranked by the cosine of its ends' embeddings among the decoys of its fold and
//! stratum.

use rayon::prelude::*;

use super::evidence::cosine;
use super::pairs::{Bench, Pair};
use super::ranks::{borders, share_above};
use crate::data::dataset::Dataset;
use crate::engine::pairs::mirrored;
use crate::error::{Error, Result};
use crate::model::folds::Folds;
use crate::params::{CheckedParams, Params};
use linkproof_numeric::math;

/// Smaller differences between the mean ranks of two fits do not matter.
pub const SAME_RANKS: f64 = 0.005;

/// How much smaller the second ranks of the same links are, on average, and the
/// standard error of that.
pub fn gain(before: &[f64], after: &[f64]) -> (f64, f64) {
    let gains = || {
        before
            .iter()
            .zip(after)
            .map(|(before, after)| before - after)
    };
    let m = before.len().min(after.len()).max(1) as f64;
    let mean = gains().sum::<f64>() / m;
    let squares: f64 = gains().map(|gain| (gain - mean).powi(2)).sum();
    (mean, squares.sqrt() / m)
}

/// The links and decoys of each fold.
#[derive(Debug, Clone)]
pub struct HeldOut {
    folds: Vec<Fold>,
    n_strata: usize,
}

/// The pairs that one fold holds out.
#[derive(Debug, Clone, Default)]
struct Fold {
    links: Vec<Seat>,
    decoys: Vec<Seat>,
}

/// A pair and its stratum, counted over all pairs of views.
#[derive(Debug, Clone, Copy)]
struct Seat {
    pair: Pair,
    stratum: usize,
}

impl HeldOut {
    /// Shares the links of `data` that take part out to folds, of pairs or of nodes,
    /// and draws decoys.
    pub fn new(data: &Dataset, folds: Folds, params: &CheckedParams) -> Result<HeldOut> {
        let mut bench = Bench::pairs(data, folds, params)?;
        let names: Vec<&str> = data.views().iter().map(|view| view.name.as_str()).collect();
        if let Some(named) = params.view_pairs_among(&names)? {
            let takes_part = |pair: &Pair| {
                let (d, e) = bench.groups[pair.group as usize].views;
                named.contains(&(d, e)) || named.contains(&(e, d))
            };
            bench.decoys.retain(takes_part);
            bench.links.retain(takes_part);
        }
        if bench.decoys.is_empty() {
            let accepted = "a score (probability:0.5) where all pairs have a link";
            return Err(Error::argument("criterion", accepted, "rank"));
        }
        let mut degrees = vec![0.0; data.n_nodes()];
        for link in &bench.links {
            degrees[link.src as usize] += 1.0;
            degrees[link.dst as usize] += 1.0;
        }
        // Without the pair itself, and one more, so that none is zero.
        let log_degrees = |pair: &Pair, own: f64| {
            let degree = |row: u32| degrees[row as usize] - own + 1.0;
            math::ln(degree(pair.src) * degree(pair.dst))
        };
        let borders: Vec<Vec<f64>> = (0..bench.groups.len() as u32)
            .map(|group| {
                let links = bench.links.iter().filter(|link| link.group == group);
                borders(links.map(|link| log_degrees(link, 1.0)).collect())
            })
            .collect();
        let mut first = vec![0];
        first.extend(borders.iter().scan(0, |sum, borders| {
            *sum += borders.len() + 1;
            Some(*sum)
        }));
        let seat = |pair: &Pair, own: f64| {
            let group = pair.group as usize;
            let degrees = log_degrees(pair, own);
            let place = borders[group].partition_point(|&border| border <= degrees);
            Seat {
                pair: *pair,
                stratum: first[group] + place,
            }
        };
        let mut found = vec![Fold::default(); folds.number()];
        for link in &bench.links {
            found[link.fold as usize].links.push(seat(link, 1.0));
        }
        for decoy in &bench.decoys {
            found[decoy.fold as usize].decoys.push(seat(decoy, 0.0));
        }
        Ok(HeldOut {
            folds: found,
            n_strata: first[borders.len()],
        })
    }

    /// The ends of the links of a fold, in their order.
    pub fn ends(&self, fold: usize) -> impl Iterator<Item = [u32; 2]> {
        let links = self.folds[fold].links.iter();
        links.map(|seat| [seat.pair.src, seat.pair.dst])
    }

    /// For each link of a fold the share of the decoys of its stratum that are
    /// closer, by the embeddings of a fit that did not see the fold.
    pub fn ranks(&self, fold: usize, y: &[f32], params: &Params) -> Vec<f64> {
        let Fold { links, decoys } = &self.folds[fold];
        let dim = params.dim;
        let mirror = mirrored(y, dim, params.negative());
        let see = |seat: &Seat| {
            let [src, dst] = [seat.pair.src, seat.pair.dst].map(|row| row as usize * dim);
            cosine(&y[src..][..dim], &mirror[dst..][..dim])
        };
        let seen: Vec<f64> = decoys.par_iter().map(see).collect();
        let mut strata = vec![Vec::new(); self.n_strata];
        for (decoy, cosine) in decoys.iter().zip(seen) {
            strata[decoy.stratum].push(cosine);
        }
        let sort = |list: &mut Vec<f64>| list.sort_by(f64::total_cmp);
        strata.par_iter_mut().for_each(sort);
        let rank = |link: &Seat| share_above(&strata[link.stratum], see(link));
        links.par_iter().map(rank).collect()
    }
}
