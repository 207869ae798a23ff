//! Choosing score, exponent, ridge and more without labels: cross-validation
//! over folds of the pairs, by one fixed criterion.
//!
//! By default that is how well embeddings tell held-out links from pairs without a
//! link (the mean rank of links, `held_out.rs`). It is free of the
//! unit of weights, and false links cost every candidate the same. Fits are to the
//! pattern of links then, and so should the final one be ([`Candidate::weights`]): a
//! ridge or a score that suits weights in one unit does not in another.
//!
//! The fits that decide follow the rules of a fit to all data: the same start,
//! the same tolerance, and where that would hold pairs out to decide when to
//! stop, so do they, from the pairs outside the fold. They do not look at the
//! fold that judges them.

mod choose;
mod criterion;
mod grid;
pub(crate) mod held_out;
mod nodes;
mod race;
mod wants;

pub use choose::{Comparison, Warning, compare};
pub use criterion::Criterion;
pub use grid::{Candidate, Grid, candidates};
pub use wants::{Change, Tried};

use choose::Band;

use std::time::Instant;

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::engine::runtime::{FitCount, Runtime};
use crate::error::{Error, Result};
use crate::model::check_weights;
use crate::model::folds::{Folds, HoldOut};
use crate::params::{Params, WeightTransform};
use held_out::HeldOut;

/// How a search is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The candidates.
    pub grid: Grid,
    /// The number of folds.
    pub folds: usize,
    /// Whether folds are of pairs or of nodes.
    pub hold_out: HoldOut,
    /// What compares the candidates on the pairs of a fold.
    pub criterion: Criterion,
    /// Most candidates are dropped after one or two folds; otherwise every
    /// candidate is fitted on every fold.
    pub halving: bool,
    /// Of the candidates within one standard error of the best the simplest is
    /// chosen: the largest ridge, then the smallest exponent. (By ranks it always
    /// is.)
    pub one_standard_error: bool,
    /// How weights count in all candidates; none: as the parameters say, except that
    /// ranks compare fits to the pattern of links unless those ask for a transform.
    pub weights: Option<WeightTransform>,
    /// What the graph is asked for beside, once settings are chosen.
    pub asked: Asked,
}

/// Whether a graph is asked if it wants more than an inner product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Offsets.
    pub offsets: bool,
    /// A signed similarity.
    pub signed: bool,
}

impl Search {
    /// The default search.
    pub fn around(params: &Params) -> Search {
        Search {
            grid: Grid::around(params),
            folds: 5,
            hold_out: HoldOut::Pairs,
            criterion: Criterion::default(),
            halving: true,
            one_standard_error: false,
            weights: None,
            asked: Asked {
                offsets: true,
                signed: true,
            },
        }
    }

    /// The parameters that all candidates share.
    fn base(&self, params: &Params, data: &Dataset) -> Params {
        let says_nothing = || data.graph().weights().iter().all(|&weight| weight == 1.0);
        let weights = match (self.weights, self.criterion) {
            (Some(weights), _) => weights,
            (None, _) if data.graph().is_signed() => WeightTransform::Binary,
            (None, Criterion::Rank)
                if params.weights == WeightTransform::AsIs && !says_nothing() =>
            {
                WeightTransform::Binary
            }
            _ => params.weights,
        };
        Params {
            weights,
            ..params.clone()
        }
    }
}

/// What a candidate did on a fold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Fitted {
        criterion: f64,
        ranks: Vec<f64>,
        steps: usize,
        moved: bool,
        collapsed: bool,
    },
    Failed(String),
}

/// A candidate and how it fared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The candidate.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// The mean of the criterion over the pairs of each fold that it was
    /// fitted for, with the fold; smaller is better. (Of ranks: over its links, the
    /// share of pairs without a link that are closer.)
    pub folds: Vec<(usize, f64)>,
    /// The ranks of each of those folds' links, where ranks are compared.
    #[serde(skip)]
    ranks: Vec<Vec<f64>>,
    /// The steps of its fits.
    pub steps: usize,
    /// The round after which it was dropped; unset: it went through all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_after: Option<usize>,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The folds on which it came no further than the next larger ridge.
    #[serde(skip)]
    idle: usize,
    /// The folds on which its embeddings, or the weights that it expects, came out as
    /// good as zero.
    pub collapsed: usize,
    /// Whether its fits are made as the final fit is, so that it can be chosen.
    pub settled: bool,
}

