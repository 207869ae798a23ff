//! Ways to embed a graph that the experiments compare: a plain fit, settings
//! chosen without labels, averages over believed links.

use linkproof_method::data::dataset::Dataset;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::model::Fitted;
use linkproof_method::model::folds::HoldOut;
use linkproof_method::params::{Params, ScoreKind};
use linkproof_method::select::{Grid, Search, select};
use linkproof_method::trust::audit::{Judges, judge_by};
use linkproof_method::trust::smooth::Smoother;

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

/// Averages over links, each judged by a fit that did not see it.
pub fn smoother<'m>(
    model: &'m Fitted,
    data: &Dataset,
    runtime: Runtime<'_>,
) -> Result<Smoother<'m>> {
    let judged = judge_by(model, data, Judges::Folds(FOLDS), runtime)?;
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
        _ => Some(model.embed_view(0, &training.unseen, Some(&training.links))?),
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
