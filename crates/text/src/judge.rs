//! What the judge found about links.

use linkproof_method::error::Style;
use linkproof_method::judge::{
    Contradiction, Detection, Facts, Kind, PlantedKind, Reason, Share, Tally,
};

use crate::figures::{counted, grouped, in_seconds, percent};
use crate::layout::{Said, Topic};

/// Links picked by likeness from here on, as [`Facts::candidates`] counts.
const PICKED: f64 = 0.5;
/// Weights that agree less than this with the rest of the evidence are named.
const CONTRARY: f64 = -0.1;

/// What a reader calls nodes, types and opens.
pub struct Reader<'r> {
    /// How settings are spelled.
    pub style: Style,
    /// The name of a node by its row.
    pub name: &'r dyn Fn(u32) -> String,
    /// Where the list of suspects is, if there is one.
    pub suspects: Option<&'r str>,
    /// What draws links to verify, if that is possible.
    pub sample: Option<&'r str>,
}

/// How much was read and how long it took: `2,708 nodes, 5,542 links, 8.2 s`.
pub fn size(nodes: usize, links: usize, dim: Option<usize>, seconds: f64) -> String {
    let mut parts = vec![counted(nodes, "node"), counted(links, "link")];
    parts.extend(dim.map(|dim| counted(dim, "dimension")));
    parts.push(in_seconds(seconds));
    parts.join(", ")
}

/// How often a link outranks a random pair.
pub fn auc(facts: &Facts) -> String {
    format!(
        "A link outranks a random pair {:.0}% of the time (AUC {:.2} ± {:.3}).",
        100.0 * facts.auc,
        facts.auc,
        facts.auc_error
    )
}

/// The share of false links, what is flagged, and what the graph has of special cases.
///
/// ```
/// use linkproof::judge::{JudgeSpec, judge};
/// use linkproof::text::{Reader, Style, links};
/// use linkproof::{Dataset, Graph, Runtime};
///
/// let ring: Vec<(u32, u32, f64)> = (0..60).map(|i| (i, (i + 1) % 60, 1.0)).collect();
/// let data = Dataset::from_links(Graph::from_rows(60, &ring)?)?;
/// let judgment = judge(&data, &JudgeSpec::default(), Runtime::default())?;
/// let name = |row: u32| row.to_string();
/// let reader = Reader { style: Style::Rust, name: &name, suspects: None, sample: None };
/// let says = links(&judgment.facts, &judgment.tally(), &reader);
/// assert_eq!(says, ["The links look random to everything that is known."]);
/// # Ok::<(), linkproof::Error>(())
/// ```
pub fn links(facts: &Facts, tally: &Tally, reader: &Reader<'_>) -> Vec<String> {
    let share = facts.share.filter(|_| !facts.abstained);
    let mut says = match share {
        Some(share) => share_in_words(facts, share, tally, reader),
        None => vec![abstained(tally, reader)],
    };
    let before = share.and_then(|share| share.high_unchecked.filter(|before| share.low > *before));
    says.extend(before.filter(|_| tally.verified > 0).map(|before| {
        format!(
            "That is more than random false links would make (at most {}): false links do not \
             fall at random here.",
            percent(before)
        )
    }));
    if facts.weight_agreement.is_some_and(|r| r < CONTRARY) {
        says.push(
            "Heavy links look less real than light ones. If the weights are distances, pass \
             their inverse, or leave them out."
                .to_owned(),
        );
    }
    if tally.negative > 0 {
        says.push(format!(
            "Shares are of positive links. {} {} ranked by how much they look like positive ones.",
            counted(tally.negative, "negative link"),
            if tally.negative == 1 { "is" } else { "are" },
        ));
    }
    says.extend(
        facts
            .contradictions
            .iter()
            .map(|it| contradiction(it, reader)),
    );
    says.extend(duplicates(&facts.duplicates, reader));
    says
}

fn abstained(tally: &Tally, reader: &Reader<'_>) -> String {
    let order = reader
        .suspects
        .map(|list| format!("; their order is in {list}"));
    let flagged = match tally.flagged {
        0 => String::new(),
        n => format!(" Flagged: {} by hand.", counted(n, "false check")),
    };
    let order = order.unwrap_or_default();
    format!("The links look random to everything that is known{order}.{flagged}")
}