impl Entry {
    fn new(candidate: Candidate) -> Entry {
        Entry {
            candidate,
            folds: Vec::new(),
            ranks: Vec::new(),
            steps: 0,
            out_after: None,
            failure: None,
            idle: 0,
            collapsed: 0,
            settled: false,
        }
    }

    fn add(&mut self, fold: usize, outcome: Outcome) {
        match outcome {
            Outcome::Fitted {
                criterion,
                ranks,
                steps,
                moved,
                collapsed,
            } => {
                self.collapsed += usize::from(collapsed);
                self.folds.push((fold, criterion));
                self.ranks.push(ranks);
                self.steps += steps;
                self.idle += usize::from(!moved);
            }
            Outcome::Failed(message) => self.failure = Some(message),
        }
    }

    /// Whether no fit of it failed.
    pub fn is_sound(&self) -> bool {
        self.failure.is_none()
    }

    /// Whether any of its fits differs from that of the next larger ridge.
    pub fn moved(&self) -> bool {
        self.idle < self.folds.len()
    }

    /// Whether it tells no pair from another on half of the folds or more.
    pub fn has_collapsed(&self) -> bool {
        !self.folds.is_empty() && 2 * self.collapsed >= self.folds.len()
    }

    /// The mean of the criterion over the folds so far.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.folds.iter().map(|(_, value)| value).sum();
        (self.is_sound() && !self.folds.is_empty()).then(|| sum / self.folds.len() as f64)
    }
}

/// What a search found.
#[derive(Debug, Clone, Serialize)]
pub struct Selection {
    /// The chosen candidate.
    pub chosen: Candidate,
    /// Every candidate, with how far it is behind the best.
    pub candidates: Vec<Comparison>,
    /// The criterion.
    pub criterion: String,
    /// What was compared, in plain words.
    pub compared: String,
    /// The candidates, the chosen one among them, between which the criterion cannot
    /// decide: the simplest of them was chosen.
    pub tied: usize,
    /// Changes of the model that were tried with the chosen settings.
    pub tried: Vec<Tried>,
    /// The number of folds.
    pub folds: usize,
    /// What they are folds of.
    pub hold_out: HoldOut,
    /// The number of fits to folds.
    pub fits: usize,
    /// What a user should know.
    pub warnings: Vec<Warning>,
    /// Seconds of the whole search.
    pub seconds: f64,
}

impl Selection {
    /// The parameters with all that was chosen in place, and what the graph wants
    /// beside.
    pub fn params(&self, base: &Params) -> Params {
        let wanted = self.tried.iter().filter(|tried| tried.wanted);
        wanted.fold(self.chosen.params(base), |params, tried| {
            tried.change.params(&params)
        })
    }

    /// The candidates, best first.
    pub fn ranked(&self) -> Vec<&Comparison> {
        let mut ranked: Vec<&Comparison> = self.candidates.iter().collect();
        let place = |one: &Comparison| {
            let folds = std::cmp::Reverse(one.entry.folds.len());
            (!one.entry.is_sound(), folds)
        };
        ranked.sort_by(|a, b| {
            let behind = |one: &Comparison| one.behind.unwrap_or(f64::INFINITY);
            place(a)
                .cmp(&place(b))
                .then(behind(a).total_cmp(&behind(b)))
        });
        ranked
    }
}

