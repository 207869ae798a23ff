//! The test of the judge: links that we plant, and how many of them it finds.

use std::iter::repeat_with;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Progress;
use super::assess::{Assessed, Input, assess};
use super::outcome::{Detection, EvidenceColumn, PlantedKind};
use super::pairs::Links;
use super::strata::quantile;
use crate::error::Result;

/// Of each kind 3% of the links are planted, and at least 30.
const PERCENT: usize = 3;
const LEAST: usize = 30;
/// All together are at most a tenth of the links and of the unlinked pairs.
const MOST: f64 = 0.1;
const MOST_RUNS: usize = 5;
/// The most alike of so many pairs.
const CANDIDATES: usize = 40;
/// Fewer believed links are no measure.
const LEAST_BELIEVED: usize = 50;
/// A planted link is found if it is more suspicious than this share of the believed links.
const BAR: f64 = 0.9;
/// Draws for each planted link before the search ends.
const DRAWS: usize = 1000;
const PLANT_STREAM: u64 = 0x706c_616e;

/// How many links of each kind are planted in each of how many runs.
pub(super) struct Plan {
    kinds: Vec<PlantedKind>,
    count: usize,
    pub runs: usize,
}

impl Plan {
    /// None if the graph is too small.
    pub fn new(input: &Input<'_>) -> Option<Plan> {
        let links = input.links;
        let m = links.ends.len();
        let mut kinds = vec![PlantedKind::Uniform, PlantedKind::ByDegree];
        let has_features =
            |&[i, j]: &[u32; 2]| input.features.is_some_and(|it| it.comparable(i, j));
        if links.ends.iter().any(has_features) {
            kinds.push(PlantedKind::Alike);
        }
        let pairs: f64 = (0..links.n_kinds()).map(|kind| links.n_pairs(kind)).sum();
        let free = (pairs - m as f64).max(0.0);
        let room = (free.min(m as f64) * MOST / kinds.len() as f64) as usize;
        let count = (m * PERCENT / 100).max(LEAST).min(room);
        let runs = LEAST.div_ceil(count.max(1)).min(MOST_RUNS);
        (count * runs >= LEAST).then_some(Plan { kinds, count, runs })
    }

    /// Unlinked pairs, kind after kind.
    fn plant(&self, input: &Input<'_>, random: &mut ChaCha8Rng) -> Vec<[u32; 2]> {
        let links = input.links;
        let mut taken = links.taken();
        let mut planted = Vec::new();
        for planted_kind in &self.kinds {
            let draw = || {
                // Pairs of views get as many as they have links.
                let kind = links.kind_of_random_link(random);
                match planted_kind {
                    PlantedKind::Uniform => links.uniform(kind, random),
                    PlantedKind::ByDegree => links.by_degree(kind, random),
                    PlantedKind::Alike => most_alike(input, kind, random),
                }
            };
            let is_new = |&ends: &[u32; 2]| ends[0] != ends[1] && taken.insert(links.code(ends));
            let drawn = repeat_with(draw).take(self.count * DRAWS).filter(is_new);
            planted.extend(drawn.take(self.count));
        }
        planted
    }
}

fn most_alike(input: &Input<'_>, kind: usize, random: &mut ChaCha8Rng) -> [u32; 2] {
    let mut best = ([0, 0], f64::NEG_INFINITY);
    for _ in 0..CANDIDATES {
        let [i, j] = input.links.uniform(kind, random);
        let near = input.features.map(|features| features.nearness(i, j));
        if let Some(near) = near.filter(|&near| i != j && near > best.1) {
            best = ([i, j], near);
        }
    }
    best.0
}

/// Plants links in runs of their own. Empty if too few links are believed.
pub(super) fn detection(
    plan: &Plan,
    input: &Input<'_>,
    found: &Assessed,
    progress: &mut Progress<'_>,
) -> Result<Vec<Detection>> {
    let before = input.links;
    let m = before.ends.len();
    if found.believed(m).len() < LEAST_BELIEVED {
        return Ok(Vec::new());
    }
    let planted = plan.count * plan.runs;
    let zero = |&kind| Detection {
        kind,
        planted,
        ..Detection::default()
    };
    let mut detection: Vec<Detection> = plan.kinds.iter().map(zero).collect();
    let mut n_suspects = 0;
    for run in 0..plan.runs as u64 {
        let mut random = ChaCha8Rng::seed_from_u64(input.seed);
        random.set_stream(PLANT_STREAM + run);
        let mut ends = before.ends.clone();
        ends.extend(plan.plant(input, &mut random));
        let all = ends.len();
        // Planted links have the weight and the columns of links of the user.
        let from: Vec<usize> = (m..all).map(|_| random.random_range(0..m)).collect();
        let longer = |column: &EvidenceColumn| {
            let more = from.iter().map(|&place| column.values[place]);
            EvidenceColumn {
                name: column.name.clone(),
                values: column.values.iter().copied().chain(more).collect(),
            }
        };
        let columns: Vec<EvidenceColumn> = input.columns.iter().map(longer).collect();
        let (group, excluded) = (before.group.clone(), before.excluded.clone());
        let again = Input {
            links: &Links::new(group, before.directed, ends, excluded),
            columns: &columns,
            picked: Some(found.facts.candidates),
            others: &[],
            seed: input.seed.wrapping_add(run),
            ..*input
        };
        let found = assess(&again, progress)?;
        let mut believed = found.believed(m);
        if believed.len() < LEAST_BELIEVED {
            return Ok(Vec::new());
        }
        believed.sort_unstable_by(f64::total_cmp);
        let bar = quantile(&believed, BAR);
        let is_found = |&place: &usize| found.suspicion[place] > bar;
        let is_suspect = |&place: &usize| found.beliefs[place] < 0.5;
        let own = (0..m).filter(is_found).count() as f64 / m as f64;
        let suspects: Vec<usize> = (0..all).filter(is_suspect).collect();
        let beliefs: f64 = suspects.iter().map(|&place| found.beliefs[place]).sum();
        let planted_suspects = suspects.iter().filter(|&&place| place >= m).count();
        n_suspects += suspects.len();
        for (at, it) in detection.iter_mut().enumerate() {
            let places = m + at * plan.count..(m + (at + 1) * plan.count).min(all);
            it.flagged += places.clone().filter(is_suspect).count() as f64;
            it.found += places.filter(is_found).count() as f64;
            it.own += own;
            it.claimed += beliefs;
            it.realised += planted_suspects as f64;
        }
    }
    let n_suspects = (n_suspects as f64).max(1.0);
    for it in &mut detection {
        it.flagged /= planted as f64;
        it.found /= planted as f64;
        it.own /= plan.runs as f64;
        it.claimed = 1.0 - it.claimed / n_suspects;
        it.realised /= n_suspects;
    }
    Ok(detection)
}
