//! Which links look false, and how many: the judge of links, in closed form.
//!
//! 1. Non-links (unlinked pairs) are drawn for comparison (`pairs.rs`).
//! 2. Every pair gets evidence of several kinds that does not include its own link
//!    (`evidence.rs`, `features.rs`).
//! 3. Two combinations of the evidence rank the links (`combine.rs`).
//! 4. Ranks among non-links of the same degrees give the share of false links and a
//!    belief for each link (`claims.rs`). Weights and the user's columns vote at the end
//!    (`votes.rs`).
//! 5. Planted links test the judge (`planted.rs`); links that a person has verified
//!    recalibrate it (`labels.rs`).
//!
//! ```
//! use linkproof::judge::{JudgeSpec, judge};
//! use linkproof::{Dataset, Graph, Runtime};
//!
//! let ring: Vec<(u32, u32, f64)> = (0..60).map(|i| (i, (i + 1) % 60, 1.0)).collect();
//! let data = Dataset::from_links(Graph::from_rows(60, &ring)?)?;
//! let judgment = judge(&data, &JudgeSpec::default(), Runtime::default())?;
//! assert_eq!(judgment.links.len(), 60);
//! # Ok::<(), linkproof::Error>(())
//! ```

mod assess;
mod candidates;
mod claims;
mod combine;
mod evidence;
mod features;
mod groups;
mod labels;
mod missing;
pub(crate) mod net;
mod outcome;
pub(crate) mod pairs;
mod paths;
mod planted;
mod reasons;
mod record;
mod rows;
pub(crate) mod strata;
mod subject;
#[cfg(test)]
mod tests;
mod votes;

pub use missing::{MissingLink, missing_links};
pub use outcome::{
    Cause, Check, ChecksUsed, Contradiction, Detection, EvidenceColumn, Facts, JudgeSpec,
    JudgedLink, Judgment, Kind, PlantedKind, Reason, Share, Status, Tally, Unused,
};
pub use record::Columns;

use assess::{Assessed, Input, assess};
use combine::normal_scores;
use pairs::pair_hash;
use reasons::Ends;
use subject::Subject;

use crate::data::dataset::Dataset;
use crate::data::features::Matrix;
use crate::engine::runtime::{Doing, Runtime};
use crate::error::Result;

/// The parts of one run, for progress.
const RUN_STEPS: f64 = 9.0;

/// How far the work has come.
struct Progress<'r> {
    runtime: Runtime<'r>,
    done: f64,
    total: f64,
}