/// Chooses among candidates by cross-validation; `base` has the settings that
/// they share.
///
/// ```
/// use linkproof::select::{Grid, Search};
/// use linkproof::{Dataset, Graph, Params, Runtime};
///
/// // Two rings of nodes.
/// let ring = |first: u32| (0..40u32).map(move |k| (first + k, first + (k + 1) % 40, 1.0));
/// let links: Vec<_> = ring(0).chain(ring(40)).collect();
/// let data = Dataset::from_links(Graph::from_rows(80, &links)?)?;
/// let base = Params { dim: 2, steps: Some(20), ..Default::default() };
/// let grid = Grid { betas: vec![0.1], ridges: vec![1.0, 10.0], ..Grid::around(&base) };
/// let search = Search { grid, folds: 2, ..Search::around(&base) };
/// let found = linkproof::select(&base, &data, &search, Runtime::default())?;
/// assert!([1.0, 10.0].contains(&found.chosen.ridge));
/// # Ok::<(), linkproof::Error>(())
/// ```
pub fn select(
    base: &Params,
    data: &Dataset,
    search: &Search,
    runtime: Runtime<'_>,
) -> Result<Selection> {
    let found = search_all(base, data, search, runtime);
    if let Err(Error::Diverged { .. }) = found {
        // No rate and no ridge helps against weights that are too large.
        check_weights(&base.clone().check()?, data)?;
    }
    found
}

fn search_all(
    base: &Params,
    data: &Dataset,
    search: &Search,
    runtime: Runtime<'_>,
) -> Result<Selection> {
    let clock = Instant::now();
    let base = &search.base(base, data);
    let candidates = candidates(&search.grid, base)?;
    let folds = Folds::new(base.seed, search.folds)?.of(search.hold_out);
    if let Some((_, params)) = candidates.first() {
        folds.check(data, params)?;
    }
    let held_out = match (search.criterion, candidates.first()) {
        (Criterion::Rank, Some((_, params))) => Some(HeldOut::new(data, folds, params)?),
        _ => None,
    };
    let count = FitCount::new(runtime, 0);
    let mut trial = wants::Trial {
        data,
        search,
        folds,
        count: &count,
        links_per_mean: 0.0,
    };
    let race = race::Race {
        data,
        candidates: &candidates,
        folds,
        held_out,
        search,
        count: &count,
        later: trial.n_fits(base),
    };
    let (entries, coarse_fits) = race.run()?;
    let settled = entries.iter().filter(|entry| entry.settled);
    let fits = coarse_fits + settled.map(|entry| entry.folds.len()).sum::<usize>();
    // Scores are means over all pairs, ranks over links.
    let linked = data.graph().n_links() as f64 / n_pairs(data);
    let links_per_mean = match search.criterion {
        Criterion::Rank => 1.0,
        Criterion::Score { .. } => linked,
    };
    let node = nodes::node_of(data);
    let ends = |fold: usize| -> Vec<[usize; 2]> {
        let ends = race.held_out.iter().flat_map(|it| it.ends(fold));
        ends.map(|ends| ends.map(node)).collect()
    };
    let compared = compare(entries, links_per_mean, &ends);
    let Some((chosen, tied)) = choose::choose(&compared, Band::of(search)) else {
        return Err(all_failed(&compared));
    };
    let warnings = choose::warnings(&compared, &chosen, search);
    trial.links_per_mean = linked;
    let tried = trial.run(&chosen.params(base))?;
    Ok(Selection {
        chosen,
        candidates: compared,
        criterion: search.criterion.to_string(),
        compared: search.criterion.in_words(),
        tied,
        tried,
        folds: search.folds,
        hold_out: search.hold_out,
        fits,
        warnings,
        seconds: clock.elapsed().as_secs_f64(),
    })
}

fn n_pairs(data: &Dataset) -> f64 {
    let n = data.n_nodes() as f64;
    n * (n - 1.0) / 2.0
}

fn all_failed(compared: &[Comparison]) -> Error {
    let first = compared.iter().find_map(|one| one.entry.failure.clone());
    Error::Diverged {
        step: 0,
        detail: format!(
            "none of {} candidates could be fitted on every fold; the first said: {}",
            compared.len(),
            first.unwrap_or_else(|| "nothing".into())
        ),
    }
}

#[cfg(test)]
mod rank_tests;
#[cfg(test)]
mod tests;
