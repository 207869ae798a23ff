//! Ways to embed a graph that the experiments compare: a plain fit, settings
//! chosen without labels, suspects set aside, averages over believed links.

use crate::audit::{cross_fit, pairs_to_compare};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::folds::{Folds, HoldOut};
use crate::model::{Fit, Fitted};
use crate::params::{Params, ScoreKind};
use crate::refine::{Refinement, find_suspects};
use crate::runtime::Runtime;
use crate::select::{Grid, Search, select};
use crate::smooth::Smoother;

use super::labelled::Training;

/// Rounds of averaging, as many as the graph networks that average have layers.
pub const ROUNDS: usize = 2;
const FOLDS: usize = 5;

/// Chooses score, exponent and ridge by folds of nodes, so that the fit suits
/// nodes that it does not know.
pub fn choose(
    base: &Params,
    data: &Dataset,
    scores: &[ScoreKind],
    runtime: Runtime<'_>,
) -> Result<Params> {
    let search = Search {
        grid: Grid {
            scores: scores.to_vec(),
            ..Grid::around(base)
        },
        hold_out: HoldOut::Nodes,
        ..Search::around(base)
    };
    Ok(select(base, data, &search, runtime)?.chosen.params(base))
}

/// A fit without the links that the criterion says it is better off without.
pub fn fit_refined(params: &Params, data: &Dataset, runtime: Runtime<'_>) -> Result<Fitted> {
    let params = params.clone().check()?;
    let found = find_suspects(&params, data, &Refinement::default(), runtime)?;
    let fit = Fit::new(&params).without(found.aside.as_ref());
    fit.runtime(runtime.of_one_of_many()).run(data)
}

/// Averages over links, each judged by a fit that did not see it.
pub fn smoother<'m>(
    model: &'m Fitted,
    data: &Dataset,
    runtime: Runtime<'_>,
) -> Result<Smoother<'m>> {
    let params = model.params().clone().check()?;
    let random = pairs_to_compare(model, data);
    let folds = Folds::new(params.seed, FOLDS)?;
    let judged = cross_fit(&params, data, folds, &random, runtime)?;
    Ok(Smoother::new(model, judged.verdicts, judged.random, ROUNDS))
}

/// Embeddings of nodes that a fit did not see.
#[derive(Debug, Clone)]
pub struct Unseen {
    /// From data vectors alone.
    pub alone: Vec<f32>,
    /// From data vectors and links, where the method reads links then.
    pub with_links: Option<Vec<f32>>,
}

/// The test nodes by a fit to the others.
pub fn embed_unseen(model: &Fitted, training: &Training) -> Result<Unseen> {
    let with_links = match model.params().propagate {
        0 => None,
        _ => Some(model.embed_view(None, &training.unseen, Some(&training.link_graph))?),
    };
    Ok(Unseen {
        alone: model.embed(&training.unseen)?,
        with_links,
    })
}

/// The test nodes by averages over believed links.
pub fn embed_unseen_smoothly(
    model: &Fitted,
    training: &Training,
    runtime: Runtime<'_>,
) -> Result<Unseen> {
    let smoother = smoother(model, &training.data, runtime)?;
    let encoded = model.embed(&training.unseen)?;
    let with_links = smoother.embed(0, &encoded, &training.links)?;
    let learnt = smoother.unseen(0, &training.data)?;
    let alone = learnt.embed(training.unseen.matrix())?;
    Ok(Unseen {
        alone,
        with_links: Some(with_links),
    })
}
