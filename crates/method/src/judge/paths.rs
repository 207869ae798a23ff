//! Common neighbors of pairs, and paths of three links between their ends.

use linkproof_numeric::math;
use rayon::prelude::*;

use super::net::{Neighbors, Net};
use super::pairs::{Links, Pairs, mixed, pair_hash};

/// Starts of paths that one task goes through.
const STARTS: usize = 64;
/// The stream of random numbers by which middle links are thinned.
const MIDDLE_STREAM: u64 = 0x7370_6563;
/// Middle links of paths are thinned where a node has more links than this.
const MOST_MIDDLE: f64 = 1000.0;
/// What rounding leaves of a subtraction.
const ROUNDING: f64 = 1e-9;

/// The paths of a net.
pub(super) struct Paths<'n> {
    net: &'n Net,
    /// The links that may stand in the middle of a path: those of nodes with very many links
    /// are thinned, and weigh more instead.
    middle: Net,
    degree: Vec<f64>,
    /// One over the root of the degree, for each node.
    inv: Vec<f64>,
}

/// A pair by the end from which it is looked up.
type Start = (u32, u32, u32);

impl<'n> Paths<'n> {
    /// The paths of these links.
    pub fn new(links: &Links, net: &'n Net, seed: u64) -> Paths<'n> {
        let degree: Vec<f64> = (0..net.n()).map(|node| net.degree(node)).collect();
        let seed = mixed(seed ^ MIDDLE_STREAM);
        let is_kept = |&[k, l]: &[u32; 2]| {
            let weight = middle_weight(&degree, k, l);
            weight == 1.0 || (pair_hash([k, l], seed) >> 11) as f64 * weight < (1u64 << 53) as f64
        };
        let kept: Vec<[u32; 2]> = links.ends.iter().copied().filter(is_kept).collect();
        Paths {
            net,
            middle: Net::new(net.n(), net.directed, kept.iter().copied()),
            inv: degree.iter().map(|it| 1.0 / it.max(1.0).sqrt()).collect(),
            degree,
        }
    }

    /// Common neighbors of each pair, and paths, by degrees; what the own link adds is
    /// subtracted.
    pub fn of(&self, pairs: &Pairs) -> [Vec<f64>; 2] {
        let (net, inv) = (self.net, &self.inv);
        let [to_end, from_start] = self.round_trips();
        // Each pair is looked up at the end with fewer neighbors.
        let mut starts: [Vec<Start>; 2] = [Vec::new(), Vec::new()];
        for (place, &[i, j]) in pairs.ends.iter().enumerate() {
            let [d_i, d_j] = net.degrees([i, j]);
            let forward = d_i >= d_j;
            let (start, end) = if forward { (i, j) } else { (j, i) };
            let backward = usize::from(!forward && net.directed);
            starts[backward].push((start, end, place as u32));
        }
        let [mut common, mut paths] = [0, 1].map(|_| vec![0.0; pairs.len()]);
        for (backward, mut found) in starts.into_iter().enumerate() {
            found.sort_unstable();
            for (place, cn, p3) in self.all(&found, backward == 1) {
                common[place as usize] = cn;
                paths[place as usize] = p3;
            }
        }
        for (place, &[i, j]) in pairs.ends.iter().enumerate() {
            let (a, b, own) = (i as usize, j as usize, pairs.own(place));
            let [d_i, d_j] = net.degrees([i, j]);
            let room = ((d_i - own + 1.0) * (d_j - own + 1.0)).sqrt();
            let mut p3 = paths[place];
            if own > 0.0 {
                let kept = f64::from(u8::from(self.middle.has(j, i)));
                let both = kept * middle_weight(&self.degree, j, i) * inv[a] * inv[b];
                p3 -= inv[b] * to_end[b] + inv[a] * from_start[a] - both;
            }
            let p3 = if p3 > ROUNDING { p3 } else { 0.0 };
            common[place] = math::ln_1p(100.0 * common[place] / room);
            paths[place] = math::ln_1p(10.0 * p3 / room);
        }
        [common, paths]
    }

    /// Ways back and forth at each node: over a middle link first, and over one last.
    fn round_trips(&self) -> [Vec<f64>; 2] {
        let sum = |middle: &Neighbors, is_back: &dyn Fn(u32, u32) -> bool| -> Vec<f64> {
            let of_node = |node: u32| {
                let others = middle.of(node as usize).iter();
                let others = others.filter(|&&it| !self.net.directed || is_back(node, it));
                let weight = |other| middle_weight(&self.degree, node, other);
                others
                    .map(|&other| weight(other) * self.inv[other as usize])
                    .sum()
            };
            (0..self.net.n() as u32).map(of_node).collect()
        };
        let last = |node, other| self.net.has(node, other);
        [
            sum(self.middle.outgoing(), &|node, other| last(other, node)),
            sum(self.middle.incoming(), &last),
        ]
    }

    /// For starts, sorted, the place of the pair with common neighbors and paths; backward
    /// from targets to sources.
    fn all(&self, pairs: &[Start], backward: bool) -> impl Iterator<Item = (u32, f64, f64)> {
        let by_start: Vec<&[Start]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
        let n = self.net.n();
        let (near, far, middle) = if backward {
            (
                self.net.incoming(),
                self.net.outgoing(),
                self.middle.incoming(),
            )
        } else {
            (
                self.net.outgoing(),
                self.net.incoming(),
                self.middle.outgoing(),
            )
        };
        let from_start = |pairs: &[Start], one: &mut [f64], two: &mut [f64]| {
            let near = near.of(pairs[0].0 as usize);
            for &k in near {
                let inv = self.inv[k as usize];
                one[k as usize] = inv * inv;
                for &l in middle.of(k as usize) {
                    let weight = middle_weight(&self.degree, k, l);
                    two[l as usize] += weight * inv * self.inv[l as usize];
                }
            }
            let sums = |&(_, end, place): &Start| {
                let far = far.of(end as usize).iter();
                let sum = |sums: &[f64]| far.clone().map(|&l| sums[l as usize]).sum::<f64>();
                (place, sum(one), sum(two))
            };
            let found: Vec<(u32, f64, f64)> = pairs.iter().map(sums).collect();
            for &k in near {
                one[k as usize] = 0.0;
                let after = middle.of(k as usize).iter();
                after.for_each(|&l| two[l as usize] = 0.0);
            }
            found
        };
        let found: Vec<Vec<(u32, f64, f64)>> = by_start
            .par_chunks(STARTS)
            .map_init(
                || (vec![0.0; n], vec![0.0; n]),
                |(one, two), starts| {
                    let found = starts.iter().map(|pairs| from_start(pairs, one, two));
                    found.collect::<Vec<_>>().concat()
                },
            )
            .collect();
        found.into_iter().flatten()
    }
}

/// What the middle link between two nodes weighs.
fn middle_weight(degree: &[f64], k: u32, l: u32) -> f64 {
    (degree[k as usize].max(degree[l as usize]) / MOST_MIDDLE).max(1.0)
}
