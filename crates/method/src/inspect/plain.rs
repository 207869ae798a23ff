//! The verdict on a plain fit: what is known of links and features without the
//! comparisons of a robust fit.

use serde::Serialize;

use super::advice::in_percent;
use super::agreement::{Agreement, Relation};
use super::judged::{LinksJudged, judged};
use super::weights::weights;
use crate::data::dataset::Dataset;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::model::{Fitted, has_collapsed};
use crate::params::{CheckedParams, ScoreKind, WeightTransform};
use crate::verdict::{Advice, Said, Topic, auc, collapsed, dimensions};

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
    /// What to do, in one word.
    pub advice: Advice,
    /// The facts in words.
    pub verdict: Vec<Said>,
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
        advice: Advice::Unknown,
        verdict: Vec::new(),
    };
    (verdict.advice, verdict.verdict) = verdict.sentences(model.dim());
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
    fn sentences(&self, dim: usize) -> (Advice, Vec<Said>) {
        let (advice, says) = self.whether_to_use(dim);
        let mut said = vec![Said::new(Topic::Use, says)];
        match (&self.judged, &self.not_judged) {
            (Some(judged), _) => said.extend(judged.says.iter().cloned()),
            (None, Some(why)) => said.push(Said::new(Topic::Links, why)),
            (None, None) => {}
        }
        let agreement = self.agreement.as_ref();
        said.extend(agreement.map(|it| Said::new(Topic::Features, &it.says)));
        said.extend(
            self.leading
                .map(|it| Said::new(Topic::Weights, it.in_words())),
        );
        let dimensions = dimensions(self.effective_rank, dim);
        said.push(Said::new(Topic::Dimensions, dimensions));
        (advice, said)
    }

    fn whether_to_use(&self, dim: usize) -> (Advice, String) {
        if has_collapsed(self.effective_rank, dim) {
            let says = format!("No. {}", collapsed(self.effective_rank, dim));
            return (Advice::FitAgain, says);
        }
        let agreement = self.agreement.as_ref();
        let apart =
            agreement.filter(|it| matches!(it.relation, Relation::Unrelated | Relation::Opposed));
        if let Some(it) = apart {
            let (advice, says) = if it.vectors_alone {
                let says = "No. The links do not follow the features: for groups of similar nodes \
                            use the features alone.";
                (Advice::VectorsAlone, says)
            } else {
                let says = "No. The features look like noise. Fit to the links alone.";
                (Advice::LinksAlone, says)
            };
            return (advice, says.to_owned());
        }
        let facts = self.judged.as_ref().map(|judged| &judged.facts);
        if facts.is_some_and(|facts| facts.abstained) {
            let says = "Unknown. The links look random to everything that is known.";
            return (Advice::Unknown, says.to_owned());
        }
        if self.leading.is_some() {
            let says = "Not yet. A few heavy weights lead this fit; a robust fit uses weights as \
                        evidence only.";
            return (Advice::FitRobustly, says.to_owned());
        }
        let share = facts.and_then(|facts| facts.share);
        let share = share.map_or(0.0, |share| share.estimate.unwrap_or(share.low));
        if share >= MANY_FALSE {
            let says = format!(
                "Not yet. About {:.0}% of the links look random, and this fit uses all of them \
                 alike; a robust fit uses them by belief.",
                100.0 * share
            );
            return (Advice::FitRobustly, says);
        }
        let known = facts.map_or_else(String::new, auc);
        match agreement {
            None => (
                Advice::Use,
                format!("Probably. {known} There are no features to compare with.")
                    .replace("  ", " "),
            ),
            Some(_) => (
                Advice::Unknown,
                format!(
                    "Probably. {known} Whether it is better than the features alone, only a robust \
                     fit measures."
                )
                .replace("  ", " "),
            ),
        }
    }
}

impl Leading {
    fn in_words(&self) -> String {
        format!(
            "{} of the links, with {} of the weight, weigh more than a Poisson count can, and the \
             score of this fit follows them.",
            in_percent(self.share),
            in_percent(self.share_weight)
        )
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
