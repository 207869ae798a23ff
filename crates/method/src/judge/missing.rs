//! Unlinked pairs that look most like links.

use std::collections::BTreeMap;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::assess::{Input, assess};
use super::net::Net;
use super::outcome::JudgeSpec;
use super::pairs::mixed;
use super::subject::Subject;
use super::{Progress, RUN_STEPS, estimated_bytes};
use crate::data::dataset::Dataset;
use crate::engine::runtime::{Doing, Runtime};
use crate::error::Result;

/// Walks of each length from a node that end at candidates.
const WALKS: usize = 30;
/// Of so many random nodes those with the most similar features are candidates.
const DRAWN: usize = 60;
const NEAREST: usize = 3;
/// At least so many candidates are compared, and so many for each pair that is wanted.
const LEAST: usize = 20_000;
const FOR_EACH: usize = 20;
const WALK_STREAM: u64 = 0x7761_6c6b;

/// A pair without a link ([`missing_links`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissingLink {
    /// The user's row of one end; of a directed graph, of the source.
    pub src: u32,
    /// The user's row of the other end.
    pub dst: u32,
    /// How much the evidence agrees that it looks like a link; without a unit.
    pub agreement: f64,
}

/// The unlinked pairs that look most like links, of candidates: ends of short walks
/// and nodes with similar features.
pub fn missing_links(
    data: &Dataset,
    spec: &JudgeSpec,
    count: usize,
    runtime: Runtime<'_>,
) -> Result<Vec<MissingLink>> {
    let subject = Subject::new(data, &[], spec.seed);
    let candidates = candidates(&subject, count, spec.seed);
    let pairs = 190 * candidates.len() as u64;
    runtime.check_needed(|| Ok(estimated_bytes(data) + pairs))?;
    runtime.begins(Doing::JudgingLinks);
    let mut progress = Progress {
        runtime,
        done: 0.0,
        total: RUN_STEPS,
    };
    let input = Input {
        links: &subject.links,
        features: subject.features.as_ref(),
        weights: None,
        columns: &[],
        one_to_one: spec.one_to_one,
        picked: None,
        others: &candidates,
        seed: spec.seed,
    };
    let found = assess(&input, &mut progress)?;
    let known = found.loadings.iter().any(|&loading| loading > 0.0);
    let first = found.pairs.n_links + found.pairs.n_non_links;
    let agreement = |place: usize| -> f64 {
        let tails = found.tails.iter().zip(&found.loadings);
        tails
            .map(|(tails, loading)| if known { *loading } else { 1.0 } * f64::from(tails[place]))
            .sum()
    };
    let row_of = rows_of_nodes(&subject);
    let sides = data.ids().sides().filter(|sides| sides.same);
    let to_target = sides.map_or(0, |sides| sides.source.len() as u32);
    let user = |row: u32| data.user_row(row as usize) as u32;
    let mut missing: Vec<MissingLink> = candidates
        .iter()
        .enumerate()
        .map(|(place, &[i, j])| {
            let src = user(row_of[i as usize]);
            let dst = user(row_of[j as usize] + to_target);
            MissingLink {
                src: src.min(dst),
                dst: src.max(dst),
                agreement: agreement(first + place),
            }
        })
        .collect();
    missing.sort_by(|a, b| {
        let by_agreement = b.agreement.total_cmp(&a.agreement);
        by_agreement.then((a.src, a.dst).cmp(&(b.src, b.dst)))
    });
    missing.truncate(count);
    Ok(missing)
}

/// The first internal row of each node.
fn rows_of_nodes(subject: &Subject) -> Vec<u32> {
    let mut rows = vec![0; subject.links.n];
    for (row, &node) in subject.node_of.iter().enumerate().rev() {
        rows[node as usize] = row as u32;
    }
    rows
}

/// Unlinked pairs that may look like links, those that most walks reach first.
fn candidates(subject: &Subject, count: usize, seed: u64) -> Vec<[u32; 2]> {
    let links = &subject.links;
    let (net, kinds) = (links.net(), links.kinds());
    let excluded = links.excluded.iter().map(|&ends| links.code(ends));
    let excluded: std::collections::BTreeSet<u64> = excluded.collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(WALK_STREAM);
    let mut hits: BTreeMap<u64, ([u32; 2], u32)> = BTreeMap::new();
    let mut hit = |ends: [u32; 2]| {
        let code = links.code(ends);
        let is_new = ends[0] != ends[1]
            && !net.has(ends[0], ends[1])
            && !excluded.contains(&code)
            && kinds.has(links, ends);
        if is_new {
            hits.entry(code).or_insert((ends, 0)).1 += 1;
        }
    };
    for node in 0..links.n as u32 {
        for _ in 0..WALKS {
            let ends = walks(&net, node, &mut random);
            ends.into_iter().flatten().for_each(|end| hit([node, end]));
        }
        if let Some(features) = &subject.features {
            let drawn = (0..DRAWN).map(|_| random.random_range(0..links.n as u32));
            let comparable = drawn.filter(|&other| features.comparable(node, other));
            let mut near: Vec<(f64, u32)> = comparable
                .map(|other| (features.nearness(node, other), other))
                .collect();
            near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            near.dedup();
            near.iter()
                .take(NEAREST)
                .for_each(|&(_, other)| hit([node, other]));
        }
    }
    let mut found: Vec<(u64, ([u32; 2], u32))> = hits.into_iter().collect();
    found.sort_by_key(|&(code, (_, hits))| (std::cmp::Reverse(hits), mixed(code)));
    found.truncate(LEAST.max(FOR_EACH * count));
    found.into_iter().map(|(_, (ends, _))| ends).collect()
}

/// The ends of a walk of two and of one of three links.
fn walks(net: &Net, from: u32, random: &mut ChaCha8Rng) -> [Option<u32>; 2] {
    let mut step = |from: Option<u32>, forward: bool| {
        let neighbors = match forward {
            true => net.outgoing(),
            false => net.incoming(),
        };
        neighbors.of(from? as usize).choose(random).copied()
    };
    let first = step(Some(from), true);
    let two = step(first, true);
    let back = step(first, false);
    [two, step(back, true)]
}
