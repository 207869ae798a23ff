//! Averages over believed links, of nodes that a fit saw and of others.

use linkproof_method::data::dataset::Dataset;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::model::Fitted;
use linkproof_method::trust::audit::{Judges, judge_by};
use linkproof_method::trust::smooth::Smoother;

use super::labelled::Training;

/// Rounds of averaging, as many as the graph networks that average have layers.
pub const ROUNDS: usize = 2;
const FOLDS: usize = 5;

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
    /// From data vectors and links.
    pub with_links: Vec<f32>,
}

/// The test nodes by averages over believed links.
pub fn embed_unseen_smoothly(
    model: &Fitted,
    training: &Training,
    runtime: Runtime<'_>,
) -> Result<Unseen> {
    let smoother = smoother(model, &training.data, runtime)?;
    let encoded = model.encode_view(0, &training.unseen, None)?;
    let with_links = smoother.embed(&encoded, &training.links)?;
    let learnt = smoother.unseen(0, &training.data)?;
    let alone = learnt.embed(training.unseen.matrix())?;
    Ok(Unseen { alone, with_links })
}
