//! The race: all candidates on one fold, the better ones on more, the best on
//! all of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::grid::Candidate;
use super::{Entry, Outcome, Search};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::folds::{FoldFit, Folds, Watcher, fit_fold};
use crate::objective::Prepared;
use crate::params::{CheckedParams, Precision};
use crate::real::Real;
use crate::score::Score;

/// One in so many candidates goes on to the next round.
const KEPT: usize = 3;
/// No round has fewer, while there are as many.
const FEWEST: usize = 3;
/// Above this number of nodes one fit at a time has the machine for itself.
const ALONE_NODES: usize = 20_000;

/// Everything that the fits of a race share.
pub(super) struct Race<'r> {
    pub data: &'r Dataset,
    pub candidates: &'r [(Candidate, CheckedParams)],
    pub folds: Folds,
    pub search: &'r Search,
    pub watcher: Watcher<'r>,
}

/// How far a race has come.
struct Standing {
    entries: Vec<Entry>,
    /// Candidates still in the race.
    alive: Vec<usize>,
}

impl Race<'_> {
    /// Runs all rounds.
    pub fn run(&self) -> Result<Vec<Entry>> {
        let entry = |(candidate, _): &(Candidate, CheckedParams)| Entry::new(*candidate);
        let mut standing = Standing {
            entries: self.candidates.iter().map(entry).collect(),
            alive: (0..self.candidates.len()).collect(),
        };
        let rounds = self.rounds();
        let (done, most) = (AtomicUsize::new(0), fits(&rounds, standing.alive.len()));
        for (place, folds) in rounds.iter().enumerate() {
            if place > 0 {
                let count = (standing.alive.len() / KEPT).max(FEWEST);
                standing.keep_best(count, place);
            }
            self.run_round(&mut standing, folds.clone(), &done, most)?;
        }
        Ok(standing.entries)
    }

    /// The folds of each round: 1, 1 and the rest; all at once where a race
    /// would spare nothing.
    fn rounds(&self) -> Vec<std::ops::Range<usize>> {
        let all = self.folds.number();
        if !self.search.halving || self.candidates.len() <= FEWEST || all < 3 {
            return std::iter::once(0..all).collect();
        }
        vec![0..1, 1..2, 2..all]
    }

    fn run_round(
        &self,
        standing: &mut Standing,
        folds: std::ops::Range<usize>,
        done: &AtomicUsize,
        most: usize,
    ) -> Result<()> {
        let chains = self.chains(&standing.alive);
        let tasks: Vec<(usize, &Vec<usize>)> = folds
            .flat_map(|fold| chains.iter().map(move |chain| (fold, chain)))
            .collect();
        let run = |&(fold, chain): &(usize, &Vec<usize>)| {
            let after = || (self.watcher.after_fit)(done.fetch_add(1, Ordering::Relaxed) + 1, most);
            self.run_chain(fold, chain, &after)
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

    fn run_chain(&self, fold: usize, chain: &[usize], after: &dyn Fn()) -> Result<Vec<Outcome>> {
        match self.candidates[chain[0]].1.precision {
            Precision::F32 => self.run_chain_in::<f32>(fold, chain, after),
            Precision::F64 => self.run_chain_in::<f64>(fold, chain, after),
        }
    }

    /// Fits the candidates of a chain, each started from the next larger ridge
    /// of its column, or at the largest ridge from the next smaller exponent.
    fn run_chain_in<T: Real>(
        &self,
        fold: usize,
        chain: &[usize],
        after: &dyn Fn(),
    ) -> Result<Vec<Outcome>> {
        let n_links = self.data.graph().n_links();
        let split = Some(self.folds.split(fold));
        let criterion: Score = self.search.criterion.formula();
        let first = &self.candidates[chain[0]].1;
        let prepared = Prepared::new(self.data, first, split)?;
        let mut outcomes = Vec::with_capacity(chain.len());
        let mut previous: Option<(Candidate, Vec<T>)> = None;
        let mut head: Option<Vec<T>> = None;
        for &place in chain {
            let (candidate, params) = &self.candidates[place];
            let column = previous.filter(|(before, _)| before.same_column(candidate));
            let is_head = column.is_none();
            let warm = column.map(|(_, theta)| theta).or_else(|| head.clone());
            let warm: Vec<&[T]> = warm.iter().map(Vec::as_slice).collect();
            let stops_early = params.validation_share(n_links) > 0.0;
            let fitted = fit_fold(
                params,
                &prepared,
                stops_early,
                &warm,
                &criterion,
                &mut |_, _| (self.watcher.goes_on)(),
            );
            after();
            previous = None;
            outcomes.push(match fitted {
                Ok(fit) => {
                    if is_head {
                        head = Some(fit.theta.clone());
                    }
                    let outcome = Outcome::of(&fit);
                    previous = Some((*candidate, fit.theta));
                    outcome
                }
                Err(error @ Error::Diverged { .. }) => Outcome::Failed(error.to_string()),
                Err(error) => return Err(error),
            });
        }
        Ok(outcomes)
    }
}

impl Outcome {
    fn of<T>(fit: &FoldFit<T>) -> Outcome {
        Outcome::Fitted {
            criterion: fit.criterion,
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

    /// Keeps the candidates with the lowest mean so far. One that a stronger
    /// ridge made superfluous, whose fit never moved from there, goes first.
    fn keep_best(&mut self, count: usize, round: usize) {
        let entries = &self.entries;
        let mut ranked = self.alive.clone();
        ranked.retain(|&place| entries[place].moved());
        ranked.sort_by(|&a, &b| {
            let mean = |place: usize| entries[place].mean().unwrap_or(f64::INFINITY);
            mean(a).total_cmp(&mean(b)).then(a.cmp(&b))
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

/// The most fits that the rounds take.
fn fits(rounds: &[std::ops::Range<usize>], mut candidates: usize) -> usize {
    let mut total = 0;
    for (place, folds) in rounds.iter().enumerate() {
        if place > 0 {
            candidates = (candidates / KEPT).max(FEWEST).min(candidates);
        }
        total += folds.len() * candidates;
    }
    total
}
