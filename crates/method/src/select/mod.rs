//! Choosing score, exponent, ridge and more without labels: cross-validation
//! over folds of the pairs, by one fixed criterion.
//!
//! By default that is how well embeddings tell held-out links from pairs without a
//! link (the mean rank of links, `held_out.rs`). It is free of the
//! unit of weights, and false links cost every candidate the same. Fits are to the
//! pattern of links then, and so should the final one be ([`Candidate::weights`]): a
//! ridge or a score that suits weights in one unit does not in another.
//!
//! Fits follow the rules of a fit to all data: the same start, the same tolerance, and if
//! that would hold pairs out to decide when to stop, so do they, from the pairs outside the
//! fold. They do not look at the fold that judges them.

mod changes;
mod choose;
mod criterion;
mod grid;
pub(crate) mod held_out;
mod options;
mod race;

pub use changes::{Change, Tried};
pub use choose::Warning;
pub use criterion::Criterion;
pub use grid::{Candidate, Grid, candidates};
pub use options::SearchOptions;

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
    /// Whether offsets are tried once settings are chosen.
    pub try_offsets: bool,
    /// Whether a signed similarity is tried once settings are chosen.
    pub try_signed: bool,
}

impl Search {
    /// The default search.
    pub fn around(params: &Params) -> Search {
        SearchOptions::default().search(params, |_| false)
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

/// A candidate, how it fared, and how far it is behind the best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The candidate.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// The mean of the criterion over the pairs of each fold that it was
    /// fitted for, with the fold; smaller is better. (Of ranks: over its links, the
    /// share of pairs without a link that are closer.)
    pub folds: Vec<(usize, f64)>,
    /// The ranks of each of those folds' links, if ranks are compared.
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
    /// The folds on which its embeddings, or the weights that it expects, came out as
    /// good as zero.
    pub collapsed: usize,
    /// The mean of the criterion over its folds, a pair.
    pub mean: Option<f64>,
    /// How far it is behind the best on the folds that it was fitted for, in
    /// units of the criterion per link.
    pub behind: Option<f64>,
    /// The standard error of that difference, if it had two folds or more.
    pub standard_error: Option<f64>,
}

impl Comparison {
    fn new(candidate: Candidate) -> Comparison {
        Comparison {
            candidate,
            folds: Vec::new(),
            ranks: Vec::new(),
            steps: 0,
            out_after: None,
            failure: None,
            collapsed: 0,
            mean: None,
            behind: None,
            standard_error: None,
        }
    }

    /// Whether no fit of it failed.
    pub fn is_sound(&self) -> bool {
        self.failure.is_none()
    }

    /// Whether it tells no pair from another on half of the folds or more.
    pub fn has_collapsed(&self) -> bool {
        !self.folds.is_empty() && 2 * self.collapsed >= self.folds.len()
    }

    /// The mean of the criterion over the folds so far; infinite without one.
    fn order(&self) -> f64 {
        let sum: f64 = self.folds.iter().map(|(_, value)| value).sum();
        if self.is_sound() && !self.folds.is_empty() {
            sum / self.folds.len() as f64
        } else {
            f64::INFINITY
        }
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
    pub criterion: Criterion,
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
    #[serde(skip)]
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
            let folds = std::cmp::Reverse(one.folds.len());
            (!one.is_sound(), folds)
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
    let n = data.n_nodes() as f64;
    let linked_share = data.graph().n_links() as f64 / (n * (n - 1.0) / 2.0);
    let trial = changes::Trial {
        data,
        search,
        folds,
        count: &count,
        linked_share,
    };
    let race = race::Race {
        data,
        candidates: &candidates,
        folds,
        held_out: held_out.as_ref(),
        search,
        count: &count,
        later: trial.n_fits(base),
    };
    let mut compared = race.run()?;
    choose::compare(&mut compared, held_out.as_ref(), linked_share);
    let Some((chosen, tied)) = choose::choose(&compared, search) else {
        return Err(all_failed(&compared));
    };
    Ok(Selection {
        chosen,
        fits: compared.iter().map(|one| one.folds.len()).sum(),
        warnings: choose::warnings(&compared, &chosen, search),
        candidates: compared,
        criterion: search.criterion,
        tied,
        tried: trial.run(&chosen.params(base))?,
        folds: search.folds,
        hold_out: search.hold_out,
        seconds: clock.elapsed().as_secs_f64(),
    })
}

fn all_failed(compared: &[Comparison]) -> Error {
    let first = compared.iter().find_map(|one| one.failure.clone());
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
