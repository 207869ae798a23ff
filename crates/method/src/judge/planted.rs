//! The test of the judge: links that we plant, and how many of them it finds.

use hashbrown::HashSet;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::assess::{Assessed, Input, assess};
use super::outcome::{Detection, EvidenceColumn, PlantedKind};
use super::pairs::{Kinds, Links};
use super::strata::quantile;
use super::{Progress, Subject};
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
    pub fn new(subject: &Subject) -> Option<Plan> {
        let links = &subject.links;
        let m = links.ends.len();
        let mut kinds = vec![PlantedKind::Uniform, PlantedKind::ByDegree];
        let comparable = |features: &super::features::FeatureSpaces| {
            links.ends.iter().any(|&[i, j]| features.comparable(i, j))
        };
        if subject.features.as_ref().is_some_and(comparable) {
            kinds.push(PlantedKind::Alike);
        }
        let of_kind = links.kinds();
        let pairs = (0..of_kind.len()).map(|kind| of_kind.n_pairs(kind, links.directed));
        let free = (pairs.sum::<f64>() - m as f64).max(0.0);
        let room = (free.min(m as f64) * MOST / kinds.len() as f64) as usize;
        let count = (m * PERCENT / 100).max(LEAST).min(room);
        let runs = if count >= LEAST {
            1
        } else {
            LEAST.div_ceil(count.max(1)).min(MOST_RUNS)
        };
        (count * runs >= LEAST).then_some(Plan { kinds, count, runs })
    }
}

/// What became of one run's planted links, by kind.
struct Run {
    flagged: Vec<usize>,
    found: Vec<usize>,
    own: f64,
    beliefs: f64,
    suspects: usize,
    planted_suspects: usize,
}

/// Plants links in runs of their own. Empty if too few links are believed.
pub(super) fn detection(
    subject: &Subject,
    plan: &Plan,
    input: &Input<'_>,
    found: &Assessed,
    progress: &mut Progress<'_>,
) -> Result<Vec<Detection>> {
    let believed = found
        .beliefs
        .iter()
        .filter(|&&belief| belief >= 0.5)
        .count();
    if found.abstained || believed < LEAST_BELIEVED {
        return Ok(Vec::new());
    }
    let mut runs = Vec::new();
    for run in 0..plan.runs {
        let Some(done) = one_run(subject, plan, input, (found.picked, run), progress)? else {
            return Ok(Vec::new());
        };
        runs.push(done);
    }
    let sum = |number: &dyn Fn(&Run) -> f64| runs.iter().map(number).sum::<f64>();
    let planted = plan.count * plan.runs;
    let suspects = sum(&|run| run.suspects as f64).max(1.0);
    let detection = plan.kinds.iter().enumerate().map(|(at, &kind)| Detection {
        kind,
        planted,
        flagged: sum(&|run| run.flagged[at] as f64) / planted as f64,
        found: sum(&|run| run.found[at] as f64) / planted as f64,
        own: sum(&|run| run.own) / plan.runs as f64,
        claimed: 1.0 - sum(&|run| run.beliefs) / suspects,
        realised: sum(&|run| run.planted_suspects as f64) / suspects,
    });
    Ok(detection.collect())
}

