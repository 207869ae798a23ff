//! The race: all candidates on one fold, the better ones on a second, the best
//! few on all of them.
//!
//! The first rounds sift: their fits are coarse and start from each other, so a
//! candidate may report little more than its neighbour's fit. Who is left is
//! fitted again on every fold as the final fit will be made, and so are the next
//! ridges beside the best, until none of them is better; by these fits alone the
//! choice is made.

use std::ops::Range;

use rayon::prelude::*;

use super::grid::Candidate;
use super::held_out::HeldOut;
use super::{Entry, Outcome, Search};
use crate::data::dataset::Dataset;
use crate::engine::objective::Prepared;
use crate::engine::runtime::{ALONE_NODES, Doing, FitCount, Fits};
use crate::error::{Error, Result};
use crate::model::folds::{Care, FoldFit, Folds, fit_fold};
use crate::params::CheckedParams;

/// One in so many candidates goes on to the next round.
const KEPT: usize = 3;
/// No round has fewer, while there are as many.
const FEWEST: usize = 3;
/// With fewer links in a fold, on average, their ranks do not sift candidates.
const ENOUGH: usize = 500;

/// What a coarse fit costs against one that settles.
const COARSE: f64 = 0.4;

/// Everything that the fits of a race share.
pub(super) struct Race<'r> {
    pub data: &'r Dataset,
    pub candidates: &'r [(Candidate, CheckedParams)],
    pub folds: Folds,
    /// What ranks are taken among, where these are compared.
    pub held_out: Option<HeldOut>,
    pub search: &'r Search,
    pub count: &'r FitCount<'r>,
    /// Fits that are expected after the race.
    pub later: usize,
}

/// How far a race has come.
struct Standing {
    entries: Vec<Entry>,
    /// Candidates still in the race.
    alive: Vec<usize>,
    /// Fits of the rounds that sift.
    coarse_fits: usize,
}