fn share_in_words(facts: &Facts, share: Share, tally: &Tally, reader: &Reader<'_>) -> Vec<String> {
    let list = |before: &str| {
        let list = reader.suspects.map(|list| format!("{before} {list}"));
        list.unwrap_or_default()
    };
    let flagged = match tally.flagged {
        0 => format!("None is flagged{}.", list("; the order is in")),
        1 => format!("1 is flagged{}.", list(" in")),
        n => format!("{} are flagged{}.", grouped(n), list(" in")),
    };
    let [low, high] = [share.low, share.high].map(percent);
    let Some(estimate) = share.estimate.map(percent) else {
        return picked(tally, &flagged, reader);
    };
    if tally.verified > 0 {
        let checks = counted(tally.verified, "check");
        return vec![format!(
            "About {estimate} are false ({low} to {high}, by {checks}). {flagged}"
        )];
    }
    let first = if facts.one_to_one {
        format!(
            "If each node has at most one real partner, about {estimate} are false ({low} or \
             more). {flagged}"
        )
    } else {
        let flagged = flagged.replacen("None", "none", 1);
        format!("About {estimate} look random and are probably false ({low} to {high}): {flagged}")
    };
    let mut says = vec![first];
    if facts.candidates >= PICKED && !facts.one_to_one {
        says.push(
            "Many links look as if these features had picked them (candidate pairs, nearest \
             neighbors)."
                .to_owned(),
        );
    }
    let sharper = |sample| format!("30 checks by hand make this sharper: {sample}");
    says.extend(reader.sample.map(sharper));
    says
}

/// Links of which most look as if the features had picked them.
fn picked(tally: &Tally, flagged: &str, reader: &Reader<'_>) -> Vec<String> {
    let first = match tally.flagged {
        0 => "None looks random. The links".to_owned(),
        flagged => {
            let share = percent(flagged as f64 / tally.links.max(1) as f64);
            format!("At least {share} look random and are flagged. The others")
        }
    };
    let first = format!(
        "{first} look as if these features had picked them (candidate pairs, nearest neighbors): \
         of those nothing can be said from likeness alone. If each node has at most one real \
         partner, use {}.",
        reader.style.name("one-to-one")
    );
    let list = reader.suspects.filter(|_| tally.flagged == 0);
    match (list, tally.flagged) {
        (Some(list), _) => vec![first, format!("Their order is in {list}.")],
        (None, 0) => vec![first],
        (None, _) => vec![first, flagged.to_owned()],
    }
}

fn contradiction(found: &Contradiction, reader: &Reader<'_>) -> String {
    let [src, dst] = [found.src, found.dst].map(reader.name);
    format!(
        "{} with at least {} links each among them have features that contradict these links, \
         such as {src} and {dst}. Such a group can be made of false links: look at it.",
        counted(found.nodes, "node"),
        found.core
    )
}

fn duplicates(groups: &[Vec<u32>], reader: &Reader<'_>) -> Option<String> {
    let [a, b, ..] = *groups.first()?.as_slice() else {
        return None;
    };
    let [a, b] = [a, b].map(reader.name);
    let pairs = groups
        .iter()
        .map(|group| group.len() * (group.len() - 1) / 2);
    Some(format!(
        "{} of nodes look like records of one node, such as {a} and {b}: merge them.",
        counted(pairs.sum(), "pair")
    ))
}

/// What became of planted links; `asked` says whether there was to be a test.
pub(crate) fn test(facts: &Facts, asked: bool) -> String {
    if facts.detection.is_empty() {
        let why = match (asked, facts.abstained) {
            (false, _) => "Left out.",
            (true, true) => "Not made: the links look random.",
            (true, false) => "Not made: too few links are believed.",
        };
        return why.to_owned();
    }
    let of_kind = |it: &Detection| {
        let kind = match it.kind {
            PlantedKind::Uniform => "random",
            PlantedKind::ByDegree => "between popular nodes",
            PlantedKind::Alike => "between similar nodes",
        };
        format!("{kind} {} / {}", percent(it.flagged), percent(it.found))
    };
    let kinds: Vec<String> = facts.detection.iter().map(of_kind).collect();
    let planted = facts.detection.iter().map(|it| it.planted).sum();
    let own = facts.detection.iter().map(|it| it.own).sum::<f64>() / kinds.len() as f64;
    format!(
        "We planted {}. Flagged / ranked high: {}. Of your own links {} rank as high.",
        counted(planted, "false link"),
        kinds.join(", "),
        percent(own)
    )
}

/// What the judge found: links, then the test.
pub fn judged(facts: &Facts, tally: &Tally, tested: bool, reader: &Reader<'_>) -> Vec<Said> {
    let found = links(facts, tally, reader).into_iter();
    let found = found.map(|says| Said::new(Topic::Links, says));
    let test = Said::new(Topic::Test, test(facts, tested));
    found.chain([test]).collect()
}

