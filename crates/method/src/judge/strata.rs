//! Pairs whose ends have about the same degrees, and ranks among the non-links there.

use linkproof_numeric::math;
use rayon::prelude::*;

use super::net::Net;
use super::pairs::Pairs;

/// Equal parts of the links by the product of their ends' degrees: for evidence, where
/// degrees may speak.
pub(crate) const COARSE: usize = 5;
/// For claims, where links and non-links must have the same degrees.
pub(super) const FINE: usize = 20;
/// A stratum holds at least so many links and so many non-links.
const LEAST: usize = 20;

/// A partition of the pairs.
pub(crate) struct Strata {
    /// The pairs of each stratum, ascending.
    pub members: Vec<Vec<u32>>,
}

impl Strata {
    /// Cuts each pool of pairs into `count` parts.
    pub fn new(pairs: &Pairs, net: &Net, count: usize) -> Strata {
        let size = |place: usize| {
            let others = |degree: f64| (degree - pairs.own(place)).max(0.5);
            let [i, j] = net.degrees(pairs.ends[place]);
            others(i) * others(j)
        };
        let sizes: Vec<f64> = (0..pairs.len()).map(size).collect();
        let n_pools = pairs.pool.iter().max().map_or(0, |&most| most as usize + 1);
        let mut members = Vec::new();
        for pool in 0..n_pools {
            let inside: Vec<u32> = (0..pairs.len() as u32)
                .filter(|&place| pairs.pool[place as usize] as usize == pool)
                .collect();
            if inside.is_empty() {
                continue;
            }
            let cuts = cuts(pairs, &inside, &sizes, count);
            let first = members.len();
            members.resize(first + cuts.len() + 1, Vec::new());
            for place in inside {
                let part = cuts.partition_point(|&cut| cut <= sizes[place as usize]);
                members[first + part].push(place);
            }
        }
        Strata { members }
    }

    /// All pairs in one stratum.
    pub fn one(pairs: &Pairs) -> Strata {
        Strata {
            members: vec![(0..pairs.len() as u32).collect()],
        }
    }

    /// For each pair a number that is computed stratum by stratum.
    fn map(&self, n: usize, numbers: impl Fn(&[u32]) -> Vec<f64> + Sync) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = self.members.par_iter().map(|it| numbers(it)).collect();
        let mut out = vec![0.0; n];
        for (members, part) in self.members.iter().zip(parts) {
            for (&place, x) in members.iter().zip(part) {
                out[place as usize] = x;
            }
        }
        out
    }

    /// For each pair the share of the non-links of its stratum that look worse; ties count
    /// half.
    pub fn ranks(&self, pairs: &Pairs, value: &[f64]) -> Vec<f64> {
        self.map(pairs.len(), |members| {
            let base = sorted(members, value, |place| pairs.is_non_link(place));
            let rank = |&place: &u32| {
                let (low, high) = places(&base, value[place as usize]);
                (low + high) as f64 / 2.0 / base.len().max(1) as f64
            };
            members.iter().map(rank).collect()
        })
    }

    /// For each pair `-log` of the share of the non-links of its stratum that look better;
    /// ties count half. Between two neighboring non-links, and beyond the best, links keep
    /// their own order.
    pub fn tails(&self, pairs: &Pairs, value: &[f64]) -> Vec<f64> {
        self.map(pairs.len(), |members| {
            let base = sorted(members, value, |place| pairs.is_non_link(place));
            let is_free = |place: usize| {
                let (low, high) = places(&base, value[place]);
                pairs.is_link(place) && low == high
            };
            let links = sorted(members, value, is_free);
            // The gap between non-links in which each of these links lies.
            let gaps: Vec<usize> = links.iter().map(|&x| places(&base, x).0).collect();
            let n = base.len() as f64;
            let tail = |&place: &u32| {
                let place = place as usize;
                let x = value[place];
                let (low, high) = places(&base, x);
                let better = if low == high && !pairs.is_non_link(place) {
                    let first = gaps.partition_point(|&gap| gap < low);
                    let last = gaps.partition_point(|&gap| gap <= low);
                    let (before, after) = places(&links, x);
                    let own = (before + after) as f64 / 2.0;
                    n - low as f64 + (last as f64 - own + 0.5) / ((last - first) as f64 + 1.0)
                } else {
                    n - (low + high) as f64 / 2.0 + 0.5
                };
                -math::ln(better / (n + 1.0))
            };
            members.iter().map(tail).collect()
        })
    }
}

/// Where a pool is cut, so that each part holds enough.
fn cuts(pairs: &Pairs, inside: &[u32], sizes: &[f64], count: usize) -> Vec<f64> {
    let links = sorted(inside, sizes, |place| pairs.is_link(place));
    let others = sorted(inside, sizes, |place| pairs.is_non_link(place));
    let below = |sorted: &[f64], cut: f64| sorted.partition_point(|&x| x < cut);
    let mut cuts: Vec<f64> = Vec::new();
    let mut low = f64::NEG_INFINITY;
    for part in 1..count {
        let cut = quantile(&links, part as f64 / count as f64);
        if cuts.last() == Some(&cut) {
            continue;
        }
        let holds = |sorted: &[f64]| {
            let (start, middle) = (below(sorted, low), below(sorted, cut));
            (middle - start.min(middle)).min(sorted.len() - middle)
        };
        if holds(&links).min(holds(&others)) >= LEAST {
            cuts.push(cut);
            low = cut;
        }
    }
    cuts
}

/// The values of some pairs in ascending order.
fn sorted(members: &[u32], value: &[f64], which: impl Fn(usize) -> bool) -> Vec<f64> {
    let chosen = members.iter().map(|&place| place as usize);
    let mut values: Vec<f64> = chosen
        .filter(|&place| which(place))
        .map(|place| value[place])
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// How many sorted values are below a number, and how many at most that.
fn places(sorted: &[f64], x: f64) -> (usize, usize) {
    let low = sorted.partition_point(|&value| value < x);
    let high = low + sorted[low..].partition_point(|&value| value <= x);
    (low, high)
}

/// The quantile of sorted values, linear between neighbors.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = share * last as f64;
    let low = (place.floor() as usize).min(last);
    let high = (low + 1).min(last);
    sorted[low] + (place - low as f64) * (sorted[high] - sorted[low])
}

/// Middle ranks from 1, ties sharing theirs.
pub(super) fn middle_ranks(value: &[f64]) -> Vec<f64> {
    let mut order: Vec<u32> = (0..value.len() as u32).collect();
    order.sort_by(|&a, &b| value[a as usize].total_cmp(&value[b as usize]));
    let mut ranks = vec![0.0; value.len()];
    let mut start = 0;
    while start < order.len() {
        let x = value[order[start] as usize];
        let same = |&&place: &&u32| value[place as usize] == x;
        let end = start + order[start..].iter().take_while(same).count().max(1);
        for &place in &order[start..end] {
            ranks[place as usize] = (start + end + 1) as f64 / 2.0;
        }
        start = end;
    }
    ranks
}
