//! Each link judged by a fit that did not see it.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{RandomPair, SeenWeights, Verdict, least_trusted_first};
use crate::data::dataset::Dataset;
use crate::data::graph::Link;
use crate::engine::pairs::Split;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::model::folds::Folds;
use crate::model::{Fit, Fitted};
use crate::params::CheckedParams;
use crate::score::Score;

/// Links and pairs judged by fits that did not see them.
#[derive(Debug, Clone)]
pub struct CrossFit {
    /// The links, least trusted first.
    pub verdicts: Vec<Verdict>,
    /// The expected weight of each random pair.
    pub random: Vec<f64>,
}

/// Fits once for each fold, to the pairs of the others, and judges its links. The
/// fits do not look at their fold: what decides when they stop are other pairs.
pub fn cross_fit(
    params: &CheckedParams,
    data: &Dataset,
    folds: Folds,
    random: &[RandomPair],
    runtime: Runtime<'_>,
) -> Result<CrossFit> {
    folds.check(data, params)?;
    let seen = SeenWeights::new(params.given(), data)?;
    let done = AtomicUsize::new(0);
    let parts: Vec<_> = (0..folds.number())
        .into_par_iter()
        .map(|fold| {
            let split = folds.split(fold);
            let fit = Fit::new(params).not_seeing(split);
            let fitted = fit.runtime(runtime.of_one_of_many()).run(data)?;
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            runtime.after_fit(count, folds.number());
            let links = data.graph().links();
            let links = links.filter(|link| split.holds_out(link.src, link.dst));
            Ok((
                judge_inside(&fitted, data, &seen, links),
                mus(&fitted, random, split),
            ))
        })
        .collect::<Result<_>>()?;
    let mut verdicts = Vec::with_capacity(data.graph().n_links());
    let mut found = vec![0.0; random.len()];
    for (part, mus) in parts {
        verdicts.extend(part);
        for (place, mu) in mus {
            found[place] = mu;
        }
    }
    Ok(CrossFit {
        verdicts: least_trusted_first(verdicts),
        random: found,
    })
}

/// Judges links between internal rows.
pub(super) fn judge_inside(
    fitted: &Fitted,
    data: &Dataset,
    seen: &SeenWeights,
    links: impl Iterator<Item = Link>,
) -> Vec<Verdict> {
    let score = Score::of(fitted.params());
    links
        .map(|link| {
            let of_user = data.user_link(link);
            let expected = fitted.pair(of_user.src as usize, of_user.dst as usize);
            Verdict::seen_as(&score, of_user, seen.of(&link), expected)
        })
        .collect()
}

/// The random pairs of a fold, by their places, with their expected weights.
fn mus(fitted: &Fitted, random: &[RandomPair], split: Split) -> Vec<(usize, f64)> {
    let of_fold = |pair: &RandomPair| split.holds_out(pair.inside.0, pair.inside.1);
    let pairs = random.iter().enumerate();
    pairs
        .filter(|(_, pair)| of_fold(pair))
        .map(|(place, pair)| {
            (
                place,
                fitted.pair(pair.src as usize, pair.dst as usize).strength,
            )
        })
        .collect()
}
