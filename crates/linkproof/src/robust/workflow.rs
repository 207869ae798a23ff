//! The recipe as one step: from data to a model that can be kept.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::outcome::RobustSummary;
use super::recipe::{Recipe, fit_robust};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::folds::Watcher;
use crate::model::Fitted;
use crate::params::CheckedParams;

/// A robust fit that can be kept.
#[derive(Debug, Clone)]
pub struct RobustFit {
    /// The model, with what was found of its links.
    pub model: Fitted,
    /// What was found and chosen, in few numbers.
    pub summary: RobustSummary,
}

/// Fits by the whole recipe. The watcher hears of the fits that judge links, over
/// all stages.
pub fn fit_model(
    params: &CheckedParams,
    data: &Dataset,
    recipe: &Recipe,
    watcher: Watcher<'_>,
) -> Result<RobustFit> {
    let clock = Instant::now();
    let robust = recipe.counting(watcher, |watcher| fit_robust(params, data, recipe, watcher))?;
    let summary = robust.summary(recipe);
    let seconds = clock.elapsed().as_secs_f64();
    let model = robust.into_model(data, recipe, seconds)?;
    Ok(RobustFit { model, summary })
}

impl Recipe {
    /// The recipe with a ridge that is given.
    pub fn at_ridge(ridge: f64) -> Recipe {
        Recipe {
            ridges: vec![ridge],
            factors: vec![1.0],
            ..Recipe::default()
        }
    }

    /// The most fits that judge links.
    fn most_fits(&self) -> usize {
        let compared = self.compared_folds.clamp(1, self.folds.max(1));
        match self.ridges.len() {
            0 | 1 => self.folds,
            ridges => ridges * compared + self.folds - compared,
        }
    }

    /// Counts the fits of all stages of a search for the ridge.
    pub(super) fn counting<R>(
        &self,
        watcher: Watcher<'_>,
        work: impl FnOnce(Watcher<'_>) -> R,
    ) -> R {
        let (done, most) = (AtomicUsize::new(0), self.most_fits());
        work(Watcher {
            after_fit: &|_, _| (watcher.after_fit)(done.fetch_add(1, Ordering::Relaxed) + 1, most),
            goes_on: watcher.goes_on,
        })
    }
}