fn one_run(
    subject: &Subject,
    plan: &Plan,
    input: &Input<'_>,
    (picked, run): (f64, usize),
    progress: &mut Progress<'_>,
) -> Result<Option<Run>> {
    let before = &subject.links;
    let m = before.ends.len();
    let mut random = ChaCha8Rng::seed_from_u64(input.seed);
    random.set_stream(PLANT_STREAM + run as u64);
    let planted = plant(subject, plan, &mut random);
    let ends: Vec<[u32; 2]> = before.ends.iter().copied().chain(planted).collect();
    let more = ends.len() - m;
    // Planted links have the weight and the columns of links of the user.
    let from: Vec<usize> = (0..more).map(|_| random.random_range(0..m)).collect();
    let longer = |values: &[f64]| -> Vec<f64> {
        let more = from.iter().map(|&place| values[place]);
        values.iter().copied().chain(more).collect()
    };
    let weights = input.weights.map(&longer);
    let columns: Vec<EvidenceColumn> = input
        .columns
        .iter()
        .map(|column| EvidenceColumn {
            name: column.name.clone(),
            values: longer(&column.values),
        })
        .collect();
    let links = Links {
        group: before.group.clone(),
        excluded: before.excluded.clone(),
        ends,
        ..*before
    };
    let again = Input {
        links: &links,
        weights: weights.as_deref(),
        columns: &columns,
        picked: Some(picked),
        others: &[],
        seed: input.seed.wrapping_add(run as u64),
        ..*input
    };
    let found = assess(&again, progress)?;
    let believed = (0..m).filter(|&place| found.beliefs[place] >= 0.5);
    let mut believed: Vec<f64> = believed.map(|place| found.suspicion[place]).collect();
    if found.abstained || believed.len() < LEAST_BELIEVED {
        return Ok(None);
    }
    believed.sort_unstable_by(f64::total_cmp);
    let bar = quantile(&believed, BAR);
    let of_kind = |at: usize| m + at * plan.count..(m + (at + 1) * plan.count).min(m + more);
    let count = |range: std::ops::Range<usize>, which: &dyn Fn(usize) -> bool| {
        range.filter(|&place| which(place)).count()
    };
    let kinds = 0..plan.kinds.len();
    let is_suspect = |place: usize| found.beliefs[place] < 0.5;
    let is_found = |place: usize| found.suspicion[place] > bar;
    let suspects: Vec<usize> = (0..m + more).filter(|&place| is_suspect(place)).collect();
    Ok(Some(Run {
        flagged: kinds
            .clone()
            .map(|at| count(of_kind(at), &is_suspect))
            .collect(),
        found: kinds.map(|at| count(of_kind(at), &is_found)).collect(),
        own: count(0..m, &is_found) as f64 / m as f64,
        beliefs: suspects.iter().map(|&place| found.beliefs[place]).sum(),
        planted_suspects: suspects.iter().filter(|&&place| place >= m).count(),
        suspects: suspects.len(),
    }))
}

/// Unlinked pairs, kind after kind.
fn plant(subject: &Subject, plan: &Plan, random: &mut ChaCha8Rng) -> Vec<[u32; 2]> {
    let links = &subject.links;
    let kinds = links.kinds();
    let known = links.ends.iter().chain(&links.excluded);
    let mut taken: HashSet<u64> = known.map(|&ends| links.code(ends)).collect();
    let mut planted = Vec::new();
    for &planted_kind in &plan.kinds {
        let mut left = plan.count;
        for _ in 0..plan.count * DRAWS {
            if left == 0 {
                break;
            }
            // Pairs of views get as many as they have links.
            let kind = kinds.of_random_link(random);
            let ends = match planted_kind {
                PlantedKind::Uniform => kinds.uniform(kind, random),
                PlantedKind::ByDegree => kinds.by_degree(kind, links, random),
                PlantedKind::Alike => most_alike(subject, &kinds, kind, random),
            };
            if ends[0] != ends[1] && taken.insert(links.code(ends)) {
                planted.push(ends);
                left -= 1;
            }
        }
    }
    planted
}

fn most_alike(subject: &Subject, kinds: &Kinds, kind: usize, random: &mut ChaCha8Rng) -> [u32; 2] {
    let nearness = |[i, j]: [u32; 2]| match &subject.features {
        Some(features) if i != j => features.nearness(i, j),
        _ => f64::NEG_INFINITY,
    };
    let mut best = ([0, 0], f64::NEG_INFINITY);
    for _ in 0..CANDIDATES {
        let ends = kinds.uniform(kind, random);
        let near = nearness(ends);
        if near > best.1 {
            best = (ends, near);
        }
    }
    best.0
}
