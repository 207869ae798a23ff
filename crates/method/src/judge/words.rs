//! What the judge found, in words for people: the same for every front end.

use super::outcome::{Contradiction, Detection, Judgment, Kind, PlantedKind, Reason, Share};
use crate::error::Dialect;

/// Links picked by likeness from here on, as [`super::Facts::candidates`] counts.
const PICKED: f64 = 0.5;
/// Weights that agree less than this with the rest of the evidence are named.
const CONTRARY: f64 = -0.1;

/// What the end of a check names beside the judgment ([example](check_lines)).
pub struct CheckContext<'c> {
    /// The number of nodes.
    pub nodes: usize,
    /// How long the check took.
    pub seconds: f64,
    /// The file of the suspects, as users find it.
    pub suspects: &'c str,
    /// What draws links to verify, as users type it.
    pub sample: &'c str,
    /// What can be done next, as users type it.
    pub next: &'c [String],
    /// Whether planted links were asked for.
    pub tested: bool,
    /// The name of a node by its row.
    pub name: &'c dyn Fn(u32) -> String,
    /// How the front end names its arguments.
    pub dialect: &'c dyn Dialect,
}

/// A topic and its sentences ([example](check_lines)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is about; empty for the first line.
    pub topic: &'static str,
    /// The sentences, or commands, one for each line.
    pub says: Vec<String>,
}

/// The end of a check: the first line, Links, Test, Next.
///
/// ```
/// use linkproof::error::Fields;
/// use linkproof::judge::{CheckContext, JudgeSpec, check_lines, judge};
/// use linkproof::{Dataset, Graph, Runtime};
///
/// let ring: Vec<(u32, u32, f64)> = (0..60).map(|i| (i, (i + 1) % 60, 1.0)).collect();
/// let data = Dataset::from_links(Graph::from_rows(60, &ring)?)?;
/// let judgment = judge(&data, &JudgeSpec::default(), Runtime::default())?;
/// let context = CheckContext {
///     nodes: 60,
///     seconds: 0.2,
///     suspects: "suspects.csv",
///     sample: "check.sample(30)",
///     next: &[],
///     tested: true,
///     name: &|row| row.to_string(),
///     dialect: &Fields,
/// };
/// assert_eq!(check_lines(&judgment, &context)[0].says, ["60 nodes, 60 links, 0.2 s"]);
/// # Ok::<(), linkproof::Error>(())
/// ```
pub fn check_lines(judgment: &Judgment, context: &CheckContext<'_>) -> Vec<Line> {
    let first = format!(
        "{}, {}, {}",
        counted(context.nodes, "node"),
        counted(judgment.links.len(), "link"),
        in_seconds(context.seconds)
    );
    let line = |topic, says| Line { topic, says };
    vec![
        line("", vec![first]),
        line("Links", links(judgment, context)),
        line("Test", vec![test(judgment, context)]),
        line("Next", context.next.to_vec()),
    ]
}

/// Why a link ranks where it does, by its reasons.
pub fn why(reasons: &[Reason], name: &dyn Fn(u32) -> String) -> String {
    let one = |reason: &Reason| match *reason {
        Reason::Unlike { kind, .. } => unlike(kind).to_owned(),
        Reason::NoCommonNeighbors => "no common neighbors".to_owned(),
        Reason::Like { kind, .. } => format!("nothing unusual; best evidence: {}", like(kind)),
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
    };
    let mut says: Vec<String> = Vec::new();
    for reason in reasons.iter().map(one) {
        // Two kinds of evidence may say the same.
        if !says.contains(&reason) {
            says.push(reason);
        }
    }
    says.join("; ")
}

fn unlike(kind: Kind) -> &'static str {
    match kind {
        Kind::Features => "features unlike",
        Kind::CommonNeighbors => "few common neighbors",
        Kind::Paths => "few paths of three links",
        Kind::SharedTraits | Kind::TraitPairs => "features of kinds that are seldom linked",
        Kind::Neighborhoods => "neighborhoods unlike",
        Kind::Positions => "far apart in the graph",
        Kind::NeighborFeatures => "features unlike those of the other's neighbors",
    }
}

fn like(kind: Kind) -> &'static str {
    match kind {
        Kind::Features => "features alike",
        Kind::CommonNeighbors => "common neighbors",
        Kind::Paths => "paths of three links",
        Kind::SharedTraits | Kind::TraitPairs => "features of kinds that are often linked",
        Kind::Neighborhoods => "neighborhoods alike",
        Kind::Positions => "near each other in the graph",
        Kind::NeighborFeatures => "features like those of the other's neighbors",
    }
}

/// The share of false links, what is flagged, and what the graph has of special cases.
fn links(judgment: &Judgment, context: &CheckContext<'_>) -> Vec<String> {
    let facts = &judgment.facts;
    let n_checks = judgment.links.iter().filter(|it| it.verified.is_some());
    let n_checks = n_checks.count();
    let mut says = match (&facts.share, facts.abstained) {
        (Some(share), false) => share_in_words(judgment, share, n_checks, context),
        _ => vec![abstained(judgment, context)],
    };
    let exceeded = facts.share.filter(|_| n_checks > 0).and_then(|share| {
        let before = share.high_unchecked?;
        (share.low > before).then_some(before)
    });
    if let Some(before) = exceeded {
        says.push(format!(
            "That is more than random false links would make (at most {}): false links do not \
             fall at random here.",
            percent(before)
        ));
    }
    if facts.weight_agreement.is_some_and(|r| r < CONTRARY) {
        says.push(
            "Heavy links look less real than light ones. If the weights are distances, pass \
             their inverse, or leave them out."
                .to_owned(),
        );
    }
    let negative = judgment.links.iter().filter(|link| link.weight < 0.0);
    match negative.count() {
        0 => {}
        n => says.push(format!(
            "Shares are of positive links. {} ranked by how much they look like positive ones.",
            match n {
                1 => "1 negative link is".to_owned(),
                n => format!("{} negative links are", grouped(n)),
            }
        )),
    }
    let of_group = |it: &Contradiction| contradiction(it, context);
    says.extend(facts.contradictions.iter().map(of_group));
    says.extend(duplicates(&facts.duplicates, context));
    says
}

