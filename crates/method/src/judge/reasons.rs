//! Why a link ranks where it does, as facts.

use linkproof_numeric::math;

use super::outcome::{JudgedLink, Judgment, Kind, Reason, Status};
use super::subject::Subject;
use crate::data::dataset::Dataset;
use crate::data::graph::Link;

/// By evidence that so many non-links have better, a link looks unlike.
const UNLIKE: f64 = 0.5;
/// A weight that is so many times the usual one is named.
const HEAVY: f32 = 5.0;
/// A vote that takes at least so much from the log odds is named.
const AGAINST: f64 = -0.5;
/// A link with a smaller share of its ends has a better rival there.
const RIVAL: f32 = 0.2;
/// At most so many reasons for a link.
const MOST: usize = 4;

impl Judgment {
    /// Why a link ranks where it does, the most important reason first.
    pub fn reasons(&self, place: usize) -> Vec<Reason> {
        let link = &self.links[place];
        let verified = link.verified.map(|real| Reason::Verified { real });
        let mut reasons: Vec<Reason> = verified.into_iter().collect();
        match link.status {
            Status::Judged => reasons.extend(self.reasons_by_evidence(link, place)),
            Status::Blind => reasons.push(Reason::NothingKnown { node: link.end }),
            Status::Duplicate => reasons.push(Reason::Duplicate),
            Status::Negative => {}
        }
        reasons
    }

    fn reasons_by_evidence(&self, link: &JudgedLink, place: usize) -> Vec<Reason> {
        let kinds = self.facts.kinds.iter().zip(&self.tails);
        let better = |tails: &[f32]| math::exp(-f64::from(tails[place]));
        let mut kinds: Vec<(Kind, f64)> =
            kinds.map(|(&kind, tails)| (kind, better(tails))).collect();
        kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut reasons = Vec::new();
        if link.share.is_some_and(|share| share < RIVAL) {
            reasons.push(Reason::BetterPartner { node: link.end });
        }
        for &(kind, better) in kinds.iter().filter(|(_, better)| *better >= UNLIKE) {
            reasons.push(match kind {
                Kind::CommonNeighbors if !link.has_common => Reason::NoCommonNeighbors,
                kind => Reason::Unlike { kind, better },
            });
        }
        let heavy = link.times >= HEAVY;
        reasons.truncate(MOST - usize::from(heavy));
        if heavy {
            reasons.push(Reason::Heavy {
                times: f64::from(link.times),
            });
        } else if link.vote <= AGAINST {
            reasons.push(Reason::Vote);
        }
        if let (Some(&(kind, better)), true) = (kinds.last(), reasons.is_empty()) {
            reasons.push(Reason::Like { kind, better });
        }
        reasons
    }
}

/// The ends of links, and the weights there.
pub(super) struct Ends<'r> {
    data: &'r Dataset,
    subject: &'r Subject,
    degree: Vec<u32>,
    /// The sum of the absolute weights at each internal row.
    strength: Vec<f64>,
    /// The median absolute weight, and the usual factor between a weight and the other
    /// weights at its ends.
    median: f64,
    usual: f64,
}

impl<'r> Ends<'r> {
    pub fn new(data: &'r Dataset, subject: &'r Subject) -> Ends<'r> {
        let mut strength = vec![0.0; data.n_nodes()];
        for link in data.graph().links() {
            strength[link.src as usize] += link.weight.abs();
            strength[link.dst as usize] += link.weight.abs();
        }
        let median = |mut values: Vec<f64>| {
            values.sort_unstable_by(f64::total_cmp);
            super::strata::quantile(&values, 0.5).max(f64::MIN_POSITIVE)
        };
        let weights = data.graph().weights().iter();
        let mut ends = Ends {
            median: median(weights.map(|weight| weight.abs()).collect()),
            usual: 1.0,
            degree: data.graph().degrees(),
            data,
            subject,
            strength,
        };
        let ratios = data.graph().links().map(|link| ends.ratio(link));
        ends.usual = median(ratios.collect());
        ends
    }

    /// The weight of a link against the mean weight of the other links of its ends.
    fn ratio(&self, link: Link) -> f64 {
        let weight = link.weight.abs();
        let others = |row: u32| {
            let degree = f64::from(self.degree[row as usize]);
            let sum = (self.strength[row as usize] - weight).max(0.0);
            // A node without another link is taken for a usual one.
            (sum + self.median) / degree
        };
        weight / (others(link.src).sqrt() * others(link.dst).sqrt())
    }

    /// The weight of a link against the usual weight between such nodes.
    pub fn times(&self, link: Link) -> f32 {
        (self.ratio(link) / self.usual) as f32
    }

    /// The end of a link that its reason names, in the user's rows: of a blind link the one
    /// of which less is known, else the one with more links.
    pub fn named(&self, link: Link, status: Status) -> u32 {
        let degree = |row: u32| self.degree[row as usize];
        let known = |row: u32| (!self.subject.is_silent(row), degree(row));
        let is_second = if status == Status::Blind {
            known(link.dst) < known(link.src)
        } else {
            degree(link.dst) > degree(link.src)
        };
        let row = if is_second { link.dst } else { link.src };
        self.data.user_row(row as usize) as u32
    }
}
