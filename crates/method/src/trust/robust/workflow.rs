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
///
/// ```
/// use linkproof::trust::robust::{Recipe, fit_model};
/// use linkproof::{Dataset, Features, Graph, Matrix, Params, Runtime};
///
/// // Two groups, and a link between them.
/// let group = |node: u32| node % 2;
/// let mut links: Vec<(u32, u32, f64)> = (0..60)
///     .flat_map(|a| [2, 4, 6].map(|step| (a, (a + step) % 60, 1.0)))
///     .collect();
/// links.push((0, 31, 1.0));
/// let vectors = (0..60).flat_map(|node| {
///     (0..8).map(move |column| f64::from(column % 2 == group(node)) + 0.01 * f64::from(node % 7))
/// });
/// let data = Dataset::new(
///     Graph::from_rows(60, &links)?,
///     Features::new(Matrix::dense(60, 8, vectors.collect::<Vec<_>>())?),
/// )?;
/// let params = Params { dim: 2, ..Default::default() }.check()?;
/// let found = fit_model(&params, &data, &Recipe::default(), Runtime::default())?;
/// assert_eq!(found.model.n_nodes(), 60);
/// assert!(found.summary.trust.share_false < 0.5);
/// # Ok::<(), linkproof::Error>(())
/// ```
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
