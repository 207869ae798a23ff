//! Unlinked pairs that look most like links.

use std::collections::BTreeMap;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::assess::{Input, assess};
use super::net::{Neighbors, Net};
use super::outcome::JudgeSpec;
use super::pairs::mixed;
use super::subject::Subject;
use super::{Progress, estimated_bytes};
use crate::data::dataset::Dataset;
use crate::engine::runtime::Runtime;
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
    let subject = Subject::new(data, spec.seed);
    let candidates = candidates(&subject, count, spec.seed);
    let pairs = 190 * candidates.len() as u64;
    let mut progress = Progress::new(runtime, estimated_bytes(data) + pairs)?;
    let input = Input {
        one_to_one: spec.one_to_one,
        ..Input::new(&subject, &[], &candidates, spec.seed)
    };
    let mut found = assess(&input, &mut progress)?;
    if found.facts.loadings.iter().all(|&loading| loading <= 0.0) {
        found.facts.loadings.fill(1.0);
    }
    // The first internal row of each node.
    let mut row_of = vec![0; subject.links.n];
    for (row, &node) in subject.node_of.iter().enumerate().rev() {
        row_of[node as usize] = row;
    }
    let sides = data.ids().sides().filter(|sides| sides.same);
    let to_target = sides.map_or(0, |sides| sides.source.len());
    let of_pair = |(place, [i, j]): (usize, [u32; 2])| {
        let src = data.user_row(row_of[i as usize]) as u32;
        let dst = data.user_row(row_of[j as usize] + to_target) as u32;
        MissingLink {
            src: src.min(dst),
            dst: src.max(dst),
            agreement: found.agreement(place),
        }
    };
    let mut missing: Vec<MissingLink> = found.others().map(of_pair).collect();
    missing.sort_by(|a, b| {
        let by_agreement = b.agreement.total_cmp(&a.agreement);
        by_agreement.then((a.src, a.dst).cmp(&(b.src, b.dst)))
    });
    missing.truncate(count);
    Ok(missing)
}

/// Unlinked pairs that may look like links, those that most walks reach first.
fn candidates(subject: &Subject, count: usize, seed: u64) -> Vec<[u32; 2]> {
    let links = &subject.links;
    let (net, taken) = (links.net(), links.taken());
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(WALK_STREAM);
    let mut hits: BTreeMap<u64, ([u32; 2], u32)> = BTreeMap::new();
    let mut hit = |ends: [u32; 2]| {
        let code = links.code(ends);
        let is_new = ends[0] != ends[1] && !taken.contains(&code);
        if is_new && links.kind_of(ends).is_some() {
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
            let near = comparable.map(|other| (features.nearness(node, other), other));
            let mut near: Vec<(f64, u32)> = near.collect();
            near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            near.dedup();
            let nearest = near.iter().take(NEAREST);
            nearest.for_each(|&(_, other)| hit([node, other]));
        }
    }
    let mut found: Vec<(u64, ([u32; 2], u32))> = hits.into_iter().collect();
    found.sort_by_key(|&(code, (_, hits))| (std::cmp::Reverse(hits), mixed(code)));
    found.truncate(LEAST.max(FOR_EACH * count));
    found.into_iter().map(|(_, (ends, _))| ends).collect()
}

/// The ends of a walk of two and of one of three links.
fn walks(net: &Net, from: u32, random: &mut ChaCha8Rng) -> [Option<u32>; 2] {
    let (out, into) = (net.outgoing(), net.incoming());
    let mut step =
        |from: Option<u32>, by: &Neighbors| by.of(from? as usize).choose(random).copied();
    let first = step(Some(from), out);
    let two = step(first, out);
    let back = step(first, into);
    [two, step(back, out)]
}
