//! Robust fits that can be kept, and fits to parts of the nodes.

use std::borrow::Cow;
use std::time::Instant;

use super::recipe::{Recipe, fit_robust};
use super::summary::RobustSummary;
use super::unseen::believed_links;
use super::walks::walks_over;
use super::weight;
use crate::data::dataset::Dataset;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::explained::averages;
use crate::model::{self, Believed, Fitted, Replicates, bootstrap_seen};
use crate::params::CheckedParams;

/// A robust fit that can be kept.
#[derive(Debug, Clone)]
pub struct RobustFit {
    /// The model, with what was found of its links.
    pub model: Fitted,
    /// What was found and chosen, in few numbers.
    pub summary: RobustSummary,
}

/// A robust fit as a model that can be kept.
///
/// ```
/// use linkproof::robust::{Recipe, fit_model};
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
/// assert!(!found.summary.facts.judged.abstained);
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

/// Fits to parts of the nodes of a model, plain or robust, for standard errors. Beliefs
/// are those of the model; walks are over the links of each part.
///
/// # Errors
/// Fewer than five replicates; data that are not the model's.
pub fn bootstrap(
    model: &Fitted,
    data: &Dataset,
    recipe: &Recipe,
    count: usize,
    runtime: Runtime<'_>,
) -> Result<Replicates> {
    let params = model.params().clone().check()?;
    let believed = model.believed().filter(|it| !it.abstained);
    let Some(beliefs) = believed.map(Believed::beliefs) else {
        return model::bootstrap(&params, data, model, count, runtime);
    };
    let weights = beliefs.iter().map(|&belief| weight(belief));
    let trusted = model.links().with_weights(weights.collect())?;
    let trusted = data.with_graph(data.to_internal_rows(trusted)?);
    let walked = |part: Dataset| {
        let walked = walks_over(&part, part.graph(), recipe.walks)?;
        Ok(part.with_graph(walked))
    };
    bootstrap_seen(&params, &trusted, model, count, walked, runtime)
}

/// For each node the share of its cluster that stays with it, over replicates, whose
/// embeddings are averaged as the model's are. None without replicates.
///
/// # Errors
/// Clusters of other nodes.
pub fn together(model: &Fitted, clusters: &[u32], seed: u64) -> Result<Option<Vec<f64>>> {
    let Some(believed) = model.believed().filter(|_| model.averaged().is_some()) else {
        return model.together(clusters, seed);
    };
    let links = believed_links(model, believed);
    model.together_by(clusters, seed, |part| {
        let mut levels = averages(&links, &part.embeddings, model.dim(), believed.rounds);
        Cow::Owned(levels.pop().unwrap_or_default())
    })
}
