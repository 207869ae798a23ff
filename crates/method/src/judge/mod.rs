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
use reasons::EndFacts;
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

impl Progress<'_> {
    /// Some more steps are done.
    fn step(&mut self, steps: f64) -> Result<()> {
        self.done += steps;
        self.runtime.after_share((self.done / self.total).min(1.0))
    }
}

/// Judges all links of a graph.
pub fn judge(data: &Dataset, spec: &JudgeSpec, runtime: Runtime<'_>) -> Result<Judgment> {
    runtime.check_needed(|| Ok(estimated_bytes(data)))?;
    runtime.begins(Doing::JudgingLinks);
    let subject = Subject::new(data, &spec.columns, spec.seed);
    let plan = planted::Plan::new(&subject).filter(|_| spec.test);
    let runs = 1 + plan.as_ref().map_or(0, |plan| plan.runs);
    let mut progress = Progress {
        runtime,
        done: 0.0,
        total: RUN_STEPS * runs as f64,
    };
    let others: Vec<[u32; 2]> = subject.negative.iter().map(|(_, ends)| *ends).collect();
    let input = Input {
        links: &subject.links,
        features: subject.features.as_ref(),
        weights: spec.weights.then_some(&subject.weights),
        columns: &subject.columns,
        one_to_one: spec.one_to_one,
        picked: None,
        others: &others,
        seed: spec.seed,
    };
    let mut found = assess(&input, &mut progress)?;
    let contradiction = contradiction(&subject, &found, spec.seed);
    let detection = match &plan {
        Some(plan) => {
            // The evidence of non-links is not needed any more.
            found.shrink();
            planted::detection(&subject, plan, &input, &found, &mut progress)?
        }
        None => Vec::new(),
    };
    let mut facts = Facts {
        kinds: found.kinds.clone(),
        loadings: found.loadings.clone(),
        share: found.share,
        auc: found.auc.0,
        auc_error: found.auc.1,
        abstained: found.abstained,
        candidates: found.picked,
        one_to_one: spec.one_to_one,
        weight_agreement: found.weight_agreement,
        detection,
        contradictions: contradiction.into_iter().collect(),
        duplicates: Vec::new(),
        unused: found.unused.clone(),
    };
    let user = |node: u32| data.user_row(node as usize) as u32;
    for contradiction in &mut facts.contradictions {
        contradiction.src = user(contradiction.src);
        contradiction.dst = user(contradiction.dst);
    }
    for group in &subject.duplicates {
        facts
            .duplicates
            .push(group.iter().map(|&node| user(node)).collect());
    }
    let mut judgment = Judgment {
        links: judged_links(data, &subject, &found),
        tails: tails_of_links(&subject, &found),
        facts,
    };
    judgment.recalibrate(&spec.checks);
    Ok(judgment)
}

fn contradiction(subject: &Subject, found: &Assessed, seed: u64) -> Option<Contradiction> {
    let nearness = found.nearness.as_ref()?;
    let tails = |kind| {
        let at = found.kinds.iter().position(|&it| it == kind)?;
        Some(&found.tails[at])
    };
    let (common, paths) = (tails(Kind::CommonNeighbors)?, tails(Kind::Paths)?);
    let pairs = common.iter().zip(paths);
    let structure: Vec<f64> = pairs.map(|(a, b)| f64::from(a + b) / 2.0).collect();
    let asked = groups::Asked {
        links: &subject.links.ends,
        structure: &structure,
        nearness,
        counts: (found.pairs.n_links, found.pairs.n_non_links),
    };
    groups::contradiction(&asked, subject.links.n, seed)
}

/// The links of the data, ranked.
fn judged_links(data: &Dataset, subject: &Subject, found: &Assessed) -> Vec<JudgedLink> {
    let negative = suspicion_of_negative(found);
    let facts = EndFacts::new(data, subject, found);
    let mut next_negative = negative.iter();
    // What a link is sorted by: its class, its suspicion, its nearness, a hash.
    let mut keys: Vec<(u8, f64, f64, u64)> = Vec::with_capacity(data.graph().n_links());
    let mut links = Vec::with_capacity(data.graph().n_links());
    for (link, at) in data.graph().links().zip(&subject.place_of) {
        let at = at.map(|at| at as usize);
        let user = data.user_link(link);
        let status = match at {
            Some(at) if found.blind[at] => Status::Blind,
            Some(_) => Status::Judged,
            None if link.weight < 0.0 => Status::Negative,
            None => Status::Duplicate,
        };
        let number = |values: &[f64], other: f64| at.map_or(other, |at| values[at]);
        let belief = number(&found.beliefs, 1.0);
        let (suspicion, near) = match at {
            Some(at) => {
                let near = found.nearness.as_ref().map_or(0.0, |near| near[at]);
                (found.suspicion[at], near)
            }
            None if status == Status::Negative => {
                (next_negative.next().copied().unwrap_or(0.0), 0.0)
            }
            None => (0.0, 0.0),
        };
        let class = match status {
            Status::Judged | Status::Negative => 0,
            Status::Blind => 1,
            Status::Duplicate => 2,
        };
        keys.push((class, suspicion, near, pair_hash([user.src, user.dst], 0)));
        links.push(JudgedLink {
            src: user.src,
            dst: user.dst,
            weight: link.weight,
            belief,
            rank: 0,
            suspect: status == Status::Judged && !found.abstained && belief < 0.5,
            status,
            worse: number(&found.worse, 0.5),
            log_density: number(&found.log_density, 0.0),
            vote: number(&found.vote, 0.0),
            times: facts.times(link),
            has_common: at.is_some_and(|at| found.common[at] > 0.0),
            share: at.and_then(|at| facts.share(at)),
            end: facts.end(link, status),
            verified: None,
        });
    }
    let mut order: Vec<usize> = (0..links.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&keys[a], &keys[b]);
        a.0.cmp(&b.0)
            .then(b.1.total_cmp(&a.1))
            .then(a.2.total_cmp(&b.2))
            .then(a.3.cmp(&b.3))
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
        places
            .map(|at| at.map_or(f32::NAN, |at| tails[at as usize]))
            .collect()
    };
    found.tails.iter().map(of_kind).collect()
}

/// A negative link is suspicious if it looks like a positive one.
fn suspicion_of_negative(found: &Assessed) -> Vec<f64> {
    let others = found.pairs.n_links + found.pairs.n_non_links..found.pairs.len();
    let looks = |place: usize| {
        let agreed = found.tails.iter().zip(&found.loadings);
        let agreed: f64 = agreed
            .map(|(tails, loading)| loading * f64::from(tails[place]))
            .sum();
        let traits = found
            .kinds
            .iter()
            .position(|&kind| kind == Kind::TraitPairs);
        agreed + traits.map_or(0.0, |at| f64::from(found.tails[at][place]))
    };
    normal_scores(&others.map(looks).collect::<Vec<f64>>())
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