impl<'r> Progress<'r> {
    /// The work of one run begins, which holds about so many bytes.
    fn new(runtime: Runtime<'r>, bytes: u64) -> Result<Progress<'r>> {
        runtime.check_needed(|| Ok(bytes))?;
        runtime.begins(Doing::JudgingLinks);
        Ok(Progress {
            runtime,
            done: 0.0,
            total: RUN_STEPS,
        })
    }

    /// Some more steps are done.
    fn step(&mut self, steps: f64) -> Result<()> {
        self.done += steps;
        self.runtime.after_share((self.done / self.total).min(1.0))
    }
}

/// Judges all links of a graph.
pub fn judge(data: &Dataset, spec: &JudgeSpec, runtime: Runtime<'_>) -> Result<Judgment> {
    let mut progress = Progress::new(runtime, estimated_bytes(data))?;
    let subject = Subject::new(data, spec.seed);
    let columns = subject.columns(data, spec);
    let input = Input {
        one_to_one: spec.one_to_one,
        ..Input::new(&subject, &columns, &subject.negative, spec.seed)
    };
    let plan = planted::Plan::new(&input).filter(|_| spec.test);
    let runs = 1 + plan.as_ref().map_or(0, |plan| plan.runs);
    progress.total *= runs as f64;
    let mut found = assess(&input, &mut progress)?;
    let contradiction = groups::contradiction(&found, &subject.links, spec.seed);
    let negative = suspicion_of_negative(&found);
    found.shrink();
    if let Some(plan) = plan {
        found.facts.detection = planted::detection(&plan, &input, &found, &mut progress)?;
    }
    let user = |node: u32| data.user_row(node as usize) as u32;
    let user_pair = |found: Contradiction| Contradiction {
        src: user(found.src),
        dst: user(found.dst),
        ..found
    };
    found.facts.contradictions = contradiction.map(user_pair).into_iter().collect();
    let groups = subject.duplicates.iter();
    let groups = groups.map(|group| group.iter().map(|&node| user(node)).collect());
    found.facts.duplicates = groups.collect();
    let mut judgment = Judgment {
        links: judged_links(data, &subject, &found, &negative),
        tails: tails_of_links(&subject, &found),
        facts: found.facts,
    };
    judgment.recalibrate(&spec.checks);
    Ok(judgment)
}

/// The links of the data, ranked.
fn judged_links(
    data: &Dataset,
    subject: &Subject,
    found: &Assessed,
    negative: &[f64],
) -> Vec<JudgedLink> {
    let ends = Ends::new(data, subject);
    let mut negative = negative.iter();
    // What a link is sorted by: its class, its suspicion, its nearness, a hash.
    let mut keys: Vec<(u8, f64, f64, u64)> = Vec::with_capacity(data.graph().n_links());
    let mut links = Vec::with_capacity(data.graph().n_links());
    for (link, at) in data.graph().links().zip(&subject.place_of) {
        let at = at.map(|at| at as usize);
        let user = data.user_link(link);
        let (status, class) = match at {
            Some(at) if found.blind[at] => (Status::Blind, 1),
            Some(_) => (Status::Judged, 0),
            None if subject.is_within_node(link) => (Status::Duplicate, 2),
            None => (Status::Negative, 0),
        };
        let number = |values: &[f64], other: f64| at.map_or(other, |at| values[at]);
        let suspicion = match status {
            Status::Negative => negative.next().copied().unwrap_or(0.0),
            _ => number(&found.suspicion, 0.0),
        };
        let near = found.nearness.as_ref().map_or(0.0, |it| number(it, 0.0));
        keys.push((class, suspicion, near, pair_hash([user.src, user.dst], 0)));
        let belief = number(&found.beliefs, 1.0);
        let share = found.partner.as_ref().zip(at);
        links.push(JudgedLink {
            src: user.src,
            dst: user.dst,
            weight: link.weight,
            belief,
            rank: 0,
            suspect: status == Status::Judged && !found.facts.abstained && belief < 0.5,
            status,
            worse: number(&found.worse, 0.5),
            log_density: number(&found.log_density, 0.0),
            vote: number(&found.vote, 0.0),
            times: ends.times(link),
            has_common: at.is_some_and(|at| found.common[at] > 0.0),
            share: share.map(|(partner, at)| partner[at] as f32),
            end: ends.named(link, status),
            verified: None,
        });
    }
    let mut order: Vec<usize> = (0..links.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&keys[a], &keys[b]);
        let by_suspicion = a.0.cmp(&b.0).then(b.1.total_cmp(&a.1));
        by_suspicion.then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3))
    });
    for (before, place) in order.into_iter().enumerate() {
        links[place].rank = before + 1;
    }
    links
}

/// The tails of each kind, for each link of the data.
fn tails_of_links(subject: &Subject, found: &Assessed) -> Vec<Vec<f32>> {
    let of_kind = |tails: &Vec<f32>| {
        let places = subject.place_of.iter();
        let of_link = |at: &Option<u32>| at.map_or(f32::NAN, |at| tails[at as usize]);
        places.map(of_link).collect()
    };
    found.tails.iter().map(of_kind).collect()
}

/// A negative link is suspicious if it looks like a positive one.
fn suspicion_of_negative(found: &Assessed) -> Vec<f64> {
    let traits = found.tails_of(Kind::TraitPairs);
    let looks =
        |(place, _)| found.agreement(place) + traits.map_or(0.0, |tails| f64::from(tails[place]));
    normal_scores(&found.others().map(looks).collect::<Vec<f64>>())
}

/// The largest number of bytes that [`judge`] holds for these data, about.
pub fn estimated_bytes(data: &Dataset) -> u64 {
    /// For each pair, for each link, and for each number of a node's rows.
    const PAIR: u64 = 135;
    const LINK: u64 = 60;
    const NUMBER: u64 = 8;
    /// Numbers of a node: features or positions, and their sums.
    const WITH_FEATURES: u64 = 65 * 4;
    const LINKS_ALONE: u64 = 64 * 4;
    let m = data.graph().n_links() as u64;
    let n = data.n_nodes() as u64;
    let matrices = data.views().iter().filter_map(|view| view.matrix.as_ref());
    let prepared = matrices.map(|matrix| match matrix {
        Matrix::Dense(dense) => NUMBER * dense.values().len() as u64,
        // By rows and by columns.
        Matrix::Sparse(_) => 2 * matrix.bytes(),
    });
    let prepared: Vec<u64> = prepared.collect();
    let numbers = if prepared.is_empty() {
        LINKS_ALONE
    } else {
        WITH_FEATURES
    };
    prepared.iter().sum::<u64>() + PAIR * (m + m.max(4000)) + NUMBER * n * numbers + LINK * m
}
