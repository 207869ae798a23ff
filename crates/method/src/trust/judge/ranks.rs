//! The judge of links against decoys, and ranks within strata.

use rayon::prelude::*;

use super::evidence::{Evidence, Kind};
use super::logistic::{Example, Logistic};
use super::pairs::{Bench, Pair};
use super::unexplained::Decoys;
use linkproof_numeric::math;

/// A stratum has at least so many links, and a pair of views at most so many
/// strata.
const LEAST_LINKS: usize = 400;
const MOST_STRATA: usize = 8;
/// A pair of views with fewer links has no judge of its own.
const OWN_JUDGE: usize = 100;

/// What the judge reads of a pair: for each kind of evidence `-log u`, with `u`
/// its rank by that kind alone among the decoys of its stratum.
const WIDTH: usize = Kind::ALL.len();
type Seen = [f64; WIDTH];

/// Links, decoys and other pairs, with what is known of them.
#[derive(Debug, Clone, Copy)]
pub struct Known<'k> {
    /// The pairs.
    pub pairs: &'k [Pair],
    /// What speaks for each.
    pub evidence: &'k [Evidence],
}

/// The judges of all folds and pairs of views, and the decoys of each stratum.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// For each fold the judge of each pair of views.
    judges: Vec<Vec<Logistic>>,
    /// For each pair of views the borders between its strata.
    borders: Vec<Vec<f64>>,
    /// For each pair of views its strata.
    strata: Vec<Vec<Stratum>>,
}

/// The decoys of a stratum by each kind of evidence and by the judge, ascending.
#[derive(Debug, Clone, Default)]
struct Stratum {
    by_kind: [Vec<f64>; WIDTH],
    scores: Vec<f64>,
    vectors: Vec<f64>,
}

/// The rank of a pair among the decoys of its stratum: the share of them that
/// have more to say for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rank {
    /// By the judge.
    pub rank: f64,
    /// By each kind of evidence alone.
    pub by_kind: [f64; Kind::ALL.len()],
    /// By embeddings and data vectors together, without the links around.
    pub by_vectors: f64,
    /// The stratum, counted over all pairs of views.
    pub stratum: usize,
}

impl Ranking {
    /// Learns to tell links from decoys. Each fold's judge learns from the
    /// other folds.
    pub fn new(bench: &Bench, links: Known<'_>, decoys: Known<'_>) -> Ranking {
        let n_groups = bench.groups.len();
        let borders: Vec<Vec<f64>> = (0..n_groups)
            .map(|group| {
                let pairs = links.pairs.iter().zip(links.evidence);
                let of_group = pairs.filter(|(pair, _)| pair.group as usize == group);
                borders(of_group.map(|(_, evidence)| evidence.log_degrees).collect())
            })
            .collect();
        let strata = borders
            .iter()
            .map(|borders| vec![Stratum::default(); borders.len() + 1])
            .collect();
        let mut ranking = Ranking {
            judges: Vec::new(),
            borders,
            strata,
        };
        for (pair, evidence) in decoys.pairs.iter().zip(decoys.evidence) {
            let place = ranking.stratum(pair, evidence);
            let stratum = &mut ranking.strata[pair.group as usize][place];
            for (list, x) in stratum.by_kind.iter_mut().zip(evidence.by_kind) {
                list.push(x);
            }
        }
        for stratum in ranking.strata.iter_mut().flatten() {
            let lists = stratum.by_kind.iter_mut();
            lists.for_each(sort);
        }
        ranking.judges = ranking.learn(bench, links, decoys);
        let scores: Vec<(f64, f64)> = (decoys.pairs.par_iter().zip(decoys.evidence))
            .map(|(pair, evidence)| {
                let vectors = of_vectors(&ranking.see(pair, evidence));
                (ranking.score(pair, evidence), vectors)
            })
            .collect();
        for ((pair, evidence), (score, vectors)) in
            decoys.pairs.iter().zip(decoys.evidence).zip(scores)
        {
            let place = ranking.stratum(pair, evidence);
            let stratum = &mut ranking.strata[pair.group as usize][place];
            stratum.scores.push(score);
            stratum.vectors.push(vectors);
        }
        for stratum in ranking.strata.iter_mut().flatten() {
            sort(&mut stratum.scores);
            sort(&mut stratum.vectors);
        }
        ranking
    }