impl Race<'_> {
    /// Runs all rounds; returns the candidates and the number of coarse fits.
    pub fn run(&self) -> Result<(Vec<Entry>, usize)> {
        let entry = |(candidate, _): &(Candidate, CheckedParams)| Entry::new(*candidate);
        let all = self.folds.number();
        let mut standing = Standing {
            entries: self.candidates.iter().map(entry).collect(),
            alive: (0..self.candidates.len()).collect(),
            coarse_fits: 0,
        };
        // The ranks of few links say too little to drop a candidate.
        let enough = self.held_out.is_none() || self.data.graph().n_links() >= ENOUGH * all;
        let sifts = self.search.halving && enough && self.candidates.len() > FEWEST && all > 2;
        let rounds: &[Range<usize>] = if sifts { &[0..1, 1..2] } else { &[] };
        let counts = counts(rounds.len(), self.candidates.len());
        let of_rounds = rounds.iter().zip(&counts);
        let coarse: usize = of_rounds.map(|(folds, count)| folds.len() * count).sum();
        let later = |number: usize| Fits {
            number: number + self.later,
            cost: 1.0,
        };
        let coarse = Fits {
            number: coarse,
            cost: COARSE,
        };
        self.count
            .begin(Doing::Sifting, coarse, later(all * counts[rounds.len()]));
        for (place, folds) in rounds.iter().enumerate() {
            self.run_round(&mut standing, folds.clone())?;
            standing.keep_best(counts[place + 1], place + 1);
        }
        standing.coarse_fits = standing.entries.iter().map(|entry| entry.folds.len()).sum();
        let mut next = standing.alive.clone();
        let mut first = true;
        while !next.is_empty() {
            let stage = Fits {
                number: all * next.len(),
                cost: 1.0,
            };
            // Most searches go on beside the best once.
            let beside = if sifts && first { all } else { 0 };
            self.count.begin(Doing::Settling, stage, later(beside));
            first = false;
            self.settle(&mut standing, &next)?;
            next = match sifts {
                true => self.beside_the_best(&standing),
                false => Vec::new(),
            };
        }
        Ok((standing.entries, standing.coarse_fits))
    }

    /// Fits candidates on every fold as the final fit will be made.
    fn settle(&self, standing: &mut Standing, places: &[usize]) -> Result<()> {
        for &place in places {
            standing.entries[place] = Entry::new(self.candidates[place].0);
        }
        let folds = 0..self.folds.number();
        let chains: Vec<Vec<usize>> = places.iter().map(|&place| vec![place]).collect();
        self.run_tasks(standing, folds, &chains, false)?;
        for &place in places {
            standing.entries[place].settled = true;
        }
        Ok(())
    }

    /// The next ridges, larger and smaller, beside the best that was settled, as
    /// far as they were not fitted with that care yet.
    fn beside_the_best(&self, standing: &Standing) -> Vec<usize> {
        let settled = |place: &usize| standing.entries[*place].settled;
        let mean = |place: &usize| standing.entries[*place].mean().unwrap_or(f64::INFINITY);
        let stands = |place: &usize| !standing.entries[*place].has_collapsed();
        let best = (0..self.candidates.len())
            .filter(|place| settled(place) && stands(place))
            .min_by(|a, b| mean(a).total_cmp(&mean(b)));
        let Some(best) = best else {
            return Vec::new();
        };
        let of_best = self.candidates[best].0;
        // Columns run from the largest ridge to the smallest.
        let beside = [best.checked_sub(1), Some(best + 1)].into_iter().flatten();
        beside
            .filter(|&place| {
                let candidate = self.candidates.get(place);
                candidate.is_some_and(|(candidate, _)| candidate.same_column(&of_best))
            })
            .filter(|place| !settled(place) && standing.entries[*place].is_sound())
            .collect()
    }

    /// Coarse fits of those still in the race.
    fn run_round(&self, standing: &mut Standing, folds: Range<usize>) -> Result<()> {
        let chains = self.chains(&standing.alive);
        self.run_tasks(standing, folds, &chains, true)
    }

    fn run_tasks(
        &self,
        standing: &mut Standing,
        folds: Range<usize>,
        chains: &[Vec<usize>],
        coarse: bool,
    ) -> Result<()> {
        let tasks: Vec<(usize, &Vec<usize>)> = folds
            .flat_map(|fold| chains.iter().map(move |chain| (fold, chain)))
            .collect();
        let run = |&(fold, chain): &(usize, &Vec<usize>)| {
            let after = || self.count.runtime().after_fit(1, 1);
            self.run_chain(fold, chain, coarse, &after)
        };
        let results: Vec<Result<Vec<Outcome>>> = if self.data.n_nodes() > ALONE_NODES {
            tasks.iter().map(run).collect()
        } else {
            tasks.par_iter().map(run).collect()
        };
        for ((fold, chain), outcomes) in tasks.iter().zip(results) {
            for (&place, outcome) in chain.iter().zip(outcomes?) {
                standing.entries[place].add(*fold, outcome);
            }
        }
        standing.drop_failed();
        Ok(())
    }

    /// Candidates whose parameters can start each other, in their order.
    fn chains(&self, alive: &[usize]) -> Vec<Vec<usize>> {
        let mut chains: Vec<Vec<usize>> = Vec::new();
        for &place in alive {
            let (candidate, _) = &self.candidates[place];
            let fits = |chain: &&mut Vec<usize>| {
                let (first, _) = &self.candidates[chain[0]];
                first.same_shape(candidate) && first.score == candidate.score
            };
            match chains.iter_mut().find(fits) {
                Some(chain) => chain.push(place),
                None => chains.push(vec![place]),
            }
        }
        chains
    }

    /// Fits the candidates of a chain. Where that is coarse, each starts from
    /// the next larger ridge of its column, or at the largest ridge from the
    /// next smaller exponent.
    fn run_chain(
        &self,
        fold: usize,
        chain: &[usize],
        coarse: bool,
        after: &dyn Fn(),
    ) -> Result<Vec<Outcome>> {
        let criterion = self.search.criterion.formula();
        let first = &self.candidates[chain[0]].1;
        let split = self.folds.split_of_fit(fold, first, self.data);
        let prepared = Prepared::new(self.data, first, Some(split), None)?;
        let mut outcomes = Vec::with_capacity(chain.len());
        let mut previous: Option<(Candidate, Vec<f64>)> = None;
        let mut head: Option<Vec<f64>> = None;
        for &place in chain {
            let (candidate, params) = &self.candidates[place];
            let column = previous.filter(|(before, _)| before.same_column(candidate));
            let is_head = column.is_none();
            let warm = column.map(|(_, theta)| theta).or_else(|| head.clone());
            let care = match coarse {
                true => Care::Coarse(warm.as_deref()),
                false => Care::AsAFit,
            };
            let fitted = fit_fold(
                params,
                &prepared,
                care,
                criterion.as_ref(),
                self.count.runtime(),
            );
            after();
            previous = None;
            outcomes.push(match fitted {
                Ok(fit) => {
                    if is_head {
                        head = Some(fit.theta.clone());
                    }
                    let held_out = self.held_out.as_ref();
                    let ranks = held_out.map(|it| it.ranks(fold, &fit.y, params.given()));
                    let outcome = Outcome::of(&fit, ranks.unwrap_or_default());
                    previous = Some((*candidate, fit.theta));
                    outcome
                }
                Err(Error::Diverged { step, detail }) => {
                    Outcome::Failed(format!("diverged at step {step}: {detail}"))
                }
                Err(error) => return Err(error),
            });
        }
        Ok(outcomes)
    }
}

