//! From the criterion on folds to a choice.

use serde::Serialize;

use super::grid::Candidate;
use super::held_out::SAME_RANKS;
use super::nodes::gain_of_ranks;
use super::{Criterion, Entry, Search};
use crate::error::{Dialect, in_words};
use crate::params::Param;

/// A candidate beside the best one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The candidate and its folds.
    #[serde(flatten)]
    pub entry: Entry,
    /// The mean of the criterion over its folds, a pair.
    #[serde(rename = "mean")]
    pub mean: Option<f64>,
    /// How far it is behind the best on the folds that it was fitted for, in
    /// units of the criterion per link.
    pub behind: Option<f64>,
    /// The standard error of that difference, where it had two folds or more.
    pub standard_error: Option<f64>,
}

/// Compares candidates fold by fold with the best of those that were fitted as
/// the final fit is. Folds differ far more than candidates do, so only
/// differences on the same folds mean something; of ranks, those of the same links,
/// whose `ends` are told by fold: links share nodes.
pub fn compare(
    entries: Vec<Entry>,
    links_per_mean: f64,
    ends: &dyn Fn(usize) -> Vec<[usize; 2]>,
) -> Vec<Comparison> {
    let can_be_chosen: Vec<usize> = can_be_chosen(entries.iter());
    let best = can_be_chosen
        .into_iter()
        .map(|place| &entries[place])
        .min_by(|a, b| order(a).total_cmp(&order(b)))
        .cloned();
    entries
        .into_iter()
        .map(|entry| {
            let (behind, standard_error) = match &best {
                Some(best) if entry.is_sound() => difference(&entry, best, links_per_mean, ends),
                _ => (None, None),
            };
            Comparison {
                mean: entry.mean(),
                behind,
                standard_error,
                entry,
            }
        })
        .collect()
}

/// How far an entry is behind another on the folds of both, and the standard error
/// of that.
fn difference(
    entry: &Entry,
    best: &Entry,
    links_per_mean: f64,
    ends: &dyn Fn(usize) -> Vec<[usize; 2]>,
) -> (Option<f64>, Option<f64>) {
    let place = |fold: usize| best.folds.iter().position(|(other, _)| *other == fold);
    let both = entry.folds.iter().enumerate();
    let both = both.filter_map(|(own, (fold, _))| Some((own, place(*fold)?)));
    let both: Vec<(usize, usize)> = both.collect();
    if both.is_empty() {
        return (None, None);
    }
    let ranks = |entry: &Entry, side: fn(&(usize, usize)) -> usize| -> Vec<f64> {
        let folds = both.iter().map(|places| &entry.ranks[side(places)]);
        folds.flatten().copied().collect()
    };
    let (own, of_best) = (ranks(entry, |both| both.0), ranks(best, |both| both.1));
    if !own.is_empty() {
        let folds = both.iter().map(|places| entry.folds[places.0].0);
        let ends: Vec<[usize; 2]> = folds.flat_map(ends).collect();
        let (behind, error) = gain_of_ranks(&own, &of_best, &ends);
        return (Some(behind), Some(error));
    }
    let differences = both.iter().map(|&(own, other)| {
        let difference = entry.folds[own].1 - best.folds[other].1;
        difference / links_per_mean
    });
    let differences: Vec<f64> = differences.collect();
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|x| (x - mean).powi(2)).sum();
    let error = (n > 1.0).then(|| (squares / (n - 1.0) / n).sqrt());
    (Some(mean), error)
}

/// The places of the entries that were fitted as the final fit is. A collapsed one is
/// not chosen unless all have collapsed.
fn can_be_chosen<'e>(entries: impl Iterator<Item = &'e Entry>) -> Vec<usize> {
    let settled = entries.enumerate();
    let settled = settled.filter(|(_, entry)| entry.is_sound() && entry.settled);
    let (collapsed, others): (Vec<_>, Vec<_>) =
        settled.partition(|(_, entry)| entry.has_collapsed());
    let found = if others.is_empty() { collapsed } else { others };
    found.into_iter().map(|(place, _)| place).collect()
}

fn order(entry: &Entry) -> f64 {
    entry.mean().unwrap_or(f64::INFINITY)
}

/// How far behind the best a candidate may be that is as good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// So far in any case.
    pub least: f64,
    /// Or a standard error, if that is more.
    pub one_standard_error: bool,
    /// Only if it differs from the best in its ridge alone: ridges of different
    /// scores cannot be compared.
    pub same_column: bool,
}

