//! The recipe as one step: from data to a model that can be kept.

use std::time::Instant;

use super::outcome::RobustSummary;
use super::recipe::{Recipe, fit_robust};
use crate::data::dataset::Dataset;
use crate::engine::runtime::Runtime;
use crate::error::Result;
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

/// Fits by the whole recipe. The runtime hears of the fits that judge links, over
/// all stages.
pub fn fit_model(
    params: &CheckedParams,
    data: &Dataset,
    recipe: &Recipe,
    runtime: Runtime<'_>,
) -> Result<RobustFit> {
    let clock = Instant::now();
    let robust = fit_robust(params, data, recipe, runtime)?;
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
            ..Recipe::default()
        }
    }
}
