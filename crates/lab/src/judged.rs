//! How good a judgment of links is if the false links are known.

use linkproof_method::error::Result;
use linkproof_method::judge::{Judgment, PlantedKind};
use linkproof_method::measure::auc;

/// The true share of false links.
pub const TRUTH: &str = "share of false links, the truth";
/// How often a false link ranks before a real one.
pub const AUC: &str = "AUC of the suspicion rank";
/// The lower bound.
pub const LOW: &str = "share of false links, Low";
/// The estimate.
pub const ESTIMATE: &str = "share of false links, estimate";
/// The upper bound.
pub const HIGH: &str = "share of false links, High";
/// 1 if the upper bound holds.
pub const HOLDS: &str = "runs in which High holds";
/// How far the estimate is off.
pub const ERROR: &str = "error of the estimate";
/// The share of false links among the first by rank.
pub const FIRST: &str = "false among the first 100 by rank";
/// How many links are flagged.
pub const FLAGGED: &str = "flagged links";
/// How many of these are false.
pub const CAUGHT: &str = "flagged links that are false";
/// The share of these that are false.
pub const PRECISION: &str = "false among the flagged";
/// How far beliefs are off.
pub const RELIABILITY: &str = "reliability: error of the beliefs, mean of tenths";
/// 1 if the judge abstains.
pub const ABSTAINED: &str = "runs in which the judge abstains";
/// 1 if there is a contradiction.
pub const CONTRADICTED: &str = "runs with a contradiction";
/// 1 if there are duplicates.
pub const DUPLICATES: &str = "runs with duplicates";

/// The rows of a table of judgments, in their order.
pub const ROWS: [&str; 15] = [
    TRUTH,
    AUC,
    LOW,
    ESTIMATE,
    HIGH,
    HOLDS,
    ERROR,
    FIRST,
    FLAGGED,
    CAUGHT,
    PRECISION,
    RELIABILITY,
    ABSTAINED,
    CONTRADICTED,
    DUPLICATES,
];

/// The first links by rank that are looked at.
const FIRST_LINKS: usize = 100;
/// Beliefs are compared with the truth in so many parts of the links.
const PARTS: usize = 10;

/// Measures of a judgment, by the names of [`ROWS`]; a measure that does not apply, such as
/// the AUC without false links, is left out. `is_false` is in the order of the judged links.
pub fn measures(judgment: &Judgment, is_false: &[bool]) -> Result<Vec<(&'static str, f64)>> {
    let links = &judgment.links;
    let m = links.len() as f64;
    let number = |flag: bool| f64::from(u8::from(flag));
    let n_false = is_false.iter().filter(|&&is_false| is_false).count() as f64;
    let truth = n_false / m;
    let mut found = vec![(TRUTH, truth)];
    if n_false > 0.0 && n_false < m {
        let suspicion: Vec<f64> = links.iter().map(|link| -(link.rank as f64)).collect();
        found.push((AUC, auc(&suspicion, is_false)?));
    }
    if let Some(share) = judgment.facts.share {
        found.extend([(LOW, share.low), (HIGH, share.high)]);
        let estimate = share.estimate.into_iter();
        found.extend(estimate.flat_map(|it| [(ESTIMATE, it), (ERROR, (it - truth).abs())]));
    }
    // A share that the judge does not give does not hold.
    let holds = judgment.facts.share.is_some_and(|it| truth <= it.high);
    found.push((HOLDS, number(holds)));
    let count = |which: &dyn Fn(usize) -> bool| (0..links.len()).filter(|&at| which(at)).count();
    let first = count(&|at| links[at].rank <= FIRST_LINKS && is_false[at]);
    found.push((FIRST, first as f64 / m.min(FIRST_LINKS as f64)));
    let flagged = judgment.n_flagged() as f64;
    let caught = count(&|at| links[at].suspect && is_false[at]) as f64;
    found.extend([(FLAGGED, flagged), (CAUGHT, caught)]);
    if flagged > 0.0 {
        found.push((PRECISION, caught / flagged));
    }
    let facts = &judgment.facts;
    found.extend([
        (RELIABILITY, reliability(judgment, is_false)),
        (ABSTAINED, number(facts.abstained)),
        (CONTRADICTED, number(!facts.contradictions.is_empty())),
        (DUPLICATES, number(!facts.duplicates.is_empty())),
    ]);
    Ok(found)
}

/// The mean over ten parts of the links, by belief, of the distance between their mean
/// belief and their share of real links.
fn reliability(judgment: &Judgment, is_false: &[bool]) -> f64 {
    let belief = |at: usize| judgment.links[at].belief;
    let mut order: Vec<usize> = (0..is_false.len()).collect();
    order.sort_by(|&a, &b| belief(a).total_cmp(&belief(b)));
    let mut sum = 0.0;
    for part in 0..PARTS {
        let cut = |part: usize| part * order.len() / PARTS;
        let places = &order[cut(part)..cut(part + 1)];
        let distance = |&at: &usize| belief(at) - f64::from(u8::from(!is_false[at]));
        let distances = places.iter().map(distance).sum::<f64>();
        sum += distances.abs() / places.len().max(1) as f64;
    }
    sum / PARTS as f64
}

/// The names of the rows about planted links, with how these were planted.
pub const DETECTION: [(PlantedKind, [&str; 2]); 3] = [
    (
        PlantedKind::Uniform,
        [
            "planted uniformly: flagged",
            "planted uniformly: ranked high",
        ],
    ),
    (
        PlantedKind::ByDegree,
        [
            "planted by degree: flagged",
            "planted by degree: ranked high",
        ],
    ),
    (
        PlantedKind::Alike,
        [
            "planted between similar nodes: flagged",
            "planted between similar nodes: ranked high",
        ],
    ),
];
/// The row about the user's own links.
pub const OWN: &str = "own links that rank as high";

/// What became of planted links, by the names of [`DETECTION`] and [`OWN`].
pub fn detection(judgment: &Judgment) -> Vec<(&'static str, f64)> {
    let mut found = Vec::new();
    for it in &judgment.facts.detection {
        for (kind, [flagged, high]) in DETECTION {
            if kind == it.kind {
                found.extend([(flagged, it.flagged), (high, it.found)]);
            }
        }
    }
    let own = judgment.facts.detection.first();
    found.extend(own.map(|it| (OWN, it.own)));
    found
}
