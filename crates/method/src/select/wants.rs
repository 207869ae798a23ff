//! Whether a graph wants more than an inner product: offsets, or a signed similarity.
//!
//! Fits with the chosen settings are compared, with and without, by the score of held-out
//! pairs: ranks among pairs whose ends have as many links would not see offsets at all.

use rayon::prelude::*;
use serde::Serialize;

use super::nodes::{MOST_NODES, Scored};
use super::{Asked, Search};
use crate::data::dataset::Dataset;
use crate::engine::objective::Prepared;
use crate::engine::runtime::{ALONE_NODES, Doing, FitCount, Fits};
use crate::error::{Error, Result};
use crate::model::folds::{Care, FoldFit, Folds, fit_fold};
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
    /// The standard error of that, by nodes (over folds, of very many nodes).
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
    pub links_per_mean: f64,
}

impl Trial<'_> {
    /// What to try on top of settings, one after the other; of several the best.
    fn steps(&self, chosen: &Params) -> Vec<Vec<Change>> {
        let Asked { offsets, signed } = self.search.asked;
        let mut steps: Vec<Vec<Change>> = Vec::new();
        if offsets && !chosen.offsets {
            steps.push(vec![Change::Offsets]);
        }
        // Between views any inner product can be negative.
        if signed && chosen.similarity == Similarity::Inner && self.data.views().len() == 1 {
            let share = |negative_share| Change::Signed { negative_share };
            steps.push(SHARES.map(share).to_vec());
        }
        steps
    }

    /// The fits that it will take.
    pub fn n_fits(&self, chosen: &Params) -> usize {
        let steps = self.steps(chosen);
        let tried: usize = steps.iter().map(Vec::len).sum();
        match tried {
            0 => 0,
            tried => (tried + 1) * self.folds.number(),
        }
    }

    /// Tries what was asked for on top of chosen settings, one after the other.
    pub fn run(&self, chosen: &Params) -> Result<Vec<Tried>> {
        let steps = self.steps(chosen);
        if !steps.is_empty() {
            let stage = Fits {
                number: self.n_fits(chosen),
                cost: 1.0,
            };
            self.count
                .begin(Doing::TryingChanges, stage, Fits::default());
        }
        let mut found: Vec<Tried> = Vec::new();
        let mut current = chosen.clone();
        let mut before: Option<Vec<FoldFit>> = None;
        for changes in steps {
            let reference = match before.take() {
                Some(known) => known,
                None => match self.fits(&current)? {
                    Some(fits) => fits,
                    None => return Ok(found),
                },
            };
            let first = found.len();
            let mut all = Vec::new();
            for change in changes {
                let changed = change.params(&current);
                let Some(fits) = self.fits(&changed)? else {
                    continue;
                };
                let (gain, standard_error) =
                    self.gain((&current, &reference), (&changed, &fits))?;
                let wanted = gain > LEAST.max(ERRORS * standard_error);
                found.push(Tried {
                    change,
                    gain,
                    standard_error,
                    wanted,
                });
                all.push(fits);
            }
            // Of several the best alone.
            let by_gain = |a: &usize, b: &usize| found[*a].gain.total_cmp(&found[*b].gain);
            let best = (first..found.len()).max_by(by_gain);
            for (place, tried) in found.iter_mut().enumerate().skip(first) {
                tried.wanted &= Some(place) == best;
            }
            before = Some(reference);
            if let Some(best) = best.filter(|&best| found[best].wanted) {
                current = found[best].change.params(&current);
                before = Some(all.swap_remove(best - first));
            }
        }
        Ok(found)
    }

    /// The score of held-out pairs.
    fn score(&self) -> Score {
        let likelihood = || Score::new(ScoreKind::Likelihood, 0.0);
        self.search.criterion.formula().unwrap_or_else(likelihood)
    }

    /// Fits that did not see each fold, with their mean score of its pairs; none where
    /// one diverged.
    fn fits(&self, params: &Params) -> Result<Option<Vec<FoldFit>>> {
        let params = params.clone().check()?;
        let score = self.score();
        let of_fold = |fold: usize| {
            let split = self.folds.split_of_fit(fold, &params, self.data);
            let prepared = Prepared::new(self.data, &params, Some(split), None)?;
            let runtime = self.count.runtime();
            let fit = fit_fold(&params, &prepared, Care::AsAFit, Some(&score), runtime)?;
            runtime.after_fit(1, 1);
            Ok(fit)
        };
        let folds = 0..self.folds.number();
        let found: Vec<Result<FoldFit>> = match self.data.n_nodes() > ALONE_NODES {
            true => folds.map(of_fold).collect(),
            false => folds.into_par_iter().map(of_fold).collect(),
        };
        let found: Result<Vec<FoldFit>> = found.into_iter().collect();
        match found {
            Err(Error::Diverged { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    /// How much smaller the second scores are, for each link, and the standard error: by
    /// nodes, which pairs share, or over folds where nodes are very many.
    fn gain(
        &self,
        (params, before): (&Params, &[FoldFit]),
        (changed, after): (&Params, &[FoldFit]),
    ) -> Result<(f64, f64)> {
        let gains: Vec<f64> = (before.iter().zip(after))
            .filter_map(|(before, after)| Some(before.criterion? - after.criterion?))
            .map(|gain| gain / self.links_per_mean)
            .collect();
        let n = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / n;
        if self.data.n_nodes() > MOST_NODES {
            let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
            return Ok((mean, (squares / (n - 1.0) / n).sqrt()));
        }
        let scored = Scored {
            data: self.data,
            score: self.score(),
            folds: self.folds,
        };
        let error = scored.error((params, before), (changed, after), mean)?;
        Ok((mean, error))
    }
}