/// Why a link ranks where it does, by its reasons.
pub fn why(reasons: &[Reason], name: &dyn Fn(u32) -> String) -> String {
    let mut says: Vec<String> = Vec::new();
    for reason in reasons.iter().map(|reason| because(reason, name)) {
        // Two kinds of evidence may say the same.
        if !says.contains(&reason) {
            says.push(reason);
        }
    }
    says.join("; ")
}

fn because(reason: &Reason, name: &dyn Fn(u32) -> String) -> String {
    match *reason {
        Reason::Unlike { kind, .. } => likeness(kind).0.to_owned(),
        Reason::NoCommonNeighbors => "no common neighbors".to_owned(),
        Reason::Like { kind, .. } => {
            format!("nothing unusual; best evidence: {}", likeness(kind).1)
        }
        Reason::Heavy { times } => {
            let times = grouped(times.round() as usize);
            format!("weight {times} times the usual for these nodes")
        }
        Reason::Vote => "its weight or evidence columns speak against it".to_owned(),
        Reason::BetterPartner { node } => format!("{} has likelier partners", name(node)),
        Reason::NothingKnown { node } => format!("nothing else is known of {}", name(node)),
        Reason::Duplicate => "duplicate".to_owned(),
        Reason::Verified { real: true } => "checked by hand: real".to_owned(),
        Reason::Verified { real: false } => "checked by hand: false".to_owned(),
    }
}

