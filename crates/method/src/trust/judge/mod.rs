//! How far each link is to be believed, whatever the weights' law and unit.
//!
//! 1. Links are shared out to folds; a fit for each fold, to the pattern of the
//!    other links, that the fold does not stop ([`fits`]).
//! 2. Evidence of several kinds about every pair, from the fit and the links
//!    that did not see it ([`evidence`]).
//! 3. Decoys, pairs without a link, get the same ([`pairs`]).
//! 4. A logistic model tells links from decoys, each fold's by the other folds;
//!    a link's rank is the share of the decoys of its stratum, its pair of views
//!    and degrees like its own, that have more to say for them ([`ranks`]).
//! 5. The density of the ranks gives the share of false links and the belief in
//!    each; weights speak by their order alone ([`belief`]).

pub mod average;
pub mod belief;
pub mod checks;
mod cosines;
pub mod evidence;
pub mod fits;
pub mod held_out;
pub mod logistic;
pub mod pairs;
pub mod ranks;
pub mod unexplained;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::graph::Link;
use crate::engine::Forecast;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::model::folds::Folds;
use crate::params::{CheckedParams, Params};
use checks::{Check, Links, check};
use evidence::{Evidence, FoldViews, Kind, Standing, add_fits};
use fits::{LinkFit, fit_links, pattern_params};
use pairs::{Bench, Draw, Pair};
use ranks::{Known, Rank, Ranking};

/// What is believed where nothing can be told.
pub const PRIOR: f64 = 0.9;
/// Links must be told from decoys by so much more than chance, and by so many
/// standard errors.
const LEAST_AUC: f64 = 0.53;
const LEAST_ERRORS: f64 = 4.0;
/// Links that a look without fits wants, and can do in seconds.
const FEWEST_GLANCED: usize = 50;
const MOST_GLANCED: usize = 2_000_000;
const GLANCED_FOLDS: usize = 5;

/// Links and decoys of one graph, ready to be judged by any fits.
#[derive(Debug)]
pub struct Judge<'d> {
    params: Params,
    data: &'d Dataset,
    bench: Bench,
    links: Vec<Evidence>,
    decoys: Vec<Evidence>,
    implants: Vec<(Draw, Vec<Pair>, Vec<Evidence>)>,
}

/// The ranks of held-out links among decoys, by some fits.
#[derive(Debug, Clone)]
pub struct Hearing {
    /// For each link that was held out by a fit.
    pub ranks: Vec<Rank>,
    /// The places of those links.
    pub places: Vec<usize>,
    /// The chance that a link has more to say for it than a decoy of its
    /// stratum: the mean of `1 - u`.
    pub auc: f64,
    /// The standard error of that.
    pub auc_error: f64,
    /// For each stratum the density of sound links that no evidence speaks for,
    /// against that of decoys.
    pub unexplained: Vec<f64>,
    /// The ranks of implants, by the way they were made.
    pub implants: Vec<(Draw, Vec<Rank>)>,
}

/// A link and how far it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct JudgedLink {
    /// The user's row of one end.
    pub src: u32,
    /// The user's row of the other end.
    pub dst: u32,
    /// The weight as observed.
    pub weight: f64,
    /// The chance that the link is sound.
    pub belief: f64,
    /// The share of sound links among those that are believed no more.
    pub false_discovery_rate: f64,
    /// The share of decoys like it that have more to say for them.
    pub rank: f64,
    /// The same by embeddings and data vectors alone.
    pub rank_by_vectors: f64,
    /// The same by each kind of evidence alone, in the order of [`Kind::ALL`].
    pub by_kind: [f64; Kind::ALL.len()],
    /// What its weight multiplied the odds by.
    pub weight_odds: f64,
}

impl JudgedLink {
    /// The link alone.
    pub fn link(&self) -> Link {
        Link {
            src: self.src,
            dst: self.dst,
            weight: self.weight,
        }
    }
}

/// What was found about all links.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The links, in the order of the data's graph (internal rows).
    pub links: Vec<JudgedLink>,
    /// The share of links that are false.
    pub share_false: f64,
    /// The chance that a held-out link has more to say for it than a decoy.
    pub auc_decoys: f64,
    /// Its standard error.
    pub auc_error: f64,
    /// Whether links could not be told from decoys, so that nothing is known.
    pub abstained: bool,
    /// The density of sound links that no evidence speaks for, against that of
    /// decoys: where it is large, few links can be called false.
    pub unexplained: f64,
    /// What became of links that are known to be false.
    pub checks: Vec<Check>,
}