    fn learn(&self, bench: &Bench, links: Known<'_>, decoys: Known<'_>) -> Vec<Vec<Logistic>> {
        let see = |known: Known<'_>| -> Vec<Seen> {
            let pairs = known.pairs.par_iter().zip(known.evidence);
            pairs.map(|(pair, e)| self.see(pair, e)).collect()
        };
        let (seen_links, seen_decoys) = (see(links), see(decoys));
        let judge = |fold: u32, group: Option<u32>| {
            let part = move |pair: &Pair| {
                pair.fold != fold && group.is_none_or(|group| pair.group == group)
            };
            let of_links = examples(links, &seen_links, true, part);
            let of_decoys = examples(decoys, &seen_decoys, false, part);
            Logistic::learn_rising(WIDTH, of_links.chain(of_decoys))
        };
        let groups = &bench.groups;
        (0..bench.n_folds() as u32)
            .into_par_iter()
            .map(|fold| {
                let shared = judge(fold, None);
                let of_group = |group: usize| match groups[group].links.len() >= OWN_JUDGE {
                    true if groups.len() > 1 => judge(fold, Some(group as u32)),
                    _ => shared.clone(),
                };
                (0..groups.len()).map(of_group).collect()
            })
            .collect()
    }

    /// The number of strata of all pairs of views.
    fn n_strata(&self) -> usize {
        self.strata.iter().map(Vec::len).sum()
    }

    fn by_kind(&self, pair: &Pair, evidence: &Evidence) -> [f64; WIDTH] {
        let stratum = &self.strata[pair.group as usize][self.stratum(pair, evidence)];
        std::array::from_fn(|k| share_above(&stratum.by_kind[k], evidence.by_kind[k]))
    }

    fn see(&self, pair: &Pair, evidence: &Evidence) -> Seen {
        self.by_kind(pair, evidence).map(|u| -math::ln(u))
    }

    fn score(&self, pair: &Pair, evidence: &Evidence) -> f64 {
        let z = self.see(pair, evidence);
        self.judges[pair.fold as usize][pair.group as usize].score(&z)
    }

    fn stratum(&self, pair: &Pair, evidence: &Evidence) -> usize {
        let borders = &self.borders[pair.group as usize];
        borders.partition_point(|&border| border <= evidence.log_degrees)
    }

    /// The decoys for which evidence does not speak, counted.
    pub fn count(&self, decoys: Known<'_>) -> Decoys {
        const AT_ONCE: usize = 1 << 13;
        let mut counted = Decoys::new(self.n_strata());
        let parts = decoys.pairs.chunks(AT_ONCE);
        for (pairs, evidence) in parts.zip(decoys.evidence.chunks(AT_ONCE)) {
            counted.add(&self.ranks(Known { pairs, evidence }));
        }
        counted
    }

    /// The ranks of pairs among the decoys.
    pub fn ranks(&self, known: Known<'_>) -> Vec<Rank> {
        let rank = |(pair, evidence): (&Pair, &Evidence)| {
            let group = pair.group as usize;
            let place = self.stratum(pair, evidence);
            let before: usize = self.strata[..group].iter().map(Vec::len).sum();
            let stratum = &self.strata[group][place];
            let vectors = of_vectors(&self.see(pair, evidence));
            Rank {
                rank: share_above_at(&stratum.scores, self.score(pair, evidence), chance(pair)),
                by_vectors: share_above(&stratum.vectors, vectors),
                by_kind: self.by_kind(pair, evidence),
                stratum: before + place,
            }
        };
        let pairs = known.pairs.par_iter().zip(known.evidence);
        pairs.map(rank).collect()
    }
}

/// Sorts numbers of which none will be added.
fn sort(list: &mut Vec<f64>) {
    list.sort_by(f64::total_cmp);
    list.shrink_to_fit();
}

/// Some of the pairs, to learn from.
fn examples<'e>(
    known: Known<'e>,
    seen: &'e [Seen],
    is_link: bool,
    takes_part: impl Fn(&Pair) -> bool + Copy + 'e,
) -> impl Iterator<Item = Example<'e>> + Clone {
    let pairs = known.pairs.iter().zip(seen);
    let pairs = pairs.filter(move |(pair, _)| takes_part(pair));
    pairs.map(move |(_, z)| Example {
        z,
        is_link,
        weight: 1.0,
    })
}

/// What embeddings and data vectors say together.
fn of_vectors(seen: &Seen) -> f64 {
    let kinds = Kind::ALL.iter().zip(seen);
    let of_vectors = kinds.filter(|(kind, _)| matches!(kind, Kind::Embeddings | Kind::DataVectors));
    of_vectors.map(|(_, z)| z).sum()
}

/// The share of ascending numbers that are larger; of equal ones, half.
pub(super) fn share_above(sorted: &[f64], x: f64) -> f64 {
    share_above_at(sorted, x, 0.5)
}

/// A number in (0, 1) that depends on the pair alone. By it equal scores, as those of
/// pairs without a common neighbour, get different ranks: those of decoys, and so
/// of false links, are uniform then.
fn chance(pair: &Pair) -> f64 {
    let mut x =
        (u64::from(pair.src) << 32 | u64::from(pair.dst)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    for (shift, factor) in [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)] {
        x = (x ^ x >> shift).wrapping_mul(factor);
    }
    ((x ^ x >> 31) >> 12) as f64 / (1u64 << 52) as f64
}

/// The share of ascending numbers that are larger, and of equal ones so many.
fn share_above_at(sorted: &[f64], x: f64, of_equal: f64) -> f64 {
    let below = sorted.partition_point(|&other| other < x);
    let above = sorted.len() - sorted.partition_point(|&other| other <= x);
    let ties = sorted.len() - below - above;
    (above as f64 + of_equal * (ties as f64 + 1.0)) / (sorted.len() as f64 + 1.0)
}

/// Quantiles of the degrees of a pair of views' links.
pub(super) fn borders(mut degrees: Vec<f64>) -> Vec<f64> {
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
