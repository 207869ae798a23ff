//! The verdict on a plain fit: what is known of links and features without the
//! comparisons of a robust fit.

use serde::Serialize;

use super::agreement::{Agreement, Relation};
use super::judged::{LinksJudged, judged};
use super::weights::weights;
use crate::data::dataset::Dataset;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::model::{Fitted, has_collapsed};
use crate::params::{CheckedParams, ScoreKind, WeightTransform};
use crate::verdict::Advice;

/// What is known after a plain fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlainVerdict {
    /// What the judge finds about the links; none if there are too many for a look.
    pub judged: Option<LinksJudged>,
    /// Why the links were not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// Whether features and links agree, if there are features.
    pub agreement: Option<Agreement>,
    /// The weights that lead the fit, if any do.
    pub leading: Option<Leading>,
    /// How many dimensions carry information.
    pub effective_rank: f64,
    /// The dimension of the embedding.
    pub dim: usize,
    /// What to do, in one word.
    pub advice: Advice,
}

/// Weights that no Poisson count reaches, in a fit whose score is linear in the weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Leading {
    /// Their share of the links.
    pub share: f64,
    /// Their share of the weight.
    pub share_weight: f64,
}

/// Such weights lead a fit if they have at least this share of the weight.
const LEADING: f64 = 0.2;
/// With a larger share of false links a robust fit is advised.
const MANY_FALSE: f64 = 0.05;

/// Looks at a plain fit and the data that it was fitted to.
///
/// # Errors
/// An interrupt.
pub fn plain_verdict(model: &Fitted, data: &Dataset, runtime: Runtime<'_>) -> Result<PlainVerdict> {
    let params = model.params().clone().check()?;
    let found = judged(data, params.seed, runtime)?;
    let mut verdict = PlainVerdict {
        judged: found.links,
        not_judged: found.not_judged,
        agreement: found.agreement,
        leading: leading(&params, data),
        effective_rank: model.effective_rank(),
        dim: model.dim(),
        advice: Advice::Unknown,
    };
    verdict.advice = verdict.advice();
    Ok(verdict)
}

/// The weights that lead a fit.
fn leading(params: &CheckedParams, data: &Dataset) -> Option<Leading> {
    let given = params.given();
    let follows = given.weights == WeightTransform::AsIs && given.score != ScoreKind::Probability;
    if !follows || data.graph().n_links() == 0 {
        return None;
    }
    let (_, places) = weights(data);
    let all = data.graph().weights();
    let unit = all.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let sum = |weights: &mut dyn Iterator<Item = f64>| weights.map(|w| w / unit).sum::<f64>();
    let heavy = sum(&mut places.iter().map(|&place| all[place]));
    let share_weight = heavy / sum(&mut all.iter().copied());
    (share_weight >= LEADING).then(|| Leading {
        share: places.len() as f64 / all.len() as f64,
        share_weight,
    })
}

impl PlainVerdict {
    fn advice(&self) -> Advice {
        let agreement = self.agreement.as_ref();
        let apart =
            agreement.filter(|it| matches!(it.relation, Relation::Unrelated | Relation::Opposed));
        let facts = self.judged.as_ref().map(|judged| &judged.facts);
        match apart {
            _ if has_collapsed(self.effective_rank, self.dim) => Advice::FitAgain,
            Some(it) if it.vectors_alone => Advice::VectorsAlone,
            Some(_) => Advice::LinksAlone,
            _ if facts.is_some_and(|facts| facts.abstained) => Advice::Unknown,
            _ if self.leading.is_some() || self.share() >= MANY_FALSE => Advice::FitRobustly,
            _ if agreement.is_none() => Advice::Use,
            // Only a robust fit compares with the features alone.
            None => Advice::Unknown,
        }
    }

    /// The share of false links, or its lower bound; 0 if nothing can be said.
    pub fn share(&self) -> f64 {
        let share = self.judged.as_ref().and_then(|judged| judged.facts.share);
        share.map_or(0.0, |share| share.estimate.unwrap_or(share.low))
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
