//! Whether a graph wants more than an inner product: offsets, or a signed similarity.
//!
//! Fits with the chosen settings are compared, with and without, by the score of held-out
//! pairs: ranks among pairs whose ends have as many links would not see offsets at all.

use rayon::prelude::*;
use serde::Serialize;

use super::Search;
use super::choose::over_folds;
use crate::data::dataset::Dataset;
use crate::engine::runtime::{ALONE_NODES, Doing, FitCount, Fits};
use crate::error::{Error, Result};
use crate::model::folds::{Folds, fit_fold};
use crate::params::{Params, ScoreKind, Similarity};
use crate::score::Score;

/// So many standard errors a change must gain: fits to a few folds share most of their
/// links, and differ by less than chance would have it.
const ERRORS: f64 = 2.0;
/// And so much a link: offsets also make good a little of what a large ridge takes, and a
/// graph does not want them for that.
const LEAST: f64 = 0.03;
/// The shares of negative dimensions that are tried.
const SHARES: [f64; 2] = [0.25, 0.5];

/// A change of the model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "change")]
pub enum Change {
    /// Each node has an offset.
    Offsets,
    /// The similarity counts a share of the dimensions as negative.
    #[serde(rename_all = "kebab-case")]
    Signed {
        /// The share.
        negative_share: f64,
    },
}

/// A change and what it does for held-out pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tried {
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// How much smaller the score of held-out pairs is, for each link of them.
    pub gain: f64,
    /// The standard error of that, over folds.
    pub standard_error: f64,
    /// Whether the graph wants it.
    pub wanted: bool,
}

impl Change {
    /// The parameters with the change made.
    pub fn params(self, params: &Params) -> Params {
        let mut changed = params.clone();
        match self {
            Change::Offsets => changed.offsets = true,
            Change::Signed { negative_share } => {
                changed.similarity = Similarity::Signed;
                changed.negative_share = negative_share;
            }
        }
        changed
    }
}

/// What is held out, and how.
pub(super) struct Trial<'t> {
    pub data: &'t Dataset,
    pub search: &'t Search,
    pub folds: Folds,
    pub count: &'t FitCount<'t>,
    /// The share of the pairs that are linked: scores are means over all pairs.
    pub linked_share: f64,
}

impl Trial<'_> {
    /// What to try on top of settings, one after the other; of several the best.
    fn groups(&self, chosen: &Params) -> Vec<Vec<Change>> {
        let mut groups = Vec::new();
        if self.search.try_offsets && !chosen.offsets {
            groups.push(vec![Change::Offsets]);
        }
        // Between views any inner product can be negative.
        let inner = chosen.similarity == Similarity::Inner && self.data.views().len() == 1;
        if self.search.try_signed && inner {
            let share = |negative_share| Change::Signed { negative_share };
            groups.push(SHARES.map(share).to_vec());
        }
        groups
    }

    /// The fits that it will take.
    pub fn n_fits(&self, chosen: &Params) -> usize {
        match self.groups(chosen).iter().map(Vec::len).sum() {
            0 => 0,
            tried => (tried + 1) * self.folds.number(),
        }
    }

    /// Tries what was asked for on top of chosen settings, one after the other.
    pub fn run(&self, chosen: &Params) -> Result<Vec<Tried>> {
        let stage = Fits {
            number: self.n_fits(chosen),
            cost: 1.0,
        };
        let mut found = Vec::new();
        if stage.number == 0 {
            return Ok(found);
        }
        self.count
            .begin(Doing::TryingChanges, stage, Fits::default());
        let mut current = chosen.clone();
        let Some(mut before) = self.scores(&current)? else {
            return Ok(found);
        };
        for group in self.groups(chosen) {
            let mut best: Option<(usize, Vec<f64>)> = None;
            for change in group {
                let Some(after) = self.scores(&change.params(&current))? else {
                    continue;
                };
                let gains = before.iter().zip(&after);
                let gains = gains.map(|(before, after)| (before - after) / self.linked_share);
                let (gain, error) = over_folds(gains.collect());
                let standard_error = error.unwrap_or(0.0);
                if best.as_ref().is_none_or(|(best, _): &(usize, _)| {
                    let best: &Tried = &found[*best];
                    gain >= best.gain
                }) {
                    best = Some((found.len(), after));
                }
                found.push(Tried {
                    change,
                    gain,
                    standard_error,
                    wanted: false,
                });
            }
            let Some((best, after)) = best else {
                continue;
            };
            let best = &mut found[best];
            best.wanted = best.gain > LEAST.max(ERRORS * best.standard_error);
            if best.wanted {
                current = best.change.params(&current);
                before = after;
            }
        }
        Ok(found)
    }

    /// The mean scores of the pairs of each fold under fits that did not see it; none if
    /// one diverged.
    fn scores(&self, params: &Params) -> Result<Option<Vec<f64>>> {
        let params = params.clone().check()?;
        let likelihood = || Score::new(ScoreKind::Likelihood, 0.0);
        let score = self.search.criterion.formula().unwrap_or_else(likelihood);
        let of_fold = |fold: usize| {
            let runtime = self.count.runtime();
            let fit = fit_fold(
                &params,
                self.data,
                (self.folds, fold),
                Some(&score),
                runtime,
            )?;
            runtime.after_fit(1, 1);
            Ok(fit.criterion.unwrap_or(f64::NAN))
        };
        let folds = 0..self.folds.number();
        let found: Vec<Result<f64>> = if self.data.n_nodes() > ALONE_NODES {
            folds.map(of_fold).collect()
        } else {
            folds.into_par_iter().map(of_fold).collect()
        };
        match found.into_iter().collect() {
            Err(Error::Diverged { .. }) => Ok(None),
            other => other.map(Some),
        }
    }
}
