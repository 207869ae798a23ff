//! From the criterion on folds to a choice.

use super::grid::Candidate;
use super::held_out::{HeldOut, SAME_RANKS};
use super::{Comparison, Criterion, Search};

/// Compares candidates fold by fold with the best of those that were fitted on all. Folds
/// differ far more than candidates do, so only differences on the same folds mean something;
/// of ranks, those of the same links.
pub(super) fn compare(entries: &mut [Comparison], held_out: Option<&HeldOut>, links_per_mean: f64) {
    for entry in entries.iter_mut() {
        entry.mean = Some(entry.order()).filter(|mean| mean.is_finite());
    }
    let finalists = finalists(entries).into_iter();
    let Some(best) = finalists
        .min_by(|a, b| a.order().total_cmp(&b.order()))
        .cloned()
    else {
        return;
    };
    for entry in entries.iter_mut().filter(|entry| entry.is_sound()) {
        // All candidates go through the folds in the same order.
        let both = entry.folds.len().min(best.folds.len());
        let (behind, error) = match held_out {
            _ if both == 0 => continue,
            Some(held_out) => {
                let (behind, error) = held_out.gain(&entry.ranks[..both], &best.ranks[..both]);
                (behind, Some(error))
            }
            None => {
                let pairs = entry.folds.iter().zip(&best.folds);
                over_folds(
                    pairs
                        .map(|(own, best)| (own.1 - best.1) / links_per_mean)
                        .collect(),
                )
            }
        };
        (entry.behind, entry.standard_error) = (Some(behind), error);
    }
}

/// The mean over folds, and its standard error if there are several.
pub(super) fn over_folds(values: Vec<f64>) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (n > 1.0).then(|| (squares / (n - 1.0) / n).sqrt()))
}

/// The candidates that were fitted on all folds. A collapsed one is not chosen unless all
/// have collapsed.
fn finalists(entries: &[Comparison]) -> Vec<&Comparison> {
    let sound = entries.iter();
    let sound = sound.filter(|entry| entry.is_sound() && entry.out_after.is_none());
    let (collapsed, others): (Vec<_>, Vec<_>) = sound.partition(|entry| entry.has_collapsed());
    if others.is_empty() { collapsed } else { others }
}

/// Of the candidates fitted on all folds the one with the lowest mean, or of those that are
/// as good the simplest; and how many are. By ranks, candidates are as good within a standard
/// error, or half a percent of the ranks, if they differ in their ridge alone: ridges of
/// different scores cannot be compared.
pub(super) fn choose(compared: &[Comparison], search: &Search) -> Option<(Candidate, usize)> {
    let by_ranks = search.criterion == Criterion::Rank;
    let finalists = finalists(compared);
    let best = finalists
        .iter()
        .min_by(|a, b| a.order().total_cmp(&b.order()))?;
    let is_as_good = |one: &&&Comparison| {
        let uses_error = by_ranks || search.one_standard_error;
        let error = one.standard_error.filter(|_| uses_error).unwrap_or(0.0);
        let band = if by_ranks {
            error.max(SAME_RANKS)
        } else {
            error
        };
        let comparable = !by_ranks || one.candidate.same_column(&best.candidate);
        comparable && one.behind.is_some_and(|behind| behind <= band)
    };
    let good: Vec<&&Comparison> = finalists.iter().filter(is_as_good).collect();
    let simplest = good
        .iter()
        .min_by(|a, b| simpler(&a.candidate, &b.candidate))?;
    Some((simplest.candidate, good.len()))
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
pub enum Warning {
    /// The choice is the largest, or the smallest, that was tried.
    Edge {
        /// The setting.
        param: &'static str,
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

/// Choices on the edge of the grid, and candidates that failed.
pub fn warnings(compared: &[Comparison], chosen: &Candidate, search: &Search) -> Vec<Warning> {
    let grid = &search.grid;
    let mut warnings = Vec::new();
    let mut edge = |param: &'static str, value: f64, all: Vec<f64>, low_is_natural: bool| {
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
    edge("ridge", chosen.ridge, grid.ridges.clone(), false);
    let betas = compared.iter().map(|one| one.candidate.beta);
    edge("beta", chosen.beta, betas.collect(), true);
    let dims = grid.dims.iter().map(|&dim| dim as f64);
    edge("dim", chosen.dim as f64, dims.collect(), false);
    let of_chosen = compared.iter().find(|one| one.candidate == *chosen);
    if of_chosen.is_some_and(|one| one.has_collapsed()) {
        warnings.push(Warning::Collapsed);
    }
    let failed = compared.iter().filter(|one| !one.is_sound()).count();
    if failed > 0 {
        let all = compared.len();
        warnings.push(Warning::Failed { failed, all });
    }
    warnings
}