/// Evidence of a kind against a link, and for it.
fn likeness(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Features => ("features unlike", "features alike"),
        Kind::CommonNeighbors => ("few common neighbors", "common neighbors"),
        Kind::Paths => ("few paths of three links", "paths of three links"),
        Kind::SharedTraits | Kind::TraitPairs => (
            "features of kinds that are seldom linked",
            "features of kinds that are often linked",
        ),
        Kind::Neighborhoods => ("neighborhoods unlike", "neighborhoods alike"),
        Kind::Positions => ("far apart in the graph", "near each other in the graph"),
        Kind::NeighborFeatures => (
            "features unlike those of the other's neighbors",
            "features like those of the other's neighbors",
        ),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn facts(share: Option<Share>) -> Facts {
        Facts {
            kinds: vec![Kind::Features, Kind::CommonNeighbors],
            loadings: vec![1.0, 1.0],
            abstained: share.is_none(),
            share,
            auc: 0.95,
            auc_error: 0.003,
            candidates: 0.0,
            one_to_one: false,
            weight_agreement: None,
            detection: Vec::new(),
            contradictions: Vec::new(),
            duplicates: Vec::new(),
            unused: Vec::new(),
        }
    }

    pub(crate) fn share(low: f64, estimate: Option<f64>, high: f64) -> Option<Share> {
        Some(Share {
            low,
            estimate,
            high,
            high_unchecked: None,
        })
    }

    pub(crate) const TALLY: Tally = Tally {
        links: 1000,
        flagged: 40,
        verified: 0,
        negative: 0,
    };

    /// What is said of links to one who has files, and to one who has none.
    fn said(facts: &Facts, tally: &Tally) -> [String; 2] {
        let mut reader = Reader {
            style: Style::Cli,
            name: &|row| format!("n{row}"),
            suspects: Some("chk/suspects.csv"),
            sample: Some("draw 30"),
        };
        let files = links(facts, tally, &reader).join(" ");
        (reader.suspects, reader.sample) = (None, None);
        [files, links(facts, tally, &reader).join(" ")]
    }

    #[test]
    fn the_share_stands_with_its_interval_and_the_test_with_its_kinds() {
        let mut found = facts(share(0.0, Some(0.043), 0.09));
        assert_eq!(
            said(&found, &TALLY),
            [
                "About 4% look random and are probably false (0% to 9%): 40 are flagged in \
                 chk/suspects.csv. 30 checks by hand make this sharper: draw 30",
                "About 4% look random and are probably false (0% to 9%): 40 are flagged."
            ]
        );
        let flagged = |flagged| Tally { flagged, ..TALLY };
        let [files, none] = said(&found, &flagged(0));
        assert!(files.contains("(0% to 9%): none is flagged; the order is in chk/suspects.csv."));
        assert!(none.ends_with("(0% to 9%): none is flagged."), "{none}");
        assert!(said(&found, &flagged(1))[1].ends_with(": 1 is flagged."));
        assert_eq!(test(&found, false), "Left out.");
        assert_eq!(test(&found, true), "Not made: too few links are believed.");
        assert_eq!(test(&facts(None), true), "Not made: the links look random.");
        let detection = |kind, flagged, found| Detection {
            kind,
            planted: 166,
            flagged,
            found,
            own: 0.11,
            claimed: 0.8,
            realised: 0.8,
        };
        found.detection = vec![
            detection(PlantedKind::Uniform, 0.32, 0.89),
            detection(PlantedKind::ByDegree, 0.32, 0.87),
            detection(PlantedKind::Alike, 0.0, 0.31),
        ];
        assert_eq!(
            test(&found, true),
            "We planted 498 false links. Flagged / ranked high: random 32% / 89%, between popular \
             nodes 32% / 87%, between similar nodes 0% / 31%. Of your own links 11% rank as high."
        );
        assert_eq!(
            size(2708, 5542, Some(64), 8.2),
            "2,708 nodes, 5,542 links, 64 dimensions, 8.2 s"
        );
        assert_eq!(
            auc(&found),
            "A link outranks a random pair 95% of the time (AUC 0.95 ± 0.003)."
        );
    }

    #[test]
    fn other_cases_have_their_own_sentences() {
        let none = Tally {
            flagged: 0,
            ..TALLY
        };
        assert_eq!(
            said(&facts(None), &none),
            [
                "The links look random to everything that is known; their order is in \
                 chk/suspects.csv.",
                "The links look random to everything that is known."
            ]
        );
        let checked = said(&facts(None), &TALLY);
        assert!(checked[1].ends_with("known. Flagged: 40 false checks by hand."));
        let picked = facts(share(0.04, None, 1.0));
        let found = said(&picked, &TALLY);
        assert_eq!(
            found[0],
            "At least 4% look random and are flagged. The others look as if these features had \
             picked them (candidate pairs, nearest neighbors): of those nothing can be said from \
             likeness alone. If each node has at most one real partner, use --one-to-one. 40 are \
             flagged in chk/suspects.csv."
        );
        assert!(said(&picked, &none)[0].ends_with("Their order is in chk/suspects.csv."));
        let mut found = facts(share(0.89, Some(0.9), 1.0));
        found.one_to_one = true;
        let says = "If each node has at most one real partner, about 90% are false (89% or more).";
        assert!(said(&found, &TALLY)[0].starts_with(says));
        found.weight_agreement = Some(-0.2);
        found.contradictions.push(Contradiction {
            src: 1,
            dst: 2,
            core: 9,
            usual: 4,
            nodes: 25,
        });
        found.duplicates = vec![vec![4, 5, 6], vec![7, 8]];
        let tally = Tally {
            negative: 1,
            ..TALLY
        };
        let found = said(&found, &tally)[0].clone();
        for part in [
            "Heavy links look less real than light ones. If the weights are distances",
            "Shares are of positive links. 1 negative link is ranked",
            "25 nodes with at least 9 links each among them have features that contradict these \
             links, such as n1 and n2.",
            "4 pairs of nodes look like records of one node, such as n4 and n5",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }

    #[test]
    fn checks_that_exceed_the_bound_are_named() {
        let mut found = facts(share(0.04, Some(0.06), 0.08));
        let tally = Tally {
            verified: 2,
            ..TALLY
        };
        let says = said(&found, &tally)[1].clone();
        assert_eq!(
            says,
            "About 6% are false (4% to 8%, by 2 checks). 40 are flagged."
        );
        found.share = found.share.map(|share| Share {
            high_unchecked: Some(0.03),
            ..share
        });
        let says = said(&found, &tally)[1].clone();
        assert!(says.contains("(at most 3%): false links do not fall at random here."));
    }

    #[test]
    fn reasons_become_a_sentence() {
        let name = |row: u32| format!("n{row}");
        let unlike = |kind| Reason::Unlike { kind, better: 0.9 };
        let reasons = [
            unlike(Kind::Features),
            Reason::NoCommonNeighbors,
            Reason::Heavy { times: 40.2 },
        ];
        assert_eq!(
            why(&reasons, &name),
            "features unlike; no common neighbors; weight 40 times the usual for these nodes"
        );
        let traits = [unlike(Kind::SharedTraits), unlike(Kind::TraitPairs)];
        let once = "features of kinds that are seldom linked";
        assert_eq!(why(&traits, &name), once);
        for (reason, says) in [
            (
                Reason::NothingKnown { node: 7 },
                "nothing else is known of n7",
            ),
            (Reason::Verified { real: false }, "checked by hand: false"),
            (Reason::Duplicate, "duplicate"),
        ] {
            assert_eq!(why(&[reason], &name), says);
        }
        assert_eq!(why(&[], &name), "");
    }
}
