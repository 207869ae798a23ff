//! The judge of links against decoys, and ranks within strata.

use super::evidence::{Evidence, Kind};
use super::logistic::{Example, Logistic};
use super::pairs::{Bench, Pair};

/// A stratum has at least so many links, and a pair of views at most so many
/// strata.
const LEAST_LINKS: usize = 400;
const MOST_STRATA: usize = 8;
/// A pair of views with fewer links has no judge of its own.
const OWN_JUDGE: usize = 100;

/// Evidence as the judge reads it: each kind in units of its spread among the
/// decoys of its pair of views, the squares, and degrees.
const WIDTH: usize = 2 * Kind::ALL.len() + 1;
type Seen = [f64; WIDTH];

/// Links, decoys and other pairs, with what is known of them.
#[derive(Debug, Clone, Copy)]
pub struct Known<'k> {
    /// The pairs.
    pub pairs: &'k [Pair],
    /// What speaks for each.
    pub evidence: &'k [Evidence],
}

/// The judges of all folds and pairs of views, and the decoys' scores.
#[derive(Debug, Clone)]
pub struct Ranking {
    scales: Vec<Scale>,
    /// For each fold the judge that all pairs of views share, then their own.
    judges: Vec<Vec<Logistic>>,
    /// For each pair of views the borders between its strata.
    borders: Vec<Vec<f64>>,
    /// For each stratum of each pair of views: the decoys' scores by the judge,
    /// and by each kind of evidence, ascending.
    decoys: Vec<Vec<Stratum>>,
}

#[derive(Debug, Clone, Default)]
struct Stratum {
    scores: Vec<f64>,
    by_kind: [Vec<f64>; Kind::ALL.len()],
}

/// Mean and spread of each kind of evidence, and of the degrees.
#[derive(Debug, Clone)]
struct Scale {
    mean: [f64; Kind::ALL.len() + 1],
    spread: [f64; Kind::ALL.len() + 1],
}

/// The rank of a pair among the decoys of its stratum: the share of them that
/// have more to say for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rank {
    /// By the judge.
    pub rank: f64,
    /// By each kind of evidence alone.
    pub by_kind: [f64; Kind::ALL.len()],
    /// The stratum, counted over all pairs of views.
    pub stratum: usize,
}

impl Ranking {
    /// Learns to tell links from decoys. Each fold's judge learns from the
    /// other folds.
    pub fn new(bench: &Bench, links: Known<'_>, decoys: Known<'_>) -> Ranking {
        let n_groups = bench.groups.len();
        let scales: Vec<Scale> = (0..n_groups)
            .map(|group| Scale::new(decoys, group as u32))
            .collect();
        let see = |known: Known<'_>| -> Vec<Seen> {
            let pairs = known.pairs.iter().zip(known.evidence);
            pairs
                .map(|(pair, e)| scales[pair.group as usize].see(e))
                .collect()
        };
        let (seen_links, seen_decoys) = (see(links), see(decoys));
        let n_folds = bench.training.len() as u32;
        // In each pair of views links and decoys shall count the same.
        let count = |known: Known<'_>| {
            let mut counts = vec![0.0f64; n_groups];
            known
                .pairs
                .iter()
                .for_each(|pair| counts[pair.group as usize] += 1.0);
            counts
        };
        let (n_links, n_decoys) = (count(links), count(decoys));
        let judge = |fold: u32, group: Option<u32>| {
            let part = move |pair: &Pair| {
                pair.fold != fold && group.is_none_or(|group| pair.group == group)
            };
            let list = |known: Known<'_>, seen: &'_ [Seen], is_link: bool| {
                let balance: Vec<f64> = (0..n_groups)
                    .map(|g| {
                        if is_link {
                            1.0
                        } else {
                            n_links[g] / n_decoys[g].max(1.0)
                        }
                    })
                    .collect();
                known
                    .pairs
                    .iter()
                    .zip(seen)
                    .filter(|(pair, _)| part(pair))
                    .map(|(pair, z)| (*z, is_link, balance[pair.group as usize]))
                    .collect::<Vec<_>>()
            };
            let mut all = list(links, &seen_links, true);
            all.extend(list(decoys, &seen_decoys, false));
            Logistic::learn(
                WIDTH,
                all.iter().map(|(z, is_link, weight)| Example {
                    z,
                    is_link: *is_link,
                    weight: *weight,
                }),
            )
        };
        use rayon::prelude::*;
        let judges = (0..n_folds)
            .into_par_iter()
            .map(|fold| {
                let shared = judge(fold, None);
                let mut all = vec![shared.clone()];
                all.extend((0..n_groups).map(|group| {
                    match n_groups > 1 && bench.groups[group].links.len() >= OWN_JUDGE {
                        true => judge(fold, Some(group as u32)),
                        false => shared.clone(),
                    }
                }));
                all
            })
            .collect();
        let mut ranking = Ranking {
            scales,
            judges,
            borders: (0..n_groups)
                .map(|group| borders(links, group as u32))
                .collect(),
            decoys: Vec::new(),
        };
        ranking.decoys = ranking
            .borders
            .iter()
            .map(|borders| vec![Stratum::default(); borders.len() + 1])
            .collect();
        for (pair, evidence) in decoys.pairs.iter().zip(decoys.evidence) {
            let score = ranking.score(pair, evidence);
            let place = ranking.stratum(pair, evidence);
            let stratum = &mut ranking.decoys[pair.group as usize][place];
            stratum.scores.push(score);
            for (list, x) in stratum.by_kind.iter_mut().zip(evidence.by_kind) {
                list.push(x);
            }
        }
        for stratum in ranking.decoys.iter_mut().flatten() {
            stratum.scores.sort_by(f64::total_cmp);
            stratum
                .by_kind
                .iter_mut()
                .for_each(|list| list.sort_by(f64::total_cmp));
        }
        ranking
    }

    /// The number of strata of all pairs of views.
    pub fn n_strata(&self) -> usize {
        self.decoys.iter().map(Vec::len).sum()
    }

    fn score(&self, pair: &Pair, evidence: &Evidence) -> f64 {
        let z = self.scales[pair.group as usize].see(evidence);
        self.judges[pair.fold as usize][pair.group as usize + 1].score(&z)
    }

    fn stratum(&self, pair: &Pair, evidence: &Evidence) -> usize {
        let borders = &self.borders[pair.group as usize];
        borders.partition_point(|&border| border <= evidence.log_degrees)
    }

    /// The ranks of pairs among the decoys.
    pub fn ranks(&self, known: Known<'_>) -> Vec<Rank> {
        let rank = |(pair, evidence): (&Pair, &Evidence)| {
            let group = pair.group as usize;
            let place = self.stratum(pair, evidence);
            let stratum = &self.decoys[group][place];
            let before: usize = self.decoys[..group].iter().map(Vec::len).sum();
            let mut by_kind = [0.0; Kind::ALL.len()];
            for (kind, rank) in by_kind.iter_mut().enumerate() {
                *rank = share_above(&stratum.by_kind[kind], evidence.by_kind[kind]);
            }
            Rank {
                rank: share_above(&stratum.scores, self.score(pair, evidence)),
                by_kind,
                stratum: before + place,
            }
        };
        known.pairs.iter().zip(known.evidence).map(rank).collect()
    }
}

