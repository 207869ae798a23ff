//! Cross-validation: all candidates on the first fold, the better ones on the second, the
//! best few on all of them. Every fit is made as the final fit will be.

use std::ops::Range;

use rayon::prelude::*;

use super::grid::Candidate;
use super::held_out::HeldOut;
use super::{Comparison, Search};
use crate::data::dataset::Dataset;
use crate::engine::runtime::{ALONE_NODES, Doing, FitCount, Fits};
use crate::error::{Error, Result};
use crate::model::folds::{Folds, fit_fold};
use crate::params::CheckedParams;

/// One in so many candidates goes on to the next round.
const KEPT: usize = 3;
/// No round has fewer, if there are as many.
const FEWEST: usize = 3;
/// With fewer links in a fold, on average, their ranks do not sift candidates.
const ENOUGH: usize = 500;

/// Everything that the fits of a race share.
pub(super) struct Race<'r> {
    pub data: &'r Dataset,
    pub candidates: &'r [(Candidate, CheckedParams)],
    pub folds: Folds,
    /// What ranks are taken among, if these are compared.
    pub held_out: Option<&'r HeldOut>,
    pub search: &'r Search,
    pub count: &'r FitCount<'r>,
    /// Fits that are expected after the race.
    pub later: usize,
}

impl Race<'_> {
    /// Runs all rounds.
    pub fn run(&self) -> Result<Vec<Comparison>> {
        let n_folds = self.folds.number();
        // The ranks of few links say too little to drop a candidate.
        let enough = self.held_out.is_none() || self.data.graph().n_links() >= ENOUGH * n_folds;
        let sifts = self.search.halving && enough && n_folds > 2;
        let ends = if sifts {
            vec![1, 2, n_folds]
        } else {
            vec![n_folds]
        };
        let new = |(candidate, _): &(Candidate, CheckedParams)| Comparison::new(*candidate);
        let mut entries: Vec<Comparison> = self.candidates.iter().map(new).collect();
        let mut alive: Vec<usize> = (0..entries.len()).collect();
        let mut first = 0;
        for (round, &end) in ends.iter().enumerate() {
            if round > 0 {
                alive = keep_best(&mut entries, alive, round);
            }
            let fits = |number| Fits { number, cost: 1.0 };
            let mut left = alive.len();
            let of_round = |ends: &[usize]| {
                left = kept(left);
                left * (ends[1] - ends[0])
            };
            let later: usize = ends[round..].windows(2).map(of_round).sum();
            let stage = fits(alive.len() * (end - first));
            let doing = if end < n_folds {
                Doing::Sifting
            } else {
                Doing::Settling
            };
            self.count.begin(doing, stage, fits(later + self.later));
            self.fit(&mut entries, &alive, first..end)?;
            alive.retain(|&place| entries[place].is_sound());
            first = end;
        }
        Ok(entries)
    }

    /// Fits candidates that do not see a fold, for each of some folds.
    fn fit(&self, entries: &mut [Comparison], places: &[usize], folds: Range<usize>) -> Result<()> {
        let of_fold = |fold| places.iter().map(move |&place| (fold, place));
        let tasks: Vec<(usize, usize)> = folds.flat_map(of_fold).collect();
        let criterion = self.search.criterion.formula();
        let run = |&(fold, place): &(usize, usize)| {
            let params = &self.candidates[place].1;
            let runtime = self.count.runtime();
            let fitted = fit_fold(
                params,
                self.data,
                (self.folds, fold),
                criterion.as_ref(),
                runtime,
            );
            runtime.after_fit(1, 1);
            let fit = match fitted {
                Ok(fit) => fit,
                Err(Error::Diverged { step, detail }) => {
                    return Ok(Err(format!("diverged at step {step}: {detail}")));
                }
                Err(error) => return Err(error),
            };
            let ranks = self
                .held_out
                .map(|it| it.ranks(fold, &fit.y, params.given()));
            Ok(Ok((fit, ranks.unwrap_or_default())))
        };
        let results: Vec<Result<_>> = if self.data.n_nodes() > ALONE_NODES {
            tasks.iter().map(run).collect()
        } else {
            tasks.par_iter().map(run).collect()
        };
        for ((fold, place), result) in tasks.into_iter().zip(results) {
            let entry = &mut entries[place];
            match result? {
                Ok((fit, ranks)) => {
                    let mean_rank = ranks.iter().sum::<f64>() / ranks.len().max(1) as f64;
                    entry.folds.push((fold, fit.criterion.unwrap_or(mean_rank)));
                    entry.ranks.push(ranks);
                    entry.steps += fit.steps;
                    entry.collapsed += usize::from(fit.collapsed);
                }
                Err(failure) => entry.failure = Some(failure),
            }
        }
        Ok(())
    }
}

/// The candidates with the lowest mean so far; collapsed ones come after all others.
fn keep_best(entries: &mut [Comparison], alive: Vec<usize>, round: usize) -> Vec<usize> {
    let mut ranked = alive.clone();
    ranked.sort_by(|&a, &b| {
        let (a, b) = (&entries[a], &entries[b]);
        let collapsed = a.has_collapsed().cmp(&b.has_collapsed());
        collapsed.then(a.order().total_cmp(&b.order()))
    });
    ranked.truncate(kept(alive.len()));
    ranked.sort_unstable();
    for place in alive {
        if !ranked.contains(&place) {
            entries[place].out_after = Some(round);
        }
    }
    ranked
}

/// How many of so many candidates go on to the next round.
fn kept(candidates: usize) -> usize {
    (candidates / KEPT).max(FEWEST).min(candidates)
}
