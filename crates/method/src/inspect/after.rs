//! The verdict on a plain fit: what can be known of links and data vectors without
//! judging each link by fits of its own.

use std::fmt;

use serde::Serialize;

use super::advice::in_percent;
use super::agreement::{Agreement, Relation, agreement};
use super::weights::weights;
use crate::data::dataset::Dataset;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::model::{Fitted, has_collapsed};
use crate::params::{CheckedParams, ScoreKind, WeightTransform};
use crate::trust::judge::glance;
use crate::trust::robust::{Advice, ON_A_LINE, Said, Topic, Trust, dimensions_sentence};

/// What is known after a plain fit. A robust fit has more to say:
/// [`crate::trust::robust::RobustSummary`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlainVerdict {
    /// What data vectors and common neighbours alone say of the links; none where there
    /// are too few links, too many for a look, or too little memory for one.
    pub trust: Option<Trust>,
    /// Whether links agree with data vectors, where there are some.
    pub agreement: Option<Agreement>,
    /// The weights that lead the fit, if any do.
    pub leading: Option<Leading>,
    /// How many dimensions the embeddings really use.
    pub effective_rank: f64,
    /// What to do, in one word.
    pub advice: Advice,
    /// All of it in words.
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

/// Such weights lead a fit from this share of the weight on.
const LEADING: f64 = 0.2;

/// Looks at a plain fit and the data that it was fitted to.
///
/// # Errors
/// None that the fit itself did not meet.
pub fn plain_verdict(model: &Fitted, data: &Dataset, runtime: Runtime<'_>) -> Result<PlainVerdict> {
    let params = model.params().clone().check()?;
    let trust = glance(&params, data, runtime)?.map(|found| Trust::new(&found));
    let agreement = agreement(data, params.seed)?;
    let effective_rank = model.effective_rank();
    let mut found = PlainVerdict {
        trust,
        agreement,
        leading: leading(&params, data),
        effective_rank,
        advice: Advice::Unknown,
        verdict: Vec::new(),
    };
    (found.advice, found.verdict) = found.sentences(model.dim());
    Ok(found)
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
        let agreement = self.agreement.as_ref();
        let (advice, short) = self.in_short(dim);
        let says = [
            (Topic::Short, Some(format!("In short: {short}"))),
            (Topic::Judged, Some(self.doubtful())),
            (Topic::Agreement, agreement.map(|it| it.says.clone())),
            (Topic::Weights, self.leading.map(|it| it.to_string())),
            (
                Topic::Dimensions,
                Some(dimensions_sentence(self.effective_rank, dim)),
            ),
            (Topic::Sure, Some(self.sure())),
        ];
        let said = says.into_iter();
        let said = said.filter_map(|(about, says)| says.map(|says| Said { about, says }));
        (advice, said.collect())
    }

    fn in_short(&self, dim: usize) -> (Advice, String) {
        if has_collapsed(self.effective_rank, dim) {
            return (Advice::FitAgain, ON_A_LINE.to_owned());
        }
        let doubtful = self.trust.as_ref().filter(|trust| !trust.abstained);
        let doubtful = doubtful.map_or(0.0, |trust| trust.share_false);
        let agreement = self.agreement.as_ref();
        // Where links lead elsewhere no fit to them helps.
        let links_count = agreement.is_none_or(|it| it.relation == Relation::Agree);
        let robust = match (doubtful < 0.05, self.leading) {
            _ if !links_count => "",
            (_, Some(_)) => " A robust fit takes weights as evidence alone.",
            (true, None) => "",
            (false, None) => " A robust fit would take doubtful links for what they are.",
        };
        let (advice, says) = match agreement {
            None => (
                Advice::Use,
                "the embedding rests on the links alone, each taken as it is.",
            ),
            Some(it) => match it.relation {
                Relation::Agree if self.leading.is_some() => (
                    Advice::Unknown,
                    "links and data vectors agree, but a few heavy weights lead this fit.",
                ),
                Relation::Agree if it.links_help() => (
                    Advice::Unknown,
                    "links and data vectors agree, so that the links can help.",
                ),
                Relation::Agree => (
                    Advice::Unknown,
                    "links and data vectors agree, but the links blur what these tell.",
                ),
                Relation::Unclear => (
                    Advice::Unknown,
                    "there are too few links to say more than that a fit was made.",
                ),
                _ if it.vectors_alone => (
                    Advice::VectorsAlone,
                    "the links do not follow the data vectors: for what these tell, use them alone.",
                ),
                _ => (
                    Advice::LinksAlone,
                    "the data vectors look like noise. Fit to the links alone.",
                ),
            },
        };
        let advice = match robust.is_empty() {
            true => advice,
            false => Advice::FitRobustly,
        };
        (advice, format!("{says}{robust}"))
    }

    fn doubtful(&self) -> String {
        let taken = "The fit took all links as they are.";
        match &self.trust {
            None => format!("{taken} Nobody judged which of them are false."),
            Some(trust) if trust.abstained => format!(
                "{taken} Data vectors and common neighbours cannot tell them from pairs without a link."
            ),
            Some(trust) => {
                let says = trust.doubtful_sentence();
                format!(
                    "{taken} By data vectors and common neighbours alone: {}",
                    lowered(&says)
                )
            }
        }
    }

    fn sure(&self) -> String {
        let robust = "a robust fit judges each link by fits that did not see it, and measures whether \
                      its embedding is better than the data vectors alone.";
        match self.trust.as_ref().filter(|trust| !trust.abstained) {
            Some(trust) => format!(
                "Not very sure: this is a look without fits, to which a link has more to say for it than \
                 a pair without one in {:.0}% of cases; {robust}",
                100.0 * trust.auc_decoys
            ),
            None => format!("Not sure: {robust}"),
        }
    }
}

