//! From the criterion on folds to a choice.

use serde::Serialize;

use super::grid::Candidate;
use super::{Entry, Search};
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
/// differences on the same folds mean something.
pub fn compare(entries: Vec<Entry>, links_per_pair: f64) -> Vec<Comparison> {
    let best = entries
        .iter()
        .filter(|entry| entry.is_sound() && entry.settled)
        .min_by(|a, b| order(a).total_cmp(&order(b)));
    let best = best.map(|entry| entry.folds.clone()).unwrap_or_default();
    entries
        .into_iter()
        .map(|entry| {
            let differences: Vec<f64> = entry
                .folds
                .iter()
                .filter_map(|(fold, value)| {
                    let other = best.iter().find(|(other, _)| other == fold)?;
                    Some((value - other.1) / links_per_pair)
                })
                .collect();
            let n = differences.len() as f64;
            let mean = differences.iter().sum::<f64>() / n;
            let squares: f64 = differences.iter().map(|x| (x - mean).powi(2)).sum();
            let known = entry.is_sound() && n > 0.0;
            Comparison {
                mean: entry.mean(),
                behind: known.then_some(mean),
                standard_error: (known && n > 1.0).then(|| (squares / (n - 1.0) / n).sqrt()),
                entry,
            }
        })
        .collect()
}

fn order(entry: &Entry) -> f64 {
    entry.mean().unwrap_or(f64::INFINITY)
}

/// Of the candidates fitted as the final fit is the one with the lowest mean over
/// all folds; among equals, and within
/// one standard error where that is asked for, the simplest.
pub fn choose(compared: &[Comparison], one_standard_error: bool) -> Option<Candidate> {
    let sound = |one: &&Comparison| one.entry.is_sound() && one.entry.settled;
    compared
        .iter()
        .filter(sound)
        .filter_map(|one| {
            let band = match one.standard_error {
                Some(error) if one_standard_error => error,
                _ => 0.0,
            };
            Some((one, one.behind?, band))
        })
        .filter(|(_, behind, band)| behind <= band)
        .min_by(|(a, ..), (b, ..)| simpler(&a.entry.candidate, &b.entry.candidate))
        .map(|(one, ..)| one.entry.candidate)
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
                "the chosen fit tells no pair from another (its embeddings are as good as zero): \
                 no candidate beats that on held-out pairs. Try {}, another {}, or data vectors",
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