/// The share of ascending numbers that are larger; of equal ones, half.
fn share_above(sorted: &[f64], x: f64) -> f64 {
    let below = sorted.partition_point(|&other| other < x);
    let above = sorted.len() - sorted.partition_point(|&other| other <= x);
    let ties = sorted.len() - below - above;
    (above as f64 + 0.5 * (ties as f64 + 1.0)) / (sorted.len() as f64 + 1.0)
}

/// Quantiles of the links' degrees.
fn borders(links: Known<'_>, group: u32) -> Vec<f64> {
    let of_group = links.pairs.iter().zip(links.evidence);
    let mut degrees: Vec<f64> = of_group
        .filter(|(pair, _)| pair.group == group)
        .map(|(_, evidence)| evidence.log_degrees)
        .collect();
    degrees.sort_by(f64::total_cmp);
    let strata = (degrees.len() / LEAST_LINKS).clamp(1, MOST_STRATA);
    let mut borders: Vec<f64> = (1..strata)
        .map(|place| degrees[place * degrees.len() / strata])
        .collect();
    borders.dedup();
    // A border at the smallest value has nothing below it.
    borders.retain(|&border| degrees.first().is_some_and(|&least| border > least));
    borders
}

impl Scale {
    fn new(decoys: Known<'_>, group: u32) -> Scale {
        const N: usize = Kind::ALL.len() + 1;
        let entries = |evidence: &Evidence| -> [f64; N] {
            std::array::from_fn(|k| match evidence.by_kind.get(k) {
                Some(x) => *x,
                None => evidence.log_degrees,
            })
        };
        let (mut count, mut mean, mut square) = (0.0f64, [0.0; N], [0.0; N]);
        for (pair, evidence) in decoys.pairs.iter().zip(decoys.evidence) {
            if pair.group == group {
                count += 1.0;
                for (k, x) in entries(evidence).into_iter().enumerate() {
                    mean[k] += x;
                    square[k] += x * x;
                }
            }
        }
        let count = count.max(1.0);
        let mean = mean.map(|sum| sum / count);
        let spread = std::array::from_fn(|k| {
            let variance = square[k] / count - mean[k] * mean[k];
            if variance > 1e-12 {
                variance.sqrt()
            } else {
                1.0
            }
        });
        Scale { mean, spread }
    }

    fn see(&self, evidence: &Evidence) -> Seen {
        const N: usize = Kind::ALL.len();
        // Evidence far beyond all decoys is as good as somewhat beyond them.
        let scaled = |k: usize, x: f64| ((x - self.mean[k]) / self.spread[k]).clamp(-8.0, 8.0);
        std::array::from_fn(|place| match place {
            place if place < N => scaled(place, evidence.by_kind[place]),
            place if place < 2 * N => scaled(place - N, evidence.by_kind[place - N]).powi(2),
            _ => scaled(N, evidence.log_degrees),
        })
    }
}