impl fmt::Display for Leading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of the links, with {} of the weight, weigh more than a Poisson count may, and the score of \
             this fit follows them.",
            in_percent(self.share),
            in_percent(self.share_weight)
        )
    }
}

/// A sentence with a small first letter, to stand behind a colon.
fn lowered(says: &str) -> String {
    let mut letters = says.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::trust::judge::tests::{Planted, Rows, small};

    fn fitted(plan: &Planted, links: &Rows, vectors: Vec<f64>) -> PlainVerdict {
        let data = plan.data(links, vectors);
        plain_verdict(
            &crate::fit(&small(), &data).unwrap(),
            &data,
            Runtime::default(),
        )
        .unwrap()
    }

    fn about(found: &PlainVerdict, topic: Topic) -> String {
        let said = found.verdict.iter().find(|one| one.about == topic);
        said.map_or_else(String::new, |one| one.says.clone())
    }

    #[test]
    fn links_that_help_links_that_are_false_and_links_that_lead_elsewhere() {
        let plan = Planted {
            inside: 0.97,
            ..Planted::default()
        };
        for seed in 1..4 {
            let clean = fitted(&plan, &plan.links(seed), plan.vectors(seed));
            assert!(
                about(&clean, Topic::Short).contains("the links can help"),
                "{:?}",
                clean.verdict
            );
            assert!(about(&clean, Topic::Agreement).starts_with("Links agree"));
            assert!(about(&clean, Topic::Dimensions).contains("of 8 dimensions"));
            let before = clean.trust.unwrap().share_false;
            let mut links = plan.links(seed);
            plan.add_false(&mut links, 0.5, false, seed + 5);
            let dirty = fitted(&plan, &links, plan.vectors(seed));
            let share = dirty.trust.as_ref().unwrap().share_false;
            // A third of them is false.
            assert!(
                before < 0.15 && (0.2..0.5).contains(&share),
                "{before} {share}"
            );
            assert!(
                about(&dirty, Topic::Short).contains("A robust fit"),
                "{:?}",
                dirty.verdict
            );
            assert!(about(&dirty, Topic::Judged).contains("neighbours alone: about"));
            let across = Planted {
                inside: 0.0,
                ..plan
            };
            let across = fitted(&across, &across.links(seed), across.vectors(seed));
            assert!(
                about(&across, Topic::Short).contains("use them alone"),
                "{:?}",
                across.verdict
            );
        }
    }

    #[test]
    fn weights_that_lead_a_fit_are_named() {
        let plan = Planted::default();
        let mut links = plan.links(3);
        links.iter_mut().step_by(40).for_each(|link| link.2 = 100.0);
        let led = fitted(&plan, &links, plan.vectors(3));
        let found = led.leading.unwrap();
        assert!(
            (found.share - 0.025).abs() < 1e-9 && found.share_weight > 0.7,
            "{found:?}"
        );
        assert!(about(&led, Topic::Short).contains("heavy weights lead this fit"));
        assert!(about(&led, Topic::Weights).starts_with("2.5% of the links, with 7"));
        let data = plan.data(&links, plan.vectors(3));
        for (score, weights) in [("probability", "asis"), ("moment", "log1p")] {
            let params = Params {
                dim: 8,
                score: score.parse().unwrap(),
                weights: weights.parse().unwrap(),
                ..Params::default()
            };
            assert_eq!(leading(&params.check().unwrap(), &data), None);
        }
    }

    #[test]
    fn few_links_and_links_alone_are_said_to_tell_little() {
        let ring: Rows = (0..20u32)
            .map(|node| (node, (node + 1) % 20, 1.0))
            .collect();
        let graph = crate::Graph::from_rows(20, &ring).unwrap();
        let data = Dataset::from_links(graph).unwrap();
        let params = Params {
            dim: 2,
            ..Params::default()
        };
        let model = crate::fit(&params.check().unwrap(), &data).unwrap();
        let found = plain_verdict(&model, &data, Runtime::default()).unwrap();
        assert_eq!(
            (found.trust.as_ref(), found.agreement.as_ref()),
            (None, None)
        );
        assert!(about(&found, Topic::Judged).contains("Nobody judged"));
        assert!(about(&found, Topic::Short).contains("rests on the links alone"));
        assert_eq!(about(&found, Topic::Agreement), "");
        assert!(about(&found, Topic::Sure).starts_with("Not sure"));
    }
}