impl<'d> Judge<'d> {
    /// Shares out the links, draws decoys and gathers what does not depend on
    /// fits.
    pub fn new(params: &CheckedParams, data: &'d Dataset, folds: usize) -> Result<Judge<'d>> {
        let bench = Bench::new(data, Folds::new(params.seed, folds)?, params)?;
        Judge::on(bench, params, data)
    }

    fn on(bench: Bench, params: &CheckedParams, data: &'d Dataset) -> Result<Judge<'d>> {
        let standing = Standing::new(data)?;
        let folded = bench.folded(data.n_nodes());
        let links = standing.of(&bench, &folded, &bench.links);
        let decoys = standing.of(&bench, &folded, &bench.decoys);
        let implants = Draw::ALL.map(|draw| {
            let pairs = bench.implants(data, &standing, draw, params.seed);
            let evidence = standing.of(&bench, &folded, &pairs);
            (draw, pairs, evidence)
        });
        Ok(Judge {
            implants: implants
                .into_iter()
                .filter(|(_, pairs, _)| !pairs.is_empty())
                .collect(),
            params: params.given().clone(),
            data,
            bench,
            links,
            decoys,
        })
    }

    /// The links with their folds, in the order of the data's graph.
    pub fn links(&self) -> &[Pair] {
        &self.bench.links
    }

    /// The number of folds.
    pub fn n_folds(&self) -> usize {
        self.bench.n_folds()
    }

    /// Fits at a ridge for the first `folds` folds, each from the parameters of
    /// an earlier fit to the same fold, where there are any: of another fold they
    /// would have seen what is to be judged.
    pub fn fit(
        &self,
        ridge: f64,
        folds: usize,
        earlier: &[LinkFit],
        tolerance: f64,
        runtime: Runtime<'_>,
    ) -> Result<Vec<LinkFit>> {
        let folds = folds.min(self.n_folds());
        self.fit_folds(ridge, 0..folds, earlier, tolerance, runtime)
    }

    /// Completes the fits of the first folds at the same ridge by those of the
    /// others.
    pub fn fit_others(
        &self,
        ridge: f64,
        mut fits: Vec<LinkFit>,
        tolerance: f64,
        runtime: Runtime<'_>,
    ) -> Result<Vec<LinkFit>> {
        let rest = fits.len()..self.n_folds();
        fits.extend(self.fit_folds(ridge, rest, &[], tolerance, runtime)?);
        Ok(fits)
    }

    fn fit_folds(
        &self,
        ridge: f64,
        folds: Range<usize>,
        earlier: &[LinkFit],
        tolerance: f64,
        runtime: Runtime<'_>,
    ) -> Result<Vec<LinkFit>> {
        let params = pattern_params(&self.params, ridge)?;
        let done = AtomicUsize::new(0);
        let count = folds.len();
        folds
            .into_par_iter()
            .map(|fold| {
                let warm = earlier.get(fold).map(|fit| fit.theta.as_slice());
                let data = &self.bench.training[fold].data;
                let fit = fit_links(&params, data, warm, tolerance, runtime)?;
                runtime.after_fit(done.fetch_add(1, Ordering::Relaxed) + 1, count);
                Ok(fit)
            })
            .collect()
    }

    /// The ranks of the links of those folds that there are fits for.
    pub fn hear(&self, fits: &[LinkFit]) -> Hearing {
        let views = FoldViews::new(&self.bench, fits, self.params.dim);
        self.hear_folds(fits.len(), Some(&views))
    }

    /// The ranks of all links by what needs no fit: data vectors and common neighbours.
    pub fn hear_without_fits(&self) -> Hearing {
        self.hear_folds(self.n_folds(), None)
    }

    /// The ranks of the links of the first folds.
    fn hear_folds(&self, folds: usize, views: Option<&FoldViews>) -> Hearing {
        let (pairs, evidence) = self.heard(&self.bench.links, &self.links, folds, views);
        let (decoy_pairs, decoy_evidence) =
            self.heard(&self.bench.decoys, &self.decoys, folds, views);
        let links = Known {
            pairs: &pairs,
            evidence: &evidence,
        };
        let decoys = Known {
            pairs: &decoy_pairs,
            evidence: &decoy_evidence,
        };
        let ranking = Ranking::new(&self.bench, links, decoys);
        let ranks = ranking.ranks(links);
        let m = ranks.len().max(1) as f64;
        let auc = ranks.iter().map(|rank| 1.0 - rank.rank).sum::<f64>() / m;
        let squares = ranks.iter().map(|rank| (1.0 - rank.rank - auc).powi(2));
        Hearing {
            auc,
            auc_error: (squares.sum::<f64>() / (m * m)).sqrt(),
            unexplained: unexplained::unexplained(&ranks, &ranking.count(decoys)),
            implants: self
                .implants
                .iter()
                .map(|(draw, pairs, evidence)| {
                    let (pairs, evidence) = self.heard(pairs, evidence, folds, views);
                    let known = Known {
                        pairs: &pairs,
                        evidence: &evidence,
                    };
                    (*draw, ranking.ranks(known))
                })
                .collect(),
            ranks,
            places: (0..self.bench.links.len())
                .filter(|&place| (self.bench.links[place].fold as usize) < folds)
                .collect(),
        }
    }

    /// The pairs of the first folds and all evidence about them; copied where it is not
    /// there already.
    fn heard<'p>(
        &self,
        pairs: &'p [Pair],
        evidence: &'p [Evidence],
        folds: usize,
        views: Option<&FoldViews>,
    ) -> (Cow<'p, [Pair]>, Cow<'p, [Evidence]>) {
        let (pairs, mut evidence) = match folds >= self.n_folds() {
            true => (Cow::Borrowed(pairs), Cow::Borrowed(evidence)),
            false => {
                let known = pairs.iter().zip(evidence);
                let known = known.filter(|(pair, _)| (pair.fold as usize) < folds);
                let (pairs, evidence): (Vec<Pair>, Vec<Evidence>) =
                    known.map(|(pair, evidence)| (*pair, *evidence)).unzip();
                (Cow::Owned(pairs), Cow::Owned(evidence))
            }
        };
        if let Some(views) = views {
            add_fits(evidence.to_mut(), &self.bench, &pairs, views);
        }
        (pairs, evidence)
    }

    /// Beliefs from the ranks of all links.
    pub fn believe(&self, hearing: &Hearing) -> Judgement {
        let ranks: Vec<f64> = hearing.ranks.iter().map(|rank| rank.rank).collect();
        let excess = hearing.auc - 0.5;
        let abstained = excess < (LEAST_AUC - 0.5).max(LEAST_ERRORS * hearing.auc_error);
        let strata: Vec<usize> = hearing.ranks.iter().map(|rank| rank.stratum).collect();
        let found = belief::by_ranks(&ranks, &strata, &hearing.unexplained);
        let by_weight = belief::with_weights(&found.beliefs, &self.bench.weights);
        let beliefs = match abstained {
            true => vec![PRIOR; ranks.len()],
            false => by_weight.beliefs,
        };
        let rates = belief::discovery_rates(&beliefs);
        let known = Links {
            ranks: &hearing.ranks,
            weights: &self.bench.weights,
            beliefs: &beliefs,
            unexplained: &hearing.unexplained,
        };
        let of_kind =
            |(kind, ranks): &(Draw, Vec<Rank>)| check(known, *kind, ranks, self.params.seed);
        let user = |row: u32| self.data.user_row(row as usize) as u32;
        let unexplained_links: f64 = strata.iter().map(|&s| hearing.unexplained[s]).sum();
        let links = self.bench.links.iter().enumerate().map(|(place, link)| {
            let (a, b) = (user(link.src), user(link.dst));
            JudgedLink {
                src: a.min(b),
                dst: a.max(b),
                weight: self.bench.weights[place],
                belief: beliefs[place],
                false_discovery_rate: rates[place],
                rank: hearing.ranks[place].rank,
                rank_by_vectors: hearing.ranks[place].by_vectors,
                by_kind: hearing.ranks[place].by_kind,
                weight_odds: by_weight.odds[place],
            }
        });
        Judgement {
            links: links.collect(),
            share_false: match abstained {
                true => 0.0,
                false => 1.0 - beliefs.iter().sum::<f64>() / beliefs.len().max(1) as f64,
            },
            auc_decoys: hearing.auc,
            auc_error: hearing.auc_error,
            abstained,
            unexplained: unexplained_links / strata.len().max(1) as f64,
            checks: match abstained {
                true => Vec::new(),
                false => hearing.implants.iter().map(of_kind).collect(),
            },
        }
    }
}

/// Judges links by what needs no fit: data vectors and common neighbours. None where
/// there are too few links to tell anything, too many for a look, or too little memory.
pub fn glance(
    params: &CheckedParams,
    data: &Dataset,
    runtime: Runtime<'_>,
) -> Result<Option<Judgement>> {
    let needed = || Ok(glance_bytes(params, data));
    if !can_glance(data) || runtime.check_needed(needed).is_err() {
        return Ok(None);
    }
    // No fit sees the folds.
    let bench = Bench::pairs(data, Folds::new(params.seed, GLANCED_FOLDS)?, params)?;
    let judge = Judge::on(bench, params, data)?;
    Ok(Some(judge.believe(&judge.hear_without_fits())))
}

fn can_glance(data: &Dataset) -> bool {
    (FEWEST_GLANCED..=MOST_GLANCED).contains(&data.graph().n_links())
}

/// The most bytes that a look after a fit holds, about.
pub fn glance_bytes(params: &CheckedParams, data: &Dataset) -> u64 {
    /// For each link, and for each pair that is judged beside.
    const LINK: usize = 270;
    const PAIR: usize = 140;
    if !can_glance(data) {
        return 0;
    }
    let links = data.graph().n_links();
    let vectors = data.vector_bytes();
    let judged = LINK * links + PAIR * pairs::expected_pairs(links);
    let embeddings = 4 * data.n_nodes() * params.dim;
    Forecast::PROGRAM + embeddings as u64 + vectors + vectors.max(judged as u64)
}

#[cfg(test)]
pub(crate) mod tests;
