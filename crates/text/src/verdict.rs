//! The verdict on a fit: whether to use it, and what is known of links and features.
//! The command line, Python and the page show the same sentences.

use linkproof_method::inspect::{Leading, PlainVerdict};
use linkproof_method::model::has_collapsed;
use linkproof_method::verdict::{Advice, Explained, RobustFacts};

use crate::figures::percent;
use crate::inspect::{agreement, not_judged};
use crate::judge::{Reader, auc, judged, links};
use crate::layout::{Said, Topic};

const RANDOM: &str = "The links look random to everything that is known";

/// The verdict on a robust fit: use, links, test, dimensions, smoothing.
pub fn robust(facts: &RobustFacts, reader: &Reader<'_>) -> Vec<Said> {
    let mut said = vec![Said::new(Topic::Use, use_robust(facts))];
    said.extend(judged(&facts.judged, &facts.tally, facts.tested, reader));
    let dimensions = dimensions(facts.effective_dimension, facts.dim);
    said.push(Said::new(Topic::Dimensions, dimensions));
    let smoothing = facts.explained.map(|it| smoothing(it, facts.averaged));
    said.extend(smoothing.map(|says| Said::new(Topic::Smoothing, says)));
    said
}

/// The verdict on a plain fit, for which nothing was compared.
pub fn plain(found: &PlainVerdict, reader: &Reader<'_>) -> Vec<Said> {
    let mut said = vec![Said::new(Topic::Use, use_plain(found))];
    let judged = found.judged.iter();
    let of_links = judged.flat_map(|it| links(&it.facts, &it.tally, reader));
    let of_links = of_links.chain(found.not_judged.as_deref().map(not_judged));
    said.extend(of_links.map(|says| Said::new(Topic::Links, says)));
    let features = found.agreement.as_ref().map(agreement);
    said.extend(features.map(|says| Said::new(Topic::Features, says)));
    said.extend(
        found
            .leading
            .map(|it| Said::new(Topic::Weights, leading(it))),
    );
    let dimensions = dimensions(found.effective_rank, found.dim);
    said.push(Said::new(Topic::Dimensions, dimensions));
    said
}

fn use_robust(facts: &RobustFacts) -> String {
    let explained = facts.explained.map(|it| compared(it, facts.averaged));
    let explained = explained.unwrap_or_default();
    match facts.advice() {
        Advice::FitAgain => collapsed(facts.effective_dimension, facts.dim),
        Advice::VectorsAlone if facts.judged.abstained => {
            format!("No. {RANDOM}; use the features alone.")
        }
        Advice::VectorsAlone => format!("No. {explained} Use the features alone."),
        Advice::Either => format!("As good as the features alone. {explained}"),
        Advice::LinksAlone => "No. Neither its clusters nor k-means on the features explain \
                               hidden feature columns: the features look like noise. Fit to the \
                               links alone."
            .to_owned(),
        Advice::Use if facts.explained.is_none() => format!(
            "Yes, as far as links show: {} There are no features to compare with.",
            auc(&facts.judged).replacen('A', "a", 1)
        ),
        Advice::Use if has_collapsed(facts.effective_dimension, facts.dim) => {
            format!("Yes, for two groups and no more. {explained}")
        }
        Advice::Use | Advice::FitRobustly => format!("Yes. {explained}"),
        Advice::Unknown => format!("Unknown. {RANDOM}."),
    }
}

fn use_plain(found: &PlainVerdict) -> String {
    let facts = found.judged.as_ref().map(|judged| &judged.facts);
    let known = facts.map_or_else(String::new, |facts| format!(" {}", auc(facts)));
    match found.advice {
        Advice::FitAgain => collapsed(found.effective_rank, found.dim),
        Advice::VectorsAlone => "No. The links do not follow the features: for groups of similar \
                                 nodes use the features alone."
            .to_owned(),
        Advice::LinksAlone => {
            "No. The features look like noise. Fit to the links alone.".to_owned()
        }
        Advice::FitRobustly if found.leading.is_some() => {
            "Not yet. A few heavy weights lead this fit; a robust fit uses weights as evidence only."
                .to_owned()
        }
        Advice::FitRobustly => format!(
            "Not yet. About {} of the links look random, and this fit uses all of them alike; a \
             robust fit uses them by belief.",
            percent(found.share())
        ),
        Advice::Unknown if facts.is_some_and(|facts| facts.abstained) => {
            format!("Unknown. {RANDOM}.")
        }
        Advice::Unknown => format!(
            "Probably.{known} Whether it is better than the features alone, only a robust fit \
             measures."
        ),
        Advice::Use | Advice::Either => {
            format!("Probably.{known} There are no features to compare with.")
        }
    }
}