impl Band {
    /// That of a search.
    pub fn of(search: &Search) -> Band {
        let by_ranks = search.criterion == Criterion::Rank;
        Band {
            least: if by_ranks { SAME_RANKS } else { 0.0 },
            one_standard_error: by_ranks || search.one_standard_error,
            same_column: by_ranks,
        }
    }

    fn holds(self, one: &Comparison) -> bool {
        let error = one.standard_error.filter(|_| self.one_standard_error);
        let band = error.unwrap_or(0.0).max(self.least);
        one.behind.is_some_and(|behind| behind <= band)
    }
}

/// Of the candidates fitted as the final fit is the one with the lowest mean over
/// all folds, or of those that are as good the simplest; and how many are.
pub fn choose(compared: &[Comparison], band: Band) -> Option<(Candidate, usize)> {
    let places = can_be_chosen(compared.iter().map(|one| &one.entry));
    let places = || places.iter().map(|&place| &compared[place]);
    let best = places().min_by(|a, b| order(&a.entry).total_cmp(&order(&b.entry)))?;
    let same = |one: &&Comparison| one.entry.candidate.same_column(&best.entry.candidate);
    let good = places().filter(|one| !band.same_column || same(one));
    let good: Vec<&Comparison> = good.filter(|one| band.holds(one)).collect();
    let simplest = good
        .iter()
        .min_by(|a, b| simpler(&a.entry.candidate, &b.entry.candidate))?;
    Some((simplest.entry.candidate, good.len()))
}

/// The larger ridge first, then the smaller exponent, then fewer dimensions
/// and shorter walks.
fn simpler(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.ridge
        .total_cmp(&a.ridge)
        .then(a.beta.total_cmp(&b.beta))
        .then(a.dim.cmp(&b.dim))
        .then(a.walks.cmp(&b.walks))
        .then(a.steps.cmp(&b.steps))
}

/// What a user should know of a choice.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// The choice is the largest, or the smallest, that was tried.
    Edge {
        /// The setting.
        param: Param,
        /// Its value.
        value: f64,
        /// Whether it is the largest.
        largest: bool,
    },
    /// No candidate tells one pair from another.
    Collapsed,
    /// Candidates could not be fitted.
    Failed {
        /// How many.
        failed: usize,
        /// Of how many.
        all: usize,
    },
}

impl Warning {
    /// In the words of a front end.
    pub fn told(&self, dialect: &dyn Dialect) -> String {
        match self {
            Warning::Edge {
                param,
                value,
                largest,
            } => {
                let (side, more) = match largest {
                    true => ("largest", "larger"),
                    false => ("smallest", "smaller"),
                };
                let list = dialect.name(&format!("{param}s"));
                format!(
                    "the chosen {param}, {value}, is the {side} that was tried: try {more} ones \
                     too ({list})"
                )
            }
            Warning::Collapsed => format!(
                "the chosen fit tells no pair from another (its embeddings, or the weights that it \
                 expects, are as good as zero), and so do all candidates. Try {}, another {}, or data vectors",
                dialect.with("weights", &["log1p", "binary"]),
                dialect.name("criterion")
            ),
            Warning::Failed { failed, all } => {
                format!("{failed} of {all} candidates could not be fitted and were left out")
            }
        }
    }
}

in_words!(Warning);

/// Choices on the edge of the grid, and candidates that failed.
pub fn warnings(compared: &[Comparison], chosen: &Candidate, search: &Search) -> Vec<Warning> {
    let grid = &search.grid;
    let mut warnings = Vec::new();
    let mut edge = |param, value: f64, all: Vec<f64>, low_is_natural: bool| {
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let largest = value == high;
        if low != high && (largest || (value == low && !low_is_natural)) {
            warnings.push(Warning::Edge {
                param,
                value,
                largest,
            });
        }
    };
    edge(Param::Ridge, chosen.ridge, grid.ridges.clone(), false);
    let betas = compared.iter().map(|one| one.entry.candidate.beta);
    edge(Param::Beta, chosen.beta, betas.collect(), true);
    let dims = grid.dims.iter().map(|&dim| dim as f64);
    edge(Param::Dim, chosen.dim as f64, dims.collect(), false);
    let of_chosen = compared.iter().find(|one| one.entry.candidate == *chosen);
    if of_chosen.is_some_and(|one| one.entry.has_collapsed()) {
        warnings.push(Warning::Collapsed);
    }
    let failed = compared.iter().filter(|one| !one.entry.is_sound()).count();
    if failed > 0 {
        let all = compared.len();
        warnings.push(Warning::Failed { failed, all });
    }
    warnings
}
