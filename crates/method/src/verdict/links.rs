//! Sentences about links, from the facts that the judge found.

use super::{Said, Topic};
use crate::judge::{Contradiction, Detection, Facts, PlantedKind, Share};

/// The share of false links, contradictions and duplicates; then what became of planted
/// links.
pub fn links(facts: &Facts, n_links: usize, n_flagged: usize) -> Vec<Said> {
    let mut said = vec![share(facts, n_links, n_flagged)];
    said.extend(facts.contradictions.iter().map(contradiction));
    if !facts.duplicates.is_empty() {
        said.push(duplicates(&facts.duplicates));
    }
    let mut said: Vec<Said> = said
        .into_iter()
        .map(|says| Said::new(Topic::Links, says))
        .collect();
    said.extend(test(&facts.detection).map(|says| Said::new(Topic::Test, says)));
    said
}

/// How often a link outranks a random pair, in a sentence.
pub fn auc(facts: &Facts) -> String {
    format!(
        "A link outranks a random pair {:.0}% of the time (AUC {:.2} ± {:.3}).",
        100.0 * facts.auc,
        facts.auc,
        facts.auc_error
    )
}

fn share(facts: &Facts, n_links: usize, n_flagged: usize) -> String {
    let flagged = match n_flagged {
        0 => format!("none of {n_links} is flagged"),
        1 => "1 is flagged".to_owned(),
        many => format!("{many} are flagged"),
    };
    let Some(share) = facts.share.filter(|_| !facts.abstained) else {
        return "The links look random to everything that is known.".to_owned();
    };
    match share {
        Share {
            high_unchecked: Some(unchecked),
            ..
        } => checked(share, unchecked, &flagged),
        Share { estimate: None, .. } => format!(
            "At least {} look random: {flagged}. The others look as if these features had picked \
             them (candidate pairs, nearest neighbors): of those nothing can be said from \
             likeness alone. If each node has at most one real partner, judge them as one-to-one.",
            percent(share.low)
        ),
        Share {
            estimate: Some(estimate),
            ..
        } if facts.one_to_one => format!(
            "About {} are false if each node has at most one real partner (at least {}): {flagged}.",
            percent(estimate),
            percent(share.low)
        ),
        Share {
            estimate: Some(estimate),
            ..
        } => {
            let interval = interval(share);
            if estimate < 0.01 {
                return format!("Less than 1% look random ({interval}): {flagged}.");
            }
            format!(
                "About {} look random and are probably false ({interval}): {flagged}.",
                percent(estimate)
            )
        }
    }
}

/// The share after checks by hand.
fn checked(share: Share, unchecked: f64, flagged: &str) -> String {
    let estimate = share.estimate.unwrap_or(share.low);
    let mut text = format!(
        "About {} are false ({}, by checks): {flagged}.",
        percent(estimate),
        interval(share)
    );
    if estimate > unchecked {
        text += &format!(
            " That is more than the {} at most without checks: false links do not fall at random \
             here.",
            percent(unchecked)
        );
    }
    text
}

fn interval(share: Share) -> String {
    format!("{} to {}", percent(share.low), percent(share.high))
}

fn contradiction(it: &Contradiction) -> String {
    format!(
        "Contradiction: {} nodes are densely linked although their features are unlike (each has \
         {} such links or more; {} by chance), for example rows {} and {}. Check these links by \
         hand.",
        it.nodes, it.core, it.usual, it.src, it.dst
    )
}

fn duplicates(groups: &[Vec<u32>]) -> String {
    let example: Vec<String> = groups[0].iter().take(3).map(u32::to_string).collect();
    let count = match groups.len() {
        1 => "1 group of nodes looks".to_owned(),
        many => format!("{many} groups of nodes look"),
    };
    format!(
        "{count} like records of one node (rows {}): links inside are not judged.",
        example.join(", ")
    )
}

/// What became of planted links.
fn test(detection: &[Detection]) -> Option<String> {
    let planted: usize = detection.iter().map(|it| it.planted).sum();
    let first = detection.first()?;
    let kinds = detection.iter().map(|it| {
        let kind = match it.kind {
            PlantedKind::Uniform => "random",
            PlantedKind::ByDegree => "between popular nodes",
            PlantedKind::Alike => "between similar nodes",
        };
        format!(
            "{kind} {:.0}% / {:.0}%",
            100.0 * it.flagged,
            100.0 * it.found
        )
    });
    Some(format!(
        "We planted {planted} false links. Flagged / ranked high: {}. Of your own links {:.0}% \
         rank as high.",
        kinds.collect::<Vec<_>>().join(", "),
        100.0 * first.own
    ))
}

/// A share in words: `3%`, `0.4%`, and `0.004%` rather than `0.0%`.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        0.0 => "0%".to_owned(),
        ..0.001 => "less than 0.001%".to_owned(),
        ..0.095 => format!("{percent:.3}%"),
        ..0.95 => format!("{percent:.1}%"),
        _ => format!("{percent:.0}%"),
    }
}