/// Advice against an embedding that lost its dimensions.
fn collapsed(effective_dimension: f64, dim: usize) -> String {
    format!(
        "No. {} It tells hardly more than two groups apart. Fit again with a smaller ridge.",
        dimensions(effective_dimension, dim)
    )
}

/// How much clusters of the embedding explain against k-means on the features.
fn compared(explained: Explained, averaged: bool) -> String {
    let used = explained.used(averaged);
    if explained.features <= 0.0 {
        return format!(
            "Its clusters explain {} of the variance of hidden feature columns; k-means on the \
             features explains none.",
            percent(used)
        );
    }
    let times = match used / explained.features {
        ..0.095 => "less than a tenth as much".to_owned(),
        times if (0.95..1.05).contains(&times) => "as much".to_owned(),
        times if times < 1.0 => format!("{} as much", percent(times)),
        times => format!("{times:.1} times as much"),
    };
    format!("Its clusters explain {times} of hidden feature columns as k-means on the features.")
}

/// What smoothing did, or would have done.
fn smoothing(explained: Explained, averaged: bool) -> String {
    let what = if averaged {
        "The embedding is smoothed over believed links: its clusters explain"
    } else {
        "The embedding is not smoothed: smoothed clusters would explain"
    };
    format!(
        "{what} {} of the variance of hidden feature columns, clusters before smoothing {}.",
        percent(explained.smoothed.max(0.0)),
        percent(explained.plain.max(0.0))
    )
}

fn leading(found: Leading) -> String {
    format!(
        "{} of the links, with {} of the weight, weigh more than a Poisson count can, and the \
         score of this fit follows them.",
        percent(found.share),
        percent(found.share_weight)
    )
}