impl Outcome {
    fn of(fit: &FoldFit, ranks: Vec<f64>) -> Outcome {
        let mean_rank = ranks.iter().sum::<f64>() / ranks.len().max(1) as f64;
        Outcome::Fitted {
            criterion: fit.criterion.unwrap_or(mean_rank),
            ranks,
            steps: fit.steps,
            moved: fit.moved,
            collapsed: fit.collapsed,
        }
    }
}

impl Standing {
    fn drop_failed(&mut self) {
        let entries = &self.entries;
        self.alive.retain(|&place| entries[place].is_sound());
    }

    /// Keeps the candidates with the lowest mean so far. One whose coarse fit
    /// never moved from that of the next larger ridge says nothing of its own,
    /// and comes after all that do; after these come those that have collapsed.
    fn keep_best(&mut self, count: usize, round: usize) {
        let entries = &self.entries;
        let mut ranked = self.alive.clone();
        ranked.sort_by(|&a, &b| {
            let mean = |place: usize| entries[place].mean().unwrap_or(f64::INFINITY);
            let idle = |place: usize| !entries[place].moved();
            let flat = |place: usize| entries[place].has_collapsed();
            let by_mean = mean(a).total_cmp(&mean(b));
            let by_kind = flat(a).cmp(&flat(b)).then(idle(a).cmp(&idle(b)));
            by_kind.then(by_mean).then(a.cmp(&b))
        });
        // Of those that tell no pair from another, one is enough.
        let mut flat = 0;
        ranked.retain(|&place| {
            flat += usize::from(entries[place].has_collapsed());
            !entries[place].has_collapsed() || flat == 1
        });
        ranked.truncate(count);
        ranked.sort_unstable();
        for &place in &self.alive {
            if !ranked.contains(&place) {
                self.entries[place].out_after = Some(round);
            }
        }
        self.alive = ranked;
    }
}

/// How many candidates each round has at most, and how many are left for the
/// final fits.
fn counts(rounds: usize, candidates: usize) -> Vec<usize> {
    let mut counts = vec![candidates];
    for _ in 0..rounds {
        let last = counts[counts.len() - 1];
        counts.push((last / KEPT).max(FEWEST).min(last));
    }
    counts
}
