//! Why a link ranks where it does, as facts.

use linkproof_numeric::math;

use super::assess::Assessed;
use super::outcome::{Kind, Reason, Status};
use super::subject::Subject;
use crate::data::dataset::Dataset;
use crate::data::graph::Link;

/// By evidence that so many non-links have better, a link looks unlike.
const UNLIKE: f64 = 0.5;
/// A weight that is so many times the usual one is named.
const HEAVY: f64 = 5.0;
/// A vote that takes at least so much from the log odds is named.
const AGAINST: f64 = -0.5;
/// A link with a smaller share of an end has a better rival there.
const RIVAL: f64 = 0.2;
/// At most so many reasons for a link.
const MOST: usize = 4;

/// What reasons are made of.
pub(super) struct Reasons<'r> {
    data: &'r Dataset,
    subject: &'r Subject,
    found: &'r Assessed,
    /// The sum of the absolute weights at each internal row, and the usual weight of a
    /// link between rows of strength 1.
    strength: Vec<f64>,
    usual: f64,
    degree: Vec<u32>,
}

impl<'r> Reasons<'r> {
    pub fn new(data: &'r Dataset, subject: &'r Subject, found: &'r Assessed) -> Reasons<'r> {
        let mut strength = vec![0.0; data.n_nodes()];
        for link in data.graph().links() {
            strength[link.src as usize] += link.weight.abs();
            strength[link.dst as usize] += link.weight.abs();
        }
        let ratio = |link: Link| {
            let expected = strength[link.src as usize] * strength[link.dst as usize];
            link.weight.abs() / expected
        };
        let mut ratios: Vec<f64> = data.graph().links().map(ratio).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        Reasons {
            usual: super::strata::quantile(&ratios, 0.5),
            degree: data.graph().degrees(),
            data,
            subject,
            found,
            strength,
        }
    }

    /// The reasons of a link between internal rows, the most important first.
    pub fn of(&self, link: Link, status: Status, at: Option<usize>) -> Vec<Reason> {
        let user = |row: u32| self.data.user_row(row as usize) as u32;
        let Some(at) = at.filter(|_| status == Status::Judged) else {
            return match status {
                Status::Duplicate => vec![Reason::Duplicate],
                Status::Blind => vec![Reason::NothingKnown {
                    node: user(self.less_known(link)),
                }],
                _ => Vec::new(),
            };
        };
        let mut kinds: Vec<(Kind, f64)> = self
            .found
            .kinds
            .iter()
            .zip(&self.found.tails)
            .map(|(&kind, tails)| (kind, math::exp(-f64::from(tails[at]))))
            .collect();
        kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut reasons = Vec::new();
        if let Some(partner) = self.found.partner.as_ref().filter(|it| it[at] < RIVAL)
            && self.found.picked + partner[at] > 0.0
        {
            let by_degree = |row: u32| self.degree[row as usize];
            let node = match by_degree(link.dst) > by_degree(link.src) {
                true => link.dst,
                false => link.src,
            };
            reasons.push(Reason::BetterPartner { node: user(node) });
        }
        let has_common = self.found.common[at] > 0.0;
        for &(kind, better) in kinds.iter().filter(|(_, better)| *better >= UNLIKE) {
            match kind {
                Kind::CommonNeighbors if !has_common => reasons.push(Reason::NoCommonNeighbors),
                kind => reasons.push(Reason::Unlike { kind, better }),
            }
        }
        let expected = self.strength[link.src as usize] * self.strength[link.dst as usize];
        let times = link.weight.abs() / expected / self.usual;
        let heavy = times >= HEAVY;
        reasons.truncate(MOST - usize::from(heavy));
        if heavy {
            reasons.push(Reason::Heavy { times });
        } else if self.found.vote[at] <= AGAINST {
            reasons.push(Reason::Vote);
        }
        if let (Some(&(kind, better)), true) = (kinds.last(), reasons.is_empty()) {
            reasons.push(Reason::Like { kind, better });
        }
        reasons
    }

    /// The end of which less is known.
    fn less_known(&self, link: Link) -> u32 {
        let known = |row: u32| {
            let node = self.subject.node_of[row as usize] as usize;
            let features = self.subject.features.as_ref();
            let silent = features.is_none_or(|it| it.silent[node]);
            (!silent, self.degree[row as usize])
        };
        match known(link.src) <= known(link.dst) {
            true => link.src,
            false => link.dst,
        }
    }
}