/// How many dimensions carry information.
pub fn dimensions(effective_dimension: f64, dim: usize) -> String {
    let verb = |count: f64| if count == 1.0 { "carries" } else { "carry" };
    match effective_dimension {
        ..0.5 => format!("None of {dim} carries information: all nodes have the same embedding."),
        _ if has_collapsed(effective_dimension, dim) => {
            format!("{effective_dimension:.1} of {dim} carry information.")
        }
        used => format!("{:.0} of {dim} {} information.", used, verb(used.round())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::{TALLY, facts, share};
    use linkproof_method::error::Style;
    use linkproof_method::inspect::{Agreement, LinksJudged, Relation};
    use linkproof_method::judge::Facts;

    const NOBODY: Reader<'static> = Reader {
        style: Style::Rust,
        name: &|row| row.to_string(),
        suspects: None,
        sample: None,
    };

    fn about(said: &[Said], topic: Topic) -> String {
        let of_topic = said.iter().filter(|it| it.about == topic);
        let says: Vec<&str> = of_topic.map(|it| it.says.as_str()).collect();
        says.join("\n")
    }

    /// What is said of an embedding of 64 dimensions that uses so many, and explains so much.
    fn of_facts(judged: Facts, used: f64, explained: Option<[f64; 3]>) -> (Advice, Vec<Said>) {
        let facts = RobustFacts {
            judged,
            tally: TALLY,
            tested: true,
            dim: 64,
            effective_dimension: used,
            explained: explained.map(|[plain, smoothed, features]| Explained {
                plain,
                smoothed,
                features,
            }),
            averaged: true,
        };
        (facts.advice(), robust(&facts, &NOBODY))
    }

    fn sound() -> Facts {
        facts(share(0.0, Some(0.042), 0.09))
    }

    #[test]
    fn a_good_fit_is_recommended_with_its_figures() {
        let (advice, said) = of_facts(sound(), 13.2, Some([0.20, 0.34, 0.10]));
        assert_eq!(advice, Advice::Use);
        for (topic, says) in [
            (
                Topic::Use,
                "Yes. Its clusters explain 3.4 times as much of hidden feature columns as k-means \
                 on the features.",
            ),
            (
                Topic::Links,
                "About 4% look random and are probably false (0% to 9%): 40 are flagged.",
            ),
            (Topic::Test, "Not made: too few links are believed."),
            (Topic::Dimensions, "13 of 64 carry information."),
            (
                Topic::Smoothing,
                "The embedding is smoothed over believed links: its clusters explain 34% of the \
                 variance of hidden feature columns, clusters before smoothing 20%.",
            ),
        ] {
            assert_eq!(about(&said, topic), says);
        }
        assert_eq!(said[0].about, Topic::Use);
    }

    #[test]
    fn the_comparison_with_the_features_decides() {
        let better = [
            (
                [0.1, 0.1, 0.1],
                Advice::Either,
                "As good as the features alone. ",
            ),
            (
                [0.1, 0.05, 0.1],
                Advice::VectorsAlone,
                "50% as much of hidden",
            ),
            (
                [0.1, 0.0, 0.1],
                Advice::VectorsAlone,
                "less than a tenth as much",
            ),
            (
                [0.0, 0.0, 0.0],
                Advice::LinksAlone,
                "features look like noise",
            ),
            (
                [0.0, 0.08, 0.0],
                Advice::Use,
                "k-means on the features explains none",
            ),
        ];
        for (explained, expected, says) in better {
            let (advice, said) = of_facts(sound(), 13.0, Some(explained));
            let used = about(&said, Topic::Use);
            assert_eq!(advice, expected, "{used}");
            assert!(used.contains(says), "{used}");
        }
        let (advice, said) = of_facts(sound(), 13.0, None);
        assert_eq!(advice, Advice::Use);
        assert_eq!(
            about(&said, Topic::Use),
            "Yes, as far as links show: a link outranks a random pair 95% of the time (AUC 0.95 ± \
             0.003). There are no features to compare with."
        );
    }

    #[test]
    fn two_groups_on_a_line_are_of_use_only_if_they_explain_features() {
        let (advice, found) = of_facts(sound(), 1.2, Some([0.2, 0.3, 0.2]));
        assert_eq!(advice, Advice::Use);
        assert!(about(&found, Topic::Use).starts_with("Yes, for two groups and no more. Its"));
        let used = about(&found, Topic::Dimensions);
        assert_eq!(used, "1.2 of 64 carry information.");
        for explained in [None, Some([0.0, 0.0, 0.0])] {
            let (advice, found) = of_facts(sound(), 1.2, explained);
            assert_eq!(advice, Advice::FitAgain);
            assert!(about(&found, Topic::Use).contains("Fit again with a smaller ridge."));
        }
        assert_eq!(
            dimensions(0.0, 64),
            "None of 64 carries information: all nodes have the same embedding."
        );
        assert_eq!(dimensions(1.0, 2), "1 of 2 carries information.");
    }

    #[test]
    fn a_judge_that_abstains_gives_no_share() {
        for (explained, expected) in [
            (None, Advice::Unknown),
            (Some([0.1, 0.1, 0.3]), Advice::VectorsAlone),
            (Some([0.3, 0.3, 0.1]), Advice::Unknown),
        ] {
            let (advice, said) = of_facts(facts(None), 13.0, explained);
            assert_eq!(advice, expected);
            assert!(about(&said, Topic::Use).contains("look random to everything that is known"));
            assert!(about(&said, Topic::Links).starts_with("The links look random"));
        }
    }

    #[test]
    fn a_plain_fit_has_a_sentence_for_each_advice() {
        let found = PlainVerdict {
            judged: Some(LinksJudged {
                facts: sound(),
                tally: TALLY,
            }),
            not_judged: None,
            agreement: Some(Agreement {
                alike: 0.9,
                error: 0.01,
                links: 1000,
                relation: Relation::Agree,
                vectors_alone: false,
            }),
            leading: None,
            effective_rank: 13.0,
            dim: 64,
            advice: Advice::Unknown,
        };
        let said = plain(&found, &NOBODY);
        let topics: Vec<Topic> = said.iter().map(|it| it.about).collect();
        let expected = [Topic::Use, Topic::Links, Topic::Features, Topic::Dimensions];
        assert_eq!(topics, expected);
        assert!(
            said[0].says.starts_with("Probably. A link outranks"),
            "{said:?}"
        );
        for (advice, says) in [
            (
                Advice::FitAgain,
                "No. 13 of 64 carry information. It tells hardly",
            ),
            (
                Advice::VectorsAlone,
                "No. The links do not follow the features",
            ),
            (Advice::LinksAlone, "No. The features look like noise."),
            (
                Advice::FitRobustly,
                "Not yet. About 4% of the links look random",
            ),
            (
                Advice::Use,
                "Probably. A link outranks a random pair 95% of the time",
            ),
        ] {
            let found = PlainVerdict {
                advice,
                ..found.clone()
            };
            let said = plain(&found, &NOBODY);
            assert!(said[0].says.starts_with(says), "{said:?}");
        }
        let led = PlainVerdict {
            judged: None,
            not_judged: Some("too many".to_owned()),
            leading: Some(Leading {
                share: 0.025,
                share_weight: 0.7,
            }),
            advice: Advice::FitRobustly,
            ..found
        };
        let said = plain(&led, &NOBODY);
        assert!(about(&said, Topic::Use).contains("heavy weights lead this fit"));
        assert!(about(&said, Topic::Weights).starts_with("2% of the links, with 70%"));
        assert_eq!(
            about(&said, Topic::Links),
            "The links were not judged: too many."
        );
    }
}
