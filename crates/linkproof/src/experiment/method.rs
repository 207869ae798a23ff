//! Ways to embed a graph that the experiments compare: a plain fit, settings
//! chosen without labels, averages over believed links.

use crate::audit::{cross_fit, random_pairs};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::folds::{Folds, HoldOut, Watcher};
use crate::model::Fitted;
use crate::params::{Params, ScoreKind};
use crate::select::{Grid, Search, select};
use crate::smooth::Smoother;

use super::labelled::Training;

/// Rounds of averaging, as many as the graph networks that average have layers.
pub const ROUNDS: usize = 2;
/// Random pairs that links are compared with.
const RANDOM_PAIRS: usize = 20_000;
const FOLDS: usize = 5;

/// Chooses score, exponent and ridge by folds of nodes, so that the fit suits
/// nodes that it does not know.
pub fn choose(
    base: &Params,
    data: &Dataset,
    scores: &[ScoreKind],
    watcher: Watcher<'_>,
) -> Result<Params> {
    let search = Search {
        grid: Grid {
            scores: scores.to_vec(),
            ..Grid::around(base)
        },
        hold_out: HoldOut::Nodes,
        ..Search::around(base)
    };
    Ok(select(base, data, &search, watcher)?.chosen.params(base))
}

/// Averages over links, each judged by a fit that did not see it.
pub fn smoother<'m>(
    model: &'m Fitted,
    data: &Dataset,
    watcher: Watcher<'_>,
) -> Result<Smoother<'m>> {
    let params = model.params().clone().check()?;
    let random = random_pairs(data, RANDOM_PAIRS, params.seed);
    let folds = Folds::new(params.seed, FOLDS)?;
    let judged = cross_fit(&params, data, folds, &random, watcher)?;
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
    watcher: Watcher<'_>,
) -> Result<Unseen> {
    let smoother = smoother(model, &training.data, watcher)?;
    let encoded = model.embed(&training.unseen)?;
    let with_links = smoother.embed(0, &encoded, &training.links)?;
    let learnt = smoother.unseen(0, &training.data)?;
    let alone = learnt.embed(training.unseen.matrix())?;
    Ok(Unseen {
        alone,
        with_links: Some(with_links),
    })
}