fn abstained(judgment: &Judgment, context: &CheckContext<'_>) -> String {
    let flagged = match judgment.n_flagged() {
        0 => String::new(),
        n => format!(" Flagged: {} by hand.", counted(n, "false check")),
    };
    format!(
        "The links look random to everything that is known; their order is in {}.{flagged}",
        context.suspects
    )
}

fn share_in_words(
    judgment: &Judgment,
    share: &Share,
    n_checks: usize,
    context: &CheckContext<'_>,
) -> Vec<String> {
    let facts = &judgment.facts;
    let flagged = match judgment.n_flagged() {
        0 => format!("None is flagged; the order is in {}.", context.suspects),
        1 => format!("1 is flagged in {}.", context.suspects),
        n => format!("{} are flagged in {}.", grouped(n), context.suspects),
    };
    let [low, high] = [share.low, share.high].map(percent);
    let Some(estimate) = share.estimate else {
        let random = judgment.n_flagged() as f64 / judgment.links.len().max(1) as f64;
        let picked =
            "look as if these features had picked them (candidate pairs, nearest neighbors)";
        let use_it = format!(
            "If each node has at most one real partner, use {}.",
            context.dialect.name("one-to-one")
        );
        return match judgment.n_flagged() {
            0 => vec![format!(
                "None looks random. The links {picked}: of those nothing can be said from \
                 likeness alone. {use_it} Their order is in {}.",
                context.suspects
            )],
            _ => vec![
                format!(
                    "At least {} look random and are flagged. The others {picked}: of those \
                     nothing can be said from likeness alone. {use_it}",
                    percent(random)
                ),
                flagged,
            ],
        };
    };
    let estimate = percent(estimate);
    if n_checks > 0 {
        let checks = counted(n_checks, "check");
        return vec![format!(
            "About {estimate} are false ({low} to {high}, by {checks}). {flagged}"
        )];
    }
    let sharper = format!("30 checks by hand make this sharper: {}", context.sample);
    if facts.one_to_one {
        return vec![
            format!(
                "If each node has at most one real partner, about {estimate} are false ({low} or \
                 more). {flagged}"
            ),
            sharper,
        ];
    }
    let flagged = match judgment.n_flagged() {
        0 => format!("none is flagged; the order is in {}.", context.suspects),
        _ => flagged,
    };
    vec![
        format!("About {estimate} look random and are probably false ({low} to {high}): {flagged}"),
        if facts.candidates >= PICKED {
            format!(
                "Many links look as if these features had picked them (candidate pairs, nearest \
                 neighbors). {sharper}"
            )
        } else {
            sharper
        },
    ]
}

fn contradiction(found: &Contradiction, context: &CheckContext<'_>) -> String {
    let [src, dst] = [found.src, found.dst].map(context.name);
    format!(
        "{} with at least {} links each among them have features that contradict these links, \
         such as {src} and {dst}. Such a group can be made of false links: look at it.",
        counted(found.nodes, "node"),
        found.core
    )
}

fn duplicates(groups: &[Vec<u32>], context: &CheckContext<'_>) -> Option<String> {
    let [a, b, ..] = *groups.first()?.as_slice() else {
        return None;
    };
    let [a, b] = [a, b].map(context.name);
    let pairs = groups
        .iter()
        .map(|group| group.len() * (group.len() - 1) / 2);
    Some(format!(
        "{} of nodes look like records of one node, such as {a} and {b}: merge them.",
        counted(pairs.sum(), "pair")
    ))
}

/// What became of planted links.
fn test(judgment: &Judgment, context: &CheckContext<'_>) -> String {
    let facts = &judgment.facts;
    if facts.detection.is_empty() {
        return match (context.tested, facts.abstained) {
            (false, _) => "Left out.".to_owned(),
            (true, true) => "Not made: the links look random.".to_owned(),
            (true, false) => "Not made: too few links are believed.".to_owned(),
        };
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

/// A share in percent: whole ones, or a decimal below 1%.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent > 0.0 && percent < 0.05 => "less than 0.1%".to_owned(),
        _ if percent > 0.0 && percent < 0.95 => format!("{percent:.1}%"),
        _ => format!("{percent:.0}%"),
    }
}

fn in_seconds(seconds: f64) -> String {
    match seconds < 9.5 {
        true => format!("{seconds:.1} s"),
        false => format!("{} s", grouped(seconds.round() as usize)),
    }
}

/// `1 link`, `5,542 links`; the plural goes to the last word.
fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{} {what}s", grouped(n)),
    }
}

/// A whole number with a comma before each three figures.
fn grouped(n: usize) -> String {
    let figures = n.to_string();
    let first = figures.len() % 3;
    let mut text = figures[..first].to_owned();
    for place in (first..figures.len()).step_by(3) {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&figures[place..place + 3]);
    }
    text
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
